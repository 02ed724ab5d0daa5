# SPDX-License-Identifier: BSD-3-Clause
"""Where ranks run, and how little others disturb them: the less chance, the smaller the noise."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

# A rank that is not asked anything sleeps: only what is timed runs before others.
_NICENESS = -15


def share(rank: int, world: int, cores: Sequence[int]) -> list[int]:
    """Returns the cores of one rank: its own part of them, or one that it shares with others."""
    if world > len(cores):
        return [cores[rank % len(cores)]]
    return [core for place, core in enumerate(cores) if place * world // len(cores) == rank]


def prefer(pid: int, cores: Sequence[int]) -> None:
    """Keeps a process on `cores`, and lets it run before others where we may grant that.

    The threads that it starts later are treated alike.
    """
    with suppress(OSError):
        os.sched_setaffinity(pid, cores)
    # The kernel weighs processes within their session only, and sessions by a number of their own.
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(_NICENESS), encoding="ascii")
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, _NICENESS)
