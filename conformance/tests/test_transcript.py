# SPDX-License-Identifier: BSD-3-Clause
"""A rank tells what its implementation did at the boundary of c10d."""

import hashlib
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tdconf_tensordict_adapter.decode import Json

from .fake_judge import Connection, FakeJudge
from .processes import DEADLINE_S
from .worlds import DEFAULT, World, leaf, ramp, tensordict

VALUE = tensordict([["z", leaf("int16", [2], ramp(1))], ["a", leaf("uint8", [2], ramp(7))]])
POISON = tensordict([["z", leaf("int16", [2], ramp(90))], ["a", leaf("uint8", [2], ramp(90))]])
A, Z = bytes([7, 8]), bytes([1, 0, 2, 0])
# Each leaf is padded to 8 bytes.
STORAGE = Z + bytes(4) + A + bytes(6)
SEND = {"op": "send", "args": {"td": "td", "dst": 1, "init_tag": 5}}
RECV = {"op": "recv", "args": {"td": "td", "src": 0, "init_tag": 5}}


@pytest.fixture
def three(judge: FakeJudge, fork_server: Connection, tmp_path: Path) -> Iterator[World]:
    world = World(judge, (fork_server,) * 3, tmp_path)
    yield world
    world.close()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def transcript(rank: Connection) -> list[Json]:
    return rank.ask("end_case")["transcript"]


def without_steps(events: list[Json]) -> list[Json]:
    return [{name: event[name] for name in event if name != "step"} for event in events]


def kinds(rank: Connection) -> list[str]:
    return [event["event"] for event in transcript(rank)]


def message(event: str, peer: int, tag: int, data: bytes | None, **more: Json) -> Json:
    """Leaf `a`, unless `more` says otherwise."""
    return {
        "event": event,
        "group": "default",
        "peer": peer,
        "tag": tag,
        "dtype": "uint8",
        "shape": [2],
        "bytes": 2,
        "sha256": None if data is None else sha256(data),
        "done": True,
    } | more


def of_z(event: str, peer: int, tag: int, data: bytes | None, **more: Json) -> Json:
    return message(event, peer, tag, data, dtype="int16", bytes=4, **more)


def test_every_message_stands_on_both_ends_in_order(world: World) -> None:
    world.join()
    world.make("td", VALUE, POISON)
    sent, received = world.steps(SEND, RECV)
    first, second = (transcript(rank) for rank in world.ranks)
    assert without_steps(first) == [message("send", 1, 5, A), of_z("send", 1, 6, Z)]
    assert without_steps(second) == [message("recv", 0, 5, A), of_z("recv", 0, 6, Z)]
    assert {event["step"] for event in first} == {sent["seq"]}
    assert {event["step"] for event in second} == {received["seq"]}


def test_a_call_is_done_once_it_was_waited_for(world: World) -> None:
    world.join()
    world.make("td", VALUE, POISON)
    isend = {"op": "isend", "args": {"td": "td", "dst": 1, "return_early": True}, "as": "works"}
    irecv = {"op": "irecv", "args": {"td": "td", "src": 0, "return_premature": True}, "as": "works"}
    started = world.steps(isend, irecv)
    before = [without_steps(transcript(rank)) for rank in world.ranks]
    assert before == [
        [message("send", 1, 0, A, done=False), of_z("send", 1, 1, Z, done=False)],
        [message("recv", 0, 0, None, done=False), of_z("recv", 0, 1, None, done=False)],
    ]
    world.steps(*[{"op": "wait", "args": {"works": "works"}}] * 2)
    for rank, answer in zip(world.ranks, started, strict=True):
        assert [event["done"] for event in transcript(rank)] == [True, True]
        # Waiting finishes what an earlier step began.
        assert {event["step"] for event in transcript(rank)} == {answer["seq"]}
    assert [event["sha256"] for event in transcript(world.ranks[1])] == [sha256(A), sha256(Z)]


def pending(rank: Connection) -> list[Json]:
    """Returns what the rank shows while it blocks, once its first call has begun."""
    deadline = time.monotonic() + DEADLINE_S
    while not (events := rank.ask("stacks")["transcript"]):
        assert time.monotonic() < deadline, "no call began"
    return without_steps(events)


