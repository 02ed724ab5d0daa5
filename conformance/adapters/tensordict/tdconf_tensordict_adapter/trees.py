# SPDX-License-Identifier: BSD-3-Clause
"""Builds the value that a TREE describes."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import torch
from tensordict import (
    LazyStackedTensorDict,
    MemoryMappedTensor,
    NonTensorData,
    NonTensorStack,
    PersistentTensorDict,
    TensorDict,
    TensorDictBase,
)

from . import tree_types
from .errors import AdapterError, UnsupportedError, call
from .fills import FillError, dtype_named, fill_bytes
from .snapshots import element_bytes
from .tensorclasses import AnyTensorDict, class_of

KINDS = ["tensordict", "lazy_stack", "non_tensor", "tensorclass"]
# A persistent tensordict lives in an HDF5 file, which tensordict cannot write without h5py.
if importlib.util.find_spec("h5py"):
    KINDS.append("persistent")


NewFile = Callable[[], Path]


class TensorSubclass(torch.Tensor):
    """A subclass that adds nothing: what the form `subclass` makes."""


def build(tree: tree_types.Tree, new_file: NewFile) -> AnyTensorDict:
    """Builds a tensordict; `new_file` gives the path of each file that backs it.

    Errors  AdapterError: the description makes no value.
            UnsupportedError: a kind or a form that is not claimed.
            ImplementationError: tensordict refused to build or to consolidate it.
    """
    if isinstance(tree, tree_types.Tensor | tree_types.NonTensor):
        raise AdapterError(f"a {tree.kind} is no value by itself; it stands inside a tensordict")
    return build_entry(tree, new_file)


def build_entry(tree: tree_types.Tree, new_file: NewFile) -> AnyTensorDict | torch.Tensor:
    match tree:
        case tree_types.TensorDict():
            return build_tensordict(tree, new_file)
        case tree_types.TensorClass():
            return build_tensorclass(tree, new_file)
        case tree_types.LazyStack():
            return build_lazy_stack(tree, new_file)
        case tree_types.Persistent():
            return build_persistent(tree, new_file)
        case tree_types.NonTensor():
            return call(NonTensorData, data=tree.data, batch_size=tree.batch_size)
        case tree_types.Tensor():
            return build_tensor(tree)


def build_tensordict(tree: tree_types.TensorDict, new_file: NewFile) -> TensorDictBase:
    td = build_items(tree, new_file)
    return call(td.consolidate, metadata=True) if tree.consolidated else td


def build_tensorclass(tree: tree_types.TensorClass, new_file: NewFile) -> AnyTensorDict:
    """Goes through a tensordict, since a constructor takes the fields in the order of the class."""
    cls = class_of(tree.class_, [key for key, _ in tree.entries])
    td = call(cls.from_tensordict, build_items(tree, new_file))
    return call(td.consolidate, metadata=True) if tree.consolidated else td


def build_items(tree: tree_types.Items, new_file: NewFile) -> TensorDictBase:
    td = call(TensorDict, {}, batch_size=tree.batch_size, device=tree.device)
    for key, entry in tree.entries:
        call(td.set, key, build_entry(entry, new_file))
    if tree.names:
        call(setattr, td, "names", tree.names)
    if tree.locked:
        call(td.lock_)
    return td


def build_lazy_stack(tree: tree_types.LazyStack, new_file: NewFile) -> TensorDictBase:
    members = [build_entry(member, new_file) for member in tree.members]
    is_non_tensor = all(isinstance(member, NonTensorData) for member in members)
    kind = NonTensorStack if is_non_tensor else LazyStackedTensorDict
    return call(kind, *members, stack_dim=tree.stack_dim)


def build_persistent(tree: tree_types.Persistent, new_file: NewFile) -> TensorDictBase:
    """Writes the file, then opens it for reading: HDF5 locks others out of what may be written."""
    if "persistent" not in KINDS:
        raise UnsupportedError("kind:persistent")
    in_memory = tree_types.TensorDict(
        kind="tensordict", batch_size=tree.batch_size, entries=tree.entries
    )
    path = new_file()
    call(PersistentTensorDict.from_dict, build_tensordict(in_memory, new_file), path).close()
    return call(PersistentTensorDict, filename=path, mode="r", batch_size=tree.batch_size)


def build_tensor(tree: tree_types.Tensor) -> torch.Tensor:
    """Builds a leaf in its form.

    Errors  AdapterError: unknown dtype, a fill or a shape that does not go with it.
            UnsupportedError: the form is none of `FORMS`.
    """
    if tree.form not in FORMS:
        raise UnsupportedError(f"leaf:{tree.form}")
    try:
        dtype = dtype_named(tree.dtype)
        data = fill_bytes(tree.fill, dtype, tree.shape)
    except FillError as problem:
        raise AdapterError(str(problem)) from problem
    plain = torch.empty(tree.shape, dtype=dtype)
    if data:
        plain.reshape(-1).view(torch.uint8).copy_(
            torch.frombuffer(bytearray(data), dtype=torch.uint8)
        )
    return FORMS[tree.form](plain)


def parameter(plain: torch.Tensor) -> torch.Tensor:
    has_gradients = plain.is_floating_point() or plain.is_complex()
    return torch.nn.Parameter(plain, requires_grad=has_gradients)


def sparse_coo(plain: torch.Tensor) -> torch.Tensor:
    """Every element is stored, zeros too, so that the structure does not depend on the values."""
    indices = torch.ones(plain.shape, dtype=torch.bool).nonzero().t()
    return torch.sparse_coo_tensor(indices, plain.reshape(-1), plain.shape, check_invariants=True)


def jagged(plain: torch.Tensor) -> torch.Tensor:
    """Rows that grow: the first dimension counts them, the second is their mean length."""
    if plain.dim() < 2:
        raise AdapterError("a jagged leaf needs two dimensions or more")
    rows, length = plain.shape[:2]
    row = torch.arange(rows + 1)
    offsets = length * row * (row + 1) // (rows + 1)
    return torch.nested.nested_tensor_from_jagged(plain.flatten(0, 1), offsets)


def transposed(plain: torch.Tensor) -> torch.Tensor:
    """The elements lie in memory in the reverse order of dimensions."""
    reverse = tuple(reversed(range(plain.dim())))
    tensor = plain.permute(reverse).contiguous().permute(reverse)
    if tensor.is_contiguous():
        raise AdapterError("a transposed leaf needs two dimensions longer than 1")
    return tensor


def expanded(plain: torch.Tensor) -> torch.Tensor:
    """All rows share the memory of the first."""
    if plain.dim() == 0 or len(plain) < 2:
        raise AdapterError("an expanded leaf needs two rows or more")
    tensor = plain[:1].clone().expand_as(plain)
    if element_bytes(tensor) != element_bytes(plain):
        raise AdapterError("all rows of an expanded leaf must be filled alike")
    return tensor


FORMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "plain": lambda plain: plain,
    "requires_grad": lambda plain: plain.requires_grad_(),
    "sparse_coo": sparse_coo,
    "jagged": jagged,
    "meta": lambda plain: plain.to("meta"),
    "parameter": parameter,
    "memmap": MemoryMappedTensor.from_tensor,
    "subclass": lambda plain: plain.as_subclass(TensorSubclass),
    "transposed": transposed,
    "expanded": expanded,
}
