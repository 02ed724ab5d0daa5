# SPDX-License-Identifier: BSD-3-Clause
"""The published schema holds for real traffic and refuses what the protocol does not have."""

import json
from pathlib import Path

import jsonschema
import pytest

from tdconf_tensordict_adapter.decode import Json
from tdconf_tensordict_adapter.fills import DTYPES
from tdconf_tensordict_adapter.implementation import Implementation
from tdconf_tensordict_adapter.messages import REQUEST_TYPES
from tdconf_tensordict_adapter.operations import OPERATIONS
from tdconf_tensordict_adapter.trees import FORMS

from .fake_judge import SCHEMA, VALIDATORS, Connection
from .worlds import World, leaf, ramp, tensordict

LEAF = leaf("int8", [2], ramp(1))
VALUE = tensordict([["a", LEAF]])


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_schema_and_adapter_name_the_same_things() -> None:
    definitions = SCHEMA["$defs"]
    assert definitions["dtype"]["enum"] == list(DTYPES)
    assert definitions["form"]["enum"] == list(FORMS)
    raw = {name for name in definitions["op"]["enum"] if name.startswith("c10d_")}
    assert set(definitions["op"]["enum"]) == set(OPERATIONS) | raw
    claims = Implementation().capabilities()
    assert len(set(claims)) == len(claims)


def test_a_whole_session_follows_the_schema(world: World, fork_server: Connection) -> None:
    """Connections check each message as it passes; this session has every type of request."""
    rank = world.ranks[0]
    world.both("hello", [{"protocol": 1}] * 2)
    world.join()
    world.make("td", VALUE, VALUE)
    rank.step("cannot_exist")
    rank.step("send", td="td")
    rank.step("send", td="nothing", dst=1)
    world.both("ping", [{}] * 2)
    world.both("stacks", [{}] * 2)
    world.both("end_case", [{}] * 2)
    world.both("reset", [{}] * 2)
    fork_server.ask("hello", protocol=1)
    world.close()
    seen = rank.seen_types | fork_server.seen_types
    assert {kind for role, kind in seen if role == "request"} == set(REQUEST_TYPES)
    assert {kind for role, kind in seen if role != "request"} == {
        "hello", "joined", "returned", "raised", "unsupported", "error", "pong", "stacks",
        "ended", "done", "spawned", "exited",
    }  # fmt: skip


