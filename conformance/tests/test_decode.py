# SPDX-License-Identifier: BSD-3-Clause
"""Requests are decoded strictly."""

import pytest

from tdconf_tensordict_adapter.decode import Json, ProtocolError
from tdconf_tensordict_adapter.messages import Step, decode_request, decode_seq
from tdconf_tensordict_adapter.tree_types import LazyStack, decode_tree

from .worlds import leaf, ramp, tensordict

JOIN = {
    "type": "join",
    "rank": 0,
    "world_size": 1,
    "store": {"kind": "file", "path": "/x"},
    "groups": [],
    "timeout_ms": 1,
}
STORE = JOIN["store"]
GROUP = {"name": "g", "kind": "default", "ranks": [0], "backend": "gloo"}


def test_a_step_may_lack_a_name() -> None:
    assert decode_request({"seq": 1, "type": "step", "op": "x", "args": {}}) == Step("x", {}, None)
    named = {"seq": 1, "type": "step", "op": "x", "args": {}, "as": "y"}
    assert decode_request(named) == Step("x", {}, "y")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({}, "request.type: expected str, got NoneType"),
        ({"type": "begin"}, "request.type: got 'begin', allowed: hello, join"),
        ({"type": "ping", "at": 1}, "ping: unknown field 'at'"),
        ({"type": "hello"}, "hello: field 'protocol' is missing"),
        ({"type": "hello", "protocol": True}, "hello.protocol: expected int, got bool"),
        ({"type": "hello", "protocol": 1.0}, "hello.protocol: expected int, got float"),
        ({"type": "step", "op": "x", "args": []}, "step.args: expected dict, got list"),
        (JOIN | {"store": STORE | {"port": 1}}, "join.store: unknown field 'port'"),
        (JOIN | {"store": STORE | {"kind": "tcp"}}, "join.store.kind: got 'tcp', allowed: 'file'"),
        (JOIN | {"groups": [GROUP | {"ranks": ["0"]}]}, r"groups\[0\].ranks\[0\]: expected int"),
        (JOIN | {"groups": [GROUP | {"kind": "sub"}]}, r"groups\[0\].kind: got 'sub', allowed"),
    ],
)
def test_a_request_that_does_not_follow_the_protocol(request_: Json, message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        decode_request({"seq": 1} | request_)


@pytest.mark.parametrize("request_", [[], "x", {}, {"seq": "1"}, {"seq": None}, {"seq": True}])
def test_a_request_without_a_number_cannot_be_answered(request_: Json) -> None:
    with pytest.raises(ProtocolError):
        decode_seq(request_)


LEAF = leaf("int8", [2], ramp(1))


def test_trees_nest() -> None:
    tree = decode_tree(
        {"kind": "lazy_stack", "stack_dim": 0, "members": [tensordict([["a", LEAF]])]}, "tree"
    )
    assert isinstance(tree, LazyStack)
    ((key, member),) = tree.members[0].entries
    assert (key, member.dtype, member.fill.ramp.start) == ("a", "int8", 1)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"kind": "dict"}, "tree.kind: got 'dict', allowed: tensordict, lazy_stack"),
        (tensordict([], color=1), "tree: unknown field 'color'"),
        (tensordict([["a"]]), r"tree.entries\[0\]: expected 2 items, got 1"),
        (tensordict([["a", LEAF | {"fill": {"noise": 1}}]]), "fill: unknown field 'noise'"),
        (tensordict([["a", LEAF | {"fill": {"const": "1"}}]]), "fill.const: expected int"),
        (tensordict([["a", LEAF | {"shape": [2.0]}]]), r"shape\[0\]: expected int, got float"),
    ],
)
def test_a_tree_that_does_not_follow_the_protocol(tree: Json, message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        decode_tree(tree, "tree")
