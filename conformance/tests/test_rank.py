# SPDX-License-Identifier: BSD-3-Clause
"""A rank follows the protocol, whatever it is told."""

import os

import pytest

from tdconf_tensordict_adapter.decode import Json

from .fake_judge import Connection, FakeJudge
from .worlds import World, leaf, ramp, tensordict

VALUE = tensordict([["a", leaf("int8", [2], ramp(1))]])


def test_an_operation_that_cannot_exist_is_unsupported(world: World) -> None:
    answer = world.ranks[0].step("no_such_thing")
    assert (answer["type"], answer["what"]) == ("unsupported", "op:no_such_thing")


def test_hello_claims_no_raw_operations(world: World) -> None:
    answer = world.ranks[0].ask("hello", protocol=1)
    assert (answer["name"], answer["token"]) == ("tensordict", "secret 0")
    assert answer["pid"] == world.pids[0]
    claimed = {claim for claim in answer["capabilities"] if claim.startswith("op:")}
    operations = ["make", "snapshot", "consolidate", "wait", "send", "recv", "isend", "irecv"]
    operations += ["getitem", "init_remote", "from_remote_init", "open_pipe", "close_pipe"]
    operations += ["gather_and_stack", "broadcast", "scatter", "all_gather", "all_reduce", "reduce"]
    assert claimed == {f"op:{name}" for name in operations}
    assert "transcript" in answer["capabilities"]


def test_what_does_not_follow_the_protocol_is_an_error(world: World) -> None:
    rank = world.ranks[0]

    def error(message: Json) -> str:
        answer = rank.send_raw({"seq": 1} | message)
        assert answer["type"] == "error", answer
        return answer["message"]

    assert "unknown field 'extra'" in error({"type": "ping", "extra": 1})
    assert "got 'begin', allowed: hello" in error({"type": "begin"})
    assert "it is no fork server" in error({"type": "spawn", "rank": 1, "token": "x"})
    step = {"type": "step", "op": "send"}
    assert "unknown argument 'tag'" in error(step | {"args": {"td": "x", "tag": 1}})
    assert "argument 'td' is missing" in error(step | {"args": {"dst": 1}})
    assert "send.dst: expected int, got bool" in error(step | {"args": {"td": "x", "dst": True}})
    assert "no value is called 'x'" in error(step | {"args": {"td": "x", "dst": 1}})
    assert "needs `as`" in error({"type": "step", "op": "consolidate", "args": {"td": "x"}})


def test_what_the_implementation_raises_is_no_error(world: World) -> None:
    rank = world.ranks[0]
    rank.step("make", name="td", tree=VALUE)
    answer = rank.step("send", td="td")
    assert (answer["type"], answer["category"], answer["exception"]) == (
        "raised",
        "value",
        "ValueError",
    )


def test_ping_and_stacks_are_answered_while_an_operation_blocks(world: World) -> None:
    world.join()
    world.make("td", VALUE, VALUE)
    first, second = world.ranks
    assert first.ask("ping")["step"] is None
    blocked = first.post("step", op="recv", args={"td": "td", "src": 1})
    assert first.ask("ping")["step"] == blocked
    text = first.ask("stacks")["text"]
    assert "thread MainThread" in text
    assert "_recv" in text
    assert second.step("send", td="td", dst=0)["type"] == "returned"
    assert first.answer_to(blocked)["type"] == "returned"
    assert first.ask("ping")["step"] is None


def test_end_case_counts_what_is_left(world: World) -> None:
    world.join()
    world.make("td", VALUE, VALUE)
    send = {"op": "isend", "args": {"td": "td", "dst": 1, "return_early": True}, "as": "sent"}
    receive = {"op": "recv", "args": {"td": "td", "src": 0}}
    first = world.steps(send, receive)[0]
    assert first["value"] == {"kind": "works", "works": 1}
    assert world.ranks[0].ask("end_case")["leftovers"] == {"values": 1, "works": 1}
    assert world.ranks[0].step("wait", works="sent")["value"] == {"kind": "none"}
    assert world.ranks[0].ask("end_case")["leftovers"] == {"values": 1, "works": 0}


def test_reset_drops_values_and_groups(world: World) -> None:
    for _ in range(2):
        assert [answer["type"] for answer in world.join()] == ["joined", "joined"]
        world.make("td", VALUE, VALUE)
        assert world.join()[0]["type"] == "error"
        assert [answer["type"] for answer in world.both("reset", [{}, {}])] == ["done", "done"]
        assert world.ranks[0].step("snapshot", td="td")["type"] == "error"


def test_a_missing_rank_is_raised_by_join(world: World) -> None:
    alone = {"rank": 0, "world_size": 2, "groups": [], "timeout_ms": 200}
    default = {"name": "default", "kind": "default", "ranks": [0, 1], "backend": "gloo"}
    store = {"kind": "file", "path": os.fspath(world.folder / "alone")}
    answer = world.ranks[0].ask("join", **alone | {"groups": [default], "store": store})
    assert (answer["type"], answer["category"]) == ("raised", "timeout")


def test_a_rank_needs_no_fork_server_and_leaves_with_its_connection(judge: FakeJudge) -> None:
    pid = judge.fork("--rank", "0")
    rank = judge.accept()
    assert rank.ask("hello", protocol=1)["pid"] == pid
    rank.close()
    assert os.waitpid(pid, 0) == (pid, 0)


def test_a_rank_joins_only_as_itself(world: World) -> None:
    store = {"kind": "file", "path": os.fspath(world.folder / "store")}
    join = {"world_size": 2, "store": store, "groups": [], "timeout_ms": 1000}
    answer = world.ranks[0].ask("join", rank=1, **join)
    assert (answer["type"], answer["message"]) == ("error", "this process plays rank 0, not 1")


def test_a_tensor_beyond_the_bound_is_an_error(world: World) -> None:
    huge = leaf("int8", [2**32, 2**32], ramp(0))
    answer = world.ranks[0].step("make", name="td", tree=tensordict([["a", huge]], batch_size=()))
    assert (answer["type"], answer["message"]) == (
        "error",
        "shape [4294967296, 4294967296] of torch.int8 exceeds 1073741824 bytes",
    )


@pytest.mark.parametrize("line", [b"{", b"null", b"[1]", b"[" * 30_000 + b"]" * 30_000])
def test_a_line_that_is_no_json_object_ends_a_rank(
    judge: FakeJudge, fork_server: Connection, line: bytes
) -> None:
    rank, pid = judge.spawn(fork_server, 0)
    rank.write_line(line)
    assert rank.at_end()
    assert fork_server.event() == {"type": "exited", "pid": pid, "status": 1, "signal": None}
