# SPDX-License-Identifier: BSD-3-Clause
"""Times an operation, as Google Benchmark does with a manual time."""

import gc
import time

from .groups import Control
from .operation import Clock, Operation
from .report import MICROSECONDS, Json, report


def time_operation(
    name: str,
    operation: Operation,
    control: Control,
    iterations: int,
    batch: int,
    clock: Clock = time.perf_counter,
) -> Json:
    """Times an operation: its mean over `batch` of them on the slowest rank, `iterations` times.

    `times` has each iteration, and `real_time` is their mean.
    """
    # What earlier requests left behind is nothing that this operation does.
    gc.collect()
    run = operation.run
    seconds = []
    # The ranks leave the exchange of one iteration's times together, and enter the next.
    control.slowest(0)
    cpu_start = time.process_time()
    for _ in range(iterations):
        start = clock()
        for _ in range(batch):
            run()
        elapsed = clock() - start
        seconds.append(control.slowest(elapsed) / batch)
    cpu_seconds = time.process_time() - cpu_start
    result = report(name, seconds, cpu_seconds)
    result["benchmarks"][0]["times"] = [each * MICROSECONDS for each in seconds]
    return result
