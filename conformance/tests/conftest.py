# SPDX-License-Identifier: BSD-3-Clause
"""One fork server for all tests that need real ranks."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .fake_judge import Connection, FakeJudge
from .worlds import World


@pytest.fixture(scope="session")
def judge() -> Iterator[FakeJudge]:
    judge = FakeJudge()
    yield judge
    judge.close()


@pytest.fixture(scope="session")
def fork_server(judge: FakeJudge) -> Iterator[Connection]:
    pid = judge.fork("--serve")
    server = judge.accept()
    yield server
    assert server.ask("bye")["type"] == "done"
    assert os.waitpid(pid, 0) == (pid, 0)


@pytest.fixture
def world(judge: FakeJudge, fork_server: Connection, tmp_path: Path) -> Iterator[World]:
    """Two ranks that have not joined."""
    world = World(judge, (fork_server, fork_server), tmp_path)
    yield world
    world.close()
