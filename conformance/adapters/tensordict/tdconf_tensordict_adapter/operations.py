# SPDX-License-Identifier: BSD-3-Clause
"""The operations of the protocol, carried out by tensordict."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import torch.distributed as dist
from tensordict import TensorDict, is_tensor_collection

from .case import Case
from .decode import Json, ProtocolError, decode
from .errors import AdapterError, UnsupportedError, call
from .messages import Step
from .tensorclasses import AnyTensorDict
from .tree_types import decode_tree
from .trees import build


@dataclass(frozen=True)
class Operation:
    """One row of the table of operations; `run` gets those arguments that the step gives."""

    run: Callable[..., Json]
    required: dict[str, object]
    optional: dict[str, object] = field(default_factory=dict)

    def decode_args(self, op: str, args: dict[str, Json]) -> dict[str, Json]:
        """Errors  ProtocolError: an unknown, a missing or a wrongly typed argument."""
        allowed = self.required | self.optional
        if unknown := sorted(args.keys() - allowed.keys()):
            names = ", ".join(allowed)
            raise ProtocolError(f"{op}: unknown argument {unknown[0]!r}, allowed: {names}")
        if missing := sorted(self.required.keys() - args.keys()):
            raise ProtocolError(f"{op}: argument {missing[0]!r} is missing")
        return {name: decode(allowed[name], value, f"{op}.{name}") for name, value in args.items()}


def make(case: Case, as_: str | None, name: str, tree: Json) -> Json:
    case.values[name] = build(decode_tree(tree, "make.tree"), case.new_file)
    return snapshot(case, as_, name)


def snapshot(case: Case, as_: str | None, td: str) -> Json:
    return {"kind": "snapshot", "snapshot": case.snapshots.describe(case.value(td))}


def consolidate(case: Case, as_: str | None, td: str) -> Json:
    name = needed("consolidate", as_)
    case.values[name] = call(case.value(td).consolidate, metadata=True)
    return snapshot(case, as_, name)


def getitem(case: Case, as_: str | None, td: str, index: list[int | tuple[int, int]]) -> Json:
    name = needed("getitem", as_)
    key = tuple(item if isinstance(item, int) else slice(*item) for item in index)
    case.values[name] = call(case.value(td).__getitem__, key)
    return snapshot(case, as_, name)


def wait(case: Case, as_: str | None, works: str) -> Json:
    case.wait(works)
    return {"kind": "none"}


def send(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    return keep(case, as_, call(case.value(td).send, **resolved(case, options, "dst")))


def recv(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    return keep(case, as_, call(case.value(td).recv, **resolved(case, options, "src")))


def isend(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    return keep(case, as_, call(case.value(td).isend, **with_group(case, options)))


def irecv(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    return keep(case, as_, call(case.value(td).irecv, **with_group(case, options)))


def gather_and_stack(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    return keep(case, as_, call(case.value(td).gather_and_stack, **with_group(case, options)))


def init_remote(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    return keep(case, as_, call(case.value(td).init_remote, **with_group(case, options)))


def from_remote_init(case: Case, as_: str | None, **options: Json) -> Json:
    name = needed("from_remote_init", as_)
    return keep(case, name, call(TensorDict.from_remote_init, **with_group(case, options)))


def broadcast(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    name = needed("broadcast", as_)
    return keep(case, name, call(case.value(td).broadcast, **with_group(case, options)))


def scatter(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    name = needed("scatter", as_)
    if "tensordicts" in options:
        options["tensordicts"] = [case.value(held) for held in options["tensordicts"]]
    return keep(case, name, call(case.value(td).scatter, **with_group(case, options)))


def all_gather(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    name = needed("all_gather", as_)
    return keep(case, name, call(case.value(td).all_gather, **with_group(case, options)))


def all_reduce(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    return keep(case, as_, call(case.value(td).all_reduce, **reduction(case, options)))


def reduce(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    return keep(case, as_, call(case.value(td).reduce, **reduction(case, options)))


def needed(op: str, as_: str | None) -> str:
    if as_ is None:
        raise AdapterError(f"{op}: the step needs `as`, the name of the result")
    return as_


def open_pipe(case: Case, as_: str | None, peer: int, listen: bool) -> Json:
    case.pipes.open(needed("open_pipe", as_), peer, listen)
    return {"kind": "none"}


def close_pipe(case: Case, as_: str | None, pipe: str) -> Json:
    call(case.pipes.named(pipe).close)
    return {"kind": "none"}


def resolved(case: Case, options: dict[str, Json], peer: str) -> dict[str, Json]:
    """Replaces names by the group, and by the pipe that stands for the argument `peer`."""
    options = with_group(case, options)
    if "pipe" in options:
        options = options | {peer: case.pipes.named(options["pipe"])}
        del options["pipe"]
    return options


def with_group(case: Case, options: dict[str, Json]) -> dict[str, Json]:
    """Replaces the name of the group by the group."""
    return options | {"group": case.group(options["group"])} if "group" in options else options


def reduction(case: Case, options: dict[str, Json]) -> dict[str, Json]:
    """Replaces names by the group and the reduction."""
    options = with_group(case, options)
    return options | {"op": getattr(dist.ReduceOp, options["op"])} if "op" in options else options


def keep(case: Case, as_: str | None, result: object) -> Json:
    """Describes what an operation returned; works and unknown tensordicts are kept under `as_`.

    Of several tensordicts, the n-th is kept under `as_.n`.

    Errors  AdapterError: the protocol has no word for the result.
    """
    if result is None:
        return {"kind": "none"}
    if type(result) is int:
        return {"kind": "int", "int": result}
    if is_tensor_collection(result):
        return {"kind": "value", "name": name_of(case, as_, result)}
    if isinstance(result, list) and result and all(map(is_tensor_collection, result)):
        names = [name_of(case, as_ and f"{as_}.{n}", td) for n, td in enumerate(result)]
        return {"kind": "values", "names": names}
    if isinstance(result, list) and all(hasattr(work, "wait") for work in result):
        if as_ is not None:
            case.keep_works(as_, result)
        return {"kind": "works", "works": len(result)}
    raise AdapterError(f"the operation returned {result!r}, which the protocol cannot express")


def name_of(case: Case, as_: str | None, td: AnyTensorDict) -> str:
    """Returns the name under which this very object is held."""
    for name, held in case.values.items():
        if held is td:
            return name
    new_name = as_ or f"unnamed {len(case.values)}"
    case.values[new_name] = td
    return new_name


TD = {"td": str}
P2P = {"group": str, "init_tag": int, "pseudo_rand": bool, "consolidated": bool}
SEND = {"dst": int, "group_dst": int} | P2P
RECV = {"src": int, "group_src": int} | P2P
PIPE = {"pipe": str}
DEVICE = {"group": str, "device": str}
COLD_START = DEVICE | {"use_broadcast": bool}
REDUCTION = {
    "op": Literal["SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"],
    "async_op": bool,
    "group": str,
    "bucket_bytes": int,
}

OPERATIONS: dict[str, Operation] = {
    "make": Operation(make, {"name": str, "tree": dict}),
    "snapshot": Operation(snapshot, TD),
    "consolidate": Operation(consolidate, TD),
    "getitem": Operation(getitem, TD | {"index": list[int | tuple[int, int]]}),
    "wait": Operation(wait, {"works": str}),
    "send": Operation(send, TD, SEND | PIPE),
    "recv": Operation(recv, TD, RECV | PIPE),
    "isend": Operation(isend, TD, SEND | {"return_early": bool}),
    "irecv": Operation(irecv, TD, RECV | {"return_premature": bool}),
    "gather_and_stack": Operation(gather_and_stack, TD | {"dst": int}, {"group": str}),
    "init_remote": Operation(init_remote, TD, {"dst": int} | COLD_START),
    "from_remote_init": Operation(from_remote_init, {}, {"src": int} | COLD_START),
    "broadcast": Operation(broadcast, TD | {"src": int}, DEVICE),
    "scatter": Operation(scatter, TD | {"src": int}, DEVICE | {"tensordicts": list[str]}),
    "all_gather": Operation(all_gather, TD, {"group": str}),
    "all_reduce": Operation(all_reduce, TD, REDUCTION),
    "reduce": Operation(reduce, TD | {"dst": int}, REDUCTION | {"return_premature": bool}),
}

# Only where the optional package of pipes is installed.
if importlib.util.find_spec("ucxx") is not None:
    OPERATIONS |= {
        "open_pipe": Operation(open_pipe, {"peer": int, "listen": bool}),
        "close_pipe": Operation(close_pipe, PIPE),
    }


def run_step(operations: dict[str, Operation], case: Case, step: Step) -> Json:
    """Carries one step out and returns the `value` of its answer.

    Errors  UnsupportedError: the operation is not claimed.
            ImplementationError: the implementation raised.
    """
    if step.op not in operations:
        raise UnsupportedError(f"op:{step.op}")
    operation = operations[step.op]
    return operation.run(case, step.as_, **operation.decode_args(step.op, step.args))
