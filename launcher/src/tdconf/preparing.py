# SPDX-License-Identifier: BSD-3-Clause
"""What commands do first: read the selection, set up what is missing, build."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tdconf import build, environment
from tdconf.display import say
from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout
from tdconf.run import Selection

_FILTERS = ("run", "skip", "clause", "level", "axis")


def selection(options: argparse.Namespace) -> Selection:
    """Reads which cases `options` select."""
    for path in options.files:
        if not path.exists():
            raise TdconfError(f"{path}: no such file", Exit.USAGE)
        if not path.is_file() and not path.is_dir():
            raise TdconfError(f"{path}: is neither a regular file nor a folder", Exit.USAGE)
    filters = [
        word
        for name in _FILTERS
        for value in getattr(options, name) or ()
        for word in (f"--{name}", value)
    ]
    if options.shard is not None:
        filters += ["--shard", options.shard]
    return Selection(options.files, filters)


def judged_python(layout: Layout, options: argparse.Namespace) -> Path:
    """Returns the Python that is going to be judged, before anything is set up."""
    return Path(os.path.abspath(options.python)) if options.python else layout.venv_python


def prepare(
    layout: Layout, options: argparse.Namespace, arguments: Sequence[str], packages: Sequence[str]
) -> Path:
    """Sets up what is missing, goes on inside `.venv`, and returns the Python that is judged."""
    inside = Path(sys.prefix) == layout.venv
    with environment.exclusive(layout, "setup", say):
        if not inside:
            environment.install_system_packages(layout, say)
        if options.python is not None:
            python = environment.check_named(options.python, packages)
        else:
            python = environment.prepare_venv(layout, say)
    if not inside and environment.is_stamped(layout):
        sys.stdout.flush()
        sys.stderr.flush()
        source = str(layout.root / "launcher" / "src")
        os.execv(layout.venv_python, [str(layout.venv_python), source, *arguments])
    return python


def build_targets(
    layout: Layout, options: argparse.Namespace, python: Path, targets: Sequence[str]
) -> None:
    """Builds `targets`, one launcher at a time; with `--no-build`, takes them as they are."""
    if getattr(options, "no_build", False):
        build.check_built(layout, python, targets)
        return
    with environment.exclusive(layout, "build", say):
        build.build(layout, python, targets, say)


def program(layout: Layout) -> str:
    """Returns what to type for this launcher in this folder."""
    stub = layout.root / "launcher" / "tdconf"
    if not Path.cwd().is_relative_to(layout.root):
        return str(stub)
    path = os.path.relpath(stub)
    return path if path.startswith("..") else f"./{path}"


def repeat(layout: Layout, options: argparse.Namespace) -> list[str]:
    """Returns the command that repeats a case of this run, up to the name of the case."""
    words = [program(layout), "run"]
    words += [str(path) for path in options.files]
    for name in ("python", "assign", "expectations"):
        if (value := getattr(options, name, None)) is not None:
            words += [f"--{name}", str(value)]
    if options.timeout_scale != 1.0:
        words += ["--timeout-scale", str(options.timeout_scale)]
    return words
