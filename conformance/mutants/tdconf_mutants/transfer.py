# SPDX-License-Identifier: BSD-3-Clause
"""Point-to-point transfers in miniature, with two rules that a mutant can break."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
import torch.distributed as dist
from tensordict import LazyStackedTensorDict, NonTensorData, TensorDictBase, is_tensor_collection

from tdconf_tensordict_adapter.case import Case
from tdconf_tensordict_adapter.decode import Json
from tdconf_tensordict_adapter.errors import call
from tdconf_tensordict_adapter.implementation import Implementation
from tdconf_tensordict_adapter.operations import OPERATIONS, keep


@dataclass(frozen=True)
class Rules:
    """What both sides must agree on: the order of the keys, and the tag of the first leaf."""

    order: Callable[[Iterable[str]], Iterable[str]] = sorted
    tag_offset: int = 0

    def leaves(self, td: TensorDictBase) -> Iterator[torch.Tensor]:
        if isinstance(td, NonTensorData):
            return
        if isinstance(td, LazyStackedTensorDict):
            for member in td.tensordicts:
                yield from self.leaves(member)
            return
        for key in self.order(td.keys()):
            entry = td.get(key)
            if is_tensor_collection(entry):
                yield from self.leaves(entry)
            else:
                yield entry


@dataclass(frozen=True)
class Direction:
    """Sending or receiving: the names that the arguments have, and the call below."""

    method: str
    peer: str
    early: str
    returns_tag: dict[str, bool]


SENDING = Direction("send", "dst", "return_early", {"send": False, "isend": True})
RECEIVING = Direction("recv", "src", "return_premature", {"recv": True, "irecv": False})


def transfer(
    rules: Rules, direction: Direction, op: str, case: Case, as_: str | None, td: str, **args: Json
) -> Json:
    """Moves every leaf as one message; leaves what the rules are not about to tensordict."""
    if args.get("pseudo_rand") or args.get("consolidated") or not has_one_peer(direction, args):
        return OPERATIONS[op].run(case, as_, td, **args)
    is_immediate = op.startswith("i")
    group = case.group(args["group"]) if "group" in args else dist.group.WORLD
    post = getattr(group, direction.method)
    peer = args.get(f"group_{direction.peer}")
    if peer is None:
        peer = call(dist.get_group_rank, group, args[direction.peer])
    tag = args.get("init_tag", 0) + rules.tag_offset - 1
    works = []
    for leaf in rules.leaves(case.value(td)):
        tag += 1
        works.append(call(post, [leaf], peer, tag))
        if not is_immediate:
            call(works[-1].wait)
    if args.get(direction.early):
        return keep(case, as_, works)
    for work in works if is_immediate else []:
        call(work.wait)
    return keep(case, as_, tag if direction.returns_tag[op] else None)


def has_one_peer(direction: Direction, args: Json) -> bool:
    if f"group_{direction.peer}" in args:
        return "group" in args and direction.peer not in args
    return direction.peer in args


def mutant(name: str, rules: Rules) -> Implementation:
    """An implementation whose transfers follow `rules`; all else is tensordict's."""
    operations = dict(OPERATIONS)
    for direction in (SENDING, RECEIVING):
        for op in direction.returns_tag:
            run = partial(transfer, rules, direction, op)
            operations[op] = replace(OPERATIONS[op], run=run)
    return Implementation(name=name, operations=operations)
