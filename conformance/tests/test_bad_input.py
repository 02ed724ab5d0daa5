# SPDX-License-Identifier: BSD-3-Clause
"""Input that cannot be meant ends the runner with status 2 and a message that helps."""

from pathlib import Path

import pytest

from .runner import Harness, Run, scripted

CASE = """
id: harness/case
clauses: [harness.clause]
level: must
says: rank 0 makes a value
world: 1
values:
  src: {batch_size: [2], entries: [[a, {dtype: uint8, shape: [2], fill: {const: 0}}]]}
ranks:
  0:
    - make: src
"""


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    harness = Harness(tmp_path)
    harness.write("fixtures/case.yaml", CASE)
    return harness


def refused(harness: Harness, *options: str, expectations: str = "none") -> str:
    """Returns what the runner says when it refuses; it must do so before it starts an adapter."""
    run: Run = harness.run(scripted("none"), *options, expectations=expectations)
    assert run.status == 2, run
    assert run.cases == {}
    assert not harness.pids_file.exists()
    return run.stderr


def test_the_case_of_these_tests_is_good(harness: Harness) -> None:
    run = harness.run(scripted("none"))
    assert (run.status, run.verdicts()) == (0, {"harness/case": "pass"}), run


@pytest.mark.parametrize(
    "options",
    [
        ("--run", "harness/other"),
        ("--run", "harness/cas"),
        ("--clause", "harness.other"),
        ("--level", "compat"),
        ("--axis", "init_tag=1"),
        ("--run", "harness/case", "--run", "harness/typo"),
    ],
)
def test_a_filter_that_matches_nothing(harness: Harness, options: tuple[str, ...]) -> None:
    assert options[-1] in refused(harness, *options)


def test_a_filter_of_googletest_that_matches_nothing(harness: Harness) -> None:
    assert "harness.typo" in refused(harness, "--gtest_filter=harness.typo")


def test_filters_that_leave_nothing(harness: Harness) -> None:
    assert "no case" in refused(harness, "--skip", "**")
    assert "no case" in refused(harness, "--run", "harness/*", "--skip", "harness/case")


@pytest.mark.parametrize(
    ("line", "replacement", "said"),
    [
        (4, "level: must\nlevels: 1", ["levels", "level", "world"]),
        (4, "", ["`level` is missing"]),
        (4, "level: maybe", ["maybe", "must", "sound", "compat", "observe"]),
        (11, "    - mkae: src", ["mkae", "make", "gather_and_stack"]),
        (11, "    - make: other", ["other", "src"]),
        (11, "    - wait: works", ["works"]),
        (3, "clauses: [harness.other]", ["harness.other"]),
        (11, "    - make: src\n      expect: {equal: src}", ["equal", "equals", "in_place"]),
        (6, "world: two", ["two"]),
    ],
)
def test_a_mistake_in_a_case_is_shown_with_what_is_allowed(
    harness: Harness, line: int, replacement: str, said: list[str]
) -> None:
    lines = CASE.splitlines()
    lines[line - 1] = replacement
    path = harness.write("fixtures/case.yaml", "\n".join(lines) + "\n")
    message = refused(harness)
    assert f"{path}:" in message
    for text in said:
        assert text in message


def test_a_mistake_is_shown_with_its_line(harness: Harness) -> None:
    path = harness.write("fixtures/case.yaml", CASE.replace("- make: src", "- mkae: src"))
    assert f"{path}:11:" in refused(harness)


def test_an_id_that_is_used_twice(harness: Harness) -> None:
    harness.write("fixtures/same.yaml", CASE)
    message = refused(harness)
    assert "harness/case" in message
    for name in ("case.yaml", "same.yaml"):
        assert f"{harness.fixtures / name}:" in message


def test_a_folder_without_a_case(harness: Harness) -> None:
    (harness.fixtures / "case.yaml").unlink()
    assert str(harness.fixtures) in refused(harness)


def test_a_file_that_is_no_yaml(harness: Harness) -> None:
    path = harness.write("fixtures/case.yaml", CASE + "  [\n")
    assert str(path) in refused(harness)


def test_an_unknown_option(harness: Harness) -> None:
    assert "--retries" in refused(harness, "--retries", "3")


def test_an_expectations_file_that_does_not_exist(harness: Harness) -> None:
    assert "no_such.yaml" in refused(harness, expectations="no_such.yaml")
