# SPDX-License-Identifier: BSD-3-Clause
"""The C++ adapters speak the same protocol, and describe the same value in the same words."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tdconf_tensordict_adapter.decode import Json
from tdconf_tensordict_adapter.fills import DTYPES
from tdconf_tensordict_adapter.snapshots import Snapshots
from tdconf_tensordict_adapter.tree_types import decode_tree
from tdconf_tensordict_adapter.trees import build

from .fake_judge import DEADLINE_S, Connection, FakeJudge
from .runner import adapter_path
from .worlds import leaf, ramp, tensordict

PLAYERS = ("reference", "probe")

pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")


@pytest.fixture
def player(judge: FakeJudge, request: pytest.FixtureRequest) -> Iterator[Connection]:
    process = judge.start(adapter_path(request.param), "--rank", "0")
    connection = judge.accept()
    yield connection
    assert connection.ask("bye")["type"] == "done"
    assert process.wait(DEADLINE_S) == 0


@pytest.mark.parametrize("player", PLAYERS, indirect=True)
def test_a_player_answers_in_the_words_of_the_schema(player: Connection) -> None:
    hello = player.ask("hello", protocol=1)
    assert hello["token"] == "secret"
    assert player.step("no_such_thing")["what"] == "op:no_such_thing"
    assert player.send_raw({"seq": 9, "type": "ping", "extra": 1})["type"] == "error"
    assert player.ask("ping")["step"] is None
    assert player.ask("stacks")["type"] == "stacks"
    assert player.ask("end_case")["leftovers"] == {"values": 0, "works": 0}
    assert player.ask("reset")["type"] == "done"


ALL_DTYPES = [
    *([f"bits {name}", leaf(name, [2, 2], {"bits": "01"})] for name in DTYPES),
    *([f"scramble {name}", leaf(name, [2], {"scramble": 7})] for name in DTYPES),
    *([f"ramp {name}", leaf(name, [2, 3], ramp(1))] for name in DTYPES),
    *([f"const {name}", leaf(name, [2], {"const": 1, "invert": True})] for name in DTYPES),
]
TREES = {
    "dtypes": tensordict(ALL_DTYPES),
    "forms": tensordict(
        [
            ["requires_grad", leaf("float32", [2], ramp(1), "requires_grad")],
            ["parameter", leaf("float64", [2], ramp(1), "parameter")],
            ["transposed", leaf("int16", [2, 3, 4], ramp(1), "transposed")],
            ["expanded", leaf("int8", [2, 3], {"bits": "010203"}, "expanded")],
            ["meta", leaf("int8", [2], ramp(1), "meta")],
            ["sparse", leaf("int8", [2], ramp(1), "sparse_coo")],
            ["jagged", leaf("int16", [2, 3, 2], ramp(1), "jagged")],
        ]
    ),
    "about": tensordict(
        [
            ["long", leaf("uint8", [2, 3, 200], {"scramble": 1})],
            ["text", {"kind": "non_tensor", "data": ["é", None, {"x": 1.5}], "batch_size": []}],
        ],
        (2, 3),
        names=["time", None],
        device="cpu",
        locked=True,
    ),
    "nested": tensordict(
        [
            ["n", tensordict([["empty", leaf("int8", [2, 3, 0], ramp(0))]], (2, 3))],
            ["scalars", tensordict([["a", leaf("bool", [2], {"const": 1})]], (2,))],
        ]
    ),
    "consolidated": tensordict(
        [["b", leaf("uint8", [2], ramp(1))], ["a", leaf("int64", [2], ramp(3))]], consolidated=True
    ),
}


def without_tokens(snapshot: Json) -> Json:
    """Addresses differ between processes, and the padding of a consolidated storage is open."""
    if isinstance(snapshot, list):
        return [without_tokens(item) for item in snapshot]
    if not isinstance(snapshot, dict):
        return snapshot
    if "nbytes" in snapshot:
        return snapshot["nbytes"]
    return {key: without_tokens(value) for key, value in snapshot.items() if key != "token"}


@pytest.mark.parametrize("player", ["reference"], indirect=True)
@pytest.mark.parametrize("name", TREES)
def test_two_adapters_make_the_same_value(player: Connection, name: str, tmp_path: Path) -> None:
    answer = player.step("make", name="td", tree=TREES[name])
    assert answer["type"] == "returned", answer
    made = Snapshots().describe(build(decode_tree(TREES[name], "tree"), lambda: tmp_path / "file"))
    assert without_tokens(answer["value"]["snapshot"]) == without_tokens(made)
