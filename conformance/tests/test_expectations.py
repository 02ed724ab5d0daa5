# SPDX-License-Identifier: BSD-3-Clause
"""Known differences are data: what is listed is expected, and a list that lies is a finding."""

from pathlib import Path

import pytest

from .runner import Harness, Run, scripted
from .test_faults import harness_with_cases

RETURNS_INT = "expected none got 5"


def entry(
    match: str = "harness/b_fault", status: str = "fail", signature: str = RETURNS_INT
) -> str:
    return (
        f"- {{match: {match!r}, status: {status}, signature: {signature!r}, reason: by design}}\n"
    )


def judged(folder: Path, fault: str, *entries: str) -> Run:
    """Judges a script with one fault against these entries."""
    harness: Harness = harness_with_cases(folder, sender=0)
    path = harness.write("expectations.yaml", "".join(entries))
    return harness.run(scripted(fault), expectations=str(path))


def test_a_listed_difference_is_expected(tmp_path: Path) -> None:
    run = judged(tmp_path, "returns_int", entry())
    assert (run.status, run.cases["harness/b_fault"]["verdict"]) == (0, "fail"), run
    assert run.cases["harness/b_fault"]["expected"] is True


def test_an_unlisted_difference_is_not(tmp_path: Path) -> None:
    run = judged(tmp_path, "returns_int")
    assert (run.status, run.cases["harness/b_fault"]["expected"]) == (1, False), run


@pytest.mark.parametrize(
    ("fault", "entries", "said"),
    [
        pytest.param("returns_int", entry(signature="got 6"), "got 6", id="signature"),
        pytest.param("none", entry(), "harness/b_fault", id="unexpected-pass"),
        pytest.param("returns_int", entry() + entry("harness/gone"), "harness/gone", id="stale"),
        pytest.param("returns_int", entry(status="crash"), "harness/b_fault", id="milder"),
    ],
)
def test_a_list_that_is_no_longer_true(tmp_path: Path, fault: str, entries: str, said: str) -> None:
    run = judged(tmp_path, fault, entries)
    assert run.status == 3, run
    assert said in run.stderr + str(run.cases["harness/b_fault"])


def test_a_crash_is_worse_than_a_listed_failure(tmp_path: Path) -> None:
    run = judged(tmp_path, "killed_in_step", entry())
    assert (run.status, run.cases["harness/b_fault"]["verdict"]) == (1, "crash"), run


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (entry() + entry("harness/*"), "second entry for harness/b_fault"),
        (entry(status="flaky"), "fail, hang, crash, unsupported"),
        ("- {match: harness/b_fault, status: fail, signature: x}\n", "reason"),
        (entry().replace("}", ", since: 1}"), "since"),
    ],
)
def test_a_list_that_cannot_be_meant(tmp_path: Path, entries: str, said: str) -> None:
    run = judged(tmp_path, "none", entries)
    assert run.status == 2, run
    assert said in run.stderr