def test_the_session_of_the_readme_follows_the_schema() -> None:
    text = (Path(__file__).parents[1] / "protocol" / "README.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith(("> {", "< {"))]
    messages = [(line[0], json.loads(line[2:])) for line in lines]
    assert [message["seq"] for _, message in messages] == [n // 2 + 1 for n in range(16)]
    for direction, message in messages:
        VALIDATORS["request" if direction == ">" else "answer"].validate(message)


def make(tree: Json) -> Json:
    return {"seq": 1, "type": "step", "op": "make", "args": {"name": "x", "tree": tree}}


def step(op: str, /, **args: Json) -> Json:
    return {"seq": 1, "type": "step", "op": op, "args": args}


def with_leaf(**changes: Json) -> Json:
    return make(tensordict([["a", LEAF | changes]]))


GOOD_REQUESTS = [
    make({"kind": "lazy_stack", "stack_dim": 0, "members": [VALUE]}),
    make({"kind": "persistent", "batch_size": [], "entries": []}),
    make(VALUE | {"kind": "tensorclass", "class": "Pair", "locked": True}),
    make(tensordict([["p", VALUE | {"kind": "tensorclass", "class": "Pair"}]])),
    make(tensordict([["s", {"kind": "non_tensor", "data": {"x": [None]}, "batch_size": []}]])),
    with_leaf(fill={"const": 0.5, "invert": True}),
    step("isend", td="x", group_dst=1, group="g", init_tag=3, return_early=True),
    step("c10d_recv", tensor=LEAF, src=0, tag=1),
    step("init_remote", td="x", dst=1, group="g"),
    step("from_remote_init", src=0) | {"as": "y"},
    step("from_remote_init") | {"as": "y"},
    step("init_remote", td="x", dst=1, use_broadcast=True, device="cpu"),
    step("broadcast", td="x", src=0, device="cuda:1") | {"as": "y"},
    step("scatter", td="x", src=0, tensordicts=["x", "all.0"]) | {"as": "y"},
    step("all_gather", td="x", group="g") | {"as": "all"},
    step("all_reduce", td="x", op="BXOR", async_op=True, bucket_bytes=9) | {"as": "w"},
    step("reduce", td="x", dst=1, return_premature=True),
    step("getitem", td="x", index=[0, [1, 3]]) | {"as": "y"},
    step("open_pipe", peer=1, listen=True) | {"as": "p"},
    step("close_pipe", pipe="p"),
    step("send", td="x", pipe="p", init_tag=3),
    step("recv", td="x", pipe="p") | {"as": "y"},
    step("no_such_thing"),
]


@pytest.mark.parametrize("message", GOOD_REQUESTS)
def test_requests_that_follow_the_protocol(message: Json) -> None:
    VALIDATORS["request"].validate(message)


BAD_REQUESTS = [
    {"type": "ping"},
    {"seq": 1, "type": "ping", "extra": 1},
    {"seq": 1, "type": "begin"},
    {"seq": 1, "type": "hello", "protocol": 2},
    make(tensordict([], color=1)),
    make(VALUE | {"kind": "tensorclass"}),
    make(VALUE | {"kind": "tensorclass", "class": "my.Pair"}),
    make(tensordict([["a b", LEAF]]) | {"kind": "tensorclass", "class": "Pair"}),
    make(tensordict([["class", LEAF]]) | {"kind": "tensorclass", "class": "Pair"}),
    make(VALUE | {"class": "Pair"}),
    make(tensordict([["a"]])),
    with_leaf(fill={"noise": 1}),
    with_leaf(fill={}),
    with_leaf(fill={"const": 1, "scramble": 1}),
    with_leaf(fill={"bits": "0"}),
    with_leaf(dtype="float8"),
    with_leaf(form="odd"),
    with_leaf(class_="Tensor"),
    step("send", td="x", dst="1"),
    step("send", td="x", src=1),
    step("send", dst=1),
    step("init_remote", td="x", dst=1, use_broadcast="yes"),
    step("init_remote", td="x", dst=1, device="gpu"),
    step("broadcast", td="x", src=0),
    step("scatter", td="x", src=0),
    step("scatter", td="x", src=0, tensordicts="x") | {"as": "y"},
    step("all_gather", td="x"),
    step("all_reduce", td="x", op="MEAN"),
    step("all_reduce", td="x", dst=0),
    step("reduce", td="x"),
    step("getitem", td="x", index=[0]),
    step("getitem", td="x", index=[]) | {"as": "y"},
    step("getitem", td="x", index=[[0]]) | {"as": "y"},
    step("init_remote", dst=1),
    step("from_remote_init", src=0),
    step("from_remote_init", td="x", src=0) | {"as": "y"},
    step("open_pipe", peer=1, listen=True),
    step("open_pipe", peer=1) | {"as": "p"},
    step("close_pipe"),
    step("isend", td="x", pipe="p"),
    step("no_such_thing", td="x"),
]


@pytest.mark.parametrize("message", BAD_REQUESTS)
def test_requests_that_do_not_follow_the_protocol(message: Json) -> None:
    assert not VALIDATORS["request"].is_valid(message)


TENSOR = {
    "kind": "tensor",
    "dtype": "int8",
    "shape": [1],
    "requires_grad": False,
    "class": "Tensor",
    "device": "cpu",
    "layout": "strided",
    "token": "1",
}


def returned(value: Json) -> Json:
    return {"seq": 1, "type": "returned", "value": value}


def test_a_tensor_has_bytes_or_a_digest_or_neither() -> None:
    answer = VALIDATORS["answer"]
    digest = {"sha256": "0" * 64}
    for about in ({}, {"bytes": "01"}, digest):
        assert answer.is_valid(returned({"kind": "tensor", "tensor": TENSOR | about}))
    for about in ({"bytes": "01"} | digest, {"bytes": "1"}, {"bytes": "00" * 1025}, {"fill": {}}):
        assert not answer.is_valid(returned({"kind": "tensor", "tensor": TENSOR | about}))


ROWS = {"offsets": [0, 2], "lengths": None, "ragged_idx": 1}
JAGGED = TENSOR | {"shape": [1, -1], "layout": "jagged", "bytes": "0102"}


def shows(tensor: Json) -> bool:
    return VALIDATORS["answer"].is_valid(returned({"kind": "tensor", "tensor": tensor}))


def test_a_jagged_tensor_alone_has_rows() -> None:
    assert shows(JAGGED | {"rows": ROWS})
    assert shows(JAGGED | {"rows": ROWS | {"lengths": [1]}})
    assert not shows(JAGGED)
    assert not shows(TENSOR | {"rows": ROWS})


@pytest.mark.parametrize(
    "changes", [{"offsets": [-1, 2]}, {"offsets": []}, {"lengths": 1}, {"ragged_idx": 0}, {"n": 1}]
)
def test_rows_that_the_protocol_does_not_have(changes: Json) -> None:
    assert not shows(JAGGED | {"rows": ROWS | changes})
    for name in ROWS:
        assert not shows(JAGGED | {"rows": {key: ROWS[key] for key in ROWS if key != name}})


def test_several_values_are_names() -> None:
    answer = VALIDATORS["answer"]
    for names in ([], ["all.0"], ["all.0", "td"]):
        assert answer.is_valid(returned({"kind": "values", "names": names}))


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "values", "names": [0]},
        {"kind": "values"},
        {"kind": "none", "int": 1},
        {"kind": "int", "int": "1"},
        {"kind": "int", "int": True},
        {"kind": "list"},
        {"kind": "snapshot", "snapshot": TENSOR},
    ],
)
def test_values_that_the_protocol_does_not_have(value: Json) -> None:
    assert not VALIDATORS["answer"].is_valid(returned(value))


def test_a_child_ends_with_a_status_or_by_a_signal() -> None:
    event = VALIDATORS["event"]
    ended = {"type": "exited", "pid": 7}
    assert event.is_valid(ended | {"status": 0, "signal": None})
    assert event.is_valid(ended | {"status": None, "signal": 9})
    assert not event.is_valid(ended | {"status": 0, "signal": 9})
    assert not event.is_valid(ended | {"status": None, "signal": None})


SENT = {
    "event": "send",
    "group": "default",
    "peer": 1,
    "tag": 5,
    "dtype": "float32",
    "shape": [2, 3],
    "bytes": 24,
    "sha256": "0" * 64,
    "done": True,
    "step": 7,
}
GATHERED = {key: value for key, value in SENT.items() if key != "tag"} | {"event": "gather"}
PICKLED = {"event": "pickle", "bytes": 9, "step": None}


def reports(event: Json) -> bool:
    """Whether both answers that carry a transcript may carry this event."""
    transcript = {"transcript": [event]}
    stacks = {"seq": 1, "type": "stacks", "text": ""} | transcript
    leftovers = {"leftovers": {"values": 0, "works": 0}}
    ended = {"seq": 1, "type": "ended"} | leftovers | transcript
    valid = {VALIDATORS["answer"].is_valid(answer) for answer in (stacks, ended)}
    assert len(valid) == 1
    return valid.pop()


@pytest.mark.parametrize(
    "event",
    [
        SENT,
        SENT | {"event": "recv"},
        SENT | {"event": "recv", "done": False, "sha256": None},
        SENT | {"done": False},
        SENT | {"step": None},
        GATHERED,
        GATHERED | {"event": "all_gather", "peer": None},
        PICKLED,
        PICKLED | {"event": "unpickle"},
        {"event": "consolidate", "bytes": 0, "step": 3},
    ],
)
def test_events_that_follow_the_protocol(event: Json) -> None:
    assert reports(event)


@pytest.mark.parametrize(
    "event",
    [
        {key: value for key, value in SENT.items() if key != "tag"},
        GATHERED | {"tag": 5},
        SENT | {"peer": None},
        SENT | {"event": "recv", "done": False},
        SENT | {"sha256": "0" * 63},
        SENT | {"dtype": "float"},
        SENT | {"ms": 3},
        GATHERED | {"event": "All gather"},
        PICKLED | {"peer": 1},
        {"event": "pickle", "bytes": 9},
        PICKLED | {"bytes": -1},
    ],
)
def test_events_that_do_not_follow_the_protocol(event: Json) -> None:
    assert not reports(event)
