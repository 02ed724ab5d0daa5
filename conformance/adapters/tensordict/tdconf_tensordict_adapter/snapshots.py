# SPDX-License-Identifier: BSD-3-Clause
"""Describes a value so that another process can compare it bit by bit."""

import hashlib
import json
from math import prod

import torch
from tensordict import (
    LazyStackedTensorDict,
    NonTensorData,
    PersistentTensorDict,
    TensorDict,
    TensorDictBase,
    is_tensor_collection,
    is_tensorclass,
)

from .decode import Json
from .errors import AdapterError
from .tensorclasses import AnyTensorDict

# Up to this many bytes a snapshot holds the elements, beyond it their digest.
MAX_PLAIN_BYTES = 1024


class Snapshots:
    """Describes values of one case.

    The memory of every tensor that was described is kept until the case ends: an address that
    were freed and used again would make two tensors look like one.
    """

    def __init__(self) -> None:
        self._kept: list[torch.Tensor] = []

    def describe(self, td: AnyTensorDict) -> dict[str, Json]:
        """Returns the snapshot of a root."""
        return self._tree(td) | {"consolidated": self._consolidated(td)}

    def _tree(self, td: AnyTensorDict) -> dict[str, Json]:
        if isinstance(td, NonTensorData):
            return describe_non_tensor(td)
        if is_tensorclass(td):
            # What the class shows of a field is not what it holds: data instead of NonTensorData.
            named = {"kind": "tensorclass", "class": type(td).__name__}
            return self._fields_of(td) | named
        about = {"class": type(td).__name__, "locked": td.is_locked}
        if isinstance(td, LazyStackedTensorDict):
            members = [self._tree(member) for member in td.tensordicts]
            return {"kind": "lazy_stack", "stack_dim": td.stack_dim, "members": members} | about
        entries = [[key, self._entry(td, key)] for key in td.keys()]  # noqa: SIM118
        about |= {"batch_size": list(td.batch_size), "entries": entries}
        if isinstance(td, PersistentTensorDict):
            return {"kind": "persistent"} | about
        names = list(td.names) if any(name is not None for name in td.names) else None
        device = None if td.device is None else str(td.device)
        return {"kind": "tensordict", "names": names, "device": device} | about

    def _fields_of(self, td: AnyTensorDict) -> dict[str, Json]:
        contents = td._tensordict
        if type(contents) is not TensorDict:
            kind = type(contents).__name__
            raise AdapterError(f"a tensorclass of a {kind}, which the protocol cannot express")
        return self._tree(contents)

    def _entry(self, td: TensorDictBase, key: str) -> dict[str, Json]:
        entry = td.get(key)
        if is_tensor_collection(entry):
            return self._tree(entry)
        if isinstance(td, PersistentTensorDict):
            # Reading makes a new tensor each time; the memory of the leaf is its dataset.
            token = f"{td.file.file.filename}:{td.file[key].name}"
            return self.describe_tensor(entry) | {"token": token}
        return self.describe_tensor(entry)

    def describe_tensor(self, tensor: torch.Tensor) -> dict[str, Json]:
        """Returns the snapshot of one leaf."""
        self._kept.append(tensor.detach())
        described = {
            "kind": "tensor",
            "dtype": short_name(tensor.dtype),
            "shape": [size if isinstance(size, int) else -1 for size in tensor.shape],
            "requires_grad": tensor.requires_grad,
            "class": type(tensor).__name__,
            "device": str(tensor.device),
            "layout": short_name(tensor.layout),
            "token": memory_token(tensor),
        }
        return described | describe_elements(tensor)

    def _consolidated(self, td: AnyTensorDict) -> dict[str, Json] | None:
        if not td.is_consolidated():
            return None
        storage = td._consolidated["storage"]
        self._kept.append(storage)
        data = element_bytes(storage)
        token = memory_token(storage)
        return {"token": token, "nbytes": len(data)} | describe_bytes(data)


def describe_non_tensor(td: NonTensorData) -> dict[str, Json]:
    try:
        json.dumps(td.data, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise AdapterError(f"non-tensor data {td.data!r} is no JSON: {problem}") from problem
    return {"kind": "non_tensor", "data": td.data, "batch_size": list(td.batch_size)}


def short_name(torch_constant: torch.dtype | torch.layout) -> str:
    return str(torch_constant).removeprefix("torch.")


def describe_elements(tensor: torch.Tensor) -> dict[str, Json]:
    """Tells the bytes of the elements and where rows lie; nothing of what is not on the CPU."""
    if is_readable(tensor):
        return describe_bytes(element_bytes(tensor))
    if tensor.device.type == "cpu" and tensor.layout is torch.sparse_coo:
        return describe_bytes(dense_bytes(tensor))
    if tensor.device.type == "cpu" and tensor.layout is torch.jagged:
        return describe_bytes(element_bytes(tensor.values())) | {"rows": describe_rows(tensor)}
    return {}


def describe_rows(jagged: torch.Tensor) -> dict[str, Json]:
    lengths = jagged.lengths()
    return {
        "offsets": jagged.offsets().tolist(),
        "lengths": None if lengths is None else lengths.tolist(),
        "ragged_idx": jagged._ragged_idx,
    }


def dense_bytes(sparse: torch.Tensor) -> bytes:
    """Returns the elements of a sparse tensor and its zeros, in row-major order.

    They are copied as bytes: to_dense() adds each to a zero, which makes 0 of -0, and knows fewer
    dtypes.
    """
    sparse = sparse.detach()
    sizes, inner = sparse.shape[: sparse.sparse_dim()], sparse.shape[sparse.sparse_dim() :]
    values = sparse._values().reshape(sparse._nnz(), prod(inner))
    places = torch.zeros(len(values), dtype=torch.int64)
    for index, size in zip(sparse._indices(), sizes, strict=True):
        places = places * size + index
    if len(places.unique()) < len(places):
        return dense_bytes(sparse.coalesce())
    dense = torch.zeros(prod(sizes), prod(inner), dtype=sparse.dtype)
    dense.view(torch.uint8)[places] = values.view(torch.uint8)
    return element_bytes(dense)


def is_readable(tensor: torch.Tensor) -> bool:
    """Says whether element_bytes() can read the elements."""
    is_strided = tensor.layout is torch.strided and not tensor.is_nested
    return is_strided and tensor.device.type == "cpu"


def element_bytes(tensor: torch.Tensor) -> bytes:
    """Returns the elements in row-major order, whatever the strides and the lazy conjugation."""
    plain = tensor.detach().as_subclass(torch.Tensor).resolve_conj().resolve_neg().contiguous()
    # A single element may keep any stride, and bytes are viewed along a last dimension of stride 1.
    return plain.unsqueeze(-1).view(torch.uint8).numpy().tobytes()


def describe_bytes(data: bytes) -> dict[str, str]:
    if len(data) <= MAX_PLAIN_BYTES:
        return {"bytes": data.hex()}
    return {"sha256": hashlib.sha256(data).hexdigest()}


def memory_token(tensor: torch.Tensor) -> str:
    """Names the memory of a tensor: its address, or its storage where nothing is allocated."""
    if tensor.is_nested:
        return memory_token(tensor.values().detach())
    if tensor.layout is torch.sparse_coo:
        return memory_token(tensor.detach()._values())
    address = tensor.data_ptr()
    return f"{address:x}" if address else f"storage:{tensor.untyped_storage()._cdata:x}"
