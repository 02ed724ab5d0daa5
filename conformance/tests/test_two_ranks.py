# SPDX-License-Identifier: BSD-3-Clause
"""Two real ranks of the tensordict adapter move values."""

import pytest

from tdconf_tensordict_adapter.decode import Json

from .worlds import DEFAULT, World, leaf, ramp, tensordict

SENT = tensordict([["z", leaf("int16", [2], ramp(1))], ["a", leaf("uint8", [2], ramp(7))]])
POISON = tensordict([["z", leaf("int16", [2], ramp(90))], ["a", leaf("uint8", [2], ramp(90))]])
ARRIVED = {"z": "01000200", "a": "0708"}


def bytes_of(snapshot: Json) -> dict[str, str]:
    return {key: entry["bytes"] for key, entry in snapshot["entries"]}


def tokens_of(snapshot: Json) -> list[str]:
    return [entry["token"] for _, entry in snapshot["entries"]]


def test_recv_writes_what_send_sent_into_the_same_memory(world: World) -> None:
    assert [answer["type"] for answer in world.join()] == ["joined", "joined"]
    _, before = world.make("td", SENT, POISON)
    sent, received = world.steps(
        {"op": "send", "args": {"td": "td", "dst": 1, "init_tag": 5}},
        {"op": "recv", "args": {"td": "td", "src": 0, "init_tag": 5}},
    )
    assert sent["value"] == {"kind": "none"}
    # Two leaves have the tags 5 and 6; recv returns the last.
    assert received["value"] == {"kind": "int", "int": 6}
    after = world.snapshot(1, "td")
    assert bytes_of(after) == ARRIVED
    assert tokens_of(after) == tokens_of(before)


def test_pending_operations_are_kept_under_their_name(world: World) -> None:
    world.join()
    world.make("td", SENT, POISON)
    early = {"td": "td", "dst": 1, "return_early": True}
    premature = {"td": "td", "src": 0, "return_premature": True}
    started = world.steps(
        {"op": "isend", "args": early, "as": "works"},
        {"op": "irecv", "args": premature, "as": "works"},
    )
    assert [answer["value"] for answer in started] == [{"kind": "works", "works": 2}] * 2
    world.steps(*[{"op": "wait", "args": {"works": "works"}}] * 2)
    assert bytes_of(world.snapshot(1, "td")) == ARRIVED


def test_one_message_for_a_consolidated_value(world: World) -> None:
    world.join()
    world.make("td", SENT, POISON | {"consolidated": True})
    world.steps(
        {"op": "send", "args": {"td": "td", "dst": 1, "consolidated": True}},
        {"op": "recv", "args": {"td": "td", "src": 0, "consolidated": True}},
    )
    assert bytes_of(world.snapshot(1, "td")) == ARRIVED
    made = world.ranks[0].step("consolidate", as_="one", td="td")["value"]["snapshot"]
    assert made["consolidated"]["nbytes"] == 16


def test_a_tensordict_that_nobody_made_is_kept_under_its_name(world: World) -> None:
    world.join()
    world.ranks[0].step("make", name="td", tree=SENT)
    sent, received = world.steps(
        {"op": "init_remote", "args": {"td": "td", "dst": 1}},
        {"op": "from_remote_init", "args": {"src": 0}, "as": "got"},
    )
    assert sent["value"] == {"kind": "none"}
    assert received["value"] == {"kind": "value", "name": "got"}
    assert bytes_of(world.snapshot(1, "got")) == ARRIVED


@pytest.mark.parametrize(
    "group",
    [
        {"name": "g", "kind": "subgroup", "ranks": [0, 1], "backend": "cpu:gloo"},
        {"name": "g", "kind": "standalone", "ranks": [1, 0], "backend": "gloo"},
    ],
)
def test_groups_are_named_by_the_case(world: World, group: Json) -> None:
    groups = [DEFAULT, group] if group["kind"] == "subgroup" else [group]
    assert [answer["type"] for answer in world.join(groups)] == ["joined", "joined"]
    world.make("td", SENT, POISON)
    sender, receiver = group["ranks"].index(0), group["ranks"].index(1)
    world.steps(
        {"op": "send", "args": {"td": "td", "group_dst": receiver, "group": "g"}},
        {"op": "recv", "args": {"td": "td", "group_src": sender, "group": "g"}},
    )
    assert bytes_of(world.snapshot(1, "td")) == ARRIVED


