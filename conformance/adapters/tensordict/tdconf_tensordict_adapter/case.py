# SPDX-License-Identifier: BSD-3-Clause
"""What one rank holds while a case runs."""

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

import torch
import torch.distributed as dist

from .errors import AdapterError, ImplementationError, call
from .groups import drop_groups, make_groups, make_store, timeout_of
from .held import lookup
from .messages import Join
from .pipes import Pipes
from .snapshots import Snapshots
from .tensorclasses import AnyTensorDict, forget
from .transcript import Transcript, watch

# What an operation leaves to be waited for.
Pending = dist.Work | torch.futures.Future


class Case:
    """The values, the pending operations, the groups and the pipes, each under its name."""

    def __init__(self) -> None:
        self.values: dict[str, AnyTensorDict] = {}
        self._works: dict[str, list[Pending]] = {}
        self._waited: set[str] = set()
        self.snapshots = Snapshots()
        self.transcript = Transcript()
        self._groups: dict[str, dist.ProcessGroup] = {}
        self._pipes: Pipes | None = None
        self._folder: Path | None = None
        self._file_count = 0
        self._store_folder: str | None = None

    def join(self, join: Join) -> None:
        if self._groups:
            raise AdapterError("this rank has joined already; reset comes first")
        self._store_folder = str(Path(join.store.path).parent)
        watch(self.transcript)
        store = make_store(join)
        self._groups = make_groups(join, store)
        self._pipes = Pipes(join.rank, store, timeout_of(join))
        self.transcript.name_groups(self._groups, join)

    def value(self, name: str) -> AnyTensorDict:
        return lookup(self.values, name, "value")

    def keep_works(self, name: str, works: list[Pending]) -> None:
        self._works[name] = works
        self._waited.discard(name)

    def wait(self, name: str) -> None:
        """Waits for each of the works kept under `name`, in their order.

        Errors  ImplementationError: that of the first that failed, once all were waited for.
        """
        failures = []
        for work in lookup(self._works, name, "list of works"):
            try:
                call(work.wait)
            except ImplementationError as failure:
                failures.append(failure)
        if failures:
            raise failures[0]
        self._waited.add(name)

    def group(self, name: str) -> dist.ProcessGroup:
        return lookup(self._groups, name, "group")

    @property
    def pipes(self) -> Pipes:
        if self._pipes is None:
            raise AdapterError("this rank has not joined yet")
        return self._pipes

    def new_file(self) -> Path:
        """Returns the path of a file that does not exist yet, to hold a value.

        It lies beside the store, whose folder the judge clears even when this rank is killed.
        """
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="values-", dir=self._store_folder))
        self._file_count += 1
        return self._folder / str(self._file_count)

    def leftovers(self) -> dict[str, int]:
        """Counts the values, and the works that nobody waited for."""
        pending = [works for name, works in self._works.items() if name not in self._waited]
        return {"values": len(self.values), "works": sum(map(len, pending))}

    def close(self) -> None:
        """Closes the groups and the pipes, drops everything and removes the files.

        Errors  what closing raises, once all the rest is done, which the next case relies on.
        """
        watch(None)
        # From the last to the first.
        with ExitStack() as stack:
            if self._folder is not None:
                stack.callback(shutil.rmtree, self._folder)
            stack.callback(drop_groups)
            stack.callback(self._works.clear)
            stack.callback(forget)
            stack.callback(self.values.clear)
            stack.callback(self._groups.clear)
            stack.callback(self.transcript.forget_groups)
            if self._pipes is not None:
                self._pipes.close_in(stack)
