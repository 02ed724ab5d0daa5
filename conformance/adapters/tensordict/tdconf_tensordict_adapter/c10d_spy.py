# SPDX-License-Identifier: BSD-3-Clause
"""Notes every call at the boundary of c10d, whoever makes it.

Whatever `torch.distributed` offers ends in a method of ProcessGroup, and who has a backend alone
calls a method of Backend. The former reaches the latter in C++, so that nothing is seen twice.
"""

import contextlib
import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex
from weakref import WeakKeyDictionary

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import Backend
from torch.futures import Future

from .decode import Json
from .snapshots import element_bytes, is_readable, short_name
from .transcript import Event, Transcript, watched


class Argument:
    """Where a method takes an argument: its position, and its names in the overloads."""

    def __init__(self, position: int, *names: str) -> None:
        self._position = position
        self._names = names

    def read(self, args: tuple, kwargs: dict) -> object:
        if self._position < len(args):
            return args[self._position]
        return next((kwargs[name] for name in self._names if name in kwargs), None)


@dataclass(frozen=True)
class Call:
    """A method: the word for it, and where its own tensor, its peer and its tag stand."""

    event: str
    tensor: Argument
    peer: Argument | None = None
    tag: Argument | None = None
    receives: bool = False


OWN = Argument(0, "tensors", "tensor")
INPUT = Argument(1, "input_tensors", "input_tensor", "input")
OUTPUT = Argument(0, "output_tensors", "output_tensor")
TAG = Argument(2, "tag")
SECOND_ROOT = Argument(1, "root", "opts")
THIRD_ROOT = Argument(2, "root", "opts")

CALLS = {
    "send": Call("send", OWN, Argument(1, "dstRank"), TAG),
    "recv": Call("recv", OWN, Argument(1, "srcRank"), TAG, receives=True),
    "allgather": Call("all_gather", INPUT),
    # With one tensor for all outputs; what travels is the same.
    "all_gather_single": Call("all_gather", INPUT),
    "_allgather_base": Call("all_gather", INPUT),
    "gather": Call("gather", INPUT, THIRD_ROOT),
    "scatter": Call("scatter", OUTPUT, THIRD_ROOT, receives=True),
    "broadcast": Call("broadcast", OWN, SECOND_ROOT, receives=True),
    "reduce": Call("reduce", OWN, SECOND_ROOT),
    "allreduce": Call("all_reduce", OWN, receives=True),
}


@dataclass(frozen=True)
class Started:
    """A call that was not waited for yet."""

    transcript: Transcript
    event: Event
    received: torch.Tensor | None

    def finish(self) -> None:
        if self.event["done"]:
            # Who was told first may have changed the tensor since.
            return
        received = {} if self.received is None else {"sha256": digest(self.received)}
        self.transcript.change(self.event, done=True, **received)


# Weak: gloo gives an operation up whose Work nobody holds, and that must not change.
_started: WeakKeyDictionary[dist.Work, Started] = WeakKeyDictionary()


def install() -> None:
    """Puts the spy before the methods, once for this process and those forked from it."""
    ends = {"wait": spied_wait, "get_future": spied_get_future}
    for owner, name in boundary():
        original = getattr(owner, name)
        setattr(owner, name, ends[name](original) if name in ends else spied(original, CALLS[name]))


def boundary() -> list[tuple[type, str]]:
    """Lists the methods that the spy stands before."""
    calls = [(owner, name) for owner in (dist.ProcessGroup, Backend) for name in CALLS]
    works = (dist.Work, *dist.Work.__subclasses__())
    ends = ("wait", "get_future")
    return calls + [(work, end) for work in works for end in ends if end in vars(work)]


def spied(original: Callable[..., dist.Work], call: Call) -> Callable[..., dist.Work]:
    @functools.wraps(original)
    def method(
        group: dist.ProcessGroup | Backend, *args: object, **kwargs: object
    ) -> dist.Work | None:
        transcript = watched()
        named = transcript and transcript.named(group)
        tensor = first_tensor(call.tensor.read(args, kwargs))
        peer = call.peer and group_rank(call.peer.read(args, kwargs))
        if named is None or tensor is None or peer not in (None, *range(len(named.ranks))):
            # A transcript has no word for it: no group or no rank of the case, or no call at all.
            return original(group, *args, **kwargs)
        receives = call.receives and not (call.event == "broadcast" and peer == group.rank())
        tag = {} if call.tag is None else {"tag": whole(call.tag.read(args, kwargs))}
        event = transcript.begin(
            event=call.event,
            group=named.name,
            peer=None if peer is None else named.ranks[peer],
            **tag,
            **describe_tensor(tensor),
            sha256=None if receives else digest(tensor),
            done=False,
        )
        try:
            work = original(group, *args, **kwargs)
        except BaseException:
            transcript.drop(event)
            raise
        started = Started(transcript, event, tensor if receives else None)
        if work is None:
            started.finish()
        else:
            _started[work] = started
        return work

    return method


def spied_wait(original: Callable[..., bool]) -> Callable[..., bool]:
    @functools.wraps(original)
    def wait(work: dist.Work, *args: object, **kwargs: object) -> bool:
        succeeded = original(work, *args, **kwargs)
        if succeeded and work in _started:
            _started.pop(work).finish()
        return succeeded

    return wait


def spied_get_future(original: Callable[..., Future]) -> Callable[..., Future]:
    """Who waits for the future, or for one made from it, never waits for the Work itself."""

    @functools.wraps(original)
    def get_future(work: dist.Work) -> Future:
        future = original(work)
        started = _started.get(work)
        if started is not None:
            future.add_done_callback(functools.partial(finish_unless_failed, started))
        return future

    return get_future


def finish_unless_failed(started: Started, future: Future) -> None:
    with contextlib.suppress(Exception):
        # Returns at once, since the future is done, and raises what it failed with.
        future.wait()
        started.finish()


def describe_tensor(tensor: torch.Tensor) -> dict[str, Json]:
    return {
        "dtype": short_name(tensor.dtype),
        "shape": list(tensor.shape),
        "bytes": tensor.numel() * tensor.element_size(),
    }


def group_rank(peer: object) -> int | None:
    """Returns the peer or the root, given alone or among options."""
    return whole(getattr(peer, "rootRank", peer))


def whole(value: object) -> int | None:
    return index(value) if isinstance(value, SupportsIndex) else None


def first_tensor(value: object) -> torch.Tensor | None:
    """Finds the tensor in the list, or list of lists, in which c10d takes it."""
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return value if isinstance(value, torch.Tensor) else None


def digest(tensor: torch.Tensor) -> str | None:
    """Returns the SHA-256 of the elements in row-major order; None when nobody can read them."""
    return hashlib.sha256(element_bytes(tensor)).hexdigest() if is_readable(tensor) else None
