# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: PT009 -- unittest: the tests of all columns are
"""What the ranks of the column tensordict answer, and what they count."""

import sys
import unittest
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import ClassVar

from floor_answers import LEAVES, TOTAL, sent
from package_answers import PackageAnswers
from rank_processes import Ranks
from tdconf_tensordict_bench.counting import BUILT, VARIABLE

PACKAGES = Path(__file__).parents[1] / "tensordict"
# `env` becomes the process that it starts.
COMMAND = ("env", f"PYTHONPATH={PACKAGES}", sys.executable, "-m", "tdconf_tensordict_bench")


class TensordictAnswers(PackageAnswers, unittest.TestCase):
    column = "tensordict"
    command = COMMAND
    versions = frozenset({"tensordict", "torch", "python"})

    waiting: ClassVar[dict[int, tuple[Ranks, ExitStack]]] = {}

    @classmethod
    def tearDownClass(cls) -> None:
        while cls.waiting:
            cls.waiting.popitem()[1][1].close()

    @contextmanager
    def ranks(self, world: int, *options: str) -> Iterator[Ranks]:
        """Gives ranks of another test that wait for requests, if there are any: each takes seconds
        to load torch. Those of a test that fails are not used again.
        """
        if options:
            with super().ranks(world, *options) as ranks:
                yield ranks
            return
        with ExitStack() as stack:
            if world in self.waiting:
                ranks, waiting = self.waiting.pop(world)
                stack.push(waiting)
            else:
                ranks = stack.enter_context(super().ranks(world))
            yield ranks
            if all(p.poll() is None and not p.stdin.closed for p in ranks.processes):
                self.waiting[world] = (ranks, stack.pop_all())

    def test_sends_and_copies_what_the_floor_does(self) -> None:
        with self.ranks(2) as ranks:
            for operation in ("send", "send_pseudo_rand", "isend"):
                with self.subTest(operation=operation):
                    self.assertEqual(ranks.counts(operation), sent(LEAVES, TOTAL))
            self.assertEqual(ranks.counts("send_consolidated"), sent(1, TOTAL))

    def test_sends_every_leaf_at_every_depth(self) -> None:
        with self.ranks(2) as ranks:
            for depth in (1, 32):
                counts = ranks.counts("send", leaves=7, bytes=8, dtype="uint8", depth=depth)
                self.assertEqual(counts, sent(7, 7 * 8))

    def test_copies_each_leaf_to_consolidate_every_time(self) -> None:
        expected = sent(1, TOTAL)
        with self.ranks(2) as ranks:
            for _ in range(2):
                sender, receiver = ranks.counts("send_consolidating")
                self.assertEqual(receiver, expected[1])
                for counter in ("messages", "wire_bytes"):
                    self.assertEqual(sender[counter], expected[0][counter])
                self.assertEqual(sender["copied_bytes"], TOTAL)

    def test_copies_a_bucket_there_and_back(self) -> None:
        with self.ranks(2) as ranks:
            for operation, copied in (("all_reduce", 0), ("all_reduce_buckets", 2 * TOTAL)):
                counts = ranks.counts(operation)
                self.assertEqual([each["copied_bytes"] for each in counts], [copied] * 2)

    def test_reports_the_time_of_each_iteration(self) -> None:
        with self.ranks(2) as ranks:
            for benchmark in ranks.times("send", iterations=3, batch=2):
                self.assertEqual(len(benchmark["times"]), 3)
                self.assertAlmostEqual(sum(benchmark["times"]) / 3, benchmark["real_time"])

    def test_counts_by_the_library_that_is_named(self) -> None:
        with Ranks(("env", f"{VARIABLE}={BUILT}", *COMMAND), 2) as ranks:
            self.assertEqual(ranks.counts("send"), sent(LEAVES, TOTAL))
