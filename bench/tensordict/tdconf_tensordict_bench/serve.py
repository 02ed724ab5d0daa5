# SPDX-License-Identifier: BSD-3-Clause
"""Is one rank of this column: answers requests until there are no more."""

import json
import os
import platform
import sys
import traceback
from typing import NoReturn, TextIO

import tensordict
import torch

from .command_line import CommandLine
from .counting import Counting
from .groups import Control, connect, pin_interface
from .operation import Injected, Operation
from .report import Json
from .request import Case, read_request
from .table import make
from .timing import time_operation


class Server:
    """A connected rank."""

    def __init__(self, line: CommandLine) -> None:
        """Blocks  until all ranks are connected."""
        self._line = line
        self._counting = Counting()
        self._control = Control(line.store, line.rank, line.world)
        self._counting.ignore_open_sockets()
        connect(line.store, line.rank, line.world)

    def answer(self, text: str) -> Json:
        """Errors  ValueError: a bad request, or a wrong value; else what the operation raises."""
        request = read_request(text)
        operation = self._make(request.case)
        name = request.case.name(self._line.world)
        operation.refill()
        operation.run()
        if request.count:
            result = self._counting.count(name, operation, self._control)
        else:
            result = time_operation(
                name, operation, self._control, request.iterations, request.batch
            )
        operation.refill()
        operation.run()
        operation.check()
        return result

    def _make(self, case: Case) -> Operation:
        operation = make(case, self._line.rank, self._line.world)
        fraction = self._line.inject.get(case.operation)
        return operation if fraction is None else Injected(operation, fraction)


def serve(line: CommandLine) -> NoReturn:
    """Answers the requests on standard input until it ends; see bench/README.md.

    Ends with 0 at the end of the requests, and with 1 after an error, which is also the last line
    of standard output.
    """
    pin_interface()
    answers = _take_standard_output()
    status = 0
    try:
        _answer_all(line, answers)
    except Exception as problem:
        if not isinstance(problem, ValueError):
            traceback.print_exc()
        _write(answers, {"error": str(problem)})
        status = 1
    sys.stderr.flush()
    # Groups take a while to go, and nobody waits for what they hold.
    os._exit(status)


def _take_standard_output() -> TextIO:
    """Returns where answers go; whatever else is printed goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _answer_all(line: CommandLine, answers: TextIO) -> None:
    server = Server(line)
    versions = {
        "tensordict": tensordict.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    ready = {"ready": True, "column": "tensordict", "pid": os.getpid(), "versions": versions}
    _write(answers, ready)
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    for text in sys.stdin:
        _write(answers, server.answer(text.removesuffix("\n")))


def _write(answers: TextIO, line: Json) -> None:
    answers.write(json.dumps(line) + "\n")
    answers.flush()
