# SPDX-License-Identifier: BSD-3-Clause
"""Tensordicts of all kinds, made by Hypothesis."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from tensordict import (
    LazyStackedTensorDict,
    NonTensorData,
    NonTensorStack,
    TensorDict,
    TensorDictBase,
    tensorclass,
)

# The same examples each time: what fails here fails everywhere.
examples = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=100,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
        HealthCheck.filter_too_much,
    ],
)

DTYPES = (
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex32,
    torch.complex64,
    torch.complex128,
)

ODD_KEYS = (
    "",
    ".",
    "..",
    "a.b",
    "a b",
    "a/b",
    "/a",
    "%41",
    'a%b\\c:*?"<>|',
    "meta.json",
    "0",
    "1",
    "_x",
    "_tensordict",
    "_class",
    "_format_version",
    "a.memmap",
    "é",
    "\N{GRINNING FACE}",
    "\x00",
    "\n\x7f",
    "cls_",
    "Leaves",
)


@tensorclass
class Pair:
    """What the codec holds by the name of its class and a tensordict."""

    b: torch.Tensor
    a: torch.Tensor
    s: str | None = None
    n: object = None


@dataclass(frozen=True)
class Forms:
    """What one form of files has a place for."""

    dtypes: tuple[torch.dtype, ...] = DTYPES
    is_key: Callable[[str], bool] = lambda _: True
    is_folder_key: Callable[[str], bool] = lambda _: True
    data: st.SearchStrategy[Any] | None = None
    #: None: no stacks
    stack_data: st.SearchStrategy[list[Any]] | None = None
    has_jagged: bool = False
    has_lazy: bool = True
    #: Of the root: what is set into a tensordict with names takes them, or is refused.
    has_names: bool = True

    def below(self) -> "Forms":
        return replace(self, has_names=False)


def _texts() -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


def scalars() -> st.SearchStrategy[Any]:
    """What JSON has a form for, without containers."""
    integers = st.integers(-(2**63), 2**63 - 1)
    return st.none() | st.booleans() | integers | st.floats(width=64) | _texts()


def json_data() -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts(), inner, max_size=3),
        max_leaves=4,
    )


def any_data() -> st.SearchStrategy[Any]:
    """Literals; some of them only a pickle has a form for."""
    only_pickled = st.binary(max_size=4) | st.dictionaries(st.integers(-3, 300), scalars())
    return json_data() | only_pickled


def _batch_sizes() -> st.SearchStrategy[tuple[int, ...]]:
    """Mostly of one dimension, which all kinds of entries need."""
    dims = st.sampled_from([1, 1, 0, 2])
    return dims.flatmap(lambda count: st.tuples(*[st.integers(1, 3)] * count))


def _keys(is_key: Callable[[str], bool]) -> st.SearchStrategy[str]:
    return (st.sampled_from("abcxyz") | st.sampled_from(ODD_KEYS) | _texts()).filter(is_key)


@st.composite
def leaves(draw: st.DrawFn, batch: tuple[int, ...], dtypes: tuple[torch.dtype, ...]) -> Any:  # noqa: ANN401
    """A tensor of any dtype, whose elements may lie in its memory in any way."""
    dtype = draw(st.sampled_from(dtypes))
    shape = (*batch, *draw(st.lists(st.integers(0, 3), max_size=2)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    size = (2 * math.prod(shape), dtype.itemsize)
    raw = torch.randint(0, 256, size, generator=generator, dtype=torch.uint8)
    tensor = (raw % 2).view(torch.bool) if dtype is torch.bool else raw.view(dtype)
    tensor = tensor.view(-1)
    layout = draw(st.sampled_from(["contiguous", "strided", "transposed", "expanded"]))
    if layout == "strided":
        return tensor[::2].view(shape)
    if layout == "transposed":
        return (
            tensor[: math.prod(shape)].view(shape[::-1]).permute(tuple(reversed(range(len(shape)))))
        )
    if layout == "expanded" and math.prod(shape):
        return tensor[:1].view([1] * len(shape)).expand(shape)
    return tensor[: math.prod(shape)].view(shape)


@st.composite
def _jagged(draw: st.DrawFn, rows: int) -> torch.Tensor:
    lengths = draw(st.lists(st.integers(1, 3), min_size=rows, max_size=rows))
    offsets = torch.tensor([0, *lengths]).cumsum(0)
    values = torch.arange(float(int(offsets[-1]) * 2)).view(-1, 2)
    if draw(st.booleans()):
        return torch.nested.nested_tensor_from_jagged(values, offsets)
    shorter = torch.tensor([length - 1 if length > 1 else length for length in lengths])
    return torch.nested.nested_tensor_from_jagged(values, offsets, lengths=shorter)


@st.composite
def tensordicts(
    draw: st.DrawFn, forms: Forms, batch: tuple[int, ...] | None = None, depth: int = 2
) -> TensorDict:
    if batch is None:
        batch = draw(_batch_sizes())
    names = None
    if forms.has_names and batch and draw(st.booleans()):
        names = [f"dim{i}" if i else None for i in range(len(batch))][::-1]
    td = TensorDict({}, batch_size=batch, names=names)
    for key in draw(st.lists(_keys(forms.is_key), max_size=4, unique=True)):
        value = draw(_entries(forms, batch, depth, forms.is_folder_key(key)))
        if value is not None:
            td.set(key, value)
    return td


def _entries(
    forms: Forms, batch: tuple[int, ...], depth: int, may_be_folder: bool
) -> st.SearchStrategy[Any]:
    kinds: list[st.SearchStrategy[Any]] = [leaves(batch, forms.dtypes)]
    if forms.has_jagged and len(batch) == 1:
        kinds += [_jagged(batch[0])] * 2
    if not may_be_folder:
        return st.one_of(kinds)
    if forms.data is not None:
        kinds.append(forms.data.map(lambda data: NonTensorData(data, batch_size=batch)))
    if forms.stack_data is not None and batch:
        kinds.append(forms.stack_data.map(lambda data: _stack(data, batch)))
    if depth > 0:
        kinds.append(collections(forms.below(), batch, depth - 1))
    return st.one_of(kinds)


def _stack(data: list[Any], batch: tuple[int, ...]) -> NonTensorStack:
    """A stack of stacks, one for each dimension, whose data are used over and over again."""
    rows = []
    for i in range(batch[0]):
        turned = data[i:] + data[:i]
        rows.append(_stack(turned, batch[1:]) if batch[1:] else NonTensorData(turned[0]))
    return NonTensorStack(*rows)


@st.composite
def _lazy_stacks(
    draw: st.DrawFn, forms: Forms, batch: tuple[int, ...], depth: int
) -> LazyStackedTensorDict:
    dim = draw(st.integers(0, len(batch) - 1))
    inner = batch[:dim] + batch[dim + 1 :]
    members = [draw(tensordicts(forms.below(), inner, depth)) for _ in range(batch[dim])]
    name = draw(st.sampled_from([None, "time"])) if forms.has_names else None
    return LazyStackedTensorDict(*members, stack_dim=dim, stack_dim_name=name)


@st.composite
def _pairs(draw: st.DrawFn, forms: Forms, batch: tuple[int, ...], depth: int) -> Pair:
    inner = draw(st.none() | tensordicts(forms.below(), batch, depth))
    return Pair(
        b=draw(leaves(batch, forms.dtypes)),
        a=draw(leaves(batch, forms.dtypes)),
        s=draw(st.none() | st.just("text")) if forms.data is not None else None,
        n=inner,
        batch_size=batch,
    )


def collections(
    forms: Forms, batch: tuple[int, ...] | None = None, depth: int = 2
) -> st.SearchStrategy[TensorDictBase]:
    """Tensordicts of all kinds that can be a root."""
    if batch is None:
        return _batch_sizes().flatmap(lambda size: collections(forms, size, depth))
    kinds = [tensordicts(forms, batch, depth), _pairs(forms, batch, depth)]
    if forms.has_lazy and batch:
        kinds.append(_lazy_stacks(forms, batch, depth))
    return st.one_of(kinds)
