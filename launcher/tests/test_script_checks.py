# SPDX-License-Identifier: BSD-3-Clause
"""What the Python program of a case compares: what it accepts, and what it finds to differ."""

import subprocess
import sys
import types
from pathlib import Path

import pytest

from tdconf import script_python
from tdconf.described import Case, Tree

from .scripted_cases import KINDS, MEMBERS, SRC, STACK, case, filled, lazy, make, step, td, tensor

_DEADLINE_S = 300
_JAGGED = td({"rows": tensor("int64", [2, 3], 1, "jagged")}, [2])
_SPARSE = td({"dots": tensor("float32", [2, 2], 1, "sparse_coo")})
_WORDS = td({"word": {"kind": "non_tensor", "data": "yes", "batch_size": []}})


class Player:
    """Plays the program of a case of one rank, in this process."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._path = folder / "asked.py"
        self._capsys = capsys

    def __call__(self, told: Case) -> tuple[int, list[str]]:
        """Returns how many surprises there were, and the differences that were shown."""
        self._path.write_text(script_python.program(told, self._path.name))
        module = types.ModuleType("asked")
        exec(compile(self._path.read_text(), self._path, "exec"), vars(module))
        module.ORDER = types.SimpleNamespace(set=lambda *_: None)
        module.rank_0()
        return module.SURPRISES, differences(self._capsys.readouterr().out)


def differences(output: str) -> list[str]:
    marks = (line.partition(" differs: ") for line in output.splitlines())
    return [text for _, mark, text in marks if mark]


@pytest.fixture
def played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Player:
    return Player(tmp_path, capsys)


def looked_at(tree: Tree, equals: Tree | None = None, **expect: object) -> Case:
    """A case of one rank that makes a value and looks at it."""
    shown = step("snapshot", td="it", expect=expect or None) | {"equals": equals}
    return case("looked_at", [make("it", tree), shown], groups=[])


@pytest.mark.parametrize("tree", [SRC, KINDS, STACK, MEMBERS, _JAGGED, _SPARSE, _WORDS])
def test_a_value_equals_itself_in_any_order_of_keys(played: Player, tree: Tree) -> None:
    wanted = tree | {"entries": tree["entries"][::-1]} if "entries" in tree else tree
    marks = {"consolidated": True, "locked": True} if tree is SRC else {}
    assert played(looked_at(tree, wanted | marks)) == (0, [])


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        (td({"a": tensor("int64", [2], 1)}), ["expected a int64 [2] [1, 2]"]),
        (td({"a": tensor("int32", [2], 2)}), ["expected a int32 [2] [2, 3]"]),
        (td({"a": tensor("int64", [1, 2], 2)}), ["expected a int64 [1, 2] [2, 3]"]),
        (td({"b": tensor("int64", [2], 2)}), ["expected b int64 [2] [2, 3]"]),
    ],
)
def test_a_leaf_that_is_another_one_is_shown(
    played: Player, changed: Tree, shown: list[str]
) -> None:
    found = played(looked_at(td({"a": tensor("int64", [2], 2)}), changed))
    assert found == (2, [*shown, "got a int64 [2] [2, 3]"])


def test_a_leaf_too_many_a_batch_size_and_a_datum_are_shown(played: Player) -> None:
    tree = td({"n": td({"x": tensor("int8", [2], 1)}, [2]), **dict(_WORDS["entries"])})
    wanted = td({"n": td({}), "word": {"kind": "non_tensor", "data": "no", "batch_size": []}})
    assert played(looked_at(tree, wanted)) == (
        5,
        [
            "expected n batch_size []",
            "expected word 'no'",
            "got n batch_size [2]",
            "got n.x int8 [2] [1, 2]",
            "got word 'yes'",
        ],
    )


def test_a_datum_held_once_equals_a_list_of_equal_rows(played: Player) -> None:
    once = {"kind": "non_tensor", "data": "x", "batch_size": [2]}
    rows = lazy(*[once | {"batch_size": []}] * 2)
    tree = {**td({"word": once}, [2]), "kind": "tensorclass", "class": "Words"}
    for seen, wanted in ((once, rows), (rows, once)):
        assert played(looked_at(td({"word": seen}, [2]), td({"word": wanted}, [2]))) == (0, [])
    assert played(looked_at(tree, tree)) == (0, [])
    nested = td({"word": lazy(rows)}, [1])
    assert played(looked_at(nested, nested)) == (0, [])
    data = {"kind": "non_tensor", "data": [["x", "y"]], "batch_size": [1, 2]}
    x, y = once | {"batch_size": []}, once | {"batch_size": [], "data": "y"}
    assert played(looked_at(td({"word": lazy(lazy(x, y))}), td({"word": data}))) == (0, [])
    other = lazy(once | {"batch_size": []}, once | {"batch_size": [], "data": "y"})
    shown = ["expected word ['x', 'y']", "got word 'x'"]
    assert played(looked_at(td({"word": once}, [2]), td({"word": other}, [2]))) == (2, shown)


def test_values_sums_keys_and_the_batch_size_are_compared(played: Player) -> None:
    tree = td(
        {
            "b": tensor("float16", [2], 1),
            "n": td({"c": tensor("complex64", [2], 1)}),
            "a": filled("bool", [2], {"const": 1}),
        },
        [2],
    )
    right = {
        "values": {"b": [1, 2.0], "n.c": [[1, -1], [2, -2]], "a": [True, True]},
        "sum": {"b": 3, "a": 2},
        "keys": ["b", "n", "a"],
        "batch_size": [2],
    }
    assert played(looked_at(tree, **right)) == (0, [])
    wrong = {
        "values": {"b": [1, 2.5]},
        "sum": {"b": 3.5},
        "keys": ["a", "b", "n"],
        "batch_size": [],
    }
    assert played(looked_at(tree, **wrong)) == (
        4,
        [
            "b: values expected [1, 2.5] got [1.0, 2.0]",
            "b: sum expected 3.5 got 3.0",
            "keys expected ['a', 'b', 'n'] got ['b', 'n', 'a']",
            "batch_size expected [] got [2]",
        ],
    )


def test_rows_of_different_lengths_are_compared_as_a_list(played: Player) -> None:
    assert played(looked_at(_JAGGED, values={"rows": [[1, 2], [3, 4, 5, 6]]})) == (0, [])


def test_what_cannot_be_compared_is_said(played: Player) -> None:
    shown = ["it cannot be compared: KeyError: 'there is no tensor absent'"]
    assert played(looked_at(SRC, values={"absent": [1]})) == (1, shown)


def test_a_bare_tensor_is_compared_and_the_status_says_so(tmp_path: Path) -> None:
    sent = tensor("int16", [2], 7)
    wanted = sent | {"shape": [1]}
    programs = [
        [step("c10d_send", tensor=sent, dst=1, tag=0)],
        [step("c10d_recv", tensor=sent, src=0, tag=0) | {"equals": wanted}],
    ]
    path = tmp_path / "bare.py"
    path.write_text(script_python.program(case("bare", *programs), path.name))
    ended = subprocess.run(
        [sys.executable, path], stdout=subprocess.PIPE, text=True, timeout=_DEADLINE_S, check=False
    )
    assert ended.returncode == 1
    assert differences(ended.stdout) == ["expected int16 [1] [7]", "got int16 [2] [7, 8]"]


def test_where_nothing_counts_nothing_is_compared() -> None:
    told = looked_at(SRC, keys=["other"]) | {"level": "observe"}
    assert "must=" not in script_python.program(told, "asked.py").partition("def rank_0")[2]
