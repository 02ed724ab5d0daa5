# SPDX-License-Identifier: BSD-3-Clause
"""Whether a change made something slower: an effect that is larger than the noise, and certain.

A round gives three times of one benchmark: with A, with A again (A'), and with B, each from its own
processes. The shift is that of log B against the mean of log A and log A', the noise that of log A'
against log A: what two sets of processes of one build differ by.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from tdconf.bench.needed import package

LEAST_SAMPLES = 9
CERTAINTY = 0.01
LEAST_SHIFT = 0.03
_NOISES = 2.0
_USUAL_DEVIATIONS = 3.0
# The standard deviation of a normal distribution by the median of its absolute deviations.
_NORMAL = 1.4826

Verdict = Literal["slower", "faster", "same"]


@dataclass(frozen=True)
class Times:
    """The times of one benchmark, in seconds: a place in each list is a round.

    `starts` says for each round which start of the processes it belongs to.
    """

    base: Sequence[float]
    again: Sequence[float]
    new: Sequence[float]
    starts: Sequence[int]


@dataclass(frozen=True)
class Evidence:
    """What is known of one benchmark before the others are taken into account."""

    shift: float
    noise: float
    p_slower: float
    p_faster: float
    samples: int


@dataclass(frozen=True)
class Change:
    """What is said of one benchmark: shift and threshold are fractions, p is corrected."""

    shift: float
    threshold: float
    p: float
    verdict: Verdict
    samples: int


def paired(times: Times) -> Evidence:
    """Weighs the rounds of one session: Wilcoxon's signed-rank test on paired log ratios."""
    logs = [[math.log(t) for t in lane] for lane in (times.base, times.again, times.new)]
    shifts = drawn_in([new - (base + again) / 2 for base, again, new in zip(*logs, strict=True)])
    between = drawn_in([again - base for base, again, _ in zip(*logs, strict=True)])
    test = package("scipy.stats").wilcoxon
    return Evidence(
        centre(shifts),
        noise(between, times.starts),
        float(test(shifts, alternative="greater").pvalue),
        float(test(shifts, alternative="less").pvalue),
        len(shifts),
    )


def drawn_in(values: Sequence[float]) -> list[float]:
    """Moves values that lie far from the others to the edge of what is usual.

    A round in which something else took the machine has a large difference of either sign, and
    would count for more than all others.
    """
    middle = median(values)
    usual = _USUAL_DEVIATIONS * _NORMAL * median(abs(value - middle) for value in values)
    return [min(max(value, middle - usual), middle + usual) for value in values]


def unpaired(before: Sequence[float], after: Sequence[float], drift: float) -> Evidence:
    """Weighs logarithms of times of two sessions: Mann and Whitney's test.

    The noise is what the halves of a session differ by, or `drift` if that is more.
    """
    test = package("scipy.stats").mannwhitneyu
    return Evidence(
        distance(before, after),
        max(abs(drift), *(abs(distance(*_halves(half))) for half in (before, after))),
        float(test(after, before, alternative="greater").pvalue),
        float(test(after, before, alternative="less").pvalue),
        min(len(before), len(after)),
    )


def _halves(values: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    middle = len(values) // 2
    return values[:middle], values[middle:]


def distance(before: Sequence[float], after: Sequence[float]) -> float:
    """Returns the median of the differences of all pairs, which that test is about."""
    return median(new - old for old in before for new in after)


def noise(between: Sequence[float], starts: Sequence[int]) -> float:
    """Returns what the centre of B against A may be off, from log ratios of A' against A.

    Processes of one build differ from start to start by more than their rounds tell. The centres of
    the starts show by how much: one start is off by their root mean square, the mean of them all by
    a fraction of it.
    """
    centres = [
        centre([value for value, start in zip(between, starts, strict=True) if start == one])
        for one in sorted(set(starts))
    ]
    of_starts = math.sqrt(sum(c * c for c in centres)) / len(centres)
    return max(abs(centre(between)), of_starts)


def centre(values: Sequence[float]) -> float:
    """Returns the median of the means of all pairs, which Wilcoxon's test is about."""
    return median(
        (values[i] + values[j]) / 2 for i in range(len(values)) for j in range(i, len(values))
    )


def judge(evidence: Mapping[str, Evidence]) -> dict[str, Change]:
    """Says of each benchmark what happened to it, corrected for their number (Holm)."""
    slower = holm({name: found.p_slower for name, found in evidence.items()})
    faster = holm({name: found.p_faster for name, found in evidence.items()})
    return {name: _change(found, slower[name], faster[name]) for name, found in evidence.items()}


def _change(found: Evidence, slower: float, faster: float) -> Change:
    threshold = max(LEAST_SHIFT, math.expm1(_NOISES * found.noise))
    shift = math.expm1(found.shift)
    verdict: Verdict = "same"
    if slower < CERTAINTY and found.shift > math.log1p(threshold):
        verdict = "slower"
    elif faster < CERTAINTY and found.shift < -math.log1p(threshold):
        verdict = "faster"
    return Change(shift, threshold, min(slower, faster), verdict, found.samples)


def holm(values: Mapping[str, float]) -> dict[str, float]:
    """Corrects p values for their number, so that one false alarm among all is as rare as said."""
    corrected: dict[str, float] = {}
    largest = 0.0
    for place, name in enumerate(sorted(values, key=values.__getitem__)):
        largest = max(largest, min(1.0, values[name] * (len(values) - place)))
        corrected[name] = largest
    return corrected
