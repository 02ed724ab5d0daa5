# SPDX-License-Identifier: BSD-3-Clause
"""Reading and merging what runners wrote: whatever is missing never counts as success."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tdconf import display
from tdconf.exits import Exit
from tdconf.results import INTERRUPTED, Part, column, merge, write

Line = dict[str, Any]
MakeCase = Callable[..., Line]


def ended(path: Path, lines: list[Line], status: int = 0, cut: int = 0) -> Part:
    """A part whose runner wrote `lines`, without the last `cut` bytes, and ended with `status`."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path.write_text(text[: len(text) - cut])
    part = Part(path)
    list(part.read_on())
    part.status = status
    return part


def header(selected: int) -> Line:
    return {"type": "header", "selected": selected}


def footer(exit_code: int = 0, complete: bool = True, **counts: int) -> Line:
    footer = {"type": "footer", "counts": counts, "complete": complete, "exit": exit_code}
    return footer | {"stale": [], "complaints": [], "adapters": {}}


def test_a_whole_file_has_no_problem(tmp_path: Path, case: MakeCase) -> None:
    lines = [header(2), case("a"), case("b"), footer(**{"pass": 2})]
    part = ended(tmp_path / "results.jsonl", lines)
    assert part.problems() == []
    assert part.code() == Exit.AS_EXPECTED


def test_reading_on_yields_each_case_once_and_waits_for_the_end_of_a_line(
    tmp_path: Path, case: MakeCase
) -> None:
    path = tmp_path / "results.jsonl"
    part = Part(path)
    assert list(part.read_on()) == []
    first, second = json.dumps(case("a")), json.dumps(case("b"))
    path.write_text(f"{json.dumps(header(2))}\n{first}\n{second[:10]}")
    assert [line["case"] for line in part.read_on()] == ["a"]
    assert list(part.read_on()) == []
    with path.open("a") as sink:
        sink.write(f"{second[10:]}\n")
    assert [line["case"] for line in part.read_on()] == ["b"]


@pytest.mark.parametrize(
    ("status", "code"),
    [(0, Exit.INTERNAL), (1, Exit.INTERNAL), (-11, Exit.INTERNAL), (4, Exit.NO_VERDICT)],
)
def test_a_missing_footer_is_never_success(
    tmp_path: Path, case: MakeCase, status: int, code: Exit
) -> None:
    part = ended(tmp_path / "results.jsonl", [header(1), case("a")], status)
    assert part.problems() == [
        f"{part.path}: no footer, the runner ended with {status}",
    ]
    assert part.code() == code


def test_a_file_cut_inside_its_footer_is_an_internal_error(tmp_path: Path, case: MakeCase) -> None:
    lines = [header(1), case("a"), footer(**{"pass": 1})]
    part = ended(tmp_path / "results.jsonl", lines, cut=5)
    assert f"{part.path}: the last line is cut off" in part.problems()
    assert part.code() == Exit.INTERNAL


def test_no_file_at_all_is_an_internal_error(tmp_path: Path) -> None:
    part = Part(tmp_path / "results.jsonl")
    part.status = 0
    assert part.code() == Exit.INTERNAL


def test_fewer_cases_than_selected_never_count_as_complete(tmp_path: Path, case: MakeCase) -> None:
    part = ended(tmp_path / "results.jsonl", [header(2), case("a"), footer(**{"pass": 1})])
    assert part.problems() == [f"{part.path}: 1 cases of 2 have a result"]
    assert part.code() == Exit.INTERNAL


def test_a_footer_that_calls_itself_incomplete_is_no_full_verdict(
    tmp_path: Path, case: MakeCase
) -> None:
    lines = [header(1), case("a"), footer(complete=False, **{"pass": 1})]
    assert ended(tmp_path / "results.jsonl", lines).code() == Exit.NO_VERDICT


def test_a_footer_that_counts_other_cases_is_an_internal_error(
    tmp_path: Path, case: MakeCase
) -> None:
    part = ended(tmp_path / "results.jsonl", [header(1), case("a"), footer(fail=1)])
    assert part.problems() == [f"{part.path}: the footer counts other cases than the file holds"]
    assert part.code() == Exit.INTERNAL


def test_a_status_that_differs_from_the_footer_is_an_internal_error(
    tmp_path: Path, case: MakeCase
) -> None:
    part = ended(tmp_path / "results.jsonl", [header(1), case("a"), footer(**{"pass": 1})], 3)
    assert part.problems() == [f"{part.path}: the footer says exit 0, the runner ended with 3"]
    assert part.code() == Exit.INTERNAL


def test_exit_0_beside_an_unexpected_failure_is_an_internal_error(
    tmp_path: Path, case: MakeCase
) -> None:
    lines = [header(1), case("a", verdict="fail", expected=False), footer(fail=1)]
    assert ended(tmp_path / "results.jsonl", lines).code() == Exit.INTERNAL


def test_a_line_that_is_no_json_is_an_internal_error(tmp_path: Path, case: MakeCase) -> None:
    path = tmp_path / "results.jsonl"
    lines = [header(1), case("a"), footer(**{"pass": 1})]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "Segmentation fault\n")
    part = Part(path)
    list(part.read_on())
    part.status = 0
    assert part.problems() == [f"{path}: not a line of results: b'Segmentation fault'"]
    assert part.code() == Exit.INTERNAL


