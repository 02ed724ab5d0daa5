# SPDX-License-Identifier: BSD-3-Clause
"""How programs read: steps as calls, what must be seen below them, ranks side by side."""

import pytest

from tdconf.programs import expression, messages_text, seen, side_by_side, step_text, tree_text

from .scripted_cases import EARLY, PAIR, STACK, TAGS, case, make, step, td, tensor


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (step("recv", td="dst", init_tag=5, src=0), "recv(dst, src=0, init_tag=5)"),
        (step("isend", td="a", dst=1, kept="w"), "isend(a, dst=1) -> w"),
        (step("wait", works="w"), "wait(w)"),
        (
            step("send", td="a", dst=1) | {"after": [[1, 0], [2, 3]]},
            "send(a, dst=1), after 1.1, 2.4",
        ),
        (step("send", td="a", dst=1, group="pair"), "send(a, dst=1, group=pair)"),
        (
            step("reduce", td="a", dst=1, op="MAX", group="g", async_op=True, kept="w"),
            "reduce(a, dst=1, op=MAX, group=g, async_op=True) -> w",
        ),
        (
            step("scatter", td="a", src=0, tensordicts=["a", "all.1"], kept="b"),
            "scatter(a, src=0, tensordicts=[a, all.1]) -> b",
        ),
        (step("getitem", td="a", index=[0, [1, 3]], kept="row"), "a[0, 1:3] -> row"),
        (make("s", STACK), "make s: {s: lazy stack [{y: int64[2]}, {y: int64[2]}]}"),
    ],
)
def test_a_step_reads_as_a_call(given: dict, text: str) -> None:
    assert step_text(given, {}) == text


def test_a_bare_tensor_is_called_as_the_author_did() -> None:
    given = step("c10d_recv", tensor=tensor("int64", [2], 1), src=0, tag=5)
    written = {"c10d_recv": {"leaf": "src@0", "key": ["s", 0, "a"], "src": 0, "tag": 5}}
    assert step_text(given, written) == "c10d_recv(s.0.a of src@0: int64[2], src=0, tag=5)"
    assert list(seen(given, written)) == ["exactly this arrives"]


def test_a_structure_shows_its_marks_and_forms() -> None:
    tree = td({"w": tensor("float32", [2], 1, "parameter")}, consolidated=True, locked=True)
    assert tree_text(tree) == "{w: float32[2] parameter} consolidated locked"


def test_a_tensorclass_is_called_by_its_class() -> None:
    assert tree_text(td({"p": PAIR})) == "{p: Pair{y: int16[2], x: float32[2]}}"


@pytest.mark.parametrize(
    ("expect", "texts"),
    [
        ({"returns": "none"}, ["returns none"]),
        ({"returns": {"works": 3}}, ["returns 3 works"]),
        ({"returns": {"tensordicts": 2}}, ["returns 2 new tensordicts"]),
        ({"equals": {"reduced": "src"}}, ["equals the SUM of src over the ranks"]),
        (
            {"equals": {"reduced": "src", "op": "MAX", "group": "pair"}},
            ["equals the MAX of src over the ranks of pair"],
        ),
        ({"raises": ["value", "runtime"]}, ["raises value or runtime"]),
        ({"equals": "src@0", "in_place": True}, ["equals src@0", "in place"]),
        ({"equals": {"stack": "row@others"}}, ["equals the stack of row@others"]),
        ({"keys": ["a", "b"]}, ["keys: [a, b]"]),
    ],
)
def test_what_must_be_seen_reads_as_words(expect: dict, texts: list[str]) -> None:
    assert list(seen(step("snapshot", td="a", expect=expect), {})) == texts


def test_a_step_that_blocks_says_until_when() -> None:
    given = step("recv", td="a", src=0) | {"blocks": [0, 1]}
    assert list(seen(given, {})) == ["blocks until 0.2 is released"]


def test_expressions_are_written_on_one_line() -> None:
    assert (
        expression({"poison": {"stack": ["a@0", "a@1"]}}) == "the poison of the stack of [a@0, a@1]"
    )


def test_ranks_stand_side_by_side() -> None:
    lines = side_by_side(EARLY, 100).splitlines()
    assert lines[0].split() == ["rank", "0", "rank", "1"]
    assert "rank 1 (probe)" in side_by_side(TAGS, 100).splitlines()[0]
    assert " 3 wait(works)" in lines[-1] or any(" 3 wait(works)" in line for line in lines)
    assert max(len(line) for line in lines) <= 100


def test_a_long_step_goes_on_below_itself() -> None:
    wide = td({f"key{n}": tensor("float32", [2, 3], n) for n in range(8)})
    made = case("wide", [make("td", wide)])
    lines = side_by_side(made, 40).splitlines()
    assert len(lines) > 3
    assert all(line.startswith("     ") for line in lines[2:])
    assert " ".join(line.strip() for line in lines[1:]) == f"1 make td: {tree_text(wide)}"


def test_messages_that_must_travel_are_listed() -> None:
    message = {"from": 0, "to": 1, "group": "pair", "tag": 5, "dtype": "int64", "bytes": 16}
    wanted = case("m", [], [], messages=[message | {"key": "a"}], transcript={"1": {"pickles": 0}})
    assert list(messages_text(wanted)) == [
        "rank 0 -> rank 1 in pair  tag 5  a  int64, 16 B",
        "rank 1: pickles 0",
    ]
    first = {"broadcast": {"root": 1, "bytes": 8, "dtype": "int64"}}
    second = {"gather": {"group": "pair"}}
    calls = {"0": {"calls": [first, second, "all_gather"]}, "1": {"calls": []}}
    assert list(messages_text(case("calls", [], [], transcript=calls))) == [
        "rank 0: calls broadcast (int64, 8 B, root 1), gather (in pair), all_gather",
        "rank 1: calls none",
    ]
    any_size = {"key": "", "dtype": "uint8", "bytes": None}
    assert list(messages_text(case("any", [], [], messages=[message | any_size]))) == [
        "rank 0 -> rank 1 in pair  tag 5    uint8, any number of B"
    ]
    assert list(messages_text(case("none", [], messages=[]))) == [
        "no message travels point to point"
    ]
