# SPDX-License-Identifier: BSD-3-Clause
"""Opens and closes the UCX pipes of one rank.

The package ucxx is imported by the first pipe, in the rank that opens it: it starts a thread, which
a fork would not copy.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import torch.distributed as dist
from tensordict._ucxx import TensorDictPipe

from .errors import AdapterError, call
from .held import lookup

# Where the listening end can be reached. TensorDictPipe takes no address to listen at: UCX listens
# at every one, and UCX_NET_DEVICES says only where the data of pipes goes.
_HOST = "127.0.0.1"


class Pipes:
    """The pipes of one case, each under its name."""

    def __init__(self, rank: int, store: dist.Store, timeout: timedelta) -> None:
        self._rank = rank
        self._store = store
        self._timeout = timeout
        self._opened: Counter[str] = Counter()
        self._pipes: dict[str, TensorDictPipe] = {}

    def open(self, name: str, peer: int, listen: bool) -> None:
        """Opens one end of a pipe; the other rank opens the other end.

        Errors  AdapterError: the name is taken, or the store has no port where the other rank
                puts it.
                ImplementationError: the other end did not come in time.
        """
        if name in self._pipes:
            raise AdapterError(f"this rank has a pipe called {name!r} already")
        ends = (self._rank, peer) if listen else (peer, self._rank)
        key = self._key(*ends)
        make = self._listen(key) if listen else TensorDictPipe.connect(_HOST, self._port(key))
        self._pipes[name] = call(self._run, make)

    def named(self, name: str) -> TensorDictPipe:
        return lookup(self._pipes, name, "pipe")

    def close_in(self, stack: ExitStack) -> None:
        """Has each pipe closed when `stack` unwinds."""
        for pipe in self._pipes.values():
            stack.callback(pipe.close)

    def _key(self, listener: int, other: int) -> str:
        """Returns the key of the store under which the listening rank says its port."""
        ends = f"pipe/{listener}/{other}"
        self._opened[ends] += 1
        return f"{ends}/{self._opened[ends]}"

    def _run(self, make: Awaitable[TensorDictPipe]) -> TensorDictPipe:
        async def within_the_timeout() -> TensorDictPipe:
            return await asyncio.wait_for(make, self._timeout.total_seconds())

        return asyncio.run(within_the_timeout())

    async def _listen(self, key: str) -> TensorDictPipe:
        with port_told(lambda port: self._store.set(key, str(port))):
            return await TensorDictPipe.listen(0)

    def _port(self, key: str) -> int:
        """Waits until the listening rank says its port."""
        text = call(self._store.get, key).decode()
        if not text.isdecimal() or not 0 < int(text) < 1 << 16:
            raise AdapterError(
                f"open_pipe: the store has {text!r} under {key}; allowed is a port, 1 to 65535"
            )
        return int(text)


@contextmanager
def port_told(tell: Callable[[int], None]) -> Iterator[None]:
    """Tells the port that UCX chooses for a listener: TensorDictPipe.listen keeps it to itself."""
    import ucxx

    original = ucxx.create_listener

    def create_listener(*args: object, **kwargs: object) -> object:
        listener = original(*args, **kwargs)
        tell(listener.port)
        return listener

    ucxx.create_listener = create_listener
    try:
        yield
    finally:
        ucxx.create_listener = original


def pin_to_loopback() -> None:
    """Keeps the data of pipes on the loopback interface, and UCX quiet about variables of ucxx."""
    os.environ.setdefault("UCX_NET_DEVICES", "lo")
    os.environ.setdefault("UCX_WARN_UNUSED_ENV_VARS", "n")
