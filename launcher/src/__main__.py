# SPDX-License-Identifier: BSD-3-Clause
"""Starts the launcher: `python launcher/src ARGUMENTS`, which leaves PYTHONPATH to the adapters."""

import sys

from tdconf.cli import main

sys.exit(main(sys.argv[1:]))
