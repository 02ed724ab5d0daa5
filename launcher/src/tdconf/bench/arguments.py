# SPDX-License-Identifier: BSD-3-Clause
"""What can be typed after `tdconf bench`."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tdconf.bench import columns

# As many as a comparison of two results takes.
RUN_REPETITIONS = 9
QUICK_REPETITIONS = 5
SLOW_REPETITIONS = 3
COMPARE_REPETITIONS = 25

_MAKE = Callable[..., argparse.ArgumentParser]


def add_bench(commands: Any, make: _MAKE, add_no_build: Callable[..., None]) -> None:  # noqa: ANN401
    """Adds `bench` and what it can do; `make` and `add_no_build` are those of every command."""
    bench = commands.add_parser(
        "bench",
        help="time the operations, and tell whether a change made one slower",
        description="Times the operations beside the calls that move the same bytes.",
        epilog="example: ./launcher/tdconf bench run --quick",
    )
    actions = bench.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_run(make, actions, add_no_build)
    _add_compare(make, actions)
    _add_history(make, actions)
    _add_plot(make, actions)


def _add_run(make: _MAKE, actions: Any, add_no_build: Callable[..., None]) -> None:  # noqa: ANN401
    run = make(
        actions,
        "run",
        "time the floor, the reference and the tensordict package in turns",
        "./launcher/tdconf bench run --operation 'send*' --column floor --column reference",
    )
    run.add_argument(
        "--quick", action="store_true", help="only the benchmarks that have a target (2 minutes)"
    )
    _add_choice(run)
    run.add_argument(
        "--column",
        action="append",
        choices=columns.NAMES,
        help=f"only this column (may be repeated): {', '.join(columns.NAMES)}",
    )
    run.add_argument(
        "--repetitions",
        type=_positive,
        metavar="R",
        help=f"times of each benchmark in each column; default: {RUN_REPETITIONS}, "
        f"with --quick {QUICK_REPETITIONS}; {SLOW_REPETITIONS} of what is slow",
    )
    run.add_argument("--check-targets", action="store_true", help="end with 5 if one is missed")
    run.add_argument("--out", type=Path, metavar="DIR", help="default: tdconf-out/bench/TIME")
    add_no_build(run)


def _add_compare(make: _MAKE, actions: Any) -> None:  # noqa: ANN401
    compare = make(
        actions,
        "compare",
        "say what became slower: from build tree A to build tree B, timed in turns, "
        "or from result A to result B",
        "./launcher/tdconf bench compare build/before build/release",
    )
    compare.add_argument("base", type=Path, metavar="A", help="a build tree, or a result")
    compare.add_argument("new", type=Path, metavar="B", help="what is compared with it")
    _add_choice(compare)
    compare.add_argument(
        "--column",
        action="append",
        choices=columns.NAMES,
        help="judge this column (may be repeated); default: reference",
    )
    compare.add_argument(
        "--repetitions",
        type=_positive,
        metavar="R",
        help=f"rounds of A, B and A again, of two builds; default: {COMPARE_REPETITIONS}",
    )
    compare.add_argument(
        "--inject",
        action="append",
        metavar="OPERATION=FRACTION",
        help="slow an operation of B down by a fraction, to see whether it is found",
    )
    compare.add_argument("--out", type=Path, metavar="DIR", help="default: tdconf-out/bench/TIME")


def _add_history(make: _MAKE, actions: Any) -> None:  # noqa: ANN401
    history = make(
        actions,
        "history",
        "append a result to a history that Apache Otava reads, and show its change points",
        "./launcher/tdconf bench history tdconf-out/bench/latest --append history.csv",
    )
    history.add_argument("result", type=Path, metavar="RESULT", help="what bench run wrote")
    history.add_argument(
        "--append",
        type=Path,
        metavar="FILE.csv",
        required=True,
        help="the history",
    )
    history.add_argument("--commit", metavar="ID", help="what was measured; default: git's HEAD")


def _add_plot(make: _MAKE, actions: Any) -> None:  # noqa: ANN401
    plot = make(
        actions,
        "plot",
        "draw a result as PNG files",
        "./launcher/tdconf bench plot tdconf-out/bench/latest --out pictures",
    )
    plot.add_argument("result", type=Path, metavar="RESULT", help="what bench run wrote")
    plot.add_argument("--out", type=Path, metavar="DIR", help="default: the folder of the result")


def _add_choice(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--operation",
        action="append",
        metavar="PATTERN",
        help="only operations, or whole names, that match (* one component, ** any)",
    )
    command.add_argument(
        "--world", action="append", type=_positive, metavar="N", help="only with that many ranks"
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number
