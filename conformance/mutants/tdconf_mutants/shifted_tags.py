# SPDX-License-Identifier: BSD-3-Clause
"""Gives every leaf a tag that is one too high, on both sides."""

import sys

from tdconf_tensordict_adapter.command_line import run

from .transfer import Rules, mutant

if __name__ == "__main__":
    run(sys.argv[1:], mutant("shifted_tags", Rules(tag_offset=1)))
