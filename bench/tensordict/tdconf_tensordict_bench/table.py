# SPDX-License-Identifier: BSD-3-Clause
"""The operations of this column, by name."""

from collections.abc import Callable

from .collectives import AllGather, AllReduce, Broadcast, GatherAndStack
from .groups import pickles
from .operation import Operation
from .request import MOST_BYTES, Case
from .transfers import WAYS, InitRemote, Transfer

BETWEEN_TWO: dict[str, Callable[[Case, int], Operation]] = {
    **{name: lambda case, rank, way=way: Transfer(case, rank, way) for name, way in WAYS.items()},
    "init_remote": InitRemote,
}
AMONG_ALL: dict[str, Callable[[Case, int, int], Operation]] = {
    "broadcast": lambda case, rank, _: Broadcast(case, rank),
    "all_gather": AllGather,
    "all_reduce": AllReduce,
    "all_reduce_buckets": lambda *part: AllReduce(*part, bucket_bytes=MOST_BYTES),
    "gather_and_stack": GatherAndStack,
    "gather_and_stack_pickles": lambda *part: GatherAndStack(*part, group=pickles()),
}


def make(case: Case, rank: int, world: int) -> Operation:
    """Makes the part of a rank. Every rank makes the same operations in the same order.

    Errors  ValueError: no such operation, or one of which a rank would see nothing.
    """
    if case.operation in AMONG_ALL:
        return AMONG_ALL[case.operation](case, rank, world)
    if case.operation not in BETWEEN_TWO:
        names = ", ".join((*BETWEEN_TWO, *AMONG_ALL))
        raise ValueError(f'there is no operation "{case.operation}"; allowed are {names}')
    if world != 2:
        raise ValueError(f"{case.operation} is between 2 ranks; the world has {world}")
    return BETWEEN_TWO[case.operation](case, rank)
