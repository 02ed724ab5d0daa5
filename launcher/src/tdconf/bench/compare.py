# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf bench compare` of two builds: both in one session, in turns, one of them twice."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tdconf.bench import judgement, result
from tdconf.bench.catalogue import Benchmark
from tdconf.bench.columns import Program, built_in
from tdconf.bench.findings import Finding, counts_risen, weighed
from tdconf.bench.judgement import Times
from tdconf.bench.result import Result
from tdconf.bench.samples import Sample, by_round, counts_of, undisturbed_seconds
from tdconf.bench.session import Lane, Pace, Running, facts, length, rotated, rounds, running
from tdconf.bench.steps import Steps
from tdconf.exits import Exit, TdconfError

FILE = "compare.json"
BASE, AGAIN, NEW = "A", "A2", "B"
# Short iterations: what disturbs one of them is not in the others.
PACE = Pace(iteration_s=0.0005, request_s=0.040)
# As many fresh sets of processes share the rounds: what one set has by chance, the next has not.
MOST_STARTS = 5


@dataclass(frozen=True)
class Options:
    """Which builds are compared, by what, and for how long; `inject` slows B down, for tests."""

    base: Path
    new: Path
    columns: Sequence[str]
    benchmarks: Sequence[Benchmark]
    repetitions: int
    inject: Sequence[str]


def check(options: Options) -> None:
    """Refuses what could not find anything, before it takes its time."""
    for folder in (options.base, options.new):
        for column in options.columns:
            built_in(folder, column)
    judged = len(options.columns) * len(options.benchmarks)
    if options.repetitions < (least := least_repetitions(judged)):
        raise TdconfError(
            f"--repetitions {options.repetitions}: that few can show nothing about {judged} "
            f"benchmarks; at least {least}",
            Exit.USAGE,
        )


def least_repetitions(judged: int) -> int:
    """Returns the rounds from which on Wilcoxon's test can be certain about one of `judged`."""
    least = judgement.LEAST_SAMPLES
    while judged * 0.5**least >= judgement.CERTAINTY:
        least += 1
    return least


def compare(options: Options, out: Path) -> list[Finding]:
    """Times both builds in turns, writes `compare.json`, and returns what it says of each."""
    samples: list[Sample] = []
    context: dict[str, Any] = {}
    each = len(options.benchmarks) * (options.repetitions + 1) * len(options.columns)
    with Steps(each) as steps:
        for column in options.columns:
            for world in sorted({one.world for one in options.benchmarks}):
                session = _Session(options, column, world, out)
                samples += session.measure(steps)
                context = context or session.context
    found = weighed(
        {
            (column, one): _evidence(samples, column, one)
            for column in options.columns
            for one in options.benchmarks
        }
    )
    result.write(
        out / FILE,
        Result(context | {"A": str(options.base), "B": str(options.new)}, samples),
        changes=[finding.record() for finding in found],
    )
    return found


class _Session:
    """The rounds of one column in one world."""

    def __init__(self, options: Options, column: str, world: int, out: Path) -> None:
        self._options = options
        self._benchmarks = [one for one in options.benchmarks if one.world == world]
        self._world = world
        self._folder = out / "ranks" / f"{column}-{world}"
        self._lanes = [
            Lane(side, program, {"column": column, "build": side}, inject)
            for side, program, inject in (
                (BASE, _program(options.base, column), ()),
                (AGAIN, _program(options.base, column), ()),
                (NEW, _program(options.new, column), options.inject),
            )
        ]
        self.context: dict[str, Any] = {}

    def measure(self, steps: Steps) -> list[Sample]:
        starts = min(MOST_STARTS, self._options.repetitions)
        lengths: dict[str, dict[str, int]] = {}
        samples: list[Sample] = []
        for start in range(starts):
            numbers = range(start, self._options.repetitions, starts)
            folder = self._folder / f"start-{start}"
            lanes = rotated(self._lanes, start)
            with running(lanes, self._world, folder, pinned=True) as ready:
                if start == 0:
                    lengths = self._prepare(ready, steps)
                for lane in ready:
                    lane.lengths = lengths
                timed = rounds(ready, self._benchmarks, numbers, steps.step)
                self.context = facts(ready)
            samples += [sample | {"start": start} for sample in timed]
        return samples

    def _prepare(self, lanes: Sequence[Running], steps: Steps) -> dict[str, dict[str, int]]:
        """Counts in each lane; all of them get requests of one length, after the fastest."""
        for lane in lanes:
            lane.prepare(self._benchmarks, PACE, steps.step)
        return {
            one.name: length(min(lane.shortest_s[one.name] for lane in lanes), PACE)
            for one in self._benchmarks
        }


def _program(folder: Path, column: str) -> Program:
    return Program(column, (str(built_in(folder, column)),))


def _evidence(
    samples: Sequence[Sample], column: str, one: Benchmark
) -> tuple[judgement.Evidence | str, list[str]]:
    """Weighs the rounds that have all three times, or says why there is nothing to weigh."""
    mine = [s for s in samples if s["column"] == column and s["name"] == one.name]
    sides = {side: [s for s in mine if s["build"] == side] for side in (BASE, AGAIN, NEW)}
    times = {
        side: by_round(own, column, one.name, undisturbed_seconds) for side, own in sides.items()
    }
    counts = {side: counts_of(own, column, one.name) for side, own in sides.items()}
    risen = counts_risen([counts[BASE], counts[AGAIN]], counts[NEW])
    starts = {s["repetition_index"]: s["start"] for s in mine}
    numbers = sorted(times[BASE].keys() & times[AGAIN].keys() & times[NEW].keys())
    if len(numbers) < judgement.LEAST_SAMPLES:
        return f"{len(numbers)} of at least {judgement.LEAST_SAMPLES} rounds", risen
    base, again, new = ([times[side][n] for n in numbers] for side in (BASE, AGAIN, NEW))
    return judgement.paired(Times(base, again, new, [starts[n] for n in numbers])), risen
