# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: PT009 -- unittest: ctest runs this
"""What the ranks of every column answer, whatever it is; each test starts them."""

import json
import subprocess
import tempfile
import unittest
from collections.abc import Sequence

from rank_processes import AMONG_ALL, BETWEEN_TWO, COUNTERS, DEADLINE_S, Ranks

# 5 leaves on up to 3 levels; 24 bytes are whole elements of every dtype, 7 need padding.
SHAPES = [
    {"leaves": 5, "bytes": 24, "depth": 2, "dtype": "float64"},
    {"leaves": 5, "bytes": 24, "depth": 1, "dtype": "int64"},
    {"leaves": 5, "bytes": 24, "depth": 0, "dtype": "float32"},
    {"leaves": 5, "bytes": 7, "depth": 4, "dtype": "uint8"},
    {"leaves": 1, "bytes": 1, "depth": 0, "dtype": "uint8"},
    # More elements than the values have, and than gloo's smallest segment.
    {"leaves": 1, "bytes": 1 << 20, "depth": 0, "dtype": "uint8"},
]


class ColumnAnswers:
    """Derived with unittest.TestCase by each column."""

    column: str
    command: Sequence[str]
    versions = frozenset({"tdconf", "torch"})

    def ranks(self, world: int, *options: str) -> Ranks:
        return Ranks(self.command, world, *options)

    def test_says_who_it_is_and_ends_with_the_requests(self) -> None:
        with self.ranks(2) as ranks:
            for process, ready in zip(ranks.processes, ranks.ready, strict=True):
                self.assertEqual(ready.pop("versions").keys(), self.versions)
                self.assertEqual(ready, {"ready": True, "column": self.column, "pid": process.pid})
            self.assertEqual(ranks.end(), [0, 0])

    def test_times_every_operation(self) -> None:
        for world in (2, 4, 8):
            with self.ranks(world) as ranks:
                for operation in (*(BETWEEN_TWO if world == 2 else ()), *AMONG_ALL):
                    self.check_times(ranks, operation, world)

    def check_times(self, ranks: Ranks, operation: str, world: int) -> None:
        benchmarks = ranks.times(operation, iterations=3, batch=2)
        name = f"{operation}/leaves:10/bytes:1024/depth:0/dtype:float32/world:{world}"
        for benchmark in benchmarks:
            self.assertEqual(benchmark["name"], name)
            self.assertEqual(benchmark["run_type"], "iteration")
            self.assertEqual(benchmark["iterations"], 3)
            self.assertEqual(benchmark["time_unit"], "us")
            self.assertGreater(benchmark["real_time"], 0)
            # Those of the slowest rank, which all know.
            self.assertEqual(benchmark["real_time"], benchmarks[0]["real_time"])
            self.assertEqual(benchmark["times"], benchmarks[0]["times"])
            self.assertEqual(len(benchmark["times"]), 3)
            mean = sum(benchmark["times"]) / 3
            self.assertAlmostEqual(benchmark["real_time"] / mean, 1, places=6)

    def test_brings_the_right_values_in_every_shape(self) -> None:
        with self.ranks(2) as ranks:
            for operation in (*BETWEEN_TWO, *AMONG_ALL):
                for shape in SHAPES:
                    with self.subTest(operation=operation, **shape):
                        ranks.times(operation, **shape)

    def test_counts_the_same_each_time(self) -> None:
        with self.ranks(2) as ranks:
            for operation in (*BETWEEN_TWO, *AMONG_ALL):
                with self.subTest(operation=operation):
                    first = ranks.counts(operation)
                    for _ in range(19):
                        self.assertEqual(ranks.counts(operation), first)

    def test_counts_the_same_after_other_operations(self) -> None:
        with self.ranks(4) as ranks:
            first = [ranks.counts(operation) for operation in AMONG_ALL]
            again = [ranks.counts(operation) for operation in reversed(AMONG_ALL)]
            self.assertEqual(list(reversed(again)), first)

    def test_reports_counts_as_a_benchmark(self) -> None:
        with self.ranks(2) as ranks:
            request = {"operation": "send", "leaves": 1, "bytes": 8, "depth": 0, "dtype": "int64"}
            for answer in ranks.ask(json.dumps(request | {"count": True})):
                (benchmark,) = answer["benchmarks"]
                self.assertEqual(
                    benchmark["name"], "send/leaves:1/bytes:8/depth:0/dtype:int64/world:2"
                )
                self.assertEqual(benchmark["iterations"], 1)
                self.assertLessEqual(set(COUNTERS), benchmark.keys())
                self.assertIn("context", answer)

    def test_ends_after_a_bad_request(self) -> None:
        send = {"operation": "send", "leaves": 1, "bytes": 8, "depth": 0, "dtype": "int64"}
        timed = send | {"iterations": 1, "batch": 1}
        self.check_rejects(2, "send", "a request is one JSON object on one line, not: send")
        self.check_rejects(
            2,
            json.dumps(timed | {"operation": "scatter"}),
            'there is no operation "scatter"; allowed are send, send_pseudo_rand, isend, '
            "send_consolidated, send_consolidating, init_remote, broadcast, all_gather, "
            "all_reduce, all_reduce_buckets, gather_and_stack, gather_and_stack_pickles",
        )
        self.check_rejects(
            3,
            json.dumps(send | {"count": True}),
            "send is between 2 ranks; the world has 3",
        )

    def check_rejects(self, world: int, line: str, error: str) -> None:
        with self.ranks(world) as ranks:
            self.assertEqual(ranks.ask(line), [{"error": error}] * world)
            self.assertEqual([p.wait(DEADLINE_S) for p in ranks.processes], [1] * world)
            self.assertEqual([p.stdout.read() for p in ranks.processes], [""] * world)

    def test_ends_when_another_rank_has_ended(self) -> None:
        with self.ranks(2) as ranks:
            ranks.processes[1].stdin.close()
            self.assertEqual(ranks.processes[1].wait(DEADLINE_S), 0)
            request = {"operation": "send", "leaves": 1, "bytes": 8, "depth": 0, "dtype": "int64"}
            ranks.write(0, json.dumps(request | {"iterations": 1, "batch": 1}))
            self.assertEqual(ranks.read(0).keys(), {"error"})
            self.assertEqual(ranks.processes[0].wait(DEADLINE_S), 1)

    def test_answers_alike_where_slowness_is_injected(self) -> None:
        with self.ranks(2, "--inject", "send=0.5", "--inject", "isend=0") as ranks:
            for operation in ("send", "isend", "broadcast"):
                self.check_times(ranks, operation, 2)

    def test_rejects_a_wrong_command_line(self) -> None:
        with tempfile.TemporaryDirectory() as store:
            good = {"--rank": "0", "--world": "2", "--store": store}
            self.check_usage(
                good | {"--rank": "2"}, "rank 2 is not in a world of 2; ranks are 0 to"
            )
            self.check_usage(good | {"--world": "1"}, "--world: Value 1 not in range")
            self.check_usage(good | {"--store": store + "/none"}, "--store: Directory does not")
            self.check_usage({"--rank": "0", "--world": "2"}, "--store is required")
            for injection in ("send", "send=", "=1", "send=-1", "send=x"):
                self.check_usage(
                    good | {"--inject": injection},
                    "expected OPERATION=FRACTION, with a fraction from 0 to 100, got " + injection,
                )

    def check_usage(self, options: dict[str, str], error: str) -> None:
        arguments = [word for option in options.items() for word in option]
        done = subprocess.run([*self.command, *arguments], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(error, done.stderr)


def run(program: Sequence[str]) -> None:
    """Runs the tests of the calling module against the command `program[1:]`."""
    if len(program) < 2:
        raise SystemExit(f"usage: {program[0]} PROGRAM")
    ColumnAnswers.command = list(program[1:])
    unittest.main(argv=program[:1])
