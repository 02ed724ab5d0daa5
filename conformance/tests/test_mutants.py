# SPDX-License-Identifier: BSD-3-Clause
"""Mutants are wrong in the way that they say, and in no other."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tdconf_mutants.transfer import Rules, mutant
from tdconf_tensordict_adapter.decode import Json
from tdconf_tensordict_adapter.implementation import Implementation

from .fake_judge import Connection, FakeJudge
from .worlds import World, leaf, ramp, tensordict

UNSORTED = mutant("unsorted", Rules(order=list))
SHIFTED = mutant("shifted_tags", Rules(tag_offset=1))

SENT = tensordict([["z", leaf("uint8", [2], ramp(1))], ["a", leaf("uint8", [2], ramp(7))]])
POISON = tensordict([["z", leaf("uint8", [2], ramp(90))], ["a", leaf("uint8", [2], ramp(90))]])
ARRIVED = {"z": "0102", "a": "0708"}
CROSSED = {"z": "0708", "a": "0102"}


@pytest.fixture
def mutant_server(
    judge: FakeJudge, request: pytest.FixtureRequest
) -> Iterator[tuple[Implementation, Connection]]:
    pid = judge.fork("--serve", implementation=request.param)
    server = judge.accept()
    yield request.param, server
    assert server.ask("bye")["type"] == "done"
    assert os.waitpid(pid, 0) == (pid, 0)


def transfer(world: World, **receiver: Json) -> tuple[Json, dict[str, str]]:
    """Sends from rank 0 to rank 1; returns what recv returned and what rank 1 holds."""
    world.join()
    world.make("td", SENT, POISON)
    send = {"op": "send", "args": {"td": "td", "dst": 1}}
    received = world.steps(send, {"op": "recv", "args": {"td": "td", "src": 0} | receiver})[1]
    snapshot = world.snapshot(1, "td")
    world.close()
    return received["value"], {key: entry["bytes"] for key, entry in snapshot["entries"]}


@pytest.mark.parametrize("mutant_server", [UNSORTED, SHIFTED], indirect=True)
def test_two_equal_mutants_understand_each_other(
    judge: FakeJudge, mutant_server: tuple[Implementation, Connection], tmp_path: Path
) -> None:
    implementation, server = mutant_server
    value, arrived = transfer(World(judge, (server, server), tmp_path))
    assert arrived == ARRIVED
    assert value == {"kind": "int", "int": 2 if implementation is SHIFTED else 1}


@pytest.mark.parametrize("mutant_server", [UNSORTED], indirect=True)
def test_unsorted_sends_in_insertion_order(
    judge: FakeJudge,
    mutant_server: tuple[Implementation, Connection],
    fork_server: Connection,
    tmp_path: Path,
) -> None:
    world = World(judge, (mutant_server[1], fork_server), tmp_path)
    assert transfer(world) == ({"kind": "int", "int": 1}, CROSSED)


@pytest.mark.parametrize("mutant_server", [SHIFTED], indirect=True)
def test_shifted_tags_begin_one_too_high(
    judge: FakeJudge,
    mutant_server: tuple[Implementation, Connection],
    fork_server: Connection,
    tmp_path: Path,
) -> None:
    world = World(judge, (mutant_server[1], fork_server), tmp_path)
    assert transfer(world, init_tag=1) == ({"kind": "int", "int": 2}, ARRIVED)
