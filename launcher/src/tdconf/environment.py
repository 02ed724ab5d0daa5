# SPDX-License-Identifier: BSD-3-Clause
"""The Python environment that is judged: our own with pinned wheels, or one that the user names."""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout
from tdconf.processes import run_logged

Say = Callable[[str], None]

# What the C++ programs link, and with that what is judged.
LINKED_PACKAGES = ("torch", "libucx-cu13")
JUDGED_PACKAGES = (*LINKED_PACKAGES, "tensordict")
_INSTALL_DEADLINE_S = 1800.0
_PINNED = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;]+)")
_PROBE = """
import importlib.metadata as metadata, json, platform, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        found[name] = None
print(json.dumps({"python": platform.python_version(), "packages": found}))
"""


@contextlib.contextmanager
def exclusive(layout: Layout, name: str, say: Say) -> Iterator[None]:
    """Lets one launcher at a time set up or build in this checkout."""
    path = layout.build.parent / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another tdconf in this checkout ({path})")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install_system_packages(layout: Layout, say: Say) -> None:
    """Installs the Debian packages that the machine lacks; on a machine without dpkg, trusts it."""
    if shutil.which("dpkg-query") is None:
        say("no dpkg on this machine: taking the packages of ci/packages.txt for granted")
        return
    log = layout.logs / "install-deps.log"
    status = run_logged(
        [layout.ci / "install-deps"], log, _only_own_lines(say), deadline_s=_INSTALL_DEADLINE_S
    )
    if status != 0:
        raise TdconfError(f"ci/install-deps ended with {status}; its output is in {log}")


def _only_own_lines(say: Say) -> Say:
    def on_line(line: str) -> None:
        if line.startswith(("install-deps:", "E: ")):
            say(line)

    return on_line


def pinned_versions(requirements: Path) -> dict[str, str]:
    """Reads the names and versions of a requirements file."""
    lines = requirements.read_text(encoding="utf-8").splitlines()
    return dict(match.groups() for line in lines if (match := _PINNED.match(line)))


def installed_versions(python: Path, names: Iterable[str]) -> tuple[str, dict[str, str | None]]:
    """Asks `python` for its own version and those of the packages `names` (None: missing)."""
    try:
        answer = subprocess.run(
            [python, "-c", _PROBE, *names],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        found = json.loads(answer)
    except (OSError, subprocess.SubprocessError, json.JSONDecodeError) as error:
        raise TdconfError(f"{python} is not a Python that runs: {error}", Exit.USAGE) from error
    return found["python"], found["packages"]


def prepare_venv(layout: Layout, say: Say) -> Path:
    """Makes `.venv` hold exactly the pinned packages, and returns its Python.

    A stamp written last says that an installation is whole, and for which requirements and Python;
    a mark written first tells an interrupted one, which is thrown away.
    """
    stamp = layout.venv / "tdconf-stamp.json"
    mark = layout.venv / "tdconf-installing"
    if is_stamped(layout):
        return layout.venv_python
    if mark.exists() or not layout.venv_python.exists():
        shutil.rmtree(layout.venv, ignore_errors=True)
    layout.venv.mkdir(exist_ok=True)
    mark.touch()
    stamp.unlink(missing_ok=True)

    if not layout.venv_python.exists():
        say(f"creating {layout.venv}")
        _run([sys.executable, "-m", "venv", layout.venv], layout.logs / "venv.log", say)
    say("installing the packages of ci/requirements.txt (about 2 GB)")
    command = [layout.venv_python, "-m", "pip", "install", "-r", layout.ci / "requirements.txt"]
    command += ["--no-input", "--progress-bar", "off", "--disable-pip-version-check"]
    _run(command, layout.logs / "pip.log", _only_pip_progress(say))
    _check_pins(layout)
    _write_whole(stamp, json.dumps(_stamp(layout)))
    mark.unlink()
    return layout.venv_python


def is_stamped(layout: Layout) -> bool:
    """Says whether `.venv` holds a whole installation of today's requirements."""
    stamp = layout.venv / "tdconf-stamp.json"
    try:
        found = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return False
    return (
        found == _stamp(layout)
        and layout.venv_python.exists()
        and not (layout.venv / "tdconf-installing").exists()
    )


def _stamp(layout: Layout) -> dict[str, str]:
    digest = hashlib.sha256()
    for name in ("requirements.txt", "constraints.txt"):
        digest.update((layout.ci / name).read_bytes())
    return {"requirements": digest.hexdigest(), "python": os.path.realpath(layout.venv_python)}


def _write_whole(path: Path, text: str) -> None:
    unfinished = path.with_suffix(".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _check_pins(layout: Layout) -> None:
    pinned = pinned_versions(layout.ci / "requirements.txt")
    _, found = installed_versions(layout.venv_python, pinned)
    wrong = [
        f"{name} {found[name]} instead of {pinned[name]}"
        for name in pinned
        if found[name] != pinned[name]
    ]
    if wrong:
        raise TdconfError(f"pip ended well, but {layout.venv} has {', '.join(wrong)}")


def _run(command: list[str | Path], log: Path, say: Say) -> None:
    status = run_logged(command, log, say, deadline_s=_INSTALL_DEADLINE_S)
    if status != 0:
        words = " ".join(str(word) for word in command)
        raise TdconfError(f"this command ended with {status}; its output is in {log}\n  {words}")


def _only_pip_progress(say: Say) -> Say:
    def on_line(line: str) -> None:
        if line.startswith("Collecting "):
            say(f"pip: {line.partition(' (from')[0]}")
        elif line.startswith("Installing collected packages:"):
            say(f"pip: unpacking {line.count(',') + 1} packages, which takes a minute or two")
        elif line.startswith("ERROR"):
            say(f"pip: {line}")

    return on_line


def check_named(python: Path, needed: Iterable[str]) -> Path:
    """Checks that `python` has the packages `needed`, and returns its absolute path."""
    # Not resolved: a virtual environment is recognised by the path of the link to its Python.
    absolute = Path(os.path.abspath(shutil.which(python) or python))
    _, found = installed_versions(absolute, needed)
    missing = [name for name, version in found.items() if version is None]
    if missing:
        raise TdconfError(
            f"{absolute} has no {' and no '.join(missing)}; "
            f"type: {absolute} -m pip install {' '.join(missing)}"
        )
    return absolute
