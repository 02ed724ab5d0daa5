# SPDX-License-Identifier: BSD-3-Clause
"""One interleaved measurement: in every round each benchmark once in each lane, in turns."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from tdconf.bench.catalogue import Benchmark
from tdconf.bench.columns import Program
from tdconf.bench.ranks import Team
from tdconf.bench.result import host_class
from tdconf.bench.samples import COUNTERS, Sample, seconds
from tdconf.exits import Exit, TdconfError

T = TypeVar("T")

SLOW_S = 1.0


@dataclass(frozen=True)
class Pace:
    """How long an iteration lasts, and the request that takes the mean of several."""

    iteration_s: float
    request_s: float


@dataclass(frozen=True)
class Lane:
    """Something that is measured beside others: a column, or a build.

    `labels` go into each of its samples.
    """

    name: str
    program: Program
    labels: Mapping[str, str]
    inject: Sequence[str] = ()


@dataclass
class Running:
    """A lane with its ranks, and the length of a request to them for each benchmark."""

    lane: Lane
    team: Team
    context: dict[str, Any] = field(default_factory=dict)
    shortest_s: dict[str, float] = field(default_factory=dict)
    asking_s: dict[str, float] = field(default_factory=dict)
    lengths: dict[str, dict[str, int]] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)

    def prepare(
        self, benchmarks: Sequence[Benchmark], pace: Pace, on_step: Callable[[str], None]
    ) -> None:
        """Finds the length of a request for each benchmark, and counts what it does."""
        for one in benchmarks:
            started = monotonic()
            shortest = self._ask(one, {"iterations": 1, "batch": 1})
            self.asking_s[one.name] = monotonic() - started
            self.shortest_s[one.name] = seconds(shortest) or pace.request_s
            self.lengths[one.name] = length(self.shortest_s[one.name], pace)
            self.counts[one.name] = self._count(one)
            on_step(self.lane.name)

    def time(self, one: Benchmark) -> Sample:
        """Times one request; the time is that of the slowest rank, as rank 0 reports it."""
        lengths = self.lengths[one.name]
        sample = self._ask(one, lengths)
        return sample | {**self.lane.labels, "batch": lengths["batch"]}

    def _count(self, one: Benchmark) -> dict[str, int]:
        """Counts what one operation does, summed over the ranks."""
        answers = self.team.ask(one.request() | {"count": True})
        entries = [self._entry(answer, one) for answer in answers]
        return {name: round(sum(found[name] for found in entries)) for name in COUNTERS}

    def _ask(self, one: Benchmark, lengths: Mapping[str, int]) -> Sample:
        answer = self.team.ask(one.request() | lengths)[0]
        self.context = answer.get("context", {})
        return self._entry(answer, one)

    def _entry(self, answer: dict[str, Any], one: Benchmark) -> Sample:
        entries = answer.get("benchmarks")
        if not entries or entries[0].get("name") != one.name:
            raise TdconfError(
                f"{self.team.label}: answered {one.name} with {str(answer)[:500]}", Exit.UNEXPECTED
            )
        return entries[0]


def is_slow(lanes: Sequence[Running], one: Benchmark) -> bool:
    """Says whether a request takes a lane so long, checks included, that few are enough."""
    return any(lane.asking_s[one.name] > SLOW_S for lane in lanes)


def length(operation_s: float, pace: Pace) -> dict[str, int]:
    """Returns how many operations an iteration has, and how many iterations a request."""
    batch = max(1, round(pace.iteration_s / operation_s))
    iterations = max(1, round(pace.request_s / (batch * operation_s)))
    return {"iterations": iterations, "batch": batch}


@contextlib.contextmanager
def running(
    lanes: Sequence[Lane], world: int, folder: Path, *, pinned: bool = False
) -> Iterator[list[Running]]:
    """Starts the ranks of all lanes together, and ends them with the block.

    Ranks that are `pinned` keep to cores of their own. That takes chance away, and slows down what
    has several threads.
    """
    with contextlib.ExitStack() as stack:
        teams = []
        for lane in lanes:
            own = folder / lane.name
            team = Team(lane.program, world, own, pinned=pinned, inject=lane.inject)
            teams.append(stack.enter_context(team))
        for team in teams:
            team.wait_until_ready()
        yield [Running(lane, team) for lane, team in zip(lanes, teams, strict=True)]


def rounds(
    lanes: Sequence[Running],
    benchmarks: Sequence[Benchmark],
    numbers: Sequence[int],
    on_step: Callable[[str], None],
) -> list[Sample]:
    """Times each benchmark once in each lane in every round; another lane is first every time.

    What an operation counts stands in its first sample.
    """
    samples = []
    for number in numbers:
        for place, one in enumerate(benchmarks):
            for lane in rotated(lanes, number + place):
                sample = lane.time(one) | {"repetition_index": number}
                if (counts := lane.counts.pop(one.name, None)) is not None:
                    sample["counts"] = counts
                samples.append(sample)
                on_step(lane.lane.name)
    return samples


def rotated(lanes: Sequence[T], by: int) -> list[T]:
    """Returns the lanes in their order, from another one on."""
    first = by % len(lanes)
    return [*lanes[first:], *lanes[:first]]


def facts(lanes: Sequence[Running]) -> dict[str, Any]:
    """Returns what a result says of the machine and of the programs."""
    return {
        **lanes[0].context,
        "executable": "tdconf bench",
        "host_class": host_class(),
        "versions": {lane.lane.name: lane.team.versions for lane in lanes},
    }
