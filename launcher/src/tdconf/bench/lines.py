# SPDX-License-Identifier: BSD-3-Clause
"""Lines through the samples: the times along one axis, and where two lines cross."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from statistics import median

from tdconf.bench.catalogue import Benchmark
from tdconf.bench.result import Result
from tdconf.bench.samples import by_round

AXES = ("leaves", "bytes", "depth", "world")


@dataclass(frozen=True)
class Line:
    """The times of one operation in one column, by what changes."""

    column: str
    operation: str
    points: tuple[tuple[int, float], ...]


def medians(result: Result) -> dict[tuple[str, Benchmark], float]:
    """Returns the median time of every benchmark in every column, in seconds."""
    found = {}
    for column in result.columns:
        own = [sample for sample in result.samples if sample["column"] == column]
        names: dict[str, list] = {}
        for sample in own:
            names.setdefault(sample["name"], []).append(sample)
        for one in result.benchmarks:
            if times := by_round(names.get(one.name, []), column, one.name):
                found[column, one] = median(times.values())
    return found


def along(
    times: dict[tuple[str, Benchmark], float], axis: str, at: Benchmark, operations: Iterable[str]
) -> list[Line]:
    """Returns the lines along `axis` on which everything else is as in `at`; each has two points.

    They come by column, then in the order of `operations`.
    """
    wanted = tuple(operations)
    found: dict[tuple[str, str], dict[int, float]] = {}
    for column, one in times:
        if one.operation in wanted and on_line(one, axis, at):
            points = found.setdefault((column, one.operation), {})
            points[getattr(one, axis)] = times[column, one]
    return [
        Line(column, operation, tuple(sorted(points.items())))
        for (column, operation), points in sorted(
            found.items(), key=lambda item: wanted.index(item[0][1])
        )
        if len(points) > 1
    ]


def on_line(one: Benchmark, axis: str, at: Benchmark) -> bool:
    """Says whether `one` differs from `at` in its operation and its place on the axis only."""
    moved = replace(at, operation=one.operation, **{axis: getattr(one, axis)})
    return all(getattr(one, f.name) == getattr(moved, f.name) for f in fields(one))


def crossover(one: Sequence[tuple[int, float]], other: Sequence[tuple[int, float]]) -> float | None:
    """Returns where the two lines cross first, read between points on logarithmic scales."""
    second = dict(other)
    shared = [(math.log(x), math.log(y / second[x])) for x, y in one if x in second]
    for (x0, gap0), (x1, gap1) in itertools.pairwise(shared):
        if gap0 == 0:
            return math.exp(x0)
        if gap0 * gap1 < 0:
            return math.exp(x0 + (x1 - x0) * gap0 / (gap0 - gap1))
    return math.exp(shared[-1][0]) if shared and shared[-1][1] == 0 else None
