# SPDX-License-Identifier: BSD-3-Clause
"""Runs the adapter: `python -m tdconf_tensordict_adapter --connect HOST:PORT --rank K`."""

import sys

from .command_line import run
from .implementation import Implementation

if __name__ == "__main__":
    run(sys.argv[1:], Implementation())
