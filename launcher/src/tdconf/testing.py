# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf test`: lint, the C++ and Python tests, a run of the implementations; tidy if asked."""

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tdconf.exits import Exit, TdconfError, from_status, worst
from tdconf.layout import Layout
from tdconf.processes import cores, run_logged

_DEADLINE_S = 3600.0


@dataclass(frozen=True)
class Part:
    """One part of the tests: its command, and what its closing line looks like."""

    name: str
    command: tuple[str, ...]
    closing: re.Pattern[str]


def parts(layout: Layout, python: Path) -> dict[str, Part]:
    """Returns the parts in the order in which they run, the quick ones first."""
    named = [] if python == layout.venv_python else ["--python", str(python)]
    return {
        part.name: part
        for part in (
            Part("lint", (str(layout.ci / "lint"),), re.compile(r"^lint: ")),
            Part(
                "tidy",
                (str(python), str(layout.ci / "tidy.py")),
                re.compile(r"^tidy: (\d+ C\+\+ files are clean|failed in )"),
            ),
            Part(
                "cpp",
                ("ctest", "--preset", "release", "--parallel", cores()),
                re.compile(r"^\d+% tests passed, "),
            ),
            Part(
                "python",
                (str(python), "-m", "pytest"),
                re.compile(r"^=* ?.*\d+ (passed|failed|error)s?\b.* in [\d.]+s"),
            ),
            Part(
                "conformance",
                (str(layout.root / "launcher" / "tdconf"), "run", *named),
                re.compile(r"^tdconf: exit \d+, "),
            ),
        )
    }


PART_NAMES = ("lint", "tidy", "cpp", "python", "conformance")
# clang-tidy reads the headers of torch again and again: some eight minutes of CPU.
USUAL_PARTS = tuple(name for name in PART_NAMES if name != "tidy")


def run_parts(layout: Layout, python: Path, names: Sequence[str], extra: Sequence[str]) -> Exit:
    """Runs the parts `names`, prints what they print, and ends with the closing line of each."""
    if extra and len(names) != 1:
        raise TdconfError("arguments after -- go to one part: add --only PART", Exit.USAGE)
    known = parts(layout, python)
    outcomes = []
    for name in names:
        print(f"== {name}: {' '.join([*known[name].command, *extra])}", flush=True)
        outcomes.append(_run(layout, python, known[name], extra))
    print()
    for outcome in outcomes:
        print(outcome.line)
    return worst(outcome.code for outcome in outcomes)


@dataclass(frozen=True)
class Outcome:
    line: str
    code: Exit


def _run(layout: Layout, python: Path, part: Part, extra: Sequence[str]) -> Outcome:
    closing = ""

    def on_line(line: str) -> None:
        nonlocal closing
        print(line, flush=True)
        if part.closing.match(line):
            closing = line.strip("= ")

    started = time.monotonic()
    status = run_logged(
        [*part.command, *extra],
        layout.logs / f"test-{part.name}.log",
        on_line,
        deadline_s=_DEADLINE_S,
        environment=test_environment(python),
        directory=layout.root,
    )
    return judge(part.name, status, closing, time.monotonic() - started)


def judge(name: str, status: int, closing: str, seconds: float) -> Outcome:
    """Reads how a part ended; one without a closing line has not run, whatever its status."""
    code = from_status(status) if name in ("lint", "tidy", "conformance") else _of_tests(status)
    if code == Exit.AS_EXPECTED and not closing:
        code = Exit.NO_VERDICT
    word = "passed" if code == Exit.AS_EXPECTED else f"FAILED ({status})"
    return Outcome(f"{name}: {word} in {seconds:.0f} s: {closing or 'no closing line'}", code)


def _of_tests(status: int) -> Exit:
    return Exit.AS_EXPECTED if status == 0 else Exit.UNEXPECTED


def test_environment(python: Path) -> dict[str, str]:
    """Returns the environment of the tests: the tools beside `python` come first on PATH."""
    path = f"{python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return os.environ | {"PATH": path}