def test_a_rank_outside_a_subgroup_can_name_it(world: World) -> None:
    world.join([DEFAULT, {"name": "g", "kind": "subgroup", "ranks": [0], "backend": "gloo"}])
    world.make("td", SENT, SENT)
    answer = world.ranks[1].step("send", td="td", group_dst=0, group="g")
    assert answer["type"] == "raised", answer


@pytest.mark.parametrize("backend", ["gloo", "cpu:gloo", "undefined"])
def test_gather_and_stack_returns_the_very_value(world: World, backend: str) -> None:
    world.join([DEFAULT | {"backend": backend}])
    rows = tensordict([["a", leaf("int16", [1, 2], {"const": 0})]], batch_size=(1,))
    world.make("td", rows, tensordict([["a", leaf("int16", [2], ramp(1))]]))
    step = {"op": "gather_and_stack", "args": {"td": "td", "dst": 0}}
    gathered, sent = world.steps(step, step)
    assert gathered["value"] == {"kind": "value", "name": "td"}
    assert sent["value"] == {"kind": "none"}
    assert bytes_of(world.snapshot(0, "td")) == {"a": "01000200"}


def test_a_peer_that_never_comes_is_a_timeout(world: World) -> None:
    world.join(timeout_ms=300)
    world.make("td", SENT, POISON)
    answer = world.ranks[1].step("recv", td="td", src=0)
    assert (answer["type"], answer["category"]) == ("raised", "timeout"), answer
    # gloo closes the pair after a timeout, for good.
    answer = world.ranks[1].step("recv", td="td", src=0)
    assert (answer["type"], answer["category"]) == ("raised", "connection"), answer


def open_pipes(world: World, *names: str) -> None:
    for name in names:
        opened = world.steps(
            {"op": "open_pipe", "args": {"peer": 1, "listen": True}, "as": name},
            {"op": "open_pipe", "args": {"peer": 0, "listen": False}, "as": name},
        )
        assert [answer["type"] for answer in opened] == ["returned", "returned"], opened


def test_a_pipe_takes_a_tensordict_to_a_rank_that_knows_nothing(world: World) -> None:
    world.join(groups=[])
    world.make("td", SENT, tensordict([], batch_size=()))
    open_pipes(world, "p")
    # The second has the structure of the first, and comes into the same tensordict.
    arrived = [pass_on(world, "p", as_) for as_ in ("got", "unused")]
    assert [bytes_of(snapshot) for snapshot in arrived] == [ARRIVED, ARRIVED]
    assert tokens_of(arrived[0]) == tokens_of(arrived[1])


def pass_on(world: World, pipe: str, as_: str) -> Json:
    """Sends `td` to rank 1, where it comes as `got`, and returns the snapshot of that."""
    sent, received = world.steps(
        {"op": "send", "args": {"td": "td", "pipe": pipe}},
        {"op": "recv", "args": {"td": "td", "pipe": pipe}, "as": as_},
    )
    assert sent["value"] == {"kind": "none"}
    assert received["value"] == {"kind": "value", "name": "got"}
    return world.snapshot(1, "got")


def test_pipes_of_one_case_and_of_the_next_are_kept_apart(world: World) -> None:
    for _ in range(2):
        world.join()
        world.make("td", SENT, tensordict([], batch_size=()))
        open_pipes(world, "p", "q")
        world.steps(
            {"op": "send", "args": {"td": "td", "pipe": "q"}},
            {"op": "recv", "args": {"td": "td", "pipe": "q"}, "as": "got"},
        )
        assert bytes_of(world.snapshot(1, "got")) == ARRIVED
        again = world.ranks[0].step("open_pipe", as_="p", peer=1, listen=True)
        assert again["type"] == "error"
        assert [answer["type"] for answer in world.both("reset", [{}, {}])] == ["done", "done"]


def test_a_closed_pipe_is_told_from_one_that_never_was(world: World) -> None:
    world.join()
    world.make("td", SENT, POISON)
    open_pipes(world, "p")
    assert world.ranks[0].step("close_pipe", pipe="p")["value"] == {"kind": "none"}
    closed = world.ranks[0].step("send", td="td", pipe="p")
    assert (closed["type"], closed["category"]) == ("raised", "runtime")
    left = world.ranks[1].step("recv", td="td", pipe="p")
    assert (left["type"], left["category"]) == ("raised", "connection")
    assert world.ranks[0].step("send", td="td", pipe="q")["type"] == "error"
