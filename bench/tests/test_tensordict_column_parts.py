# SPDX-License-Identifier: BSD-3-Clause
"""The parts of the column tensordict, within one process."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
import torch
from tensordict import TensorDict

from tdconf_tensordict_bench.counting import VARIABLE, Counting
from tdconf_tensordict_bench.operation import Injected, Operation
from tdconf_tensordict_bench.request import Case, Request, read_request
from tdconf_tensordict_bench.table import AMONG_ALL, BETWEEN_TWO, make
from tdconf_tensordict_bench.timing import time_operation
from tdconf_tensordict_bench.tree import leaves_of, make_tree
from tdconf_tensordict_bench.values import check_filled, check_summed, fill, new_leaves, poison

CASE = {"operation": "send", "leaves": 3, "bytes": 16, "depth": 1, "dtype": "int64"}
TIMED = CASE | {"iterations": 5, "batch": 2}
SMALL = Case(**CASE)


def test_a_request_is_read() -> None:
    assert read_request(json.dumps(TIMED)) == Request(SMALL, iterations=5, batch=2)
    assert read_request(json.dumps(CASE | {"count": True})) == Request(SMALL, count=True)
    assert SMALL.name(4) == "send/leaves:3/bytes:16/depth:1/dtype:int64/world:4"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("[1]", "a request is one JSON object on one line, not: [1]"),
        ("{", "a request is one JSON object on one line, not: {"),
        (CASE, 'the request has no "iterations"'),
        (CASE | {"count": 1}, '"count" is true, not 1'),
        (
            CASE | {"count": True, "batch": 1},
            'the request has the key "batch"; allowed are the keys '
            '["operation","leaves","bytes","depth","dtype","count"]',
        ),
        (TIMED | {"operation": 1}, '"operation" is a string, not 1'),
        (TIMED | {"leaves": 0}, '"leaves" is an integer from 1 to 10000, not 0'),
        (TIMED | {"depth": 33}, '"depth" is an integer from 0 to 32, not 33'),
        (TIMED | {"batch": True}, '"batch" is an integer from 1 to 1000000, not true'),
        (TIMED | {"batch": 1.0}, '"batch" is an integer from 1 to 1000000, not 1.0'),
        (TIMED | {"dtype": "int8"}, '"dtype" is float32, float64, int64 or uint8, not "int8"'),
        (
            TIMED | {"bytes": 12},
            '"bytes" is a multiple of 8, the size of one int64, not 12',
        ),
        (
            TIMED | {"bytes": 1 << 30},
            "3 leaves of 1073741824 bytes are more than the 1073741824 bytes that are allowed",
        ),
    ],
)
def test_a_bad_request_is_told(line: object, error: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(error)}$"):
        read_request(line if isinstance(line, str) else json.dumps(line))


def keys_of(td: TensorDict) -> list[object]:
    return list(td.keys(include_nested=True, leaves_only=True))


def test_leaves_hang_at_the_depths_of_the_case() -> None:
    # i * (1 + 1) // 3 is 0, 0, 1.
    td = make_tree(SMALL, new_leaves(SMALL))
    assert keys_of(td) == ["l0000", "l0001", ("n", "l0002")]
    # A chain ends where there are no more leaves: 0 * 3 // 2, 1 * 3 // 2.
    two = Case("send", leaves=2, bytes=8, depth=2, dtype="int64")
    assert keys_of(make_tree(two, new_leaves(two))) == ["l0000", ("n", "l0001")]


def test_leaves_are_shared_with_the_tensordict() -> None:
    leaves = new_leaves(SMALL, rows=2)
    td = make_tree(SMALL, leaves, (2,))
    assert td.batch_size == td["n"].batch_size == (2,)
    assert all(a is b for a, b in zip(leaves_of(td), leaves, strict=True))


def test_values_are_those_of_the_formula() -> None:
    leaves = new_leaves(SMALL)
    fill(leaves, rank=1)
    assert [leaf.tolist() for leaf in leaves] == [[2, 3], [4, 5], [6, 7]]
    (wide,) = new_leaves(Case("send", leaves=1, bytes=98, depth=0, dtype="uint8"))
    fill([wide], rank=0)
    assert wide[94:].tolist() == [95, 96, 0, 1]
    poison(leaves)
    assert [leaf.tolist() for leaf in leaves] == [[97, 97]] * 3


def test_a_wrong_value_is_told() -> None:
    leaves = new_leaves(SMALL)
    fill(leaves, rank=1)
    check_filled(leaves, SMALL, rank=1)
    leaves[2][1] = 8
    with pytest.raises(ValueError, match=r"^leaf 2, element 1 is 8, expected 7$"):
        check_filled(leaves, SMALL, rank=1)
    with pytest.raises(ValueError, match=r"^2 leaves arrived, expected 3$"):
        check_filled(leaves[:2], SMALL, rank=1)
    with pytest.raises(ValueError, match=r"^leaf 0 has dtype torch.int32, expected torch.int64$"):
        check_filled([leaf.int() for leaf in leaves], SMALL, rank=1)
    with pytest.raises(ValueError, match=r"^leaf 0 has shape torch.Size\(\[1\]\), expected "):
        check_filled([leaf[:1] for leaf in leaves], SMALL, rank=1)


def test_sums_are_those_of_the_dtype() -> None:
    case = Case("all_reduce", leaves=1, bytes=94, depth=0, dtype="uint8")
    # (1 * (r + 1) + 0) mod 97 on rank r, and 94 + 95 + 96 in the last element, which is 256 + 29.
    sums = torch.tensor([1 + 2 + 3 + 3 * j for j in range(93)] + [29]).to(torch.uint8)
    check_summed([sums], case, world=3)
    sums[0] = 5
    with pytest.raises(ValueError, match=r"^leaf 0, element 0 is 5, expected 6$"):
        check_summed([sums], case, world=3)


@pytest.mark.parametrize("operation", ["broadcast", "all_gather", "init_remote"])
def test_what_arrives_is_checked(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(operation, leaves=1, bytes=8, depth=0, dtype="int64")

    def bring(*_: object, **__: object) -> TensorDict | list[TensorDict]:
        arrived = [TensorDict({"l0000": torch.tensor([rank])}) for rank in (1, 3)]
        return arrived if operation == "all_gather" else arrived[1]

    name = "from_remote_init" if operation == "init_remote" else operation
    monkeypatch.setattr(TensorDict, name, bring)
    made = make(case, 1, 2)
    made.refill()
    made.run()
    expected = 2 if operation == "all_gather" else 1
    with pytest.raises(ValueError, match=rf"^leaf 0, element 0 is 3, expected {expected}$"):
        made.check()


def test_there_is_an_operation_for_each_name() -> None:
    with pytest.raises(ValueError, match=r"^there is no operation \"scatter\"; allowed are send, "):
        make(Case("scatter", 1, 8, 0, "int64"), 0, 2)
    for name in BETWEEN_TWO:
        with pytest.raises(ValueError, match=rf"^{name} is between 2 ranks; the world has 3$"):
            make(Case(name, 1, 8, 0, "int64"), 0, 3)
    assert len(BETWEEN_TWO) + len(AMONG_ALL) == 12


class Idle(Operation):
    """Notes what is called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def run(self) -> None:
        self.calls.append("run")

    def refill(self) -> None:
        self.calls.append("refill")

    def check(self) -> None:
        self.calls.append("check")


