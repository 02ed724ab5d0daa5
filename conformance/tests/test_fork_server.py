# SPDX-License-Identifier: BSD-3-Clause
"""A fork server makes ranks, tells when they end, and takes them along when it ends."""

import os
import signal

from .fake_judge import Connection, FakeJudge
from .processes import wait_until_gone


def test_a_child_dials_with_its_own_token(judge: FakeJudge, fork_server: Connection) -> None:
    rank, pid = judge.spawn(fork_server, 3)
    hello = rank.ask("hello", protocol=1)
    assert (hello["token"], hello["pid"]) == ("secret 3", pid)
    assert rank.ask("bye")["type"] == "done"
    assert fork_server.event() == {"type": "exited", "pid": pid, "status": 0, "signal": None}


def test_a_killed_child_is_reported_by_its_signal(
    judge: FakeJudge, fork_server: Connection
) -> None:
    rank, pid = judge.spawn(fork_server, 0)
    os.kill(pid, signal.SIGKILL)
    assert fork_server.event() == {"type": "exited", "pid": pid, "status": None, "signal": 9}
    assert rank.at_end()


def test_a_server_refuses_what_ranks_do(fork_server: Connection) -> None:
    answer = fork_server.ask("end_case")
    assert answer["type"] == "error"
    assert "got EndCase" in answer["message"]


def test_a_server_has_done_nothing(fork_server: Connection) -> None:
    assert fork_server.ask("stacks")["transcript"] == []


def test_requests_that_come_together_are_all_answered(fork_server: Connection) -> None:
    asked = [fork_server.post("ping") for _ in range(5)]
    assert [fork_server.answer_to(seq)["seq"] for seq in asked] == asked


def test_no_child_outlives_a_killed_server(judge: FakeJudge) -> None:
    server_pid = judge.fork("--serve")
    server = judge.accept()
    rank, pid = judge.spawn(server, 0)
    os.kill(server_pid, signal.SIGKILL)
    os.waitpid(server_pid, 0)
    assert rank.at_end()
    wait_until_gone(pid)
