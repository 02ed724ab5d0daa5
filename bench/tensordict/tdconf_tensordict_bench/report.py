# SPDX-License-Identifier: BSD-3-Clause
"""What a rank answers: the JSON of Google Benchmark, with one benchmark."""

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

Json = dict[str, object]

MICROSECONDS = 1e6


def report(
    name: str,
    seconds: Sequence[float],
    cpu_seconds: float,
    counters: Mapping[str, int] | None = None,
) -> Json:
    """Reports one benchmark.

    `seconds` has the time of one operation in each iteration, and `cpu_seconds` is what all threads
    of this process spent in all iterations together.
    """
    iterations = len(seconds)
    benchmark: Json = {
        "name": name,
        "family_index": 0,
        "per_family_instance_index": 0,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": 1,
        "repetition_index": 0,
        "threads": 1,
        "iterations": iterations,
        "real_time": sum(seconds) / iterations * MICROSECONDS,
        "cpu_time": cpu_seconds / iterations * MICROSECONDS,
        "time_unit": "us",
        **(counters or {}),
    }
    return {"context": _context(), "benchmarks": [benchmark]}


def _context() -> Json:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "host_name": socket.gethostname(),
        "executable": sys.executable,
        "num_cpus": os.cpu_count(),
        "load_avg": list(os.getloadavg()),
        "library_build_type": "release",
    }