class OtherRanks:
    """Stands for ranks that need a second longer each time."""

    def __init__(self) -> None:
        self.told: list[float] = []

    def slowest(self, seconds: float) -> float:
        self.told.append(seconds)
        return seconds + 1


def clock_of(times: Iterable[float]) -> Callable[[], float]:
    left: Iterator[float] = iter(times)
    return lambda: next(left)


def test_a_time_is_that_of_the_slowest_rank_for_one_operation() -> None:
    operation, others = Idle(), OtherRanks()
    answer = time_operation("name", operation, others, 2, 4, clock_of([10, 11, 20, 23]))
    assert operation.calls == ["run"] * 8
    assert others.told == [0, 1, 3]
    (benchmark,) = answer["benchmarks"]
    assert benchmark["times"] == [0.5e6, 1e6]
    assert benchmark["real_time"] == 0.75e6
    assert (benchmark["name"], benchmark["iterations"]) == ("name", 2)
    assert (benchmark["run_type"], benchmark["time_unit"]) == ("iteration", "us")


def test_an_operation_is_slower_by_a_fraction_of_its_time() -> None:
    operation = Idle()
    # It takes 4 seconds, from 10 to 14; the wait ends at the first look from 14 + 4 / 2 on.
    times = [10.0, 14.0, 15.0, 15.9, 16.0, 99.0]
    left = iter(times)
    injected = Injected(operation, 0.5, lambda: next(left))
    injected.run()
    assert list(left) == [99.0]
    injected.refill()
    injected.check()
    assert operation.calls == ["run", "refill", "check"]


def test_a_library_that_cannot_be_loaded_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/none.so")
    with pytest.raises(ValueError, match=rf"^{VARIABLE}: cannot load /none.so: "):
        Counting()


def test_nothing_is_counted_without_the_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("tdconf_tensordict_bench.counting.BUILT", tmp_path / "none.so")
    with pytest.raises(
        ValueError, match=r"^nothing can be counted without none\.so: build tdconf_"
    ):
        Counting().count("name", Idle(), OtherRanks())
