# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for processes that are not our children."""

import os
import time

DEADLINE_S = 60


def is_running(pid: int) -> bool:
    """Tells whether `pid` runs; a zombie has ended, only its parent has not looked."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(pid: int) -> None:
    """Nobody here is the parent of `pid`, so there is nothing to wait on but its disappearance."""
    deadline = time.monotonic() + DEADLINE_S
    while is_running(pid):
        assert time.monotonic() < deadline, f"process {pid} is still running"
        os.sched_yield()
