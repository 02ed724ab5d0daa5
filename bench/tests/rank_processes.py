# SPDX-License-Identifier: BSD-3-Clause
"""Starts the ranks of one column, and asks them."""

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import Self

COUNTERS = ("messages", "wire_bytes", "copied_bytes", "allocations", "allocated_bytes")
BETWEEN_TWO = (
    "send",
    "send_pseudo_rand",
    "isend",
    "send_consolidated",
    "send_consolidating",
    "init_remote",
)
AMONG_ALL = (
    "broadcast",
    "all_gather",
    "all_reduce",
    "all_reduce_buckets",
    "gather_and_stack",
    "gather_and_stack_pickles",
)
# What a rank may take: libtorch alone takes a second to load.
DEADLINE_S = 120


class Ranks:
    """All ranks of one column, until the end of the `with` statement."""

    def __init__(self, command: Sequence[str], world: int, *options: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tdconf-bench-")
        self.processes = [
            subprocess.Popen(
                [
                    *command,
                    *("--rank", str(rank), "--world", str(world), "--store", self._folder.name),
                    *options,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(world)
        ]
        self.ready = [self.read(rank) for rank in range(world)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        self._folder.cleanup()

    def read(self, rank: int) -> dict:
        """Returns the next line of a rank; empty where there is none."""
        return json.loads(self.processes[rank].stdout.readline() or "{}")

    def write(self, rank: int, line: str) -> None:
        """Gives a rank one line."""
        self.processes[rank].stdin.write(line + "\n")
        self.processes[rank].stdin.flush()

    def ask(self, line: str) -> list[dict]:
        """Gives every rank one line, and returns what each answers."""
        for rank in range(len(self.processes)):
            self.write(rank, line)
        return [self.read(rank) for rank in range(len(self.processes))]

    def times(self, operation: str, **changes: object) -> list[dict]:
        """Returns the one benchmark that each rank reports."""
        request = _case(operation, changes) | {"iterations": 2, "batch": 2}
        return self._benchmarks(request | changes)

    def counts(self, operation: str, **changes: object) -> list[dict[str, int]]:
        """Returns the counters of each rank."""
        benchmarks = self._benchmarks(_case(operation, changes) | {"count": True})
        return [{counter: int(one[counter]) for counter in COUNTERS} for one in benchmarks]

    def end(self) -> list[int]:
        """Ends the requests, and returns the statuses."""
        for process in self.processes:
            process.stdin.close()
        return [process.wait(DEADLINE_S) for process in self.processes]

    def _benchmarks(self, request: dict) -> list[dict]:
        answers = self.ask(json.dumps(request))
        for rank, answer in enumerate(answers):
            if len(answer.get("benchmarks", [])) != 1:
                raise AssertionError(f"rank {rank} answers {answer} to {request}")
        return [answer["benchmarks"][0] for answer in answers]


def _case(operation: str, changes: dict[str, object]) -> dict:
    case = {"leaves": 10, "bytes": 1024, "depth": 0, "dtype": "float32"}
    return {"operation": operation} | case | changes
