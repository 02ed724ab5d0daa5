# SPDX-License-Identifier: BSD-3-Clause
"""The elements of the leaves: what is written before an operation, and what must be there after."""

from collections.abc import Sequence

import torch

from .request import Case

MODULUS = 97

Leaves = Sequence[torch.Tensor]


def new_leaves(case: Case, rows: int | None = None) -> list[torch.Tensor]:
    """Returns new leaves of a case, of which nothing is known; with `rows`, each has so many."""
    shape = (case.elements,) if rows is None else (rows, case.elements)
    return [torch.empty(shape, dtype=getattr(torch, case.dtype)) for _ in range(case.leaves)]


def fill(leaves: Leaves, rank: int) -> None:
    """Writes ((rank + 1) * (leaf + 1) + element) mod 97 into every element of every leaf."""
    for index, leaf in enumerate(leaves):
        leaf.copy_(_values(leaf, rank, index))


def poison(leaves: Leaves) -> None:
    """Writes 97, which fill() never writes, into every element."""
    for leaf in leaves:
        leaf.fill_(MODULUS)


def check_filled(leaves: Leaves, case: Case, rank: int) -> None:
    """Checks that the leaves are those of `case`, as fill() of `rank` writes them.

    Errors  ValueError: they are not; names the leaf, the element, and both values.
    """
    _check_number(leaves, case)
    for index, leaf in enumerate(leaves):
        _check_leaf(leaf, case, index, _values(torch.empty(case.elements), rank, index))


def check_summed(leaves: Leaves, case: Case, world: int) -> None:
    """Checks that every element is the sum, in the dtype of `case`, of those of all ranks.

    Errors  as check_filled().
    """
    _check_number(leaves, case)
    for index, leaf in enumerate(leaves):
        empty = torch.empty(case.elements)
        _check_leaf(leaf, case, index, sum(_values(empty, rank, index) for rank in range(world)))


def _values(like: torch.Tensor, rank: int, index: int) -> torch.Tensor:
    # Computed in int64: uint8 would wrap before the remainder is taken.
    first = (rank + 1) * (index + 1)
    return torch.arange(first, first + like.numel()).remainder_(MODULUS).view(like.shape)


def _check_number(leaves: Leaves, case: Case) -> None:
    if len(leaves) != case.leaves:
        raise ValueError(f"{len(leaves)} leaves arrived, expected {case.leaves}")


def _check_leaf(leaf: torch.Tensor, case: Case, index: int, values: torch.Tensor) -> None:
    expected = values.to(getattr(torch, case.dtype))
    for what in ("dtype", "shape"):
        got, wanted = getattr(leaf, what), getattr(expected, what)
        if got != wanted:
            raise ValueError(f"leaf {index} has {what} {got}, expected {wanted}")
    if torch.equal(leaf, expected):
        return
    at = int(leaf.ne(expected).nonzero()[0])
    raise ValueError(
        f"leaf {index}, element {at} is {leaf[at].item()}, expected {expected[at].item()}"
    )
