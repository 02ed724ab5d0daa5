# SPDX-License-Identifier: BSD-3-Clause
"""The operations from rank 0 to rank 1."""

from collections.abc import Callable
from dataclasses import dataclass

from tensordict import TensorDict

from .operation import Operation
from .request import Case
from .tree import leaves_of, make_tree
from .values import check_filled, fill, new_leaves, poison

Step = Callable[[TensorDict], None]


@dataclass(frozen=True)
class Way:
    """How a tensordict of rank 0 is sent into one of rank 1."""

    send: Step
    receive: Step
    consolidated_ranks: tuple[int, ...] = ()
    """The ranks whose tensordict is consolidated before."""


def _send(td: TensorDict) -> None:
    td.send(dst=1)


def _recv(td: TensorDict) -> None:
    td.recv(src=0)


def _send_pseudo_rand(td: TensorDict) -> None:
    td.send(dst=1, pseudo_rand=True)


def _recv_pseudo_rand(td: TensorDict) -> None:
    td.recv(src=0, pseudo_rand=True)


def _isend(td: TensorDict) -> None:
    for work in td.isend(dst=1, return_early=True):
        work.wait()


def _irecv(td: TensorDict) -> None:
    for work in td.irecv(src=0, return_premature=True):
        work.wait()


def _send_consolidated(td: TensorDict) -> None:
    td.send(dst=1, consolidated=True)


def _recv_consolidated(td: TensorDict) -> None:
    td.recv(src=0, consolidated=True)


WAYS = {
    "send": Way(_send, _recv),
    "send_pseudo_rand": Way(_send_pseudo_rand, _recv_pseudo_rand),
    "isend": Way(_isend, _irecv),
    "send_consolidated": Way(_send_consolidated, _recv_consolidated, (0, 1)),
    # What send() consolidates it forgets, so that it does so each time.
    "send_consolidating": Way(_send_consolidated, _recv_consolidated, (1,)),
}


class Transfer(Operation):
    """One of the ways from a tensordict of rank 0 into one of rank 1, of the same case."""

    def __init__(self, case: Case, rank: int, way: Way) -> None:
        td = make_tree(case, new_leaves(case))
        self._td = td.consolidate(metadata=True) if rank in way.consolidated_ranks else td
        self._leaves = leaves_of(self._td)
        self._case = case
        self._rank = rank
        self._step = way.send if rank == 0 else way.receive

    def run(self) -> None:
        self._step(self._td)

    def refill(self) -> None:
        if self._rank == 0:
            fill(self._leaves, 0)
        else:
            poison(self._leaves)

    def check(self) -> None:
        if self._rank == 1:
            check_filled(self._leaves, self._case, 0)


class InitRemote(Operation):
    """Rank 0 consolidates its tensordict each time, and rank 1 makes a new one."""

    def __init__(self, case: Case, rank: int) -> None:
        self._case = case
        self._rank = rank
        self._leaves = new_leaves(case)
        self._td = make_tree(case, self._leaves)
        self._received = TensorDict()

    def run(self) -> None:
        if self._rank == 0:
            self._td.init_remote(dst=1)
        else:
            self._received = TensorDict.from_remote_init(src=0)

    def refill(self) -> None:
        fill(self._leaves, 0)
        self._received = TensorDict()

    def check(self) -> None:
        if self._rank == 1:
            check_filled(leaves_of(self._received), self._case, 0)
