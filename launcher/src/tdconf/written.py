# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written at a user's wish, and what must not be lost by writing them."""

from collections.abc import Iterable
from pathlib import Path

from tdconf.exits import Exit, TdconfError

# In the first line of every such file; the templates of scripts have it in theirs.
MARK = "Written by tdconf explain"


def check(files: Iterable[Path], folder: Path | None) -> None:
    """Refuses to write where something else is: a file that does not begin with `MARK`."""
    if folder is not None and folder.exists() and not folder.is_dir():
        raise TdconfError(f"{folder}: is no folder; name another one", Exit.USAGE)
    for path in files:
        if path.is_dir():
            raise TdconfError(f"{path}: is a folder; name another file", Exit.USAGE)
        if path.is_file() and MARK not in _first_line(path):
            raise TdconfError(
                f"{path}: exists, and was not written by tdconf explain, which would overwrite it; "
                "move it away, or name another place",
                Exit.USAGE,
            )


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline()
