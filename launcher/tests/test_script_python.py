# SPDX-License-Identifier: BSD-3-Clause
"""The Python programs of cases: each is run, and prints what the formulas of its values give."""

import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tdconf import script_python
from tdconf.build import linked_python
from tdconf.described import Case
from tdconf.layout import THIS_CHECKOUT, from_here

from .scripted_cases import (
    BARE_LEAVES,
    CASES,
    INIT,
    PIPE,
    RAISES,
    SRC,
    TAGS,
    case,
    expected,
    leaf,
    make,
    numbers,
    printed,
    step,
    td,
    tensor,
)

_DEADLINE_S = 600
# Imports what takes long once, then runs each program as if it had been typed.
_ALL_OF_THEM = """
import os, runpy, sys
import torch, tensordict
for path in sys.argv[1:]:
    if (child := os.fork()) == 0:
        with open(f"{path}.out", "w") as sink:
            os.dup2(sink.fileno(), 1)
        sys.argv = [path]
        runpy.run_path(path, run_name="__main__")
    with open(f"{path}.status", "w") as sink:
        sink.write(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
"""
Outputs = Mapping[str, str]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    folder = tmp_path_factory.mktemp("scripts")
    # Pipes are written in Python only.
    cases = (*CASES, PIPE)
    paths = [folder / f"{made['name']}.py" for made in cases]
    for made in cases:
        said = script_python.write(THIS_CHECKOUT, made, folder, made["name"])
        python = from_here(linked_python(THIS_CHECKOUT))
        assert said == f"{python} {folder / made['name']}.py"
    subprocess.run(
        [sys.executable, "-c", _ALL_OF_THEM, *map(str, paths)],
        check=True,
        timeout=_DEADLINE_S,
        stdin=subprocess.DEVNULL,
    )
    for path in paths:
        assert Path(f"{path}.status").read_text() == "0", Path(f"{path}.out").read_text()
    return {path.stem: Path(f"{path}.out").read_text() for path in paths}


@pytest.mark.parametrize("made", CASES, ids=lambda made: made["name"])
def test_every_step_of_every_rank_is_printed(made: Case, outputs: Outputs) -> None:
    for rank, program in enumerate(made["programs"]):
        for index, taken in enumerate(program):
            assert f"rank {rank} step {index + 1} {taken['op']}: " in outputs[made["name"]]


@pytest.mark.parametrize("made", CASES, ids=lambda made: made["name"])
def test_snapshots_hold_what_the_formulas_give(made: Case, outputs: Outputs) -> None:
    for rank, program in enumerate(made["programs"]):
        for index, taken in enumerate(program):
            if taken["op"] == "snapshot":
                wanted = expected(made, taken["expect"]["equals"])
                assert printed(outputs[made["name"]], rank, index + 1) == wanted


def test_a_tensordict_that_nobody_made_is_printed(outputs: Outputs) -> None:
    assert "rank 0 step 2 init_remote: returned None\n" in outputs["init"]
    assert "rank 1 step 1 from_remote_init: returned a tensordict\n" in outputs["init"]
    assert printed(outputs["init"], 1, 3) == expected(INIT, "src@0")


def test_what_came_through_a_pipe_is_printed(outputs: Outputs) -> None:
    assert "rank 0 step 2 open_pipe: opened\n" in outputs["pipe"]
    assert "rank 0 step 5 close_pipe: returned None\n" in outputs["pipe"]
    assert "rank 1 step 4 recv: returned a tensordict\n" in outputs["pipe"]
    assert printed(outputs["pipe"], 1, 5) == expected(PIPE, "src@0")


def test_what_is_needed_is_said_case_by_case() -> None:
    assert "It needs torch and tensordict, and nothing else;" in script_python.program(TAGS, "x")
    text = script_python.program(PIPE, "x")
    assert "It needs torch, tensordict and ucxx, and nothing else;" in text
    tree = {**SRC, "kind": "persistent"}
    first = {**TAGS["programs"][0][0], "args": {"name": "src", "tree": tree}}
    text = script_python.program({**TAGS, "programs": [[first], []]}, "x")
    assert "It needs torch, tensordict and h5py, and nothing else;" in text


def test_pipes_are_opened_in_time_and_closed_at_the_end() -> None:
    assert "PIPES" not in script_python.program(TAGS, "x")
    opening, closing = script_python.program(PIPE, "x").split('    ORDER.set(f"{rank} done"')
    assert "asyncio.wait_for(end, DEADLINE_S)" in opening
    assert "pipe.close()" in closing


def test_a_bare_receive_prints_the_leaf_with_its_tag(outputs: Outputs) -> None:
    for number, path in BARE_LEAVES.items():
        tree = leaf(SRC, *path)
        wanted = {"": (tree["dtype"], tree["shape"], numbers(tree))}
        assert printed(outputs[TAGS["name"]], 1, number) == wanted


def test_what_collective_operations_return_is_printed(outputs: Outputs) -> None:
    said = outputs["collectives"]
    assert "rank 0 step 2 all_gather: returned 2 tensordicts\n" in said
    assert "rank 1 step 5 broadcast: returned a tensordict\n" in said
    assert "rank 0 step 7 scatter: returned a tensordict\n" in said
    assert "rank 1 step 10 all_reduce: returned 2 works\n" in said
    assert "rank 0 step 14 reduce: returned None\n" in said
    # The second row of what rank 1 scattered to rank 0: its own value, from 11 on.
    row = {"x": ("float32", [1], [12.0]), "n.y": ("int32", [1, 2], [14, 15])}
    assert printed(said, 0, 9) == row


