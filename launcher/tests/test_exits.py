# SPDX-License-Identifier: BSD-3-Clause
"""Exit codes: their numbers are a contract, and so is which of them wins."""

import itertools

import pytest

from tdconf.exits import Exit, from_status, worst
from tdconf.layout import THIS_CHECKOUT


def test_a_verdict_that_is_worse_wins_whatever_the_order() -> None:
    from_worst_to_best = [70, 1, 5, 4, 3, 0]
    for worse, better in itertools.combinations(from_worst_to_best, 2):
        assert worst([Exit(worse), Exit(better)]) == worse
        assert worst([Exit(better), Exit(worse)]) == worse


def test_nothing_judged_is_no_verdict() -> None:
    assert worst([]) == Exit.NO_VERDICT


@pytest.mark.parametrize("status", [-9, -11, 6, 124, 255])
def test_a_signal_or_a_status_without_meaning_is_an_internal_error(status: int) -> None:
    assert from_status(status) == Exit.INTERNAL


def test_the_readme_says_of_every_code_what_the_closing_line_says() -> None:
    readme = (THIS_CHECKOUT.root / "README.md").read_text(encoding="utf-8")
    for code in Exit:
        assert f"| {int(code)} | {code.meaning}" in readme
