# SPDX-License-Identifier: BSD-3-Clause
"""What is timed: names, sizes, lines, and what patterns choose."""

import pytest

from tdconf.bench import catalogue, targets
from tdconf.bench.catalogue import MIB, Benchmark
from tdconf.exits import Exit, TdconfError
from tdconf.layout import THIS_CHECKOUT


def everything() -> list[Benchmark]:
    return catalogue.catalogue(targets.read(THIS_CHECKOUT.bench / "targets.yaml"))


def test_a_name_says_everything_and_is_read_back() -> None:
    one = Benchmark("send", leaves=10, bytes=64, depth=4, dtype="int64", world=2)
    assert one.name == "send/leaves:10/bytes:64/depth:4/dtype:int64/world:2"
    assert catalogue.parse(one.name) == one


@pytest.mark.parametrize("name", ["send", "send/leaves:1", "Send/leaves:1/bytes:4/depth:0"])
def test_a_name_of_another_form_is_none_of_ours(name: str) -> None:
    assert catalogue.parse(name) is None


@pytest.mark.parametrize(
    ("count", "text"),
    [(64, "64 B"), (1024, "1 KiB"), (102400, "100 KiB"), (1536, "1536 B"), (16 * MIB, "16 MiB")],
)
def test_sizes_are_written_in_the_largest_unit_that_is_exact(count: int, text: str) -> None:
    assert catalogue.size(count) == text


def test_a_shape_says_only_what_is_not_usual() -> None:
    assert Benchmark("send").shape == "1000 x 1 KiB"
    assert Benchmark("broadcast", depth=4, dtype="int64", world=8).shape == (
        "1000 x 1 KiB, depth 4, int64, 8 ranks"
    )


def test_no_benchmark_comes_twice_or_takes_more_than_128_mib_a_rank() -> None:
    found = everything()
    assert len(set(found)) == len(found)
    assert max(one.total_bytes for one in found) <= 128 * MIB


def test_every_axis_has_a_line() -> None:
    found = everything()
    assert {one.leaves for one in found} >= {1, 10, 100, 1000, 10000}
    assert {one.bytes for one in found} >= {64, 1024, 102400, 16 * MIB}
    assert {one.world for one in found} == {2, 4, 8}
    assert {one.dtype for one in found} == {"float32", "int64", "uint8", "float64"}
    assert {one.operation for one in found} == set(catalogue.OPERATIONS)


def test_two_ranks_are_all_that_point_to_point_has() -> None:
    worlds = {one.world for one in everything() if one.operation in catalogue.POINT_TO_POINT}
    assert worlds == {2}


def test_leaves_are_whole_elements_of_every_dtype() -> None:
    assert all(one.bytes % 8 == 0 for one in everything())


def test_a_pattern_fits_an_operation_or_a_whole_name() -> None:
    found = everything()
    plain = catalogue.select(found, ["send"], None)
    assert {one.operation for one in plain} == {"send"}
    starred = catalogue.select(found, ["send*"], None)
    assert {one.operation for one in starred} == {
        "send",
        "send_pseudo_rand",
        "send_consolidated",
        "send_consolidating",
    }
    named = catalogue.select(found, ["*/leaves:10/**"], None)
    assert {one.leaves for one in named} == {10}


@pytest.mark.parametrize(
    ("patterns", "worlds", "said"),
    [
        (["sent"], None, "--operation sent: matches no benchmark; there are send, "),
        (None, [3], "--world 3: matches no benchmark"),
        (["send"], [4], "together match no benchmark"),
    ],
)
def test_a_choice_of_nothing_is_refused(
    patterns: list[str] | None, worlds: list[int] | None, said: str
) -> None:
    with pytest.raises(TdconfError, match=said) as refused:
        catalogue.select(everything(), patterns, worlds)
    assert refused.value.code == Exit.USAGE
