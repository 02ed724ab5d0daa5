# SPDX-License-Identifier: BSD-3-Clause
"""Counts one operation by the library of bench/counting, which every column shares."""

import ctypes
import os
from pathlib import Path

from .groups import Control
from .operation import Operation
from .report import Json, report

VARIABLE = "TDCONF_BENCH_COUNTING"
BUILT = Path(__file__).parents[3] / "build" / "release" / "bench" / "libtdconf_bench_counting.so"
COUNTERS = ("messages", "copied_bytes", "allocations", "allocated_bytes")


class _Counts(ctypes.Structure):
    """TdconfCounts of bench/counting/counting.h."""

    _fields_ = tuple((name, ctypes.c_int64) for name in COUNTERS)


class Counting:
    """The library; without it, which only a timed request can do, count() is an error."""

    def __init__(self) -> None:
        """Loads what the variable TDCONF_BENCH_COUNTING names, or else what this checkout built.

        Errors  ValueError: the variable names a file that cannot be loaded.
        """
        given = os.environ.get(VARIABLE)
        self._library: ctypes.CDLL | None = None
        if given is None and not BUILT.exists():
            return
        try:
            self._library = ctypes.CDLL(given or str(BUILT))
        except OSError as problem:
            raise ValueError(f"{VARIABLE}: cannot load {given or BUILT}: {problem}") from problem
        self._library.tdconf_counting_received_bytes.restype = ctypes.c_int64

    def ignore_open_sockets(self) -> None:
        """Leaves the sockets that are open at this moment out of the received bytes."""
        if self._library is not None:
            self._library.tdconf_counting_ignore_open_sockets()

    def count(self, name: str, operation: Operation, control: Control) -> Json:
        """Counts what this rank does in one operation; it must have run before.

        Blocks  until every rank has done so, and every thread of this process sleeps.
        Errors  ValueError: there is no library.
                RuntimeError: a thread does not come to rest.
        """
        library = self._library
        if library is None:
            raise ValueError(
                f"nothing can be counted without {BUILT.name}: build tdconf_bench_counting, "
                f"or set {VARIABLE} to the file"
            )
        counts = _Counts()
        self._settle(library, control)
        received_before = library.tdconf_counting_received_bytes()
        library.tdconf_counting_start()
        control.meet()
        operation.run()
        self._settle(library, control)
        library.tdconf_counting_stop(ctypes.byref(counts))
        received = library.tdconf_counting_received_bytes() - received_before
        control.meet()  # what one rank does next wakes threads of the others
        counters = {counter: getattr(counts, counter) for counter in COUNTERS}
        return report(name, [0.0], 0.0, counters | {"wire_bytes": received})

    @staticmethod
    def _settle(library: ctypes.CDLL, control: Control) -> None:
        # A rank whose threads all sleep may be woken by another one, which then was not at the
        # first meeting.
        for _ in range(2):
            control.meet()
            if library.tdconf_counting_await_quiet() != 0:
                raise RuntimeError(
                    "a thread of this process does not come to rest; nothing can be counted"
                )
