# SPDX-License-Identifier: BSD-3-Clause
"""Runs the runner on cases of a test's own and reads what it wrote."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tdconf_tensordict_adapter.decode import Json

from .fake_judge import CONFORMANCE

REPOSITORY = CONFORMANCE.parent
BUILT_RUNNER = REPOSITORY / "build/release/conformance/runner/tdconf_runner"
FAULTY = Path(__file__).parent / "faulty"
DEADLINE_S = 120


def adapter_environment(**more: str) -> dict[str, str]:
    paths = [CONFORMANCE / "adapters/tensordict", CONFORMANCE / "mutants"]
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))} | more


@dataclass(frozen=True)
class Run:
    """How the runner ended, and its results by the name of the case."""

    status: int
    stderr: str
    cases: dict[str, Json]
    footer: Json | None

    def verdicts(self) -> dict[str, str]:
        return {name: case["verdict"] for name, case in self.cases.items()}


def runner_path() -> Path:
    return existing(Path(os.environ.get("TDCONF_RUNNER", BUILT_RUNNER)))


def adapter_path(name: str) -> Path:
    """Returns the adapter that was built beside the runner."""
    folder, file = runner_path().parents[1] / "adapters", f"tdconf_adapter_{name}"
    return existing(next(folder.rglob(file), folder / file))


def existing(path: Path) -> Path:
    assert path.is_file(), f"{path} is missing; build it, or set TDCONF_RUNNER to a built runner"
    return path


@dataclass(frozen=True)
class Harness:
    """A folder with cases, and the one clause that they may name."""

    folder: Path

    @property
    def fixtures(self) -> Path:
        return self.folder / "fixtures"

    @property
    def pids_file(self) -> Path:
        return self.folder / "pids"

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    @property
    def environment(self) -> dict[str, str]:
        return adapter_environment(TDCONF_TEST_PIDS=str(self.pids_file))

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def run(self, adapter: Sequence[str], *options: str, expectations: str = "none") -> Run:
        """Judges one adapter by the cases of this folder."""
        options = (*self.cases(), "--expectations", expectations, *options)
        return run_runner(self.out, adapter, options, self.environment)

    def cases(self) -> list[str]:
        clauses = self.write("clauses.yaml", "- {id: harness.clause}\n")
        return ["--fixtures", str(self.fixtures), "--clauses", str(clauses)]

    def pids(self) -> list[int]:
        return [int(line) for line in self.pids_file.read_text().split()]


def run_runner(
    out: Path, adapter: Sequence[str], options: Sequence[str], environment: dict[str, str]
) -> Run:
    """Judges one adapter, called `judged`."""
    done = subprocess.run(
        runner_command(out, adapter, options),
        env=environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    lines = read_lines(out / "results.jsonl")
    cases = {line["case"]: line for line in lines if line["type"] == "case"}
    footers = [line for line in lines if line["type"] == "footer"]
    return Run(done.returncode, done.stderr, cases, footers[0] if footers else None)


def runner_command(out: Path, adapter: Sequence[str], options: Sequence[str]) -> list[str]:
    named = ["--impl", "judged", "--adapter", "judged=" + join(adapter)]
    return [str(runner_path()), *named, "--out", str(out), *options]


def run_fixtures(out: Path, adapter: Sequence[str], *patterns: str) -> Run:
    """Judges one adapter by those cases of the specification that match."""
    fixtures = REPOSITORY / "fixtures"
    options = ["--fixtures", str(fixtures), "--clauses", str(fixtures / "clauses.yaml")]
    options += [
        "--adapter",
        "probe=" + join([str(adapter_path("probe"))]),
        "--expectations",
        "none",
    ]
    for pattern in patterns:
        options += ["--run", pattern]
    return run_runner(out, adapter, [*options, "--timeout-scale", "0.5"], adapter_environment())


def join(adapter: Sequence[str]) -> str:
    """Writes a command as `--adapter` takes it; the prefix `fork:` is no part of a word."""
    prefix, command = ("fork:", adapter[1:]) if adapter[0] == "fork:" else ("", adapter)
    return prefix + shlex.join(command)


def read_lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def scripted(fault: str, fault_rank: int = 0) -> list[str]:
    return [
        sys.executable,
        str(FAULTY / "scripted.py"),
        "--fault",
        fault,
        "--fault-rank",
        str(fault_rank),
    ]


def module(name: str) -> list[str]:
    """An adapter that forks its ranks."""
    return ["fork:", sys.executable, "-m", name]
