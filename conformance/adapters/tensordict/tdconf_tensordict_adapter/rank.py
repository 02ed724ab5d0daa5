# SPDX-License-Identifier: BSD-3-Clause
"""Plays one rank: one thread listens, the main thread carries operations out."""

import os
import queue
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import NoReturn

from .case import Case
from .decode import Json, ProtocolError
from .errors import AdapterError, ImplementationError, UnsupportedError, describe_raised
from .implementation import Implementation
from .messages import (
    Bye,
    EndCase,
    Hello,
    Join,
    Ping,
    Request,
    Reset,
    Spawn,
    Stacks,
    Step,
    decode_request,
    decode_seq,
)
from .operations import run_step
from .wire import Channel

PROTOCOL_BROKEN = 1


def leave(status: int) -> NoReturn:
    """Ends the process at once: a blocked operation or a half-closed group must not hold it up."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def describe_stacks() -> str:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    stacks = []
    for ident, frame in sys._current_frames().items():
        if ident != threading.get_ident():
            lines = "".join(traceback.format_stack(frame))
            stacks.append(f"thread {names.get(ident, ident)}\n{lines}")
    return "\n".join(stacks)


def answer(request_seq: int, act: Callable[[], dict[str, Json]]) -> dict[str, Json]:
    """Carries a request out and turns every way in which that can fail into its answer."""
    try:
        result = act()
    except UnsupportedError as problem:
        result = {"type": "unsupported", "what": problem.what}
    except ImplementationError as raised:
        result = {"type": "raised"} | describe_raised(raised)
    except (AdapterError, ProtocolError) as problem:
        result = {"type": "error", "message": str(problem)}
    except Exception:
        result = {"type": "error", "message": traceback.format_exc()}
    return {"seq": request_seq} | result


class Rank:
    """One rank of the world."""

    def __init__(
        self, channel: Channel, implementation: Implementation, token: str, rank: int
    ) -> None:
        self._channel = channel
        self._implementation = implementation
        self._token = token
        self._rank = rank
        self._case = Case()
        self._requests: queue.SimpleQueue[tuple[int, Request]] = queue.SimpleQueue()
        self._steps: deque[int] = deque()

    def play(self) -> NoReturn:
        """Answers requests until `bye` or the end of the connection."""
        threading.Thread(target=self._listen, name="control", daemon=True).start()
        while True:
            seq, request = self._requests.get()
            if isinstance(request, Step):
                self._case.transcript.enter_step(seq)
            result = answer(seq, partial(self._act, request))
            if isinstance(request, Step):
                self._steps.popleft()
            self._write(seq, result)
            if isinstance(request, Bye):
                leave(0)

    def _write(self, seq: int, result: dict[str, Json]) -> None:
        try:
            self._channel.write(result)
        except ProtocolError as problem:
            self._channel.write({"seq": seq, "type": "error", "message": str(problem)})

    def _listen(self) -> None:
        """Runs in the control thread; the process ends with it, for nobody else would notice."""
        try:
            while (message := self._channel.read()) is not None:
                self._accept(message)
        except ProtocolError as problem:
            print(f"tdconf adapter: {problem}", file=sys.stderr)
            leave(PROTOCOL_BROKEN)
        except Exception:
            traceback.print_exc()
            leave(PROTOCOL_BROKEN)
        leave(0)

    def _accept(self, message: Json) -> None:
        seq = decode_seq(message)
        try:
            request = decode_request(message)
        except ProtocolError as problem:
            self._channel.write({"seq": seq, "type": "error", "message": str(problem)})
            return
        if isinstance(request, Ping):
            step = self._steps[0] if self._steps else None
            self._channel.write({"seq": seq, "type": "pong", "step": step})
        elif isinstance(request, Stacks):
            transcript = self._case.transcript.events()
            stacks = {"type": "stacks", "text": describe_stacks(), "transcript": transcript}
            self._write(seq, {"seq": seq} | stacks)
        else:
            if isinstance(request, Step):
                self._steps.append(seq)
            self._requests.put((seq, request))

    def _act(self, request: Request) -> dict[str, Json]:
        match request:
            case Hello():
                return self._implementation.answer_hello(request, self._token)
            case Join():
                if request.rank != self._rank:
                    raise AdapterError(f"this process plays rank {self._rank}, not {request.rank}")
                self._case.join(request)
                return {"type": "joined"}
            case Step():
                value = run_step(self._implementation.operations, self._case, request)
                return {"type": "returned", "value": value}
            case EndCase():
                transcript = self._case.transcript.events()
                leftovers = self._case.leftovers()
                return {"type": "ended", "leftovers": leftovers, "transcript": transcript}
            case Reset():
                case, self._case = self._case, Case()
                case.close()
                return {"type": "done"}
            case Bye():
                return {"type": "done"}
            case Spawn():
                raise ProtocolError("spawn: this process plays a rank; it is no fork server")
