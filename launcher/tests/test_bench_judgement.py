# SPDX-License-Identifier: BSD-3-Clause
"""The statistics of comparisons: exact where a formula says what comes out, counted where not."""

import math
import random

import pytest

from tdconf.bench import judgement
from tdconf.bench.judgement import Evidence, Times

_OPERATIONS = 11
_ROUNDS = 25
_STARTS = 5


def heavy_tailed(noise: random.Random) -> float:
    """Returns a factor as a busy machine makes it: usually 1 to 1.05, now and then twice that."""
    return 1 + 0.02 * noise.expovariate(1.0) + (noise.random() < 0.05) * noise.uniform(0.2, 1.0)


def simulated(noise: random.Random, slower: float) -> Times:
    """Makes the times of one benchmark; each start of each build has an offset of its own."""
    lanes: list[list[float]] = []
    for factor in (1.0, 1.0, 1.0 + slower):
        offsets = [1 + noise.gauss(0, 0.005) for _ in range(_STARTS)]
        lanes.append([factor * offsets[n % _STARTS] * heavy_tailed(noise) for n in range(_ROUNDS)])
    return Times(*lanes, starts=[n % _STARTS for n in range(_ROUNDS)])


def accused(trial: int, slower: float) -> set[str]:
    """Compares builds of which B has the operation 0 slower; returns what is called slower."""
    noise = random.Random(trial)
    evidence = {
        str(number): judgement.paired(simulated(noise, slower if number == 0 else 0.0))
        for number in range(_OPERATIONS)
    }
    changes = judgement.judge(evidence)
    return {name for name, change in changes.items() if change.verdict == "slower"}


def test_equal_builds_are_never_told_apart() -> None:
    assert [accused(trial, 0.0) for trial in range(20)] == [set()] * 20


@pytest.mark.parametrize(("slower", "least"), [(0.10, 19), (0.05, 15)])
def test_a_slowdown_is_found_and_nothing_else_accused(slower: float, least: int) -> None:
    outcomes = [accused(trial, slower) for trial in range(20)]
    assert outcomes.count({"0"}) >= least
    assert all(outcome <= {"0"} for outcome in outcomes)


def test_the_centre_of_shifted_values_is_shifted() -> None:
    assert judgement.centre([0.0, 1.0, 5.0]) == pytest.approx(1.75)  # of 0 .5 1 2.5 3 5
    assert judgement.centre([2.0, 3.0, 7.0]) == pytest.approx(3.75)


def test_what_lies_far_out_is_drawn_in() -> None:
    # The middle is 0, the median of the deviations 1: usual is up to 3 x 1.4826.
    values = [-1.0, 0.0, 1.0, 2.0, -50.0]
    assert judgement.drawn_in(values) == [-1.0, 0.0, 1.0, 2.0, pytest.approx(-4.4478)]


def test_a_shift_is_that_of_b_against_the_mean_of_both_runs_of_a() -> None:
    rounds = 12
    times = Times([1.0] * rounds, [1.21] * rounds, [2.2] * rounds, [0] * rounds)
    found = judgement.paired(times)
    assert found.shift == pytest.approx(math.log(2.0))
    assert found.noise == pytest.approx(math.log(1.21))


def test_starts_that_differ_are_noise_though_their_rounds_agree() -> None:
    between = [0.1, 0.1, 0.1, -0.1, -0.1, -0.1]
    assert judgement.noise(between, [0, 0, 0, 1, 1, 1]) == pytest.approx(0.1 * math.sqrt(2) / 2)
    assert judgement.noise(between, [0, 1, 0, 1, 0, 1]) < 0.1


def test_holm_multiplies_the_smallest_by_all_and_never_falls() -> None:
    assert judgement.holm({"a": 0.01, "b": 0.02, "c": 0.011}) == {
        "a": pytest.approx(0.03),
        "c": pytest.approx(0.03),
        "b": pytest.approx(0.03),
    }
    assert judgement.holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize(
    ("shift", "noise", "p", "verdict"),
    [
        (0.04, 0.001, 1e-5, "slower"),
        (-0.04, 0.001, 1e-5, "faster"),
        (0.02, 0.001, 1e-5, "same"),
        (0.04, 0.025, 1e-5, "same"),
        (0.06, 0.025, 1e-5, "slower"),
        (0.5, 0.001, 0.02, "same"),
    ],
)
def test_a_change_is_large_and_certain(shift: float, noise: float, p: float, verdict: str) -> None:
    evidence = Evidence(shift, noise, p if shift > 0 else 1.0, p if shift < 0 else 1.0, 30)
    assert judgement.judge({"one": evidence})["one"].verdict == verdict


def test_sessions_that_drift_know_it() -> None:
    before, after = [0.0] * 5 + [0.1] * 5, [0.2] * 10
    found = judgement.unpaired(before, after, drift=0.0)
    assert found.noise == pytest.approx(0.1)
    assert found.shift == pytest.approx(0.15)
    assert judgement.unpaired(before, after, drift=-0.3).noise == pytest.approx(0.3)
