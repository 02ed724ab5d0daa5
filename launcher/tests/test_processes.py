# SPDX-License-Identifier: BSD-3-Clause
"""Ending what was started: nothing stays behind, whichever way it tried to get away."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tdconf import processes
from tdconf.processes import (
    adopt_orphans,
    descendants,
    end_trees,
    ending_with_us,
    run_logged,
    start,
)

# Forks twice and takes a session of its own, as a daemon does, then writes its pid and stays.
_DAEMON = """
import os, pathlib, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        path = pathlib.Path(sys.argv[1])
        path.with_suffix(".part").write_text(str(os.getpid()))
        path.with_suffix(".part").rename(path)
    signal.pause()
signal.pause()
"""
_STUBBORN = """
import pathlib, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[1]).write_text("0")
while True:
    signal.pause()
"""
# Starts a program, notes its pid, and stays.
_STARTER = """
import pathlib, signal, sys
from tdconf.processes import start
folder = pathlib.Path(sys.argv[1])
process = start([sys.executable, "-c", "import signal; signal.pause()"], folder / "log")
(folder / "part").write_text(str(process.pid))
(folder / "part").rename(folder / "pid")
signal.pause()
"""


@pytest.fixture(autouse=True)
def _short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_GRACE_S", 0.5)
    adopt_orphans()


def appears(path: Path) -> str:
    """Waits for `path` and returns what it holds."""
    give_up_at = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < give_up_at, f"{path} never came"
        time.sleep(0.01)
    return path.read_text()


def test_the_end_of_a_tree_reaches_a_daemon_with_its_own_session(tmp_path: Path) -> None:
    process = start([sys.executable, "-c", _DAEMON, tmp_path / "pid"], tmp_path / "log")
    daemon = int(appears(tmp_path / "pid"))
    assert daemon in descendants(process.pid)
    end_trees([process])
    assert process.returncode is not None
    assert daemon not in descendants(os.getpid())


def test_a_started_program_ends_when_its_starter_is_killed(tmp_path: Path) -> None:
    source = str(Path(processes.__file__).parents[1])
    starter = subprocess.Popen(
        [sys.executable, "-c", _STARTER, tmp_path], env=os.environ | {"PYTHONPATH": source}
    )
    program = int(appears(tmp_path / "pid"))
    starter.kill()
    starter.wait(30)
    # This process adopts orphans, so it can ask how the program ended.
    give_up_at = time.monotonic() + 30
    while (ended := os.waitpid(program, os.WNOHANG)) == (0, 0):
        assert time.monotonic() < give_up_at, "the program outlives its starter"
        time.sleep(0.01)
    assert os.WTERMSIG(ended[1]) == signal.SIGTERM


def test_a_program_whose_starter_is_gone_already_never_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: 0)
        prepare = ending_with_us()
    command = [sys.executable, "-c", "open('begun', 'w')"]
    assert subprocess.run(command, preexec_fn=prepare, cwd=tmp_path).returncode == -signal.SIGTERM
    assert not (tmp_path / "begun").exists()


def test_what_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    process = start([sys.executable, "-c", _STUBBORN, tmp_path / "ready"], tmp_path / "log")
    appears(tmp_path / "ready")
    end_trees([process])
    assert process.returncode == -9


def test_a_process_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    process = start([sys.executable, "-c", "import signal; signal.pause()"], tmp_path / "log")
    end_trees([process])
    assert other.poll() is None
    other.kill()
    other.wait(30)


def test_a_logged_command_hands_on_every_line_and_its_status(tmp_path: Path) -> None:
    lines: list[str] = []
    script = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(3)"
    command = [sys.executable, "-u", "-c", script]
    assert run_logged(command, tmp_path / "log", lines.append, deadline_s=60) == 3
    assert lines == ["one", "two"]
    assert (tmp_path / "log").read_text() == "one\ntwo\n"


def test_a_logged_command_ends_at_its_deadline(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import signal; signal.pause()"]
    assert run_logged(command, tmp_path / "log", lambda _: None, deadline_s=0.1) == -15


def test_a_child_that_keeps_the_output_open_does_not_outlive_the_deadline(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys;"
        "subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])"
    )
    command = [sys.executable, "-c", script]
    assert run_logged(command, tmp_path / "log", lambda _: None, deadline_s=2.0) == 0
