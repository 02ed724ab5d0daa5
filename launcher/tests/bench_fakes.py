# SPDX-License-Identifier: BSD-3-Clause
"""Programs of columns that follow a plan, and samples with times of the test's own."""

import json
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tdconf.bench.catalogue import Benchmark
from tdconf.bench.columns import Program

_SOURCE = Path(__file__).with_name("fake_rank.py").read_text(encoding="utf-8")


def install(build: Path, column: str, plan: Mapping[str, Any]) -> Program:
    """Puts the program of a column into a build tree; `plan` says what it answers."""
    path = build / "bench" / f"tdconf_bench_{column}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{_SOURCE}", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    text = json.dumps({"column": column, **plan})
    path.with_name(f"{path.name}.json").write_text(text, encoding="utf-8")
    return Program(column, (str(path),))


def samples(column: str, one: Benchmark, microseconds: Iterable[float]) -> list[dict[str, Any]]:
    """Makes a sample of each time, in the rounds 0, 1, ..."""
    return [
        {
            "name": one.name,
            "column": column,
            "repetition_index": number,
            "real_time": value,
            "time_unit": "us",
        }
        for number, value in enumerate(microseconds)
    ]
