# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: PT009 -- unittest: ctest runs this
"""What the ranks of a column answer that has the operations themselves, not their bytes alone."""

from collections.abc import Sequence

from column_answers import ColumnAnswers
from floor_answers import LEAVES


class PackageAnswers(ColumnAnswers):
    """Derived with unittest.TestCase by each such column."""

    # The options with which ranks send what the operations ask for, and nothing beside it.
    plainly: Sequence[str] = ()

    def test_posts_the_messages_of_each_operation(self) -> None:
        expected = {
            "init_remote": 3,  # a size, the metadata, the storage
            "broadcast": 3,
            "all_gather": 3,
            "all_reduce": LEAVES,
            "all_reduce_buckets": 1,
            "gather_and_stack": 2,  # a header, the bytes
            "gather_and_stack_pickles": 2,
        }
        with self.ranks(2, *self.plainly) as ranks:
            for operation, messages in expected.items():
                with self.subTest(operation=operation):
                    counts = ranks.counts(operation)
                    self.assertEqual([each["messages"] for each in counts], [messages] * 2)
