# SPDX-License-Identifier: BSD-3-Clause
"""The times of one entry, with and without those of its iterations."""

import pytest

from tdconf.bench.samples import Sample, seconds, undisturbed_seconds


def entry(**more: object) -> Sample:
    return {"name": "x", "column": "floor", "repetition_index": 0, "time_unit": "us"} | more


def test_an_entry_without_iterations_has_their_mean() -> None:
    assert seconds(entry(real_time=2.0)) == pytest.approx(2e-6)
    assert undisturbed_seconds(entry(real_time=2.0)) == pytest.approx(2e-6)
    assert seconds(entry(real_time=2.0, time_unit="ms")) == pytest.approx(2e-3)


def test_a_disturbed_iteration_moves_neither() -> None:
    sample = entry(real_time=22.0, times=[3.0, 1.0, 2.0, 5.0, 99.0])
    assert seconds(sample) == pytest.approx(3e-6)
    assert undisturbed_seconds(sample) == pytest.approx(2e-6)


@pytest.mark.parametrize(
    ("times", "quartile"), [([4.0], 4.0), ([2.0, 4.0], 2.5), ([1.0, 3.0, 9.0], 2.0)]
)
def test_a_quartile_lies_between_iterations(times: list[float], quartile: float) -> None:
    sample = entry(real_time=1.0, times=times)
    assert undisturbed_seconds(sample) == pytest.approx(quartile * 1e-6)


@pytest.mark.parametrize(
    "sample",
    [
        entry(),
        entry(real_time=0.0),
        entry(real_time=float("nan")),
        entry(real_time="2"),
        entry(real_time=2.0, time_unit="h"),
        entry(real_time=2.0, error_occurred=True),
        entry(real_time=2.0, times=[1.0, -1.0]),
    ],
)
def test_what_is_no_time_is_none(sample: Sample) -> None:
    assert seconds(sample) is None
    assert undisturbed_seconds(sample) is None
