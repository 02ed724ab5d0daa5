# SPDX-License-Identifier: BSD-3-Clause
"""Finds out what this machine and this checkout have, and what they lack."""

import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tdconf import environment
from tdconf.build import cached_python
from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout
from tdconf.processes import cores

_TOOLS = ("g++", "cmake", "ninja", "clang-format", "shellcheck", "git")
_VERSION = re.compile(r"\d+(\.\d+)+")


@dataclass(frozen=True)
class Fact:
    """One thing that was looked for: what was found, or what to do about its absence."""

    name: str
    found: str | None
    remedy: str = ""


def examine(layout: Layout, python: Path | None) -> list[Fact]:
    """Looks for everything that `run` and `test` need; `python` is the one that the user names."""
    return [
        *machine(),
        *_tools(),
        *_system_packages(layout),
        *python_packages(layout, python),
        *_built(layout),
    ]


def report(facts: list[Fact]) -> tuple[str, Exit]:
    """Lays `facts` out for the terminal; anything missing stands in the way of a verdict."""
    width = max(len(fact.name) for fact in facts)
    lines = [f"{fact.name:<{width}}  {fact.found or f'MISSING: {fact.remedy}'}" for fact in facts]
    missing = [fact.name for fact in facts if fact.found is None]
    if missing:
        return "\n".join([*lines, f"missing: {', '.join(missing)}"]), Exit.NO_VERDICT
    return "\n".join([*lines, "nothing is missing"]), Exit.AS_EXPECTED


def record(layout: Layout, python: Path) -> dict[str, str | None]:
    """Returns the facts that go with every result."""
    facts = [*machine(), *_tools(), *python_packages(layout, python)]
    return {fact.name: fact.found for fact in facts}


def machine() -> list[Fact]:
    return [
        Fact("system", platform.platform()),
        Fact("cores", cores()),
        Fact("launcher's python", platform.python_version()),
    ]


def _tools() -> list[Fact]:
    return [Fact(tool, _tool_version(tool), "ci/install-deps") for tool in _TOOLS]


def _tool_version(tool: str) -> str | None:
    if shutil.which(tool) is None:
        return None
    try:
        answer = subprocess.run(
            [tool, "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(answer)
    return match.group() if match else answer.strip()


def _system_packages(layout: Layout) -> list[Fact]:
    lines = (layout.ci / "packages.txt").read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    if shutil.which("dpkg-query") is None:
        return [Fact("Debian packages", "not a Debian machine, not looked at")]
    # Its exit status is 1 as soon as one of the packages is unknown.
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status} ${Version}\n", *wanted],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    ).stdout
    rows = [line.split(" ") for line in answer.splitlines()]
    found = {name: version for name, status, version in rows if status == "installed"}
    return [Fact(f"package {name}", found.get(name), "ci/install-deps") for name in wanted]


def python_packages(layout: Layout, python: Path | None) -> list[Fact]:
    """Looks into the environment that is judged: `.venv`, or the one that the user names."""
    pinned = environment.pinned_versions(layout.ci / "requirements.txt")
    remedy = "./launcher/tdconf run sets it up" if python is None else f"{python} -m pip install"
    if python is None and not environment.is_stamped(layout):
        return [Fact("environment", None, remedy)]
    python = python or layout.venv_python
    needed = environment.JUDGED_PACKAGES if python != layout.venv_python else tuple(pinned)
    try:
        version, found = environment.installed_versions(python, needed)
    except TdconfError as problem:
        return [Fact("environment", None, str(problem))]
    return [
        Fact("environment", str(python)),
        Fact("python", version),
        *(Fact(name, found[name], f"{remedy} ({name})") for name in needed),
    ]


def _built(layout: Layout) -> list[Fact]:
    programs = {
        "runner": layout.runner,
        "adapter reference": layout.adapter("reference"),
        "adapter probe": layout.adapter("probe"),
    }
    remedy = "./launcher/tdconf run builds it"
    facts = [
        Fact(name, str(path) if path.exists() else None, remedy) for name, path in programs.items()
    ]
    return [*facts, Fact("built for", cached_python(layout), remedy)]
