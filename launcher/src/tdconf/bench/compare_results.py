# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf bench compare` of two results, which were measured one after the other.

What the machine did in between is not known. Where both have the floor, whose code is not ours, its
shift counts as noise.
"""

import math
from collections.abc import Mapping, Sequence

from tdconf.bench import judgement
from tdconf.bench.catalogue import Benchmark
from tdconf.bench.columns import FLOOR
from tdconf.bench.findings import Finding, counts_risen, weighed
from tdconf.bench.judgement import Evidence
from tdconf.bench.result import Result
from tdconf.bench.samples import by_round, counts_of
from tdconf.exits import TdconfError


def compare(
    base: Result, new: Result, columns: Sequence[str], benchmarks: Sequence[Benchmark]
) -> list[Finding]:
    """Says what became of each of `benchmarks` that `base` has."""
    hosts = [found.context.get("host_class") for found in (base, new)]
    if hosts[0] != hosts[1] or hosts[0] is None:
        raise TdconfError(
            f"the results are of different machines, {hosts[0]} and {hosts[1]}: "
            "their times say nothing about each other"
        )
    pairs = [
        (column, one)
        for column in columns
        for one in benchmarks
        if by_round(base.samples, column, one.name)
    ]
    if not pairs:
        raise TdconfError(f"the first result has nothing of {', '.join(columns)}")
    return weighed({(column, one): _evidence(base, new, column, one.name) for column, one in pairs})


def _evidence(
    base: Result, new: Result, column: str, name: str
) -> tuple[Evidence | str, list[str]]:
    before, after = (_logs(found, column, name) for found in (base, new))
    counts = [counts_of(found.samples, column, name) for found in (base, new)]
    risen = counts_risen(counts[:1], counts[1])
    least = judgement.LEAST_SAMPLES
    if min(len(before), len(after)) < least:
        return f"{len(before)} and {len(after)} samples, of at least {least} in each result", risen
    return judgement.unpaired(before, after, _drift(base, new, name)), risen


def _logs(found: Result, column: str, name: str) -> list[float]:
    times: Mapping[int, float] = by_round(found.samples, column, name)
    return [math.log(times[number]) for number in sorted(times)]


def _drift(base: Result, new: Result, name: str) -> float:
    """Returns by how much the floor of a benchmark differs; 0 where it was not measured."""
    before, after = (_logs(found, FLOOR, name) for found in (base, new))
    return judgement.distance(before, after) if before and after else 0.0
