# SPDX-License-Identifier: BSD-3-Clause
"""`ci/perf-gate` and `tdconf bench` as they are typed, on builds that answer from a formula."""

import subprocess
from pathlib import Path

import pytest

from tdconf.layout import THIS_CHECKOUT

from .bench_fakes import install

_QUICK = ("--operation", "send", "--repetitions", "9")
_DEADLINE_S = 120


def typed(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_DEADLINE_S,
        check=False,
    )


def gate(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return typed(THIS_CHECKOUT.ci / "perf-gate", *words)


@pytest.mark.parametrize(("inject", "status"), [((), 0), (("--inject", "send=0.2"), 5)])
def test_the_gate_ends_with_the_status_of_the_comparison(
    tmp_path: Path, inject: tuple[str, ...], status: int
) -> None:
    for name in ("before", "after"):
        install(tmp_path / name, "reference", {"noise": 0.001})
    out = tmp_path / "out"
    ended = gate(tmp_path / "before", tmp_path / "after", *_QUICK, *inject, "--out", out)
    assert ended.returncode == status, ended.stderr
    assert ended.stdout.splitlines()[-1].startswith(f"tdconf: exit {status}, ")
    assert (out / "compare.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "usage: ci/perf-gate BASE NEW"),
        (("only-one",), "usage: ci/perf-gate BASE NEW"),
        (("--help", "x"), "usage: ci/perf-gate BASE NEW"),
        (("/nowhere/a", "/nowhere/b"), "/nowhere/a: no such file or folder"),
        (("/", "/"), "has no program tdconf_bench_reference"),
        (("/", "/", "--column", "tensordict"), "--column tensordict: is in no build"),
    ],
)
def test_what_cannot_be_compared_is_wrong_usage(words: tuple[str, ...], said: str) -> None:
    ended = gate(*words)
    assert ended.returncode == 2, ended.stdout
    assert said in ended.stderr


def test_a_rank_that_dies_is_status_1(tmp_path: Path) -> None:
    install(tmp_path, "reference", {"dies": "send", "says": "the reason"})
    ended = gate(tmp_path, tmp_path, *_QUICK, "--out", tmp_path / "out")
    assert ended.returncode == 1
    assert "rank 1: was ended by SIGKILL" in ended.stderr
    assert "the reason" in ended.stderr


def test_a_result_and_a_build_are_not_compared(tmp_path: Path) -> None:
    (tmp_path / "bench.json").write_text("{}")
    ended = gate(tmp_path / "bench.json", "/")
    assert ended.returncode == 2
    assert "one is a result and one a build" in ended.stderr