def test_stacks_show_the_call_that_blocks(world: World) -> None:
    world.join()
    world.make("td", POISON, VALUE)
    first, second = world.ranks
    blocked = first.post("step", op="recv", args={"td": "td", "src": 1, "init_tag": 3})
    assert pending(first) == [message("recv", 1, 3, None, done=False)]
    assert second.step("send", td="td", dst=0, init_tag=3)["type"] == "returned"
    assert first.answer_to(blocked)["type"] == "returned"
    assert without_steps(transcript(first)) == [message("recv", 1, 3, A), of_z("recv", 1, 4, Z)]


def test_peers_are_global_ranks_in_a_subgroup(three: World) -> None:
    ranks = [0, 1, 2]
    pair = {"name": "pair", "kind": "subgroup", "ranks": [1, 2], "backend": "gloo"}
    three.join([DEFAULT | {"ranks": ranks}, pair])
    three.make("td", VALUE, VALUE, POISON)
    send = {"td": "td", "group_dst": 1, "group": "pair"}
    recv = {"td": "td", "src": 1, "group": "pair"}
    three.steps(
        {"op": "snapshot", "args": {"td": "td"}},
        {"op": "send", "args": send},
        {"op": "recv", "args": recv},
    )
    bystander, sender, receiver = (without_steps(transcript(rank)) for rank in three.ranks)
    assert bystander == []
    assert sender[0] == message("send", 2, 0, A, group="pair")
    assert receiver[0] == message("recv", 1, 0, A, group="pair")


def test_peers_are_global_ranks_in_a_standalone_group(world: World) -> None:
    """Rank 1 is the first member here."""
    lone = {"name": "lone", "kind": "standalone", "ranks": [1, 0], "backend": "gloo"}
    world.join([lone])
    world.make("td", POISON, VALUE)
    world.steps(
        {"op": "recv", "args": {"td": "td", "group_src": 0, "group": "lone"}},
        {"op": "send", "args": {"td": "td", "group_dst": 1, "group": "lone"}},
    )
    receiver, sender = (without_steps(transcript(rank)) for rank in world.ranks)
    assert receiver[0] == message("recv", 1, 0, A, group="lone")
    assert sender[0] == message("send", 0, 0, A, group="lone")
    assert (len(receiver), len(sender)) == (2, 2)


def test_one_message_and_one_copy_for_a_consolidated_transfer(world: World) -> None:
    world.join()
    world.make("td", VALUE, POISON | {"consolidated": True})
    world.steps(
        {"op": "send", "args": {"td": "td", "dst": 1, "consolidated": True}},
        {"op": "recv", "args": {"td": "td", "src": 0, "consolidated": True}},
    )
    sender, receiver = (without_steps(transcript(rank)) for rank in world.ranks)
    copied = {"event": "consolidate", "bytes": 16}
    whole = {"shape": [16], "bytes": 16}
    assert sender == [copied, message("send", 1, 0, STORAGE, **whole)]
    # The receiver's own copy is that of `make`.
    assert receiver == [copied, message("recv", 0, 0, STORAGE, **whole)]
    assert [event["step"] == 1 for event in transcript(world.ranks[0])] == [False, False]


def test_what_is_consolidated_is_not_copied_again(world: World) -> None:
    world.join()
    world.make("td", VALUE, POISON)
    for rank in world.ranks:
        rank.step("consolidate", as_="td", td="td")
        rank.step("consolidate", as_="same", td="td")
    world.steps(
        {"op": "send", "args": {"td": "td", "dst": 1, "consolidated": True}},
        {"op": "recv", "args": {"td": "td", "src": 0, "consolidated": True}},
    )
    assert kinds(world.ranks[0]) == ["consolidate", "send"]
    assert kinds(world.ranks[1]) == ["consolidate", "recv"]


ROWS = tensordict([["a", leaf("uint8", [1, 2], ramp(0))]], batch_size=(1, 2))
GATHER = {"op": "gather_and_stack", "args": {"td": "td", "dst": 1}}


def test_a_storage_is_gathered_with_its_metadata(world: World) -> None:
    world.join()
    sent = tensordict([["a", leaf("uint8", [2], ramp(7))]])
    world.make("td", sent, ROWS)
    world.steps(GATHER, GATHER)
    sender, dst = (without_steps(transcript(rank)) for rank in world.ranks)
    consolidated, pickled, headers, gathered = sender
    assert consolidated == {"event": "consolidate", "bytes": 8}
    header = struct.pack("<3q", 2, 8, 8 + pickled["bytes"])
    assert pickled["event"] == "pickle"
    assert headers == {
        "event": "all_gather",
        "group": "default",
        "peer": None,
        "dtype": "int64",
        "shape": [3],
        "bytes": 24,
        "sha256": sha256(header),
        "done": True,
    }
    assert (gathered["event"], gathered["peer"]) == ("gather", 1)
    assert gathered["bytes"] == 8 + pickled["bytes"]
    assert [event["event"] for event in dst] == ["all_gather", "gather", "unpickle"]
    assert dst[0]["sha256"] == sha256(bytes(24))
    assert dst[2]["bytes"] == pickled["bytes"]


