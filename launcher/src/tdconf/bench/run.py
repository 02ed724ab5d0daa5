# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf bench run`: all columns, side by side, and how their times relate."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tdconf import display
from tdconf.bench import report, result, table
from tdconf.bench.catalogue import Benchmark
from tdconf.bench.result import Result
from tdconf.bench.samples import Sample, seconds
from tdconf.bench.session import Lane, Pace, facts, is_slow, rounds, running
from tdconf.bench.steps import Steps
from tdconf.bench.targets import Target
from tdconf.exits import Exit, worst
from tdconf.layout import from_here

# Short enough for many rounds, long enough that the clock and the exchange of times are nothing.
PACE = Pace(iteration_s=0.005, request_s=0.040)


@dataclass(frozen=True)
class Options:
    """What `bench run` was asked to do."""

    benchmarks: Sequence[Benchmark]
    targets: dict[Benchmark, Target]
    lanes: Sequence[Lane]
    repetitions: int
    #: Of what takes longer than a second to ask for.
    slow_repetitions: int
    out: Path
    check_targets: bool


def run(options: Options) -> Exit:
    """Times everything, writes `bench.json` and `report.html`, prints the table."""
    measured = measure(options)
    found = table.rows(measured.samples, options.benchmarks, options.targets)
    result.write(options.out / result.FILE, measured)
    report.write(options.out / report.FILE, measured, found)
    print(table.text(found))
    lacking = lacking_samples(measured.samples)
    for line in lacking:
        display.say(line)
    codes = [Exit.NO_VERDICT if lacking else Exit.AS_EXPECTED]
    if options.targets.keys() & set(options.benchmarks):
        print(table.summary(found))
        if options.check_targets and any(row.held is False for row in found):
            codes.append(Exit.SLOWER)
    code = worst(codes)
    print(display.closing(code, from_here(options.out)))
    return code


def measure(options: Options) -> Result:
    """Times every benchmark in every lane; the worlds come one after the other."""
    samples: list[Sample] = []
    context: dict[str, Any] = {}
    with Steps(len(options.benchmarks) * (options.repetitions + 1)) as steps:
        for world in sorted({one.world for one in options.benchmarks}):
            chosen = [one for one in options.benchmarks if one.world == world]
            folder = options.out / "ranks" / f"world-{world}"
            with running(options.lanes, world, folder) as lanes:
                for lane in lanes:
                    lane.prepare(chosen, PACE, steps.step)
                quick = [one for one in chosen if not is_slow(lanes, one)]
                slow = [one for one in chosen if is_slow(lanes, one)]
                samples += rounds(lanes, quick, range(options.repetitions), steps.step)
                samples += rounds(lanes, slow, range(options.slow_repetitions), steps.step)
                context = context or facts(lanes)
    return Result(context, samples)


def lacking_samples(samples: Sequence[Sample]) -> list[str]:
    """Names the benchmarks that have fewer times than requests."""
    full: Counter[tuple[str, str]] = Counter(
        (sample["column"], sample["name"]) for sample in samples if seconds(sample) is not None
    )
    asked = Counter((sample["column"], sample["name"]) for sample in samples)
    return [
        f"{column}: {name} has {full[column, name]} times of {count}"
        for (column, name), count in asked.items()
        if full[column, name] < count
    ]
