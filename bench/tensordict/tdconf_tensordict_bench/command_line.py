# SPDX-License-Identifier: BSD-3-Clause
"""Reads how one rank is started."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

MOST_RANKS = 64
LARGEST_FRACTION = 100.0


@dataclass(frozen=True)
class CommandLine:
    rank: int
    world: int
    store: Path
    """The folder where the ranks find each other."""
    inject: dict[str, float] = field(default_factory=dict)
    """By operation, the fraction of its time by which it is made slower."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Says what is wrong in one line, without the usage."""
        self.exit(2, f"{self.prog}: {message}\n")


def parse(arguments: Sequence[str]) -> CommandLine:
    """Reads `--rank R --world W --store FOLDER [--inject OPERATION=FRACTION]...`.

    Errors  writes one line to stderr and exits with status 2; `--help` exits with 0.
    """
    parser = _Parser(
        prog="tdconf_tensordict_bench",
        description="Times the operations of the column tensordict as one rank.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--rank", type=_integer(0, MOST_RANKS - 1), metavar="R", help="rank of this process"
    )
    parser.add_argument(
        "--world", type=_integer(2, MOST_RANKS), metavar="W", help="number of ranks"
    )
    parser.add_argument(
        "--store",
        type=_folder,
        metavar="FOLDER",
        help="folder where the ranks find each other, new for each run",
    )
    parser.add_argument(
        "--inject",
        type=_injection,
        action="append",
        default=[],
        metavar="OPERATION=FRACTION",
        help="make it slower by a busy wait",
    )
    options = parser.parse_args(arguments)
    for name in ("rank", "world", "store"):
        if getattr(options, name) is None:
            parser.error(f"--{name} is required")
    if options.rank >= options.world:
        parser.error(
            f"--rank: rank {options.rank} is not in a world of {options.world}; "
            f"ranks are 0 to {options.world - 1}"
        )
    return CommandLine(options.rank, options.world, options.store, dict(options.inject))


def _integer(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"Value {text} not in range [{low} - {high}]")
        return int(text)

    return read


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"Directory does not exist: {text}")
    return Path(text)


def _injection(text: str) -> tuple[str, float]:
    operation, _, number = text.partition("=")
    try:
        fraction = float(number)
    except ValueError:
        fraction = -1.0
    if not operation or not 0 <= fraction <= LARGEST_FRACTION:
        raise argparse.ArgumentTypeError(
            "expected OPERATION=FRACTION, with a fraction from 0 to 100, got " + text
        )
    return operation, fraction
