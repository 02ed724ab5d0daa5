# SPDX-License-Identifier: BSD-3-Clause
"""Describes what a tensordict holds as plain data that compares and prints well."""

from typing import Any

import torch
from tensordict import LazyStackedTensorDict, PersistentTensorDict, TensorDict, is_tensorclass
from tensordict.tensorclass import NonTensorDataBase, NonTensorStack

Description = tuple[Any, ...]


def described(entry: object) -> Description:
    """Describes a tensordict, in any order of its keys, or an entry of one.

    Neither the device nor the lock, which belong to memory, nor the class of a tensor.
    """
    if isinstance(entry, torch.Tensor):
        return _jagged(entry) if entry.layout is torch.jagged else _leaf(entry)
    if isinstance(entry, NonTensorStack):
        return ("stack", repr(entry.tolist()))
    if isinstance(entry, NonTensorDataBase):
        return ("data", repr(entry.data))
    if is_tensorclass(entry):
        contents = described(entry._tensordict)
        return _stack_of(type(entry).__name__, contents)
    if isinstance(entry, LazyStackedTensorDict):
        members = [described(member) for member in entry.tensordicts]
        return ("lazy", entry.stack_dim, entry._td_dim_name, members)
    assert isinstance(entry, TensorDict | PersistentTensorDict), type(entry)
    items = {key: described(entry.get(key)) for key in entry.keys()}  # noqa: SIM118
    return ("TensorDict", tuple(entry.batch_size), tuple(entry.names), items)


def _leaf(tensor: torch.Tensor) -> Description:
    return (tensor.dtype, tuple(tensor.shape), _bytes(tensor))


def _jagged(tensor: torch.Tensor) -> Description:
    lengths = tensor._lengths
    parts = (tensor._values, tensor._offsets, *(() if lengths is None else (lengths,)))
    return ("jagged", tensor._ragged_idx, [_leaf(part) for part in parts])


def _bytes(tensor: torch.Tensor) -> bytes:
    plain = torch.Tensor.as_subclass(tensor.detach(), torch.Tensor).resolve_conj().resolve_neg()
    dense = plain.clone(memory_format=torch.contiguous_format)
    return dense.view(-1).view(torch.uint8).numpy().tobytes()


def _stack_of(name: str, contents: Description) -> Description:
    """A tensorclass of a lazy stack is a lazy stack of tensorclasses in the codec."""
    if contents[0] != "lazy":
        return ("tensorclass", name, contents)
    return (*contents[:3], [_stack_of(name, member) for member in contents[3]])


def without_class(description: Description) -> Description:
    """What is left of a root whose class the form does not have."""
    if description[0] == "lazy":
        return description
    return description[2] if description[0] == "tensorclass" else description
