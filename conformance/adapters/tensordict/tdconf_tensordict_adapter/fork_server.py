# SPDX-License-Identifier: BSD-3-Clause
"""Forks ranks from one process that has imported torch and tensordict once."""

import ctypes
import gc
import os
import selectors
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from .decode import Json, ProtocolError
from .implementation import Implementation
from .messages import Bye, Hello, Ping, Request, Spawn, Stacks, decode_request, decode_seq
from .rank import PROTOCOL_BROKEN, Rank, answer, describe_stacks, leave
from .wire import Channel

PR_SET_PDEATHSIG = 1


class ForkServer:
    """Answers `spawn` and tells when a child ends; one thread, since a fork copies no other."""

    def __init__(
        self,
        channel: Channel,
        implementation: Implementation,
        token: str,
        dial: Callable[[], Channel],
    ) -> None:
        self._channel = channel
        self._implementation = implementation
        self._token = token
        self._dial = dial
        self._children: dict[int, int] = {}
        self._selector = selectors.DefaultSelector()

    def serve(self) -> NoReturn:
        """Answers requests until `bye` or the end of the connection; every child ends with it."""
        # Children share the pages of what is imported as long as no collection touches them.
        gc.collect()
        gc.freeze()
        self._selector.register(self._channel, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._channel:
                    self._serve_requests()
                else:
                    self._reap(key.fd)

    def _serve_requests(self) -> None:
        self._serve_request()
        while self._channel.has_buffered_line():
            self._serve_request()

    def _serve_request(self) -> None:
        try:
            message = self._channel.read()
            if message is None:
                leave(0)
            seq = decode_seq(message)
        except ProtocolError as problem:
            print(f"tdconf fork server: {problem}", file=sys.stderr)
            leave(PROTOCOL_BROKEN)
        is_bye = message.get("type") == "bye"
        self._channel.write(answer(seq, lambda: self._act(decode_request(message))))
        if is_bye:
            leave(0)

    def _act(self, request: Request) -> dict[str, Json]:
        match request:
            case Hello():
                return self._implementation.answer_hello(request, self._token)
            case Spawn():
                return {"type": "spawned", "pid": self._spawn(request)}
            case Ping():
                return {"type": "pong", "step": None}
            case Stacks():
                return {"type": "stacks", "text": describe_stacks(), "transcript": []}
            case Bye():
                return {"type": "done"}
            case _:
                raise ProtocolError(
                    "a fork server answers hello, spawn, ping, stacks and bye;"
                    f" got {type(request).__name__}"
                )

    def _spawn(self, request: Spawn) -> int:
        server = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._become_rank(server, request)
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = pid
        self._selector.register(pidfd, selectors.EVENT_READ)
        return pid

    def _become_rank(self, server: int, request: Spawn) -> NoReturn:
        """Runs in the child, which shares nothing with the server but what is imported."""
        try:
            die_with(server)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            self._channel.close()
            # Only closed: unregistering would change the set that the server goes on waiting for.
            self._selector.close()
            for pidfd in self._children:
                os.close(pidfd)
            Rank(self._dial(), self._implementation, request.token, request.rank).play()
        except BaseException as problem:
            print(f"tdconf rank {request.rank}: {problem}", file=sys.stderr)
        finally:
            leave(PROTOCOL_BROKEN)

    def _reap(self, pidfd: int) -> None:
        self._selector.unregister(pidfd)
        os.close(pidfd)
        pid, wait_status = os.waitpid(self._children.pop(pidfd), 0)
        self._channel.write({"type": "exited", "pid": pid} | describe_exit(wait_status))


def describe_exit(wait_status: int) -> dict[str, Json]:
    if os.WIFSIGNALED(wait_status):
        return {"status": None, "signal": os.WTERMSIG(wait_status)}
    return {"status": os.WEXITSTATUS(wait_status), "signal": None}


def die_with(parent: int) -> None:
    """Has the kernel kill this process when `parent` ends, by whatever cause."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    # The parent may have ended before the kernel knew.
    if os.getppid() != parent:
        leave(0)
