# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: PT009 -- unittest: ctest runs this
"""What the ranks of the reference answer, and what they count.

Usage: reference_answers.py PROGRAM
"""

import sys
import unittest

from column_answers import run
from floor_answers import LEAVES, TOTAL, sent
from package_answers import PackageAnswers
from rank_processes import AMONG_ALL, BETWEEN_TWO

# Without it the reference sends what tensordict sends, and nothing else.
NO_AGREEMENT = "--no-agreement"


class ReferenceAnswers(PackageAnswers, unittest.TestCase):
    column = "reference"
    plainly = (NO_AGREEMENT,)

    def test_sends_and_copies_what_the_floor_does(self) -> None:
        with self.ranks(2, NO_AGREEMENT) as ranks:
            for operation in ("send", "send_pseudo_rand", "isend"):
                with self.subTest(operation=operation):
                    self.assertEqual(ranks.counts(operation), sent(LEAVES, TOTAL))
            self.assertEqual(ranks.counts("send_consolidated"), sent(1, TOTAL))

    def test_copies_each_leaf_once_to_consolidate(self) -> None:
        with self.ranks(2, NO_AGREEMENT) as ranks:
            expected = sent(1, TOTAL)
            expected[0] |= {"copied_bytes": TOTAL, "allocations": 1, "allocated_bytes": TOTAL}
            self.assertEqual(ranks.counts("send_consolidating"), expected)

    def test_agrees_by_a_note_to_each_side(self) -> None:
        with self.ranks(2) as agreeing, self.ranks(2, NO_AGREEMENT) as silent:
            for operation in (*BETWEEN_TWO, *AMONG_ALL):
                with self.subTest(operation=operation):
                    pairs = zip(agreeing.counts(operation), silent.counts(operation), strict=True)
                    for with_notes, without in pairs:
                        # Each rank sends a note and receives one; alike, they need no text.
                        self.assertEqual(with_notes["messages"] - without["messages"], 2)
                        self.assertEqual(with_notes["copied_bytes"], without["copied_bytes"])
                        self.assertGreater(with_notes["wire_bytes"], without["wire_bytes"])

    def test_copies_a_bucket_there_and_back(self) -> None:
        with self.ranks(2, NO_AGREEMENT) as ranks:
            for operation, copied in (("all_reduce", 0), ("all_reduce_buckets", 2 * TOTAL)):
                counts = ranks.counts(operation)
                self.assertEqual([each["copied_bytes"] for each in counts], [copied] * 2)


if __name__ == "__main__":
    run(sys.argv)
