# SPDX-License-Identifier: BSD-3-Clause
"""A checkout in a temporary folder, with a runner that does as the test says."""

import json
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tdconf.layout import Layout

Line = dict[str, Any]

# Plays `plan.json` beside it: a header, the given cases, and what the plan says of the end.
_SCRIPTED_RUNNER = """#!{python}
import json, os, pathlib, signal, sys
def value(name):
    return sys.argv[sys.argv.index(name) + 1]
if "--describe" in sys.argv:
    print((pathlib.Path(__file__).parent / "described.jsonl").read_text(), end="")
    sys.exit(0)
if "--check" in sys.argv:
    sys.exit(2 if "refused" in sys.argv else 0)
plans = json.loads((pathlib.Path(__file__).parent / "plan.json").read_text())
plan = plans[value("--impl")][int(value("--job").split("/")[0])]
out = pathlib.Path(value("--out"))
cases = [dict(case, impl=value("--impl")) for case in plan["cases"]]
counts = {{}}
for case in cases:
    counts[case["verdict"]] = counts.get(case["verdict"], 0) + 1
header = {{"type": "header", "selected": plan.get("selected", len(cases)), "argv": sys.argv[1:]}}
footer = {{"type": "footer", "counts": counts, "complete": True, "exit": plan.get("exit", 0),
          "stale": plan.get("stale", []), "complaints": [], "adapters": {{}}}}
lines = [header, *cases, *([footer] if plan.get("footer", True) else [])]
text = "".join(json.dumps(line) + "\\n" for line in lines)
(out / "results.jsonl").write_text(text[: len(text) - plan.get("cut", 0)])
print("the runner's own words", flush=True)
if plan.get("stubborn", False):
    signal.signal(signal.SIGTERM, lambda *_: (out / "told").write_text("to end"))
if plan.get("waits", False):
    (out / "pid").write_text(str(os.getpid()))
    while True:
        signal.pause()
sys.exit(plan.get("status", plan.get("exit", 0)))
"""


@pytest.fixture(autouse=True)
def _own_handling_of_signals() -> Iterator[None]:
    """Keeps what the command line does with signals out of the tests that follow."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """An empty checkout with the lists of packages of this one."""
    made = Layout(tmp_path / "checkout")
    made.ci.mkdir(parents=True)
    (made.ci / "packages.txt").write_text("# a comment\nalpha-dev\nbeta-dev\n")
    (made.ci / "requirements.txt").write_text("torch==2.15.0\ntensordict==0.15.3\n")
    (made.ci / "constraints.txt").write_text("")
    made.fixtures.mkdir()
    return made


@pytest.fixture
def scripted_runner(layout: Layout) -> Callable[[dict[str, list[Line]]], None]:
    """Puts a runner into the build tree that follows a plan: implementation -> a plan per job."""

    def install(plans: dict[str, list[Line]]) -> None:
        layout.runner.parent.mkdir(parents=True, exist_ok=True)
        layout.runner.write_text(_SCRIPTED_RUNNER.format(python=sys.executable))
        layout.runner.chmod(layout.runner.stat().st_mode | stat.S_IXUSR)
        (layout.runner.parent / "plan.json").write_text(json.dumps(plans))

    return install


@pytest.fixture
def case() -> Callable[..., Line]:
    """Makes a line of results, of a case that passed unless told otherwise."""

    def make(name: str, **changes: object) -> Line:
        line = {
            "type": "case",
            "case": name,
            "impl": "reference",
            "clauses": ["send.tags"],
            "level": "must",
            "verdict": "pass",
            "expected": True,
            "listed": None,
            "signature": "",
            "findings": [],
            "stacks": {},
            "repeat": f"./launcher/tdconf run --run '{name}'",
        }
        return line | changes

    return make


def pytest_configure() -> None:
    """Undoes `nohup` and a shell's `&`: what a test starts inherits signals that are ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
