# SPDX-License-Identifier: BSD-3-Clause
"""Reads how the adapter was started and plays its part."""

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

import torch

from . import c10d_spy, travel_spy
from .fork_server import ForkServer
from .groups import pin_interface
from .implementation import Implementation
from .rank import Rank, leave
from .wire import Channel

RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
NO_JUDGE = 69


def parse_address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not host or not colon or not port.isdecimal():
        raise argparse.ArgumentTypeError(f"expected HOST:PORT, got {text!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def rank_from_environment() -> int | None:
    for variable in RANK_VARIABLES:
        if variable in os.environ:
            return int(os.environ[variable])
    return None


def parse(argv: Sequence[str], description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=description, epilog="The environment variable TDCONF_TOKEN holds the secret."
    )
    parser.add_argument(
        "--connect",
        type=parse_address,
        required=True,
        metavar="HOST:PORT",
        help="where the judge listens",
    )
    part = parser.add_mutually_exclusive_group()
    part.add_argument(
        "--rank",
        type=int,
        metavar="K",
        help=f"play rank K; else read from {', '.join(RANK_VARIABLES)}",
    )
    part.add_argument("--serve", action="store_true", help="fork ranks whenever the judge asks")
    options = parser.parse_args(argv)
    if "TDCONF_TOKEN" not in os.environ:
        parser.error("the environment variable TDCONF_TOKEN is not set")
    if options.rank is None and not options.serve:
        options.rank = rank_from_environment()
        if options.rank is None:
            parser.error(f"give --rank K or --serve, or set one of {', '.join(RANK_VARIABLES)}")
    return options


def run(argv: Sequence[str], implementation: Implementation) -> NoReturn:
    """Plays a rank or serves forks until the judge ends the connection."""
    options = parse(argv, f"plays {implementation.name} {implementation.version} for the judge")
    # Whatever filters the environment sets, a warning is no exception of the implementation.
    warnings.resetwarnings()
    # A pool of threads would not survive a fork, and a world has more ranks than cores.
    torch.set_num_threads(1)
    host, port = options.connect
    pin_interface(host)
    token = os.environ["TDCONF_TOKEN"]
    c10d_spy.install()
    travel_spy.install()

    def dial() -> Channel:
        return Channel.dial(host, port)

    try:
        channel = dial()
    except OSError as problem:
        print(f"cannot reach the judge at {host}:{port}: {problem}", file=sys.stderr)
        leave(NO_JUDGE)
    if options.serve:
        ForkServer(channel, implementation, token, dial).serve()
    Rank(channel, implementation, token, options.rank).play()
