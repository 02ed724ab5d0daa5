# SPDX-License-Identifier: BSD-3-Clause
"""The implementations that can be judged: the built-in ones and those that the user names."""

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tdconf.environment import JUDGED_PACKAGES, LINKED_PACKAGES
from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout

DEFAULT_NAMES = ("reference", "tensordict")
PROBE = "probe"
_STARTS = {"exec": "", "fork": "fork:"}
# A name is a word of the runner's command line and a folder of the results.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_RANK = re.compile(r"[0-9]{1,10}")
_LARGEST_RANK = 2**31 - 1


@dataclass(frozen=True)
class Implementation:
    """Something that can be judged.

    `given` is what `--impl` calls it, `expectations` the file of its known differences.
    """

    name: str
    given: str
    command: str
    expectations: Path | None


def built_in(layout: Layout, python: Path) -> dict[str, Implementation]:
    """Returns the implementations of the checkout by name; the probe plays, but is never judged."""
    return {
        "reference": Implementation(
            "reference",
            "reference",
            shlex.quote(str(layout.adapter("reference"))),
            layout.expectations / "reference.yaml",
        ),
        "tensordict": Implementation(
            "tensordict",
            "tensordict",
            f"fork:{shlex.quote(str(python))} -m tdconf_tensordict_adapter",
            layout.expectations / "tensordict.yaml",
        ),
        PROBE: Implementation(PROBE, PROBE, shlex.quote(str(layout.adapter(PROBE))), None),
    }


def parse(text: str) -> tuple[str, str | None]:
    """Reads the value of `--impl`: a built-in NAME, NAME=exec:COMMAND or NAME=fork:COMMAND."""
    name, separator, connectable = text.partition("=")
    if not _NAME.fullmatch(name):
        raise TdconfError(
            f"--impl {text}: a name has letters, digits, '_' and '-' only, and no '-' in front",
            Exit.USAGE,
        )
    if not separator:
        return name, None
    start, colon, command = connectable.partition(":")
    if not colon or start not in _STARTS or not command.strip():
        raise TdconfError(
            f"--impl {text}: after '=' stands exec:COMMAND (one process per rank) or "
            "fork:COMMAND (one server that forks the ranks)",
            Exit.USAGE,
        )
    try:
        program = shlex.split(command)[0]
    except ValueError as problem:
        raise TdconfError(f"--impl {text}: {problem} in the command", Exit.USAGE) from problem
    if not program:
        raise TdconfError(f"--impl {text}: the command names no program", Exit.USAGE)
    return name, _STARTS[start] + command


def known(
    layout: Layout, python: Path, named: Iterable[str]
) -> tuple[dict[str, Implementation], list[str]]:
    """Returns all implementations, the user's own among them, and the names that `--impl` chose."""
    everything = built_in(layout, python)
    chosen: list[str] = []
    for text in named:
        name, command = parse(text)
        if command is not None:
            if name in everything:
                raise TdconfError(
                    f"--impl {text}: the name {name} is taken, choose another", Exit.USAGE
                )
            everything[name] = Implementation(name, text, command, None)
        require(everything, name, f"--impl {text}")
        if name == PROBE:
            raise TdconfError("--impl probe: the probe only plays ranks for others", Exit.USAGE)
        if name in chosen:
            raise TdconfError(f"--impl {text}: {name} is named twice", Exit.USAGE)
        chosen.append(name)
    return everything, chosen


def require(everything: Mapping[str, Implementation], name: str, where: str) -> None:
    """Refuses a name that stands for nothing."""
    if name not in everything:
        names = ", ".join(sorted(everything))
        raise TdconfError(f"{where}: {name} is no implementation; there are {names}", Exit.USAGE)


def parse_assignment(text: str) -> dict[int, str]:
    """Reads the value of `--assign`: `0=reference,1=tensordict`."""
    players: dict[int, str] = {}
    for part in text.split(","):
        rank, separator, name = part.strip().partition("=")
        if not separator or not _RANK.fullmatch(rank) or int(rank) > _LARGEST_RANK or not name:
            raise TdconfError(
                f"--assign {text}: expected RANK=NAME,... with ranks from 0 to {_LARGEST_RANK}, "
                f"got '{part}'",
                Exit.USAGE,
            )
        if int(rank) in players:
            raise TdconfError(f"--assign {text}: rank {int(rank)} is named twice", Exit.USAGE)
        players[int(rank)] = name
    return players


def adapter_environment(layout: Layout) -> dict[str, str]:
    """Returns our environment with the Python adapter's folder in front of PYTHONPATH."""
    folder = str(layout.conformance / "adapters" / "tensordict")
    inherited = os.environ.get("PYTHONPATH")
    return os.environ | {"PYTHONPATH": f"{folder}:{inherited}" if inherited else folder}


def needed_packages(names: Iterable[str]) -> tuple[str, ...]:
    """Returns the Python packages without which `names` cannot be judged."""
    return JUDGED_PACKAGES if "tensordict" in names else LINKED_PACKAGES
