# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that end, complain or talk nonsense: one clear error, and nobody is left behind."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tdconf.bench import cores
from tdconf.bench.catalogue import Benchmark
from tdconf.bench.columns import Program
from tdconf.bench.ranks import Team
from tdconf.exits import Exit, TdconfError

from .bench_fakes import install

_SEND = Benchmark("send").request() | {"iterations": 1, "batch": 1}


def team(tmp_path: Path, plan: Mapping[str, Any], world: int = 2) -> Team:
    return Team(install(tmp_path, "floor", plan), world, tmp_path / "ranks")


def pids(tmp_path: Path) -> list[int]:
    return [int(path.read_text()) for path in tmp_path.glob("ranks/store/pid-*")]


def are_gone(tmp_path: Path) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids(tmp_path))


def test_all_ranks_get_the_same_request_and_answer_it(tmp_path: Path) -> None:
    with team(tmp_path, {"seconds": {"send": 0.002}}, world=3) as ranks:
        ranks.wait_until_ready()
        assert ranks.versions == {"tdconf": "1"}
        answers = ranks.ask(_SEND)
    assert [answer["benchmarks"][0]["real_time"] for answer in answers] == [2000.0] * 3
    asked = [(tmp_path / f"ranks/store/asked-{rank}").read_text() for rank in range(3)]
    assert asked[0] == asked[1] == asked[2]
    assert len(pids(tmp_path)) == 3
    assert are_gone(tmp_path)


def ask(ranks: Team) -> None:
    with ranks:
        ranks.wait_until_ready()
        ranks.ask(_SEND)


def failure(tmp_path: Path, plan: Mapping[str, Any]) -> str:
    with pytest.raises(TdconfError) as failed:
        ask(team(tmp_path, plan))
    assert failed.value.code == Exit.UNEXPECTED
    assert len(pids(tmp_path)) == 2
    assert are_gone(tmp_path)
    return str(failed.value)


def test_a_rank_that_dies_is_named_with_the_end_of_its_log(tmp_path: Path) -> None:
    said = failure(tmp_path, {"dies": "send", "says": "the first line\nthe last line"})
    lines = said.splitlines()
    assert lines[0] == "floor, 2 ranks: rank 1: was ended by SIGKILL"
    assert lines[1].startswith('  while it was asked {"operation": "send", "leaves": 1000')
    assert lines[2].endswith("rank-1.log:")
    assert lines[3:] == ["    the first line", "    the last line"]


def test_an_error_that_a_rank_reports_is_shown(tmp_path: Path) -> None:
    assert "reports an error: cannot send" in failure(tmp_path, {"fails": "send"})


def test_a_program_that_says_something_else_is_shown(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho hello\nsleep 1000\n")
    program.chmod(0o755)
    ranks = Team(Program("floor", (str(program),)), 2, tmp_path / "ranks")
    with pytest.raises(TdconfError, match="answered no JSON object but 'hello'"), ranks:
        ranks.wait_until_ready()


def test_a_program_that_ends_at_once_is_told_by_its_status(tmp_path: Path) -> None:
    ranks = Team(Program("floor", ("/bin/sh", "-c", "exit 3")), 2, tmp_path / "ranks")
    with pytest.raises(TdconfError, match="ended with status 3 and without an answer"), ranks:
        ranks.wait_until_ready()


def test_a_program_that_does_not_start_is_named(tmp_path: Path) -> None:
    with pytest.raises(TdconfError, match="/nowhere/program does not start"):
        Team(Program("floor", ("/nowhere/program",)), 2, tmp_path / "ranks")


def test_an_interruption_ends_every_rank(tmp_path: Path) -> None:
    ranks = team(tmp_path, {})
    ranks.wait_until_ready()
    with pytest.raises(KeyboardInterrupt), ranks:
        raise KeyboardInterrupt
    assert len(pids(tmp_path)) == 2
    assert are_gone(tmp_path)


@pytest.mark.parametrize(
    ("world", "count", "shares"),
    [
        (2, 2, [[0], [1]]),
        (2, 5, [[0, 1, 2], [3, 4]]),
        (4, 2, [[0], [1], [0], [1]]),
        (3, 3, [[0], [1], [2]]),
    ],
)
def test_every_rank_gets_its_share_of_the_cores(
    world: int, count: int, shares: list[list[int]]
) -> None:
    assert [cores.share(rank, world, range(count)) for rank in range(world)] == shares


def test_a_pinned_rank_keeps_to_its_core(tmp_path: Path) -> None:
    program = install(tmp_path, "floor", {})
    mine = sorted(os.sched_getaffinity(0))
    with Team(program, 2, tmp_path / "ranks", pinned=True) as ranks:
        ranks.wait_until_ready()
        found = [
            os.sched_getaffinity(int((tmp_path / f"ranks/store/pid-{rank}").read_text()))
            for rank in range(2)
        ]
    assert found == [set(cores.share(rank, 2, mine)) for rank in range(2)]
