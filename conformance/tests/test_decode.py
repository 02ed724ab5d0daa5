# SPDX-License-Identifier: BSD-3-Clause
"""Requests are decoded strictly."""

import json

import pytest

from tdconf_tensordict_adapter.decode import Json, ProtocolError
from tdconf_tensordict_adapter.messages import Step, decode_request, decode_seq
from tdconf_tensordict_adapter.tree_types import LazyStack, decode_tree
from tdconf_tensordict_adapter.wire import parse

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
        (JOIN | {"world_size": 0}, "join.world_size: expected 1 to 1024, got 0"),
        (JOIN | {"world_size": 1025}, "join.world_size: expected 1 to 1024, got 1025"),
        (
            JOIN | {"world_size": 2**63},
            "join.world_size: expected 1 to 1024, got 9223372036854775808",
        ),
        (JOIN | {"rank": 1}, "join.rank: expected 0 to 0, got 1"),
        (JOIN | {"rank": -1}, "join.rank: expected 0 to 0, got -1"),
        (JOIN | {"timeout_ms": 0}, "join.timeout_ms: expected 1 to 86400000, got 0"),
        (
            JOIN | {"timeout_ms": 86_400_001},
            "join.timeout_ms: expected 1 to 86400000, got 86400001",
        ),
        (JOIN | {"groups": [GROUP | {"kind": "sub"}]}, r"groups\[0\].kind: got 'sub', allowed"),
    ],
)
def test_a_request_that_does_not_follow_the_protocol(request_: Json, message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        decode_request({"seq": 1} | request_)


def test_the_largest_world_and_the_longest_timeout() -> None:
    largest = {"rank": 1023, "world_size": 1024, "timeout_ms": 86_400_000}
    join = decode_request({"seq": 1} | JOIN | largest)
    assert (join.rank, join.world_size, join.timeout_ms) == (1023, 1024, 86_400_000)


def nested_objects(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def test_a_line_nests_up_to_64_levels() -> None:
    assert parse(nested_objects(64)) == json.loads(nested_objects(64))
    assert parse(b'{"a":' + b"[" * 63 + b"]" * 63 + b"}")
    # Neither neighbours nor brackets in a text nest.
    flat = b'{"a": [' + b"[]," * 65 + b'"' + b"[" * 65 + b'"]}'
    assert len(parse(flat)["a"]) == 66


@pytest.mark.parametrize(
    "line",
    [
        nested_objects(65),
        b'{"a":' + b"[" * 64 + b"]" * 64 + b"}",
        nested_objects(30_000),
        b"[" * 30_000 + b"]" * 30_000,
    ],
)
def test_a_line_that_nests_deeper(line: bytes) -> None:
    with pytest.raises(ProtocolError, match=r"^a line nests deeper than 64 levels$"):
        parse(line)


@pytest.mark.parametrize(
    ("line", "kind"), [(b"null", "NoneType"), (b"[]", "list"), (b"1", "int"), (b'"x"', "str")]
)
def test_a_line_that_is_no_object(line: bytes, kind: str) -> None:
    with pytest.raises(ProtocolError, match=rf"^request: expected dict, got {kind}$"):
        parse(line)


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
