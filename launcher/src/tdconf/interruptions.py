# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C and its kin: they end this process in one way, once, and never in the middle of a step."""

import contextlib
import os
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt_on_signals() -> None:
    """Makes SIGTERM and a closed terminal end this process the way ctrl-C does.

    What the caller has us ignore, as `nohup` does, stays ignored.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    # A second signal would break off the clean-up that the first one asks for, which has deadlines.
    for other in _SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    if number == signal.SIGHUP:
        _let_go_of_terminal()
    raise KeyboardInterrupt


def _let_go_of_terminal() -> None:
    """Sends what is printed to nowhere, where it went to a terminal: one that hung up fails."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.__stdout__, sys.__stderr__):
        # Nobody can ask a terminal that hung up whether it is one.
        if stream is not None and stat.S_ISCHR(os.fstat(stream.fileno()).st_mode):
            os.dup2(null, stream.fileno())
    os.close(null)


@contextlib.contextmanager
def put_off() -> Iterator[None]:
    """Lets an interruption that comes during the block take effect after it."""
    if threading.current_thread() is not threading.main_thread():
        # Interruptions reach the main thread only.
        yield
        return
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])
