# SPDX-License-Identifier: BSD-3-Clause
"""How the ranks are connected: once for the operations, and once beside them."""

import os
from datetime import timedelta
from functools import cache
from pathlib import Path

import torch
import torch.distributed as dist

# How long a rank waits for another one, everywhere.
TIMEOUT = timedelta(minutes=1)


def pin_interface() -> None:
    """Keeps gloo on the loopback interface: the host's own name need not have a usable address."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"


def _open_store(path: Path, world: int) -> dist.FileStore:
    store = dist.FileStore(str(path), world)
    store.set_timeout(TIMEOUT)
    return store


def connect(folder: Path, rank: int, world: int) -> None:
    """Connects the default group, in which the operations are.

    Blocks  until all ranks have called it, at most TIMEOUT.
    """
    dist.init_process_group(
        "gloo",
        store=_open_store(folder / "work", world),
        rank=rank,
        world_size=world,
        timeout=TIMEOUT,
    )


@cache
def pickles() -> dist.ProcessGroup:
    """Returns the group of all ranks in which gather_and_stack() sends pickles.

    Its backend string is not that of gloo, though gloo is what it uses. Blocks the first time.
    """
    return dist.new_group(backend="cpu:gloo", timeout=TIMEOUT)


class Control:
    """What the ranks tell each other beside the operations, over connections of its own."""

    def __init__(self, folder: Path, rank: int, world: int) -> None:
        self._rank = rank
        self._world = world
        self._store = _open_store(folder / "control", world)
        self._backend = dist.ProcessGroupGloo(
            dist.PrefixStore("gloo/", self._store), rank, world, TIMEOUT
        )
        self._options = dist.AllreduceOptions()
        self._options.reduceOp = dist.ReduceOp.MAX
        self._meetings = 0

    def slowest(self, seconds: float) -> float:
        """Returns the largest of the times that the ranks give.

        No rank returns before all have called it.
        """
        times = torch.tensor([seconds], dtype=torch.float64)
        self._backend.allreduce([times], self._options).wait()
        return times.item()

    def meet(self) -> None:
        """Waits until every rank has called it as often; nothing is sent, so nothing is counted."""
        self._meetings += 1
        prefix = f"meeting/{self._meetings}/"
        self._store.set(f"{prefix}{self._rank}", "1")
        self._store.wait([f"{prefix}{rank}" for rank in range(self._world)], TIMEOUT)
