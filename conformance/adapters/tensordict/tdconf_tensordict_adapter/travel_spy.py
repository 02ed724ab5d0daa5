# SPDX-License-Identifier: BSD-3-Clause
"""Notes what becomes bytes, or comes from bytes, to travel, and what is copied into one storage."""

import functools
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import torch
from tensordict import TensorDictBase
from torch.distributed import distributed_c10d

from .decode import Json
from .transcript import watched

# Whether this thread is inside a consolidation.
_thread = threading.local()


def install() -> None:
    """Puts the spy before these functions, once for this process and those forked from it."""
    distributed_c10d._object_to_tensor = spied_to_tensor(distributed_c10d._object_to_tensor)
    distributed_c10d._tensor_to_object = spied_to_object(distributed_c10d._tensor_to_object)
    # What tensordict pickles itself, it pickles by the name `pickle` of the module that sends.
    sender = sys.modules[TensorDictBase.gather_and_stack.__module__]
    if getattr(sender, "pickle", None) is pickle:
        sender.pickle = spied_pickle()
    TensorDictBase.consolidate = spied_consolidate(TensorDictBase.consolidate)


@contextmanager
def noting(event: str) -> Iterator[dict[str, Json]]:
    """Yields the fields to fill in; without `bytes` at the end nothing has happened."""
    fields: dict[str, Json] = {}
    transcript = watched()
    if transcript is None:
        yield fields
        return
    begun = transcript.begin(event=event, bytes=None)
    try:
        yield fields
    finally:
        if "bytes" in fields:
            transcript.change(begun, **fields)
        else:
            transcript.drop(begun)


def spied_pickle() -> SimpleNamespace:
    """Returns the module with those functions watched that tensordict may use to send."""
    watching = {"dumps": spied_dumps, "loads": spied_loads, "Pickler": Pickler}
    return SimpleNamespace(**vars(pickle) | watching)


def spied_dumps(*args: object, **kwargs: object) -> bytes:
    with noting("pickle") as fields:
        data = pickle.dumps(*args, **kwargs)
        fields["bytes"] = len(data)
    return data


def spied_loads(data: bytes, /, **kwargs: object) -> object:
    with noting("unpickle") as fields:
        value = pickle.loads(data, **kwargs)
        fields["bytes"] = memoryview(data).nbytes
    return value


class Pickler(pickle.Pickler):
    """A pickler that tells how much it wrote."""

    def __init__(self, file: object, *args: object, **kwargs: object) -> None:
        super().__init__(file, *args, **kwargs)
        self._file = file

    def dump(self, value: object) -> None:
        with noting("pickle") as fields:
            start = self._file.tell()
            super().dump(value)
            fields["bytes"] = self._file.tell() - start


def spied_to_tensor(
    original: Callable[..., tuple[torch.Tensor, torch.Tensor]],
) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    @functools.wraps(original)
    def to_tensor(*args: object, **kwargs: object) -> tuple[torch.Tensor, torch.Tensor]:
        with noting("pickle") as fields:
            data, size = original(*args, **kwargs)
            fields["bytes"] = data.numel()
        return data, size

    return to_tensor


def spied_to_object(original: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(original)
    def to_object(
        tensor: torch.Tensor, tensor_size: torch.Tensor | int, *args: object, **kwargs: object
    ) -> object:
        with noting("unpickle") as fields:
            value = original(tensor, tensor_size, *args, **kwargs)
            fields["bytes"] = int(tensor_size)
        return value

    return to_object


def spied_consolidate(original: Callable[..., object]) -> Callable[..., object]:
    """Counts a call inside another with that one, and one that copies nothing as none."""

    @functools.wraps(original)
    def consolidate(td: TensorDictBase, *args: object, **kwargs: object) -> object:
        if getattr(_thread, "is_inside", False):
            return original(td, *args, **kwargs)
        _thread.is_inside = True
        try:
            with noting("consolidate") as fields:
                before = storage_of(td)
                result = original(td, *args, **kwargs)
                after = storage_of(result)
                if after is not None and after is not before:
                    fields["bytes"] = after.numel()
        finally:
            _thread.is_inside = False
        return result

    return consolidate


def storage_of(value: object) -> torch.Tensor | None:
    return getattr(value, "_consolidated", {}).get("storage")
