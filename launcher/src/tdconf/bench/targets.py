# SPDX-License-Identifier: BSD-3-Clause
"""The targets: which ratios of the columns are allowed, from bench/targets.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tdconf.bench.catalogue import OPERATIONS, Benchmark
from tdconf.bench.needed import package
from tdconf.exits import Exit, TdconfError

_SHAPE = ("leaves", "bytes", "world")
_RATIOS = ("reference_over_floor", "tensordict_over_reference")
_KEYS = ("operation", *_SHAPE, *_RATIOS)


@dataclass(frozen=True)
class Target:
    """The most that the reference takes of the floor, the least that tensordict takes of it."""

    reference_over_floor: float
    tensordict_over_reference: float


def read(path: Path) -> dict[Benchmark, Target]:
    """Reads the targets in the order of the file."""
    yaml = package("yaml")
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as problem:
        raise TdconfError(f"{path}: {problem}", Exit.USAGE) from problem
    if not isinstance(entries, list) or not entries:
        raise TdconfError(f"{path}: expected a list of targets", Exit.USAGE)
    found: dict[Benchmark, Target] = {}
    for number, item in enumerate(entries, start=1):
        benchmark, target = _entry(item, f"{path}: target {number}")
        if benchmark in found:
            raise TdconfError(
                f"{path}: target {number}: {benchmark.name} has a target already", Exit.USAGE
            )
        found[benchmark] = target
    return found


def _entry(item: object, where: str) -> tuple[Benchmark, Target]:
    if not isinstance(item, Mapping) or set(item) != set(_KEYS):
        raise TdconfError(f"{where}: expected the keys {', '.join(_KEYS)}, got {item}", Exit.USAGE)
    if item["operation"] not in OPERATIONS:
        raise TdconfError(
            f"{where}: {item['operation']} is no operation; there are {', '.join(OPERATIONS)}",
            Exit.USAGE,
        )
    for key in (*_SHAPE, *_RATIOS):
        kinds = int if key in _SHAPE else int | float
        if not isinstance(item[key], kinds) or isinstance(item[key], bool) or item[key] <= 0:
            raise TdconfError(f"{where}: {key} is {item[key]}, not a positive number", Exit.USAGE)
    benchmark = Benchmark(
        item["operation"], leaves=item["leaves"], bytes=item["bytes"], world=item["world"]
    )
    return benchmark, Target(*(float(item[key]) for key in _RATIOS))
