# SPDX-License-Identifier: BSD-3-Clause
"""The ranks of one column: started together, asked together, ended together."""

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tdconf.bench.columns import Program
from tdconf.bench.cores import prefer, share
from tdconf.display import plain
from tdconf.exits import Exit, TdconfError
from tdconf.layout import from_here
from tdconf.processes import end_trees, ending_with_us

Answer = dict[str, Any]

_ANSWER_DEADLINE_S = 120.0
_SILENCE = f"no answer within {_ANSWER_DEADLINE_S:.0f} s"
_END_GRACE_S = 5.0
_TAIL_LINES = 15
_PIECE = 1 << 20


class Team:
    """The running ranks of one column in one world; a context that ends them.

    Errors: a rank that dies, reports an error or stays silent for 120 s is a TdconfError with the
    end of what it logged, and status 1.
    """

    def __init__(
        self,
        program: Program,
        world: int,
        folder: Path,
        *,
        pinned: bool = False,
        inject: Sequence[str] = (),
    ) -> None:
        self.label = f"{program.column}, {world} ranks"
        self.versions: dict[str, str] = {}
        self._subject = "it started"
        self._ranks: list[_Rank] = []
        store = folder / "store"
        store.mkdir(parents=True)
        cores = sorted(os.sched_getaffinity(0))
        try:
            for number in range(world):
                command = [*program.command, "--rank", str(number), "--world", str(world)]
                command += ["--store", str(store)]
                command += [word for one in inject for word in ("--inject", one)]
                rank = _Rank(number, command, program, folder)
                self._ranks.append(rank)
                prefer(rank.process.pid, share(number, world, cores) if pinned else cores)
        except OSError as problem:
            self.end()
            raise TdconfError(f"{program.command[0]} does not start: {problem}") from problem
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> "Team":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._let_go()
        self.end()

    def wait_until_ready(self) -> None:
        """Waits until each rank has said that it is connected to the others."""
        for answer in self._collect():
            self.versions = answer.get("versions", {})

    def ask(self, request: dict[str, object]) -> list[Answer]:
        """Sends one request to all ranks, and returns what each of them answers."""
        text = json.dumps(request)
        self._subject = f"it was asked {text}"
        line = f"{text}\n".encode()
        for rank in self._ranks:
            # One that is gone shows by the end of its output.
            with suppress(BrokenPipeError):
                rank.stdin.write(line)
        return self._collect()

    def end(self) -> None:
        """Ends every rank with what it started."""
        end_trees([rank.process for rank in self._ranks])
        for rank in self._ranks:
            rank.close()

    def _let_go(self) -> None:
        """Tells the ranks that nothing more is asked, and waits for a while until they end."""
        for rank in self._ranks:
            rank.stdin.close()
        give_up_at = time.monotonic() + _END_GRACE_S
        for rank in self._ranks:
            with suppress(subprocess.TimeoutExpired):
                rank.process.wait(max(0.0, give_up_at - time.monotonic()))

    def _collect(self) -> list[Answer]:
        waiting = {rank.number: rank for rank in self._ranks}
        answers: dict[int, Answer] = {}
        give_up_at = time.monotonic() + _ANSWER_DEADLINE_S
        with selectors.DefaultSelector() as selector:
            for rank in self._ranks:
                selector.register(rank.stdout, selectors.EVENT_READ, rank)
            while waiting:
                events = selector.select(max(0.0, give_up_at - time.monotonic()))
                if not events:
                    raise self._problem(waiting[min(waiting)], _SILENCE)
                read = [(key.data, key.data.read_line()) for key, _ in events]
                # A rank that died is the cause of what the others report at the same time.
                for rank, line in sorted(read, key=lambda pair: pair[1] != b""):
                    if line is not None:
                        answers[rank.number] = self._answer(rank, line)
                        selector.unregister(rank.stdout)
                        del waiting[rank.number]
        return [answers[number] for number in sorted(answers)]

    def _answer(self, rank: "_Rank", line: bytes) -> Answer:
        if not line:
            raise self._problem(rank, rank.how_it_ended())
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            text = plain(line.decode(errors="replace").rstrip())
            raise self._problem(rank, f"answered no JSON object but '{text}'")
        if "error" in answer:
            raise self._problem(rank, f"reports an error: {plain(str(answer['error']))}")
        return answer

    def _problem(self, rank: "_Rank", what: str) -> TdconfError:
        tail = rank.log.read_text(encoding="utf-8", errors="replace").splitlines()[-_TAIL_LINES:]
        lines = [f"{self.label}: rank {rank.number}: {what}", f"  while {self._subject}"]
        if tail:
            lines += [f"  the end of {from_here(rank.log)}:", *(f"    {line}" for line in tail)]
        return TdconfError(plain("\n".join(lines)), Exit.UNEXPECTED)


def share_of_cores(rank: int, world: int, cores: Sequence[int]) -> list[int]:
    """Returns the cores of one rank: its own part of them, or one that it shares with others."""
    if world > len(cores):
        return [cores[rank % len(cores)]]
    return [core for place, core in enumerate(cores) if place * world // len(cores) == rank]


class _Rank:
    """One process, with its pipes."""

    def __init__(self, number: int, command: Sequence[str], program: Program, folder: Path) -> None:
        self.number = number
        self.log = folder / f"rank-{number}.log"
        with self.log.open("wb") as sink:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                bufsize=0,
                env=None if program.environment is None else dict(program.environment),
                start_new_session=True,
                preexec_fn=ending_with_us(),
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin = self.process.stdin
        self.stdout = self.process.stdout
        self._received = b""

    def read_line(self) -> bytes | None:
        """Reads what is there: a whole line, None if it is not whole yet, nothing at the end."""
        piece = os.read(self.stdout.fileno(), _PIECE)
        self._received += piece
        line, end, rest = self._received.partition(b"\n")
        if end:
            self._received = rest
            return line + end
        return None if piece else b""

    def how_it_ended(self) -> str:
        """Says how a rank ended whose output has ended."""
        try:
            status = self.process.wait(_END_GRACE_S)
        except subprocess.TimeoutExpired:
            return "closed its standard output"
        if status < 0:
            return f"was ended by {signal.Signals(-status).name}"
        return f"ended with status {status} and without an answer"

    def close(self) -> None:
        for pipe in (self.stdin, self.stdout):
            with suppress(OSError):
                pipe.close()