def test_what_no_storage_can_hold_is_pickled(world: World) -> None:
    world.join()
    sent = tensordict([["a", leaf("float32", [2], ramp(7), form="requires_grad")]])
    rows = tensordict([["a", leaf("float32", [1, 2], ramp(0))]], batch_size=(1, 2))
    world.make("td", sent, rows)
    world.steps(GATHER, GATHER)
    pickled, _, gathered = sender = transcript(world.ranks[0])
    assert [event["event"] for event in sender] == ["pickle", "all_gather", "gather"]
    assert gathered["bytes"] == pickled["bytes"]
    assert kinds(world.ranks[1]) == ["all_gather", "gather", "unpickle"]


def test_an_object_collective_is_the_calls_that_it_makes(world: World) -> None:
    """There dst pickles what it holds too, and unpickles it again."""
    world.join([DEFAULT | {"backend": "cpu:gloo"}])
    world.make("td", tensordict([["a", leaf("uint8", [2], ramp(7))]]), ROWS)
    world.steps(GATHER, GATHER)
    pickled, sizes, gathered = without_steps(transcript(world.ranks[0]))
    assert pickled["event"] == "pickle"
    size = struct.pack("<q", pickled["bytes"])
    assert (sizes["event"], sizes["sha256"]) == ("all_gather", sha256(size))
    assert (gathered["event"], gathered["peer"], gathered["done"]) == ("gather", 1, True)
    expected = ["pickle", "all_gather", "gather", "unpickle", "unpickle"]
    assert kinds(world.ranks[1]) == expected


def test_an_object_that_is_sent_is_its_size_and_its_pickle(world: World) -> None:
    world.join()
    world.ranks[0].step("make", name="td", tree=VALUE)
    world.steps(
        {"op": "init_remote", "args": {"td": "td", "dst": 1}},
        {"op": "from_remote_init", "args": {"src": 0}, "as": "got"},
    )
    first, second = (transcript(rank) for rank in world.ranks)
    assert [event["event"] for event in first] == ["consolidate", "pickle", *["send"] * 3]
    assert [event["event"] for event in second] == ["recv", "recv", "unpickle", "recv"]
    size = first[1]["bytes"]
    assert second[2]["bytes"] == size
    for event in [*first[2:], *second[:2], second[3]]:
        assert (event["tag"], event["done"]) == (0, True)
    assert [event["bytes"] for event in first[2:]] == [8, size, len(STORAGE)]
    assert first[2]["sha256"] == sha256(struct.pack("<q", size))
    assert first[4]["sha256"] == second[3]["sha256"] == sha256(STORAGE)


def test_a_wait_that_fails_leaves_the_call_undone(world: World) -> None:
    world.join()
    world.make("td", VALUE, VALUE)
    first, second = world.ranks
    blocked = first.post("step", op="recv", args={"td": "td", "src": 1})
    unfinished = [message("recv", 1, 0, None, done=False)]
    assert pending(first) == unfinished
    second.ask("reset")
    assert first.answer_to(blocked)["category"] == "connection"
    assert without_steps(transcript(first)) == unfinished


def test_a_call_that_c10d_refuses_is_none(world: World) -> None:
    world.join()
    world.make("td", VALUE, VALUE)
    last_tag = 2**31 - 1
    refused = world.ranks[0].step("isend", td="td", dst=1, init_tag=last_tag, return_early=True)
    assert (refused["type"], refused["category"]) == ("raised", "type")
    sent = without_steps(transcript(world.ranks[0]))
    assert sent == [message("send", 1, last_tag, A, done=False)]


def test_a_transcript_begins_with_join(world: World) -> None:
    consolidated = VALUE | {"consolidated": True}
    world.make("td", consolidated, consolidated)
    assert transcript(world.ranks[0]) == []
    world.join()
    world.make("td", consolidated, consolidated)
    assert kinds(world.ranks[0]) == ["consolidate"]
    world.both("reset", [{}, {}])
    assert transcript(world.ranks[0]) == []
    world.join()
    assert transcript(world.ranks[0]) == []
