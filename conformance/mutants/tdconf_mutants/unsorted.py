# SPDX-License-Identifier: BSD-3-Clause
"""Visits the keys in the order in which they were inserted."""

import sys

from tdconf_tensordict_adapter.command_line import run

from .transfer import Rules, mutant

if __name__ == "__main__":
    run(sys.argv[1:], mutant("unsorted", Rules(order=list)))