def test_a_stopped_part_is_no_full_verdict(tmp_path: Path, case: MakeCase) -> None:
    part = ended(tmp_path / "results.jsonl", [header(9), case("a")], -15)
    part.stopped = "silence for 300 s"
    assert part.problems() == [f"{part.path}: 1 cases, then silence for 300 s"]
    assert part.code() == Exit.NO_VERDICT


def test_an_interrupted_part_says_so_whatever_it_holds(tmp_path: Path, case: MakeCase) -> None:
    bad = case("a", verdict="fail", expected=False)
    parts = [
        ended(tmp_path / "1", [header(9), bad], -15),
        ended(tmp_path / "2", [header(1), case("b"), footer(**{"pass": 1})]),
    ]
    parts[0].stopped = INTERRUPTED
    write(merge("reference", parts, seconds=1.0), parts, tmp_path / "merged.jsonl")
    last = json.loads((tmp_path / "merged.jsonl").read_text().splitlines()[-1])
    assert (last["complete"], last["exit"]) == (False, Exit.INTERRUPTED)


@pytest.mark.parametrize(
    ("verdict", "expected", "name"),
    [
        ("pass", True, "pass"),
        ("pass", False, "unexpected"),
        ("fail", True, "expected"),
        ("hang", True, "expected"),
        ("crash", False, "unexpected"),
        ("unsupported", True, "expected"),
        ("unsupported", False, "unsupported"),
        ("error", False, "no verdict"),
        ("not_run", False, "no verdict"),
    ],
)
def test_every_case_has_one_column(case: MakeCase, verdict: str, expected: bool, name: str) -> None:
    assert column(case("a", verdict=verdict, expected=expected)) == name


def test_merging_takes_the_worst_code_and_every_case_in_order(
    tmp_path: Path, case: MakeCase
) -> None:
    bad = case("b", verdict="fail", expected=False)
    listed = case("a", verdict="hang", expected=True)
    parts = [
        ended(tmp_path / "1", [header(1), bad, footer(1, fail=1)], 1),
        ended(tmp_path / "2", [header(2), case("c"), listed, footer(3, hang=1, **{"pass": 1})], 3),
    ]
    outcome = merge("reference", parts, seconds=1.0)
    assert outcome.code == Exit.UNEXPECTED
    assert [line["case"] for line in outcome.cases] == ["a", "b", "c"]
    assert outcome.counts == {
        "pass": 1,
        "expected": 1,
        "unexpected": 1,
        "unsupported": 0,
        "no verdict": 0,
    }
    assert sum(outcome.counts.values()) == len(outcome.cases)


def test_a_case_in_two_parts_is_an_internal_error(tmp_path: Path, case: MakeCase) -> None:
    lines = [header(1), case("a"), footer(**{"pass": 1})]
    parts = [ended(tmp_path / name, lines) for name in ("1", "2")]
    outcome = merge("reference", parts, seconds=1.0)
    assert outcome.problems == ["reference: 1 cases have more than one result: a"]
    assert outcome.code == Exit.INTERNAL


def test_the_merged_file_reads_like_the_file_of_one_runner(tmp_path: Path, case: MakeCase) -> None:
    parts = [
        ended(tmp_path / name, [header(1), case(name), footer(**{"pass": 1})]) for name in "ab"
    ]
    outcome = merge("reference", parts, seconds=1.0)
    write(outcome, parts, tmp_path / "merged.jsonl")
    merged = Part(tmp_path / "merged.jsonl")
    assert [line["case"] for line in merged.read_on()] == ["a", "b"]
    merged.status = 0
    assert merged.selected == 2
    assert merged.problems() == []


def test_the_merged_file_of_a_broken_run_says_that_it_is_incomplete(
    tmp_path: Path, case: MakeCase
) -> None:
    parts = [ended(tmp_path / "1", [header(2), case("a")], -9)]
    write(merge("reference", parts, seconds=1.0), parts, tmp_path / "merged.jsonl")
    last = json.loads((tmp_path / "merged.jsonl").read_text().splitlines()[-1])
    assert last == footer(70, complete=False, **{"pass": 1})


def test_what_runners_remark_beside_the_cases_is_kept(tmp_path: Path, case: MakeCase) -> None:
    told = {"name": "tdref", "version": "0.1.0"}
    last = footer(3, **{"pass": 1}) | {"stale": ["old/**"], "adapters": {"reference": told}}
    parts = [
        ended(tmp_path / "1", [header(1), case("a"), last], 3),
        ended(tmp_path / "2", [header(0), footer() | {"complaints": ["rank 1 left a file"]}]),
    ]
    outcome = merge("reference", parts, seconds=1.0)
    assert outcome.remarks == [
        "reference: rank 1 left a file",
        "reference: the expectation of old/** matches no case any more",
    ]
    write(outcome, parts, tmp_path / "merged.jsonl")
    merged = json.loads((tmp_path / "merged.jsonl").read_text().splitlines()[-1])
    assert merged["stale"] == ["old/**"]
    assert merged["complaints"] == ["rank 1 left a file"]
    assert merged["adapters"] == {"reference": told}


def test_what_an_implementation_said_cannot_steer_the_terminal() -> None:
    assert display.plain("a\x1b[2Jb\x00\tü\nc") == "a\\x1b[2Jb\\x00\tü\nc"


def test_an_endless_line_is_cut() -> None:
    shown = display.plain("x" * 3000)
    assert shown == "x" * 2000 + "... and 1000 more, in results.jsonl"