def test_a_tensorclass_may_be_called_as_something_that_the_program_uses(tmp_path: Path) -> None:
    for name in ("step", "os"):
        tree = td({"x": tensor("int64", [2], 1)}, [2], consolidated=True)
        tree |= {"kind": "tensorclass", "class": name}
        alone = case(name, [make("v", tree), step("snapshot", td="v")])
        script_python.write(THIS_CHECKOUT, alone, tmp_path, name)
        command = [sys.executable, str(tmp_path / f"{name}.py")]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_DEADLINE_S)
        made = "rank 0 step 1 make: made\nrank 0 step 2 snapshot: x int64 [2] [1, 2]\n"
        assert (ended.returncode, ended.stdout) == (0, made), ended.stderr


def test_pending_messages_of_the_probe_arrive(outputs: Outputs) -> None:
    wanted = {"": ("float64", [2], [1001.0, 1002.0])}
    assert printed(outputs["probe_sends"], 1, 4) == wanted


def test_what_an_operation_returns_is_printed(outputs: Outputs) -> None:
    assert "rank 1 step 2 recv: returned 8\n" in outputs["p2p"]
    assert "rank 0 step 2 send: returned None\n" in outputs["p2p"]
    assert "rank 0 step 2 isend: returned 4 works\n" in outputs["early"]
    assert "rank 0 step 2 gather_and_stack: returned a tensordict\n" in outputs["gather"]
    assert "rank 1 step 2 gather_and_stack: returned None\n" in outputs["gather"]


def test_an_error_is_printed_and_the_steps_go_on(outputs: Outputs) -> None:
    for rank, op in ((0, "send"), (1, "recv")):
        assert f"rank {rank} step 2 {op}: raised ValueError: " in outputs[RAISES["name"]]


def test_a_step_comes_after_those_that_it_names(outputs: Outputs) -> None:
    lines = outputs["after"].splitlines()
    assert lines.index("rank 1 step 3 make: made") < lines.index(
        "rank 0 step 3 send: returned None"
    )


def test_what_gather_and_stack_does_on_the_wire_is_printed(outputs: Outputs) -> None:
    # A float32[2] and an int32, 4 bytes each and padded to 8.
    assert (
        "rank 0 step 1 c10d_gather_buffers: returned headers [[0, 0, 0], [2, 16, "
        in (outputs["gather_probe"])
    )


def test_a_blocked_step_begins_before_the_one_that_it_waits_for() -> None:
    blocked = {**TAGS, "programs": [[dict(s) for s in program] for program in TAGS["programs"]]}
    blocked["programs"][0][1]["blocks"] = [1, 0]
    text = script_python.program(blocked, "x.py")
    first = (
        text.partition("def rank_1")[2].partition('step(1, "c10d_recv"')[2].partition("step(2")[0]
    )
    assert 'after=["0.2 begun"]' in first.replace("'", '"')


def test_names_of_values_never_hide_what_the_program_uses(tmp_path: Path) -> None:
    taken = ("step", "lambda", "torch", "ramp", "1st")
    hiding = {
        **TAGS,
        "programs": [
            [{**TAGS["programs"][0][0], "args": {"name": n, "tree": SRC}} for n in taken],
            [],
        ],
    }
    path = tmp_path / "names.py"
    path.write_text(script_python.program(hiding, path.name))
    made = runpy.run_path(str(path))["rank_0"].__code__.co_varnames
    assert made == ("step_value", "lambda_value", "torch_value", "ramp_value", "v1st")


def test_a_step_that_raises_where_it_must_return_is_seen_in_the_status(tmp_path: Path) -> None:
    programs = [[taken | {"expect": None} for taken in steps] for steps in RAISES["programs"]]
    script_python.write(THIS_CHECKOUT, RAISES | {"programs": programs}, tmp_path, "surprise")
    command = [sys.executable, str(tmp_path / "surprise.py")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_DEADLINE_S)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "rank 1 step 2 recv: raised ValueError: " in ended.stdout


def test_a_case_without_a_group_ends_like_any_other(tmp_path: Path) -> None:
    programs = [RAISES["programs"][0][:1]]
    alone = RAISES | {"name": "alone", "world": 1, "groups": [], "programs": programs}
    script_python.write(THIS_CHECKOUT, alone, tmp_path, "alone")
    command = [sys.executable, str(tmp_path / "alone.py")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_DEADLINE_S)
    assert (ended.returncode, ended.stdout) == (0, "rank 0 step 1 make: made\n"), ended.stderr


def test_where_nothing_counts_a_step_may_raise() -> None:
    text = script_python.program(RAISES | {"level": "observe"}, "file")
    assert "The status is 0 whatever the steps do, unless a rank hangs.\n" in text
    assert text.count("may=['return', 'raise'])") == 4


def test_the_driver_is_not_needed(tmp_path: Path) -> None:
    """One program run as it says itself, elsewhere and in a process group of its own."""
    script_python.write(THIS_CHECKOUT, RAISES, tmp_path, "alone")
    lines = (tmp_path / "alone.py").read_text().splitlines()
    program = subprocess.Popen(
        ["bash", "-c", f"exec {next(line for line in lines if line.startswith('    '))}"],
        cwd=tmp_path.parent,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = program.communicate(timeout=_DEADLINE_S)
    finally:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
    assert program.returncode == 0
    assert output.count("raised ValueError") == 2
