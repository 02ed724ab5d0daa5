# SPDX-License-Identifier: BSD-3-Clause
"""Lines and pictures of a result, and the history of several."""

import csv
import json
import math
from pathlib import Path

import pytest

from tdconf.bench import history, lines, plot
from tdconf.bench.catalogue import Benchmark
from tdconf.bench.result import Result
from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout

from .bench_fakes import samples

_PNG = b"\x89PNG\r\n\x1a\n"


def result_of(times: dict[tuple[str, Benchmark], float], date: str = "2026-11-30") -> Result:
    measured = [
        sample for (column, one), value in times.items() for sample in samples(column, one, [value])
    ]
    return Result({"date": f"{date}T13:00:00+01:00", "host_class": {}}, measured)


def by_size(operation: str, seconds: dict[int, float]) -> dict[tuple[str, Benchmark], float]:
    return {
        ("reference", Benchmark(operation, leaves=8, bytes=size)): value
        for size, value in seconds.items()
    }


def test_a_line_holds_everything_else_fixed() -> None:
    times = {("floor", Benchmark("send", leaves=count)): count * 1.0 for count in (1000, 1, 10)} | {
        ("floor", Benchmark("send", leaves=10, bytes=64)): 99.0,
        ("floor", Benchmark("isend")): 9.0,
    }
    (line,) = lines.along(times, "leaves", Benchmark("send"), ("isend", "send"))
    assert line == lines.Line("floor", "send", ((1, 1.0), (10, 10.0), (1000, 1000.0)))


def test_lines_cross_where_both_powers_are_equal() -> None:
    # 100 and x are equal at 100, which is no point of either line.
    flat = [(10, 100.0), (1000, 100.0)]
    rising = [(10, 10.0), (1000, 1000.0)]
    found = lines.crossover(flat, rising)
    assert found is not None
    assert math.isclose(found, 100.0)
    assert lines.crossover(rising, [(10, 20.0), (1000, 2000.0)]) is None
    assert lines.crossover([], []) is None


def test_every_picture_is_drawn_that_has_points(tmp_path: Path) -> None:
    times = by_size("send", {64: 10.0, 4096: 20.0}) | by_size(
        "send_consolidating", {64: 5.0, 4096: 40.0}
    )
    paths = plot.write(result_of(times), tmp_path)
    assert [path.name for path in paths] == ["consolidated_by_leaf_size.png"]
    assert paths[0].read_bytes().startswith(_PNG)
    axes: dict[tuple[str, Benchmark], float] = {
        (column, Benchmark("broadcast", leaves=leaves, world=world)): 10.0
        for column in ("floor", "reference")
        for leaves, world in ((1000, 2), (1000, 4), (10, 2))
    }
    assert set(plot.pictures(result_of(axes))) == {
        "cost_by_leaves",
        "cost_by_world",
        "ratio_to_floor",
    }


def test_a_result_of_one_point_has_nothing_to_draw(tmp_path: Path) -> None:
    with pytest.raises(TdconfError, match="nothing to draw") as refused:
        plot.write(result_of({("floor", Benchmark("send")): 1.0}), tmp_path)
    assert refused.value.code == Exit.USAGE


def test_a_history_grows_by_a_row_a_result(
    tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    file = tmp_path / "history.csv"
    one = ("reference", Benchmark("send"))
    for day, value in (("28", 10.0), ("29", 12.5)):
        found = result_of({one: value}, f"2026-11-{day}")
        assert history.append(layout, found, file, f"c{day}") == Exit.AS_EXPECTED
    metric = f"reference/{Benchmark('send').name}"
    assert list(csv.reader(file.open())) == [
        ["time", "commit", metric],
        ["2026-11-28T12:00:00+00:00", "c28", "10.000"],
        ["2026-11-29T12:00:00+00:00", "c29", "12.500"],
    ]
    config = json.loads((tmp_path / "history.otava.yaml").read_text())
    test = config["tests"]["tdconf"]
    assert test["file"] == str(file)
    assert test["metrics"] == {metric: {"column": metric, "direction": -1}}


def test_a_history_of_other_benchmarks_is_left_alone(tmp_path: Path, layout: Layout) -> None:
    file = tmp_path / "history.csv"
    history.append(layout, result_of({("floor", Benchmark("send")): 1.0}), file, "c")
    before = file.read_text()
    other = result_of({("floor", Benchmark("isend")): 1.0})
    with pytest.raises(TdconfError, match="has other benchmarks than the result"):
        history.append(layout, other, file, "c")
    assert file.read_text() == before


def test_the_changes_that_otava_finds_are_printed(
    tmp_path: Path, layout: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    change = {"metric": "reference/send", "forward_change_percent": "10"}
    answer = {"tdconf": [{"attributes": {"commit": "c20"}, "changes": [change]}]}
    otava = layout.root / ".venv-otava" / "bin" / "otava"
    otava.parent.mkdir(parents=True)
    otava.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    otava.chmod(0o755)
    found = result_of({("floor", Benchmark("send")): 1.0})
    history.append(layout, found, tmp_path / "history.csv", "c")
    assert "since c20: reference/send +10 %" in capsys.readouterr().out.splitlines()
