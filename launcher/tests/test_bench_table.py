# SPDX-License-Identifier: BSD-3-Clause
"""The table: ratios of times of one round, and whether they keep to the target."""

import pytest

from tdconf.bench import table
from tdconf.bench.catalogue import Benchmark
from tdconf.bench.targets import Target

from .bench_fakes import samples

_SEND = Benchmark("send")


def found(target: Target | None, **times: list[float]) -> table.Row:
    measured = [one for column, values in times.items() for one in samples(column, _SEND, values)]
    (row,) = table.rows(measured, [_SEND], {} if target is None else {_SEND: target})
    return row


def test_a_ratio_is_the_median_of_the_ratios_of_one_round() -> None:
    # The rounds give 2, 3 and 10; the ratio of the medians would be 30 / 10 = 3.
    row = found(None, floor=[10, 10, 1], reference=[20, 30, 10])
    assert row.reference_over_floor == 3
    # Rounds 0 and 1 give 1 and 5, with a middle of 3; the third has no partner.
    row = found(None, reference=[10, 10, 10], tensordict=[10, 50])
    assert row.tensordict_over_reference == 3
    assert row.reference_over_floor is None


@pytest.mark.parametrize(
    ("reference", "tensordict", "held"),
    [(11.0, 44.0, True), (12.0, 48.0, False), (11.0, 43.0, False), (10.0, 45.0, True)],
)
def test_a_target_holds_if_both_ratios_do(reference: float, tensordict: float, held: bool) -> None:
    row = found(Target(1.1, 4.0), floor=[10.0], reference=[reference], tensordict=[tensordict])
    assert row.held is held


def test_what_was_not_measured_is_no_miss() -> None:
    assert found(Target(1.1, 4.0), floor=[10.0]).held is None
    assert found(None, floor=[10.0], reference=[99.0]).held is None
    assert found(Target(1.1, 4.0), floor=[10.0], reference=[10.0]).held is True


def test_a_line_has_the_floor_the_ratios_and_their_targets() -> None:
    row = found(Target(1.15, 4.0), floor=[10.0], reference=[12.0], tensordict=[60.0])
    line = table.text([row]).splitlines()[1]
    assert line.split() == [
        *("send", "1000", "x", "1", "KiB", "10.0", "us"),
        *("1.20", "(<=", "1.15)", "5.00", "(>=", "4)", "NO"),
    ]
    assert table.summary([row]) == "0 of 1 targets held"
