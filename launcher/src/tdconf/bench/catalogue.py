# SPDX-License-Identifier: BSD-3-Clause
"""What is timed: operations and shapes, as lines through 1000 leaves of 1 KiB along each axis."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tdconf.exits import Exit, TdconfError
from tdconf.patterns import matches

KIB = 1024
MIB = 1024 * KIB
MOST_BYTES = 128 * MIB

POINT_TO_POINT = (
    "send",
    "send_pseudo_rand",
    "isend",
    "send_consolidated",
    "send_consolidating",
    "init_remote",
)
COLLECTIVES = (
    "broadcast",
    "all_gather",
    "all_reduce",
    "all_reduce_buckets",
    "gather_and_stack",
    "gather_and_stack_pickles",
)
OPERATIONS = (*POINT_TO_POINT, *COLLECTIVES)
# One rank of these holds the tensordicts of all.
_GATHERING = ("all_gather", "gather_and_stack", "gather_and_stack_pickles")

_LEAVES = (1, 10, 100, 10000)
_WORLDS = (4, 8)
_FEW_LEAVES = 4
_SIZES_OF_MANY = (64, 16 * KIB, 100 * KIB)
_SIZES_OF_FEW = (64, KIB, 16 * KIB, 256 * KIB, 4 * MIB, 16 * MIB)
_DEPTHS = (4, 16)
_DTYPES = ("int64", "uint8", "float64")
# The package takes seconds for 10000 messages.
_PER_LEAF = ("send", "send_pseudo_rand", "all_reduce")
_BY_SIZE = ("send", "send_consolidated", "send_consolidating")
_BY_DEPTH = ("send", "send_consolidating", "init_remote")
_BY_DTYPE = ("send", "send_consolidating", "all_reduce_buckets")
# Hundreds of reductions at once take gloo milliseconds each.
_SLOW = "all_reduce"
_LEAVES_OF_SLOW = 10

_NAME = re.compile(r"([a-z_]+)/leaves:(\d+)/bytes:(\d+)/depth:(\d+)/dtype:([a-z0-9]+)/world:(\d+)")


@dataclass(frozen=True)
class Benchmark:
    """One operation on one shape: `leaves` leaves of `bytes` bytes each, among `world` ranks."""

    operation: str
    leaves: int = 1000
    bytes: int = KIB
    depth: int = 0
    dtype: str = "float32"
    world: int = 2

    @property
    def name(self) -> str:
        return (
            f"{self.operation}/leaves:{self.leaves}/bytes:{self.bytes}/depth:{self.depth}"
            f"/dtype:{self.dtype}/world:{self.world}"
        )

    @property
    def shape(self) -> str:
        """Returns the shape as people read it; what is usual is not said."""
        words = [f"{self.leaves} x {size(self.bytes)}"]
        words += [f"depth {self.depth}"] if self.depth else []
        words += [self.dtype] if self.dtype != "float32" else []
        words += [f"{self.world} ranks"] if self.world != 2 else []
        return ", ".join(words)

    @property
    def total_bytes(self) -> int:
        """Returns the most bytes of leaves that one rank holds."""
        copies = self.world if self.operation in _GATHERING else 1
        return self.leaves * self.bytes * copies

    def request(self) -> dict[str, object]:
        """Returns what a rank is told of it; the ranks know their world."""
        return {
            "operation": self.operation,
            "leaves": self.leaves,
            "bytes": self.bytes,
            "depth": self.depth,
            "dtype": self.dtype,
        }


def size(count: int) -> str:
    """Writes a number of bytes as people read it: 64 B, 1 KiB, 16 MiB."""
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if count >= unit and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} B"


def parse(name: str) -> Benchmark | None:
    """Reads the name of a benchmark; None if it is none of ours."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    operation, leaves, length, depth, dtype, world = match.groups()
    return Benchmark(operation, int(leaves), int(length), int(depth), dtype, int(world))


def catalogue(targets: Iterable[Benchmark]) -> list[Benchmark]:
    """Returns every benchmark of a default run, each once: the targets, then the lines."""
    lines = [
        *targets,
        *(Benchmark(name) for name in OPERATIONS),
        *(
            Benchmark(name, leaves=count)
            for name in OPERATIONS
            for count in _LEAVES
            if name not in _PER_LEAF or count < 1000
        ),
        *(Benchmark(name, bytes=length) for name in _BY_SIZE for length in _SIZES_OF_MANY),
        *(
            Benchmark(name, leaves=_FEW_LEAVES, bytes=length)
            for name in _BY_SIZE
            for length in _SIZES_OF_FEW
        ),
        *(Benchmark(name, depth=depth) for name in _BY_DEPTH for depth in _DEPTHS),
        *(Benchmark(name, dtype=dtype) for name in _BY_DTYPE for dtype in _DTYPES),
        *(_fast(name, world) for name in COLLECTIVES for world in _WORLDS),
    ]
    return [one for one in dict.fromkeys(lines) if one.total_bytes <= MOST_BYTES]


def compared() -> list[Benchmark]:
    """Returns what two builds are compared by unless asked otherwise: each operation, if quick."""
    return [_fast(name, 2) for name in OPERATIONS if name != "gather_and_stack_pickles"]


def _fast(operation: str, world: int) -> Benchmark:
    leaves = _LEAVES_OF_SLOW if operation == _SLOW else 1000
    return Benchmark(operation, leaves=leaves, world=world)


def select(
    benchmarks: Sequence[Benchmark], patterns: Sequence[str] | None, worlds: Sequence[int] | None
) -> list[Benchmark]:
    """Returns those whose operation or whole name fits a pattern, in one of the `worlds`."""
    _check(patterns, "--operation", benchmarks, _fits)
    _check(worlds, "--world", benchmarks, lambda world, one: one.world == world)
    chosen = [
        one
        for one in benchmarks
        if (patterns is None or any(_fits(pattern, one) for pattern in patterns))
        and (worlds is None or one.world in worlds)
    ]
    if not chosen:
        raise TdconfError(
            "--operation and --world together match no benchmark; "
            "send* and init_remote are timed with 2 ranks only",
            Exit.USAGE,
        )
    return chosen


def _check(
    wanted: Sequence[Any] | None,
    option: str,
    benchmarks: Sequence[Benchmark],
    fits: Callable[[Any, Benchmark], bool],
) -> None:
    for value in wanted or ():
        if not any(fits(value, one) for one in benchmarks):
            operations = ", ".join(dict.fromkeys(one.operation for one in benchmarks))
            worlds = ", ".join(map(str, sorted({one.world for one in benchmarks})))
            raise TdconfError(
                f"{option} {value}: matches no benchmark; there are {operations}; worlds {worlds}",
                Exit.USAGE,
            )


def _fits(pattern: str, one: Benchmark) -> bool:
    return matches(pattern, one.operation) or matches(pattern, one.name)
