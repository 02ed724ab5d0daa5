# SPDX-License-Identifier: BSD-3-Clause
"""The runner survives adapters that die, hang or break the protocol, and says which rank it was."""

import signal
import subprocess
from pathlib import Path

import pytest

from .processes import is_running
from .runner import Harness, Run, read_lines, runner_command, scripted

DEADLINE_S = 1
# Far more than an interrupted runner needs to end its ranks.
INTERRUPTED_S = 60

CASES = """
id: harness/{name}
clauses: [harness.clause]
level: must
says: rank {sender} sends and rank {receiver} receives
world: 2{deadline}
values:
  {value}:
    batch_size: [2]
    entries: [[a, {{dtype: uint8, shape: [2], fill: {{const: 0}}}}]]
ranks:
  {sender}:
    - make: {value}
    - send: {{td: {value}, dst: {receiver}}}
      expect: {{returns: none}}
  {receiver}:
    - make: {{value: {value}, name: other}}
    - recv: {{td: other, src: {sender}}}
"""

# Verdict and exit status of the runner, by fault.
CRASH, HANG, FAIL, ERROR = ("crash", 1), ("hang", 1), ("fail", 1), ("error", 4)
IN_A_STEP = {
    "killed_in_step": CRASH,
    "exits_in_step": CRASH,
    "stopped_in_step": HANG,
    "never_answers": HANG,
    "raises": FAIL,
    "returns_int": FAIL,
    "refuses_what_it_claims": FAIL,
    "answers_error": ERROR,
    "repeats_old_seq": ERROR,
    "writes_garbage": ERROR,
    "has_unknown_field": ERROR,
    "has_unknown_type": ERROR,
}


SHORT_DEADLINE = f"""
deadline_s: {DEADLINE_S}
slow: a test waits until it has passed"""


def harness_with_cases(folder: Path, sender: int, deadline: str = "") -> Harness:
    """One case that the fault is about, between two that are not."""
    harness = Harness(folder)
    for name, value in (("a_before", "src"), ("b_fault", "trigger"), ("c_after", "src")):
        text = CASES.format(
            name=name,
            value=value,
            sender=sender,
            receiver=1 - sender,
            deadline=deadline if value == "trigger" else "",
        )
        harness.write(f"fixtures/{name}.yaml", text)
    return harness


def assert_nothing_left(harness: Harness) -> None:
    assert harness.pids(), "the adapters never ran"
    assert [pid for pid in harness.pids() if is_running(pid)] == []


def findings(run: Run) -> str:
    return "\n".join(map(str, run.cases["harness/b_fault"]["findings"]))


def test_a_faultless_script_passes(tmp_path: Path) -> None:
    harness = harness_with_cases(tmp_path, sender=0)
    run = harness.run(scripted("none"))
    assert set(run.verdicts().values()) == {"pass"}, run
    assert run.status == 0
    assert_nothing_left(harness)


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("fault", IN_A_STEP)
def test_a_fault_in_a_step_is_the_verdict_of_its_case_alone(
    tmp_path: Path, fault: str, rank: int
) -> None:
    verdict, status = IN_A_STEP[fault]
    harness = harness_with_cases(tmp_path, rank, SHORT_DEADLINE if verdict == "hang" else "")
    run = harness.run(scripted(fault, rank))
    assert run.verdicts() == {
        "harness/a_before": "pass",
        "harness/b_fault": verdict,
        "harness/c_after": "pass",
    }, run
    assert run.status == status, run
    assert f"rank {rank}" in findings(run)
    assert_nothing_left(harness)


@pytest.mark.parametrize("fault", ["stopped_in_step", "never_answers"])
def test_a_hang_is_found_at_the_deadline_of_its_case(tmp_path: Path, fault: str) -> None:
    run = harness_with_cases(tmp_path, 0, SHORT_DEADLINE).run(scripted(fault))
    assert run.cases["harness/b_fault"]["ms"] >= 1000 * DEADLINE_S
    assert f"no answer within {1000 * DEADLINE_S} ms" in findings(run)


def test_the_stacks_of_a_stopped_rank_are_shown(tmp_path: Path) -> None:
    run = harness_with_cases(tmp_path, 0, SHORT_DEADLINE).run(scripted("stopped_in_step"))
    assert "stop_self (scripted.py" in run.cases["harness/b_fault"]["stacks"]["0"]


@pytest.mark.parametrize("fault", ["accepts_unknown_op", "never_connects", "exits_before_hello"])
def test_without_a_usable_adapter_there_is_no_verdict(tmp_path: Path, fault: str) -> None:
    harness = harness_with_cases(tmp_path, sender=0)
    run = harness.run(scripted(fault), "--start-limit", "1.5")
    assert set(run.verdicts().values()) <= {"error", "not_run"}, run
    assert len(run.cases) == 3
    assert run.status == 4, run
    assert_nothing_left(harness)


def test_an_adapter_that_dies_after_bye_is_reported(tmp_path: Path) -> None:
    harness = harness_with_cases(tmp_path, sender=0)
    run = harness.run(scripted("dies_after_bye"))
    assert run.status == 1, run
    assert "SIGABRT" in run.stderr
    assert_nothing_left(harness)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_says_how_far_it_came(tmp_path: Path, stop: signal.Signals) -> None:
    harness = harness_with_cases(tmp_path, sender=0)
    options = [*harness.cases(), "--expectations", "none"]
    runner = subprocess.Popen(
        runner_command(harness.out, scripted("never_answers"), options),
        env=harness.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert runner.stdout is not None
    for line in runner.stdout:
        if line.startswith("[ RUN") and "b_fault" in line:
            break
    runner.send_signal(stop)
    said, complaints = runner.communicate(timeout=INTERRUPTED_S)
    assert runner.returncode == 130
    how_far = "interrupted: 1 of 3 cases ran and have a verdict, 2 did not run to their end\n"
    assert complaints == how_far
    assert "[  PASSED  ] 1 test." in said
    assert "[  SKIPPED ] harness.c_after" in said
    *_, footer = read_lines(harness.out / "results.jsonl")
    assert (footer["type"], footer["complete"], footer["exit"]) == ("footer", False, 130)
    assert not any(is_running(pid) for pid in harness.pids())
