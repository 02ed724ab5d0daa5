# SPDX-License-Identifier: BSD-3-Clause
"""Result files: Google Benchmark's format, with every sample of every column."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tdconf.bench.catalogue import Benchmark, parse
from tdconf.bench.samples import Sample
from tdconf.exits import Exit, TdconfError

FILE = "bench.json"


@dataclass(frozen=True)
class Result:
    """What one run measured, and where."""

    context: Mapping[str, Any]
    samples: list[Sample]

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(sample["column"] for sample in self.samples))

    @property
    def benchmarks(self) -> list[Benchmark]:
        names = dict.fromkeys(sample["name"] for sample in self.samples)
        return [one for name in names if (one := parse(name)) is not None]


def host_class() -> dict[str, object]:
    """Returns what two machines have in common whose times can be compared."""
    return {"cpu": _cpu(), "cores": os.cpu_count(), "machine": platform.machine()}


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    found = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(found, platform.processor() or "unknown")


def write(path: Path, result: Result, **more: object) -> None:
    """Writes a result; `more` stands beside its context and its samples."""
    document = {"context": result.context, "benchmarks": result.samples, **more}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> Result:
    """Reads the result that a run wrote: its file, or the folder where it lies."""
    file = path / FILE if path.is_dir() else path
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise TdconfError(f"{file}: {problem.strerror}", Exit.USAGE) from problem
    except ValueError as problem:
        raise TdconfError(f"{file}: is not JSON: {problem}", Exit.USAGE) from problem
    if not isinstance(document, dict) or not isinstance(document.get("context"), dict):
        raise TdconfError(f'{file}: is no result of a run: it has no "context"', Exit.USAGE)
    samples = document.get("benchmarks")
    if not isinstance(samples, list) or not samples:
        raise TdconfError(f'{file}: is no result of a run: it has no "benchmarks"', Exit.USAGE)
    for number, sample in enumerate(samples):
        _check(sample, f"{file}: benchmark {number}")
    return Result(document["context"], samples)


def _check(sample: object, where: str) -> None:
    wanted: Sequence[tuple[str, type]] = (
        ("name", str),
        ("column", str),
        ("repetition_index", int),
    )
    for key, kind in wanted:
        if not isinstance(sample, dict) or not isinstance(sample.get(key), kind):
            raise TdconfError(f'{where}: "{key}" is missing or no {kind.__name__}', Exit.USAGE)
    if parse(sample["name"]) is None:  # type: ignore[index]
        raise TdconfError(f"{where}: {sample['name']} is no name of ours", Exit.USAGE)  # type: ignore[index]
