# SPDX-License-Identifier: BSD-3-Clause
"""The tensordict of a case."""

from collections.abc import Sequence

import torch
from tensordict import TensorDict, TensorDictBase

from .request import Case
from .values import Leaves


def make_tree(case: Case, leaves: Leaves, batch_size: Sequence[int] = ()) -> TensorDict:
    """Makes the tensordict of a case of its leaves, which it shares.

    Leaf i has the key "l" and i in four digits, below i * (depth + 1) / leaves levels of nested
    tensordicts, whose keys are "n".
    """
    levels: list[dict[str, object]] = [{} for _ in range(case.depth + 1)]
    deepest = 0
    for i, leaf in enumerate(leaves):
        deepest = i * len(levels) // len(leaves)
        levels[deepest][f"l{i:04}"] = leaf
    for above in range(deepest - 1, -1, -1):
        levels[above]["n"] = TensorDict(levels[above + 1], batch_size)
    return TensorDict(levels[0], batch_size)


def leaves_of(td: TensorDictBase) -> list[torch.Tensor]:
    """Returns the leaves of such a tensordict, in the order of the case."""
    leaves: list[torch.Tensor] = []
    for _, entry in td.items():
        leaves += leaves_of(entry) if isinstance(entry, TensorDictBase) else [entry]
    return leaves
