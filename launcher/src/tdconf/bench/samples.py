# SPDX-License-Identifier: BSD-3-Clause
"""One entry of a result file: what a request came to, in Google Benchmark's format."""

import math
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

COUNTERS = ("messages", "wire_bytes", "copied_bytes", "allocations")

#: An entry as rank 0 answers it, with what the launcher adds: the column, the repetition, counts.
Sample = dict[str, Any]

_UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def seconds(sample: Sample) -> float | None:
    """Returns the time of one operation in seconds; None where none was measured.

    That is the median of the iterations where the entry has them all, else their mean.
    """
    times = _times(sample)
    return median(times) if times else None


def undisturbed_seconds(sample: Sample) -> float | None:
    """Returns the time below which a quarter of the iterations stay; None where there are none.

    What disturbs an iteration makes it longer, never shorter: a low quantile moves least by chance.
    """
    times = sorted(_times(sample))
    if not times:
        return None
    place, beyond = divmod((len(times) - 1) / 4, 1)
    low = times[int(place)]
    return low + beyond * (times[min(int(place) + 1, len(times) - 1)] - low)


def _times(sample: Sample) -> list[float]:
    unit = _UNITS_S.get(sample.get("time_unit", "ns"))
    times = sample.get("times") or [sample.get("real_time")]
    if sample.get("error_occurred") or unit is None or not all(map(_is_time, times)):
        return []
    return [time * unit for time in times]


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def by_round(
    samples: Iterable[Sample],
    column: str,
    name: str,
    of: Callable[[Sample], float | None] = seconds,
) -> dict[int, float]:
    """Returns the seconds that one benchmark took in one column, by the number of the round."""
    return {
        sample["repetition_index"]: time
        for sample in samples
        if sample["column"] == column
        and sample["name"] == name
        and (time := of(sample)) is not None
    }


def counts_of(samples: Iterable[Sample], column: str, name: str) -> dict[str, int] | None:
    """Returns what one operation of a benchmark counts in one column, if it was counted."""
    for sample in samples:
        if sample["column"] == column and sample["name"] == name and "counts" in sample:
            return sample["counts"]
    return None
