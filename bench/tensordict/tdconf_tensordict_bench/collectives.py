# SPDX-License-Identifier: BSD-3-Clause
"""The operations among all ranks."""

import torch.distributed as dist
from tensordict import TensorDict

from .operation import Operation
from .request import Case
from .tree import leaves_of, make_tree
from .values import check_filled, check_summed, fill, new_leaves, poison


class Broadcast(Operation):
    """Rank 0 consolidates its tensordict each time, and the others make new ones."""

    def __init__(self, case: Case, rank: int) -> None:
        self._case = case
        self._rank = rank
        self._leaves = new_leaves(case)
        self._td = make_tree(case, self._leaves)
        self._result = TensorDict()

    def run(self) -> None:
        self._result = self._td.broadcast(src=0)

    def refill(self) -> None:
        if self._rank == 0:
            fill(self._leaves, 0)
        else:
            poison(self._leaves)
        self._result = TensorDict()

    def check(self) -> None:
        check_filled(leaves_of(self._result), self._case, 0)


class AllGather(Operation):
    """Every rank consolidates its tensordict each time, and makes one of each rank."""

    def __init__(self, case: Case, rank: int, world: int) -> None:
        self._case = case
        self._rank = rank
        self._world = world
        self._leaves = new_leaves(case)
        self._td = make_tree(case, self._leaves)
        self._gathered: list[TensorDict] = []

    def run(self) -> None:
        self._gathered = self._td.all_gather()

    def refill(self) -> None:
        fill(self._leaves, self._rank)
        self._gathered = []

    def check(self) -> None:
        if len(self._gathered) != self._world:
            raise ValueError(f"{len(self._gathered)} tensordicts arrived, expected {self._world}")
        for rank, td in enumerate(self._gathered):
            check_filled(leaves_of(td), self._case, rank)


class AllReduce(Operation):
    """The sums stay in the leaves, and are summed again by the next run()."""

    def __init__(self, case: Case, rank: int, world: int, bucket_bytes: int | None = None) -> None:
        self._case = case
        self._rank = rank
        self._world = world
        self._leaves = new_leaves(case)
        self._td = make_tree(case, self._leaves)
        self._bucket_bytes = bucket_bytes

    def run(self) -> None:
        self._td.all_reduce(bucket_bytes=self._bucket_bytes)

    def refill(self) -> None:
        fill(self._leaves, self._rank)

    def check(self) -> None:
        check_summed(self._leaves, self._case, self._world)


class GatherAndStack(Operation):
    """Rank 0 has a row for each other rank; the others consolidate or pickle each time."""

    def __init__(
        self, case: Case, rank: int, world: int, group: dist.ProcessGroup | None = None
    ) -> None:
        self._case = case
        self._rank = rank
        rows = world - 1 if rank == 0 else None
        self._leaves = new_leaves(case, rows)
        self._td = make_tree(case, self._leaves, () if rows is None else (rows,))
        self._group = group

    def run(self) -> None:
        self._td.gather_and_stack(dst=0, group=self._group)

    def refill(self) -> None:
        if self._rank == 0:
            poison(self._leaves)
        else:
            fill(self._leaves, self._rank)

    def check(self) -> None:
        if self._rank != 0:
            return
        for row in range(len(self._leaves[0])):
            check_filled([leaf[row] for leaf in self._leaves], self._case, row + 1)
