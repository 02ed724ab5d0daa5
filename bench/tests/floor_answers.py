# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: PT009 -- unittest: ctest runs this
"""What the ranks of the floor answer, and what they count.

Usage: floor_answers.py PROGRAM
"""

import sys
import unittest

from column_answers import ColumnAnswers, run

LEAVES = 10
BYTES = 1024
TOTAL = LEAVES * BYTES
# What gloo writes before each message and each notification, its struct Op: six size_t.
HEADER = 6 * 8


def sent(messages: int, total: int) -> list[dict[str, int]]:
    """Returns the counts of messages from rank 0 to rank 1.

    For each of them gloo notifies rank 1 that it is to be sent and rank 0 that it may be, and then
    sends it. Nothing is copied or allocated.
    """
    nothing = {"messages": messages, "copied_bytes": 0, "allocations": 0, "allocated_bytes": 0}
    return [
        nothing | {"wire_bytes": messages * HEADER},
        nothing | {"wire_bytes": 2 * messages * HEADER + total},
    ]


class FloorAnswers(ColumnAnswers, unittest.TestCase):
    column = "floor"

    def test_sends_a_message_for_each_leaf(self) -> None:
        with self.ranks(2) as ranks:
            for operation in ("send", "send_pseudo_rand", "isend"):
                with self.subTest(operation=operation):
                    self.assertEqual(ranks.counts(operation), sent(LEAVES, TOTAL))

    def test_sends_one_message_of_the_consolidated_bytes(self) -> None:
        with self.ranks(2) as ranks:
            for operation in ("send_consolidated", "send_consolidating", "broadcast"):
                with self.subTest(operation=operation):
                    self.assertEqual(ranks.counts(operation), sent(1, TOTAL))
                    # Each leaf is padded to 8 bytes.
                    counts = ranks.counts(operation, leaves=3, bytes=9, dtype="uint8")
                    self.assertEqual(counts, sent(1, 3 * 16))

    def test_reduces_each_leaf_or_all_at_once(self) -> None:
        with self.ranks(2) as ranks:
            for operation, messages in (("all_reduce", LEAVES), ("all_reduce_buckets", 1)):
                for counts in ranks.counts(operation):
                    self.assertEqual(counts["messages"], messages)
                    self.assertEqual(counts["copied_bytes"], 0)
                    self.assertEqual(counts["allocations"], 0)

    def test_gathers_all_storages_in_one_message(self) -> None:
        for world in (2, 4):
            with self.ranks(world) as ranks:
                for counts in ranks.counts("all_gather"):
                    self.assertEqual(counts["messages"], 1)
                    # c10d gathers into one tensor, from which it copies; it makes a list of one.
                    self.assertEqual(counts["copied_bytes"], world * TOTAL)

    def test_gathers_a_header_and_then_the_bytes(self) -> None:
        with self.ranks(4) as ranks:
            for operation, header in (("gather_and_stack", 3 * 8), ("gather_and_stack_pickles", 8)):
                counts = ranks.counts(operation)
                self.assertEqual([each["messages"] for each in counts], [2] * 4)
                # All ranks copy the headers out of what was gathered; rank 0 also the bytes.
                for each in counts[1:]:
                    self.assertEqual(each["copied_bytes"], 4 * header)
                gathered = counts[0]["copied_bytes"] - 4 * header
                self.assertEqual(gathered % 4, 0)
                self.assertGreater(gathered, 4 * TOTAL)


if __name__ == "__main__":
    run(sys.argv)
