# SPDX-License-Identifier: BSD-3-Clause
"""The values that `make` and the raw operations describe, as types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .decode import Json, decode


@dataclass(frozen=True)
class Ramp:
    start: int
    step: int


@dataclass(frozen=True)
class Fill:
    """Exactly one of the four formulas, optionally complemented afterwards."""

    ramp: Ramp | None = None
    const: int | float | None = None
    bits: str | None = None
    scramble: int | None = None
    invert: bool = False


@dataclass(frozen=True)
class Tensor:
    kind: Literal["tensor"]
    dtype: str
    shape: list[int]
    fill: Fill
    form: str = "plain"


@dataclass(frozen=True)
class NonTensor:
    kind: Literal["non_tensor"]
    data: Json
    batch_size: list[int]


@dataclass(frozen=True)
class LazyStack:
    kind: Literal["lazy_stack"]
    stack_dim: int
    members: list[Tree]


@dataclass(frozen=True)
class Persistent:
    kind: Literal["persistent"]
    batch_size: list[int]
    entries: list[tuple[str, Tree]]


@dataclass(frozen=True, kw_only=True)
class Items:
    """What a tensordict and a tensorclass have in common."""

    batch_size: list[int]
    entries: list[tuple[str, Tree]]
    names: list[str | None] | None = None
    device: Literal["cpu"] | None = None
    consolidated: bool = False
    locked: bool = False


@dataclass(frozen=True, kw_only=True)
class TensorDict(Items):
    kind: Literal["tensordict"]


@dataclass(frozen=True, kw_only=True)
class TensorClass(Items):
    kind: Literal["tensorclass"]
    class_: str


Tree = TensorDict | LazyStack | NonTensor | Persistent | TensorClass | Tensor


def decode_tree(value: Json, where: str) -> Tree:
    return decode(Tree, value, where)
