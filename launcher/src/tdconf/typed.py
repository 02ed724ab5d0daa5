# SPDX-License-Identifier: BSD-3-Clause
"""A case from standard input, kept as a file, so that it can be read again."""

import hashlib
import os
import sys
from pathlib import Path

from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout, from_here

STDIN = "-"


def keep(layout: Layout) -> Path:
    """Reads standard input to its end and returns the file that holds it from then on.

    The file is named after its content and lies beside the results, where a command that repeats
    the case finds it.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise TdconfError("-: standard input is closed", Exit.USAGE)
    text = sys.stdin.buffer.read()
    if not text.strip():
        raise TdconfError("-: standard input is empty; write a case there", Exit.USAGE)
    path = layout.output / "asked" / f"{hashlib.sha256(text).hexdigest()[:12]}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    unfinished.write_bytes(text)
    unfinished.replace(path)
    return from_here(path)
