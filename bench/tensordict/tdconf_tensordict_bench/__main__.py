# SPDX-License-Identifier: BSD-3-Clause
"""Runs one rank: `python -m tdconf_tensordict_bench --rank R --world W --store FOLDER`."""

import sys

from .command_line import parse


def main() -> None:
    line = parse(sys.argv[1:])
    # torch takes seconds to load: a wrong command line is told before.
    from .serve import serve

    serve(line)


if __name__ == "__main__":
    main()
