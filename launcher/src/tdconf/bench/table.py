# SPDX-License-Identifier: BSD-3-Clause
"""The table of a run: each benchmark with its time at the floor, and the ratios of the columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tdconf.bench.catalogue import Benchmark
from tdconf.bench.columns import FLOOR, NAMES, REFERENCE, TENSORDICT
from tdconf.bench.samples import Sample, by_round
from tdconf.bench.targets import Target
from tdconf.display import columns

HEAD = ("operation", "shape", "floor", "reference/floor", "tensordict/reference", "held")
_NUMBERS = (2, 3, 4)


@dataclass(frozen=True)
class Row:
    """What one benchmark came to; None where a column was not measured."""

    benchmark: Benchmark
    seconds: Mapping[str, float]
    reference_over_floor: float | None
    tensordict_over_reference: float | None
    target: Target | None

    @property
    def held(self) -> bool | None:
        """Says whether both ratios keep to the target; None where that is not known."""
        if self.target is None:
            return None
        judged = [
            ratio <= self.target.reference_over_floor
            for ratio in (self.reference_over_floor,)
            if ratio is not None
        ] + [
            ratio >= self.target.tensordict_over_reference
            for ratio in (self.tensordict_over_reference,)
            if ratio is not None
        ]
        return all(judged) if judged else None


def rows(
    samples: Sequence[Sample],
    benchmarks: Iterable[Benchmark],
    targets: Mapping[Benchmark, Target],
) -> list[Row]:
    """Returns a row for each benchmark; a ratio is the median over the rounds of its ratios."""
    grouped: dict[str, list[Sample]] = {}
    for sample in samples:
        grouped.setdefault(sample["name"], []).append(sample)
    return [_row(grouped.get(one.name, []), one, targets.get(one)) for one in benchmarks]


def _row(samples: list[Sample], one: Benchmark, target: Target | None) -> Row:
    times = {column: by_round(samples, column, one.name) for column in NAMES}
    return Row(
        one,
        {column: median(found.values()) for column, found in times.items() if found},
        paired_ratio(times[REFERENCE], times[FLOOR]),
        paired_ratio(times[TENSORDICT], times[REFERENCE]),
        target,
    )


def paired_ratio(above: Mapping[int, float], below: Mapping[int, float]) -> float | None:
    """Returns the median of the ratios of the same round; None where no round has both."""
    ratios = [above[number] / below[number] for number in above.keys() & below.keys()]
    return median(ratios) if ratios else None


def text(found: Sequence[Row]) -> str:
    """Lays the rows out as a table."""
    lines = [list(HEAD), *(cells(row) for row in found)]
    widths = {index: max(len(line[index]) for line in lines) for index in _NUMBERS}
    for line in lines:
        for index, width in widths.items():
            line[index] = line[index].rjust(width)
    return columns(lines)


def cells(row: Row) -> list[str]:
    target = row.target
    return [
        row.benchmark.operation,
        row.benchmark.shape,
        duration(row.seconds.get(FLOOR)),
        _ratio(row.reference_over_floor, "<=", target and target.reference_over_floor),
        _ratio(row.tensordict_over_reference, ">=", target and target.tensordict_over_reference),
        held(row),
    ]


def held(row: Row) -> str:
    """Says in a word whether a row keeps to its target."""
    return {None: "-", True: "yes", False: "NO"}[row.held]


def duration(seconds: float | None) -> str:
    """Writes a time in microseconds."""
    return "-" if seconds is None else f"{seconds * 1e6:.1f} us"


def _ratio(ratio: float | None, sign: str, limit: float | None) -> str:
    if ratio is None:
        return "-"
    return f"{ratio:.2f}" if limit is None else f"{ratio:.2f} ({sign} {limit:g})"


def summary(found: Sequence[Row]) -> str:
    """Counts the targets that hold."""
    judged = [row.held for row in found if row.held is not None]
    return f"{sum(judged)} of {len(judged)} targets held"
