# SPDX-License-Identifier: BSD-3-Clause
"""The C++ programs of cases: two are built and run, and print what the formulas give."""

import subprocess
from collections.abc import Mapping

import pytest

from tdconf import script_cpp
from tdconf.described import Case
from tdconf.layout import THIS_CHECKOUT

from .scripted_cases import (
    BARE_LEAVES,
    CASES,
    COLLECTIVES,
    EARLY,
    FILLS,
    GATHER,
    INIT,
    LAZY,
    LAZY_ROOT,
    PIPE,
    PROBE_SENDS,
    RAISES,
    SRC,
    TAGS,
    TENSORCLASS,
    case,
    expected,
    group,
    leaf,
    make,
    numbers,
    printed,
    step,
    td,
    tensor,
)

_DEADLINE_S = 600

# One program for what most cases do, one for a collective: each takes half a minute to build.
PARTS = (TAGS, FILLS, EARLY, PROBE_SENDS, RAISES, LAZY, LAZY_ROOT, INIT, TENSORCLASS)
MANY = case(
    "many",
    [step for part in PARTS for step in part["programs"][0]],
    [step for part in PARTS for step in part["programs"][1]],
    groups=[
        group("default", [0, 1], "default"),
        group("pair", [0, 1]),
        group("own", [0, 1], "standalone"),
    ],
)
BUILT = (MANY, GATHER, COLLECTIVES)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    folder = tmp_path_factory.mktemp("programs")
    commands = [script_cpp.write(THIS_CHECKOUT, made, folder, made["name"]) for made in BUILT]
    # What is said to be typed is what is typed; the second build finds everything built.
    return {
        made["name"]: subprocess.run(
            ["bash", "-euc", command],
            check=True,
            capture_output=True,
            text=True,
            timeout=_DEADLINE_S,
        ).stdout
        for made, command in zip(BUILT, commands, strict=True)
    }


@pytest.mark.parametrize("made", BUILT, ids=lambda made: made["name"])
def test_every_step_of_every_rank_is_printed(made: Case, outputs: Mapping[str, str]) -> None:
    for rank, program in enumerate(made["programs"]):
        for index, taken in enumerate(program):
            assert f"rank {rank} step {index + 1} {taken['op']}: " in outputs[made["name"]]


def test_bare_receives_and_snapshots_hold_what_the_formulas_give(
    outputs: Mapping[str, str],
) -> None:
    for number, path in BARE_LEAVES.items():
        tree = leaf(SRC, *path)
        wanted = {"": (tree["dtype"], tree["shape"], numbers(tree))}
        assert printed(outputs["many"], 1, number) == wanted
    assert printed(outputs["many"], 1, 7) == expected(FILLS, "src@0")
    assert printed(outputs["many"], 1, 11) == expected(EARLY, "src@0")
    assert printed(outputs["many"], 1, 15) == {"": ("float64", [2], [1001.0, 1002.0])}


def test_lazy_stacks_are_printed_member_by_member(outputs: Mapping[str, str]) -> None:
    assert printed(outputs["many"], 1, 20) == expected(LAZY, "src@0")
    assert printed(outputs["many"], 1, 23) == expected(LAZY_ROOT, "stack@0")


def test_what_was_not_known_is_printed_and_can_be_used(outputs: Mapping[str, str]) -> None:
    assert "rank 1 step 24 from_remote_init: returned a tensordict\n" in outputs["many"]
    assert printed(outputs["many"], 1, 25) == expected(INIT, "src@0")
    assert printed(outputs["many"], 1, 26) == expected(INIT, "src@0")


def test_the_fields_of_a_tensorclass_are_printed(outputs: Mapping[str, str]) -> None:
    last = len(MANY["programs"][1])
    assert printed(outputs["many"], 1, last) == expected(TENSORCLASS, "outer@0")


def test_leaves_are_printed_in_the_order_of_insertion(outputs: Mapping[str, str]) -> None:
    assert [*printed(outputs["many"], 1, 11)] == ["c", "b.z", "b.x", "a"]


def test_what_is_returned_or_raised_is_printed(outputs: Mapping[str, str]) -> None:
    assert "rank 0 step 6 isend: returned 4 works\n" in outputs["many"]
    assert "rank 0 step 12 send: raised " in outputs["many"]
    assert "rank 1 step 17 recv: raised " in outputs["many"]


def test_collective_operations_give_what_they_must(outputs: Mapping[str, str]) -> None:
    said = outputs["collectives"]
    for rank, program in enumerate(COLLECTIVES["programs"]):
        for index, made in enumerate(program):
            if made["op"] == "snapshot":
                wanted = expected(COLLECTIVES, made["expect"]["equals"])
                assert printed(said, rank, index + 1) == wanted, made
    assert "rank 0 step 2 all_gather: returned 2 tensordicts\n" in said
    assert "rank 1 step 10 all_reduce: returned 2 works\n" in said
    assert "rank 0 step 14 reduce: returned None\n" in said
    row = {"x": ("float32", [1], [12.0]), "n.y": ("int32", [1, 2], [14, 15])}
    assert printed(said, 0, 9) == row


def test_rows_are_stacked_on_the_root(outputs: Mapping[str, str]) -> None:
    wanted = expected(GATHER, {"stack": ["row@1", "row@2"]})
    assert printed(outputs["gather"], 0, 3) == wanted
    assert "rank 0 step 2 gather_and_stack: returned a tensordict\n" in outputs["gather"]
    assert "rank 1 step 2 gather_and_stack: returned None\n" in outputs["gather"]


@pytest.mark.parametrize("made", CASES, ids=lambda c: c["name"])
def test_every_step_has_its_place_in_the_program(made: Case) -> None:
    text = script_cpp.program(made)
    for rank, program in enumerate(made["programs"]):
        ours = text.partition(f"void rank_{rank}(Rank&")[2].partition("\n}")[0]
        ops = [f'self.step({number + 1}, "{step["op"]}"' for number, step in enumerate(program)]
        places = [ours.find(op) for op in ops]
        assert -1 not in places
        assert places == sorted(places)


def test_steps_say_what_may_come_of_them() -> None:
    assert script_cpp.program(RAISES).count("}, {}, May::kRaise);") == 2
    assert script_cpp.program(RAISES | {"level": "observe"}).count("}, {}, May::kEither);") == 4


def test_what_is_not_written_in_cpp_is_said() -> None:
    persistent = td({"x": tensor("int64", [2], 1)}) | {"kind": "persistent"}
    with pytest.raises(script_cpp.NotInCppError, match="persistent tensordicts"):
        script_cpp.program(case("persistent", [make("src", persistent)]))
    with pytest.raises(script_cpp.NotInCppError, match="no pipes"):
        script_cpp.program(PIPE)
    for op, peer in (("recv", "src"), ("gather_and_stack", "dst")):
        steps = [make("src", SRC), step(op, td="src", kept="got", **{peer: 0})]
        with pytest.raises(script_cpp.NotInCppError, match="kept as got is no tensordict"):
            script_cpp.program(case("kept", [*steps, step("snapshot", td="got")]))
