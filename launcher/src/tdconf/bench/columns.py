# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a table: the programs that time the same operations, and how they start."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout

FLOOR = "floor"
REFERENCE = "reference"
TENSORDICT = "tensordict"
NAMES = (FLOOR, REFERENCE, TENSORDICT)
BUILT = (FLOOR, REFERENCE)
TARGETS = {
    FLOOR: ("tdconf_bench_floor",),
    REFERENCE: ("tdconf_bench_reference",),
    # Which counts for the Python column too.
    TENSORDICT: ("tdconf_bench_counting",),
}


@dataclass(frozen=True)
class Program:
    """How one rank of a column starts, but for its rank, its world and the folder of its store."""

    column: str
    command: tuple[str, ...]
    environment: Mapping[str, str] | None = None


def program(layout: Layout, python: Path, column: str) -> Program:
    """Returns the program of a column of this checkout."""
    if column in BUILT:
        return Program(column, (str(built_in(layout.build, column)),))
    folder = str(layout.bench / "tensordict")
    inherited = os.environ.get("PYTHONPATH")
    environment = os.environ | {"PYTHONPATH": f"{folder}:{inherited}" if inherited else folder}
    return Program(column, (str(python), "-m", "tdconf_tensordict_bench"), environment)


def built_in(folder: Path, column: str) -> Path:
    """Finds the program of a C++ column in a build tree, or in the folder of the programs."""
    name = TARGETS[column][0]
    tried = [folder / "bench" / name, folder / name]
    for path in tried:
        if path.is_file() and os.access(path, os.X_OK):
            return path.resolve()
    raise TdconfError(
        f"{folder}: has no program {name}; looked for {' and '.join(map(str, tried))}", Exit.USAGE
    )
