# SPDX-License-Identifier: BSD-3-Clause
"""Configures and builds the C++ parts with CMake's preset `release`."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from tdconf.environment import Say
from tdconf.exits import TdconfError
from tdconf.layout import Layout
from tdconf.processes import cores, run_logged

JUDGE_TARGETS = ("tdconf_runner", "tdconf_adapter_reference", "tdconf_adapter_probe")
EVERYTHING = ("all",)

_BUILD_DEADLINE_S = 3600.0
_NINJA_STEP = re.compile(r"^\[(\d+)/(\d+)\] ")
_CACHED_PYTHON = re.compile(r"^TDCONF_PYTHON:[A-Z]+=(.*)$", re.MULTILINE)


def build(layout: Layout, python: Path, targets: Sequence[str], say: Say) -> None:
    """Brings `targets` up to date, against the torch of `python`; says nothing when they are."""
    if shutil.which("cmake") is None:
        raise TdconfError(
            "cmake is not on PATH; ./launcher/tdconf doctor lists everything that is missing"
        )
    if cached_python(layout) != str(python) or not (layout.build / "build.ninja").exists():
        say(f"configuring {layout.build}")
        _step(
            layout,
            "configure",
            ["cmake", "--preset", "release", f"-DTDCONF_PYTHON={python}"],
            lambda _: None,
        )
    _step(
        layout,
        "build",
        # One compiler per core: those that read the headers of torch take more than 1 GB each.
        ["cmake", "--build", "--preset", "release", "--parallel", cores(), "--target", *targets],
        _every_tenth_step(say),
    )


def check_built(layout: Layout, python: Path, targets: Sequence[str]) -> None:
    """Checks that the programs `targets` were built once, against the torch of `python`."""
    for target in targets:
        program = layout.built(target)
        if not program.exists():
            raise TdconfError(
                f"--no-build: {program} was never built; without --no-build it is built first"
            )
    if cached_python(layout) != str(python):
        raise TdconfError(
            f"--no-build: {layout.build} was built for {cached_python(layout)}, not for {python}; "
            "without --no-build it is built anew"
        )


def cached_python(layout: Layout) -> str | None:
    """Returns the Python that the build tree was configured for."""
    try:
        cache = (layout.build / "CMakeCache.txt").read_text(encoding="utf-8")
    except OSError:
        return None
    match = _CACHED_PYTHON.search(cache)
    return match.group(1) if match else None


def linked_python(layout: Layout) -> Path:
    """Returns the Python whose torch the C++ parts link, and which is judged."""
    return Path(cached_python(layout) or layout.venv_python)


def _step(layout: Layout, name: str, command: Sequence[str], on_line: Say) -> None:
    log = layout.logs / f"{name}.log"
    status = run_logged(command, log, on_line, deadline_s=_BUILD_DEADLINE_S, directory=layout.root)
    if status != 0:
        tail = "\n".join(log.read_text(encoding="utf-8").splitlines()[-40:])
        raise TdconfError(
            f"{tail}\nthis command ended with {status}; all of its output is in {log}\n"
            f"  {' '.join(command)}"
        )


def _every_tenth_step(say: Say) -> Say:
    said = 0

    def on_line(line: str) -> None:
        nonlocal said
        match = _NINJA_STEP.match(line)
        if match is None:
            return
        done, total = int(match.group(1)), int(match.group(2))
        if done == total or done >= said + max(1, total // 10):
            said = done
            say(f"building: {done} of {total} steps")

    return on_line
