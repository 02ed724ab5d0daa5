# SPDX-License-Identifier: BSD-3-Clause
"""`bench run` against programs that answer from a formula."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tdconf.bench import result, run, session
from tdconf.bench.catalogue import Benchmark
from tdconf.bench.session import Lane, Pace
from tdconf.bench.targets import Target
from tdconf.exits import Exit, TdconfError

from .bench_fakes import install

_SEND, _REDUCE = Benchmark("send"), Benchmark("all_reduce")
_SECONDS = {"floor": 0.010, "reference": 0.011, "tensordict": 0.055}


def options(
    tmp_path: Path, plans: Mapping[str, Mapping[str, Any]] | None = None, **changes: object
) -> run.Options:
    lanes = []
    for column, seconds in _SECONDS.items():
        plan = {"seconds": {"send": seconds}} | dict((plans or {}).get(column, {}))
        program = install(tmp_path / column, column, plan)
        lanes.append(Lane(column, program, {"column": column}))
    out = tmp_path / "out"
    out.mkdir(exist_ok=True)
    given = {
        "benchmarks": [_SEND],
        "targets": {_SEND: Target(1.15, 4.0)},
        "lanes": lanes,
        "repetitions": 3,
        "slow_repetitions": 2,
        "out": out,
        "check_targets": False,
    }
    return run.Options(**(given | changes))  # type: ignore[arg-type]


def test_ratios_and_targets_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.run(options(tmp_path)) == Exit.AS_EXPECTED
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].split() == [
        *("send", "1000", "x", "1", "KiB", "10000.0", "us"),
        *("1.10", "(<=", "1.15)", "5.00", "(>=", "4)", "yes"),
    ]
    assert printed[2] == "1 of 1 targets held"
    assert printed[3].startswith("tdconf: exit 0, everything as expected; results in ")


@pytest.mark.parametrize(("check", "code"), [(False, 0), (True, 5)])
def test_a_missed_target_counts_only_where_it_is_asked_for(
    tmp_path: Path, check: bool, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = {_SEND: Target(1.05, 4.0)}
    assert run.run(options(tmp_path, targets=targets, check_targets=check)) == code
    assert "0 of 1 targets held" in capsys.readouterr().out


def test_the_file_has_every_sample_and_counts_once(tmp_path: Path) -> None:
    run.run(options(tmp_path))
    document = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert document["context"]["host_class"] == result.host_class()
    assert document["context"]["versions"]["floor"] == {"tdconf": "1"}
    entries = document["benchmarks"]
    assert sorted((e["column"], e["repetition_index"]) for e in entries) == sorted(
        (column, number) for column in _SECONDS for number in range(3)
    )
    assert {e["name"] for e in entries} == {_SEND.name}
    # Both ranks count alike.
    counts = {"messages": 4, "wire_bytes": 2000, "copied_bytes": 1000, "allocations": 6}
    assert [e["counts"] for e in entries if "counts" in e] == [counts] * 3
    assert result.read(tmp_path / "out").samples == entries
    page = (tmp_path / "out" / "report.html").read_text()
    assert "1.10 (&lt;= 1.15)" in page
    assert "data:image/png;base64," in page


def test_columns_take_turns_in_another_order_every_round(tmp_path: Path) -> None:
    run.run(options(tmp_path, benchmarks=[_SEND, _REDUCE]))
    entries = json.loads((tmp_path / "out" / "bench.json").read_text())["benchmarks"]
    order = [e["column"][0] for e in entries]
    rounds = ["".join(order[i : i + 3]) for i in range(0, len(order), 3)]
    assert rounds == ["frt", "rtf", "rtf", "tfr", "tfr", "frt"]


def test_a_request_lasts_as_long_as_it_should() -> None:
    pace = Pace(iteration_s=0.005, request_s=0.040)
    assert session.length(0.001, pace) == {"iterations": 8, "batch": 5}
    assert session.length(0.010, pace) == {"iterations": 4, "batch": 1}
    assert session.length(3.0, pace) == {"iterations": 1, "batch": 1}
    assert session.length(0.000001, pace) == {"iterations": 8, "batch": 5000}


def test_what_is_slow_is_timed_a_few_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SLOW_S", 0.0)
    assert run.run(options(tmp_path, repetitions=9)) == Exit.AS_EXPECTED
    assert len(result.read(tmp_path / "out").samples) == 3 * 2


def test_a_benchmark_without_a_time_is_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.run(options(tmp_path, {"reference": {"void": "send"}})) == Exit.NO_VERDICT
    assert f"reference: {_SEND.name} has 0 times of 3" in capsys.readouterr().err


def test_a_rank_that_dies_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(TdconfError, match="reference, 2 ranks: rank 1: was ended by") as failed:
        run.run(options(tmp_path, {"reference": {"dies": "send"}}))
    assert failed.value.code == Exit.UNEXPECTED
    assert not (tmp_path / "out" / "bench.json").exists()


def test_every_world_has_ranks_of_its_own(tmp_path: Path) -> None:
    wide = Benchmark("broadcast", world=4)
    assert run.run(options(tmp_path, benchmarks=[_SEND, wide], targets={})) == Exit.AS_EXPECTED
    ranks = tmp_path / "out" / "ranks"
    assert len(list(ranks.glob("world-2/*/store/pid-*"))) == 3 * 2
    assert len(list(ranks.glob("world-4/*/store/pid-*"))) == 3 * 4
    names = {sample["name"] for sample in result.read(tmp_path / "out").samples}
    assert names == {_SEND.name, wide.name}
