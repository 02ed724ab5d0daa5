# SPDX-License-Identifier: BSD-3-Clause
"""`bench compare`, of two builds whose programs answer from a formula and of two results."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tdconf.bench import compare, compare_results, findings, result
from tdconf.bench.catalogue import Benchmark
from tdconf.bench.findings import Finding
from tdconf.bench.result import Result
from tdconf.exits import Exit, TdconfError

from .bench_fakes import install, samples

_SEND, _REDUCE, _GATHER = Benchmark("send"), Benchmark("all_reduce"), Benchmark("all_gather")
_REFERENCE = ("reference",)


def builds(
    tmp_path: Path, before: Mapping[str, Any], after: Mapping[str, Any], inject: Sequence[str] = ()
) -> list[Finding]:
    for name, plan in (("before", before), ("after", after)):
        install(tmp_path / name, "reference", {"noise": 0.002} | dict(plan))
    options = compare.Options(
        base=tmp_path / "before",
        new=tmp_path / "after",
        columns=_REFERENCE,
        benchmarks=[_SEND, _REDUCE, _GATHER],
        repetitions=15,
        inject=inject,
    )
    compare.check(options)
    (tmp_path / "out").mkdir()
    return compare.compare(options, tmp_path / "out")


def verdicts(found: Sequence[Finding]) -> dict[str, str | None]:
    return {one.benchmark.operation: one.change and one.change.verdict for one in found}


def test_equal_builds_are_as_expected(tmp_path: Path) -> None:
    found = builds(tmp_path, {}, {})
    assert verdicts(found) == {"send": "same", "all_reduce": "same", "all_gather": "same"}
    assert findings.code_of(found) == Exit.AS_EXPECTED


def test_what_became_slower_is_named_alone(tmp_path: Path) -> None:
    found = builds(tmp_path, {}, {}, inject=["all_reduce=0.05"])
    assert verdicts(found) == {"send": "same", "all_reduce": "slower", "all_gather": "same"}
    assert findings.code_of(found) == Exit.SLOWER
    (line,) = [one for one in findings.text(found).splitlines() if one.startswith("slower: ")]
    assert line.startswith("slower: reference all_reduce (1000 x 1 KiB): +")


def test_what_became_faster_is_listed_and_changes_nothing(tmp_path: Path) -> None:
    found = builds(tmp_path, {}, {"seconds": {"send": 0.0008}})
    assert verdicts(found) == {"send": "faster", "all_reduce": "same", "all_gather": "same"}
    assert findings.code_of(found) == Exit.AS_EXPECTED
    assert "faster: reference send (1000 x 1 KiB): -" in findings.text(found)


def test_one_message_more_is_a_regression(tmp_path: Path) -> None:
    found = builds(tmp_path, {}, {"counts": {"send": {"messages": 3}}})
    assert set(verdicts(found).values()) == {"same"}
    assert findings.code_of(found) == Exit.SLOWER
    # Two ranks count 2 each before, and 3 each after.
    line = "counts more: reference send (1000 x 1 KiB): messages 4 -> 6"
    assert line in findings.text(found).splitlines()


def test_fewer_allocations_are_none(tmp_path: Path) -> None:
    found = builds(tmp_path, {}, {"counts": {"send": {"allocations": 1}}})
    assert findings.code_of(found) == Exit.AS_EXPECTED


def test_rounds_without_times_are_no_verdict(tmp_path: Path) -> None:
    found = builds(tmp_path, {}, {"void": "send"})
    assert verdicts(found)["send"] is None
    assert findings.code_of(found) == Exit.NO_VERDICT
    line = "no verdict: reference send (1000 x 1 KiB): 0 of at least 9 rounds"
    assert line in findings.text(found)


def test_a_second_set_of_processes_of_a_tells_the_noise(tmp_path: Path) -> None:
    builds(tmp_path, {}, {})
    document = json.loads((tmp_path / "out" / "compare.json").read_text())
    entries = document["benchmarks"]
    rounds = {(e["build"], e["name"], e["repetition_index"]) for e in entries}
    assert len(entries) == len(rounds) == 3 * 3 * 15
    assert {e["start"] for e in entries} == set(range(compare.MOST_STARTS))
    started = list((tmp_path / "out" / "ranks").glob("reference-2/start-*/*/store/pid-0"))
    assert len(started) == 3 * compare.MOST_STARTS
    assert [one["name"] for one in document["changes"]] == [
        one.name for one in (_SEND, _REDUCE, _GATHER)
    ]


def test_too_few_rounds_to_show_anything_are_refused(tmp_path: Path) -> None:
    # 9 rounds give p = 1 / 512 at best: enough for 5 benchmarks at 1 %, not for 6.
    assert compare.least_repetitions(5) == 9
    assert compare.least_repetitions(6) == 10
    install(tmp_path, "reference", {})
    options = compare.Options(tmp_path, tmp_path, _REFERENCE, [_SEND], 8, ())
    with pytest.raises(TdconfError, match="--repetitions 8: that few can show nothing") as refused:
        compare.check(options)
    assert refused.value.code == Exit.USAGE


def test_a_folder_without_the_program_is_refused(tmp_path: Path) -> None:
    options = compare.Options(tmp_path, tmp_path, _REFERENCE, [_SEND], 15, ())
    with pytest.raises(TdconfError, match="has no program tdconf_bench_reference; looked for"):
        compare.check(options)


def measured(
    factor: float = 1.0, *, floor: float = 1.0, rounds: int = 9, cpu: str = "one"
) -> Result:
    """Makes a result whose times grow by a thousandth from round to round."""
    times = [1000 + number for number in range(rounds)]
    return Result(
        {"host_class": {"cpu": cpu}},
        [
            *samples("floor", _SEND, [floor * time for time in times]),
            *samples("reference", _SEND, [factor * time for time in times]),
        ],
    )


def results(before: Result, after: Result) -> list[Finding]:
    return compare_results.compare(before, after, _REFERENCE, before.benchmarks)


@pytest.mark.parametrize(
    ("factor", "floor", "verdict"),
    [
        (1.0, 1.0, "same"),
        (1.1, 1.0, "slower"),
        (0.9, 1.0, "faster"),
        # The machine itself became slower by 6 %: less than twice that says nothing.
        (1.1, 1.06, "same"),
        (1.2, 1.06, "slower"),
    ],
)
def test_results_are_compared_beyond_what_the_floor_moved(
    factor: float, floor: float, verdict: str
) -> None:
    assert verdicts(results(measured(), measured(factor, floor=floor))) == {"send": verdict}


def test_results_of_different_machines_are_not_compared() -> None:
    with pytest.raises(TdconfError, match="different machines") as refused:
        results(measured(), measured(cpu="another"))
    assert refused.value.code == Exit.NO_VERDICT


@pytest.mark.parametrize("after", [measured(rounds=8), Result({"host_class": {"cpu": "one"}}, [])])
def test_few_or_no_samples_are_no_verdict(after: Result) -> None:
    found = results(measured(), after)
    assert findings.code_of(found) == Exit.NO_VERDICT
    assert "no verdict: reference send (1000 x 1 KiB): 9 and " in findings.text(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", 'it has no "context"'),
        ('{"context": {}}', 'it has no "benchmarks"'),
        ('{"context": {}, "benchmarks": [{}]}', 'benchmark 0: "name" is missing or no str'),
        (
            '{"context": {}, "benchmarks": [{"name": "x", "column": "floor", '
            '"repetition_index": 0}]}',
            "benchmark 0: x is no name of ours",
        ),
    ],
)
def test_a_file_that_is_no_result_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "bench.json"
    file.write_text(text)
    with pytest.raises(TdconfError, match=said) as refused:
        result.read(tmp_path)
    assert refused.value.code == Exit.USAGE
