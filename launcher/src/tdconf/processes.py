# SPDX-License-Identifier: BSD-3-Clause
"""Starts other programs, keeps what they print, and ends them with everything they started."""

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tdconf import interruptions
from tdconf.exits import Exit, TdconfError

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
# Loaded once, here: between fork and exec nothing is loaded.
_LIBC = ctypes.CDLL(None, use_errno=True)
_GRACE_S = 5.0
# A killed process ends as soon as the kernel lets go of it.
_KILL_S = 30.0
_POLL_S = 0.01


def cores() -> str:
    """Returns the number of cores that this process may use, as an option takes it."""
    return str(len(os.sched_getaffinity(0)))


def adopt_orphans() -> None:
    """Makes this process the parent of every descendant that loses its own: none gets away."""
    if _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")


def ending_with_us() -> Callable[[], None]:
    """Returns a `preexec_fn` by which the program gets SIGTERM when this process ends, even killed.

    It reaches that program alone, which has to end what it started itself.
    """
    parent = os.getpid()

    def prepare() -> None:
        # Our handler would note the signal, and be gone with the note after exec.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
        if os.getppid() != parent:
            signal.raise_signal(signal.SIGTERM)

    return prepare


def start(
    command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Starts `command` in a session of its own, without input; what it prints goes to `log`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as sink:
        return subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            env=None if environment is None else dict(environment),
            start_new_session=True,
            preexec_fn=ending_with_us(),
        )


def run_logged(
    command: Sequence[str | Path],
    log: Path,
    on_line: Callable[[str], None],
    *,
    deadline_s: float,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> int:
    """Runs `command`, hands every line it prints to `on_line` and `log`, returns its status.

    At the deadline, or when this process is interrupted, the whole tree of the command is ended.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=None if environment is None else dict(environment),
        cwd=directory,
        start_new_session=True,
        preexec_fn=ending_with_us(),
        text=True,
        errors="replace",
    )
    timer = threading.Timer(deadline_s, end_trees, [[process]])
    timer.start()
    try:
        with log.open("w", buffering=1, encoding="utf-8") as sink:
            assert process.stdout is not None
            for line in process.stdout:
                sink.write(line)
                on_line(line.rstrip("\n"))
        return process.wait()
    finally:
        timer.cancel()
        end_trees([process])


def end_trees(processes: Sequence[subprocess.Popen]) -> None:
    """Ends `processes` and all their descendants: SIGTERM, then SIGKILL for what is left.

    An interruption takes effect when they have ended.
    """
    with interruptions.put_off():
        _end_trees(processes)


def _end_trees(processes: Sequence[subprocess.Popen]) -> None:
    trees = {pid for process in processes for pid in descendants(process.pid)}
    for process in processes:
        _signal_group(process, signal.SIGTERM)
    give_up_at = time.monotonic() + _GRACE_S
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, give_up_at - time.monotonic()))
    for process in processes:
        trees |= descendants(process.pid)
        _signal_group(process, signal.SIGKILL)
    _kill_all(trees)
    for process in processes:
        process.wait(_KILL_S)


def _kill_all(pids: set[int]) -> None:
    """Kills those of `pids` that are still ours, and waits until they are gone."""
    give_up_at = time.monotonic() + _KILL_S
    while left := pids & descendants(os.getpid()):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > give_up_at:
            raise TdconfError(f"processes {sorted(left)} do not end", Exit.INTERNAL)
        time.sleep(_POLL_S)


def _signal_group(process: subprocess.Popen, number: signal.Signals) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


def descendants(pid: int) -> set[int]:
    """Returns the running processes that `pid` started, directly or through others.

    One that lost its parent counts too, as long as it is in the session that `pid` leads.
    """
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (found := _parent_and_session(entry)) is not None:
            parent, session = found
            children.setdefault(parent, []).append(int(entry.name))
            children.setdefault(session, []).append(int(entry.name))
    tree: set[int] = set()
    pending = [pid]
    while pending:
        fresh = set(children.get(pending.pop(), [])) - tree - {pid}
        tree |= fresh
        pending.extend(fresh)
    return tree


def _parent_and_session(entry: Path) -> tuple[int, int] | None:
    try:
        text = (entry / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The second field is the program's name in parentheses and may hold anything; state, parent,
    # group and session follow it.
    state, parent, _group, session = text.rpartition(")")[2].split()[:4]
    return None if state == "Z" else (int(parent), int(session))
