# SPDX-License-Identifier: BSD-3-Clause
"""Runs runner processes, several at once, and hands on each result as soon as it is written."""

import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tdconf import interruptions
from tdconf.processes import end_trees, start
from tdconf.results import INTERRUPTED, Line, Part, is_as_expected

# A runner bounds every wait of its own; one that is silent for this long has lost its way.
SILENCE_S = 300.0
_POLL_S = 0.05
_FAIL_FAST = "stopped by --fail-fast"
STOPPED_ON_PURPOSE = (_FAIL_FAST, INTERRUPTED)


@dataclass
class Job:
    """One runner process: a share of the cases of one implementation."""

    implementation: str
    command: Sequence[str]
    log: Path
    part: Part
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    heard_at: float = 0.0
    ended_at: float = 0.0


@dataclass(frozen=True)
class Watching:
    """How the jobs are run, and who hears of their results."""

    at_once: int
    silence_s: float
    fail_fast: bool
    environment: Mapping[str, str]
    on_case: Callable[[Job, Line], None]


def run_jobs(jobs: Sequence[Job], watching: Watching) -> None:
    """Runs all `jobs`, at most `watching.at_once` together; an interruption ends them all.

    A job that was not allowed to end by itself says so in `part.stopped`.
    """
    waiting = deque(jobs)
    running: list[Job] = []
    try:
        while waiting or running:
            while waiting and len(running) < watching.at_once:
                running.append(_started(waiting.popleft(), watching))
            for job in list(running):
                failed = _hear(job, watching)
                if job.part.status is not None:
                    running.remove(job)
                elif time.monotonic() - job.heard_at > watching.silence_s:
                    _stop([job], f"silence for {watching.silence_s:.0f} s")
                    running.remove(job)
                if failed and watching.fail_fast:
                    _stop([*running, *waiting], _FAIL_FAST)
                    return
            time.sleep(_POLL_S)
    except BaseException:
        # Not `running` and `waiting`: a job may just be on its way from one to the other.
        _stop([job for job in jobs if job.part.status is None], INTERRUPTED)
        raise


def _started(job: Job, watching: Watching) -> Job:
    # What was started and noted nowhere could not be ended.
    with interruptions.put_off():
        job.process = start(job.command, job.log, watching.environment)
        job.started_at = job.heard_at = time.monotonic()
    return job


def _hear(job: Job, watching: Watching) -> bool:
    """Takes what `job` has written since the last time; says whether any of it is unexpected."""
    assert job.process is not None
    # Asked before reading: whatever a process writes, it has written when it has ended.
    status = job.process.poll()
    failed = False
    for case in job.part.read_on():
        job.heard_at = time.monotonic()
        failed = failed or not is_as_expected(case)
        watching.on_case(job, case)
    if status is not None:
        job.ended_at = time.monotonic()
        job.part.status = status
    return failed


def _stop(jobs: Sequence[Job], reason: str) -> None:
    for job in jobs:
        # The first reason is the one that holds.
        if job.part.stopped is None:
            job.part.stopped = reason
            job.ended_at = time.monotonic()
    end_trees([job.process for job in jobs if job.process is not None])
