# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf run` and `tdconf list`: from a selection to runners, from their results to a table."""

import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tdconf import display, doctor, results
from tdconf.exits import Exit, TdconfError, from_status, worst
from tdconf.implementations import Implementation, adapter_environment
from tdconf.layout import Layout, from_here
from tdconf.processes import ending_with_us
from tdconf.watch import SILENCE_S, STOPPED_ON_PURPOSE, Job, Watching, run_jobs

_READ_DEADLINE_S = 120.0
_LOG_TAIL_LINES = 20
_BLOCKS_SHOWN = 20

Show = Callable[[results.Line], str | None]


@dataclass(frozen=True)
class Selection:
    """Which cases are meant: the built-in ones or `files` of the user's own, and the filters."""

    files: Sequence[Path]
    filters: Sequence[str]

    def arguments(self, layout: Layout) -> list[str]:
        fixtures = self.files or [layout.fixtures]
        return [
            *(word for path in fixtures for word in ("--fixtures", str(path))),
            *("--clauses", str(layout.fixtures / "clauses.yaml")),
            *self.filters,
        ]


def these(names: Sequence[str], folder: Path, files: Sequence[Path] = ()) -> Selection:
    """Selects the cases of these names, which are kept in a file of `folder`."""
    kept = folder / "cases.txt"
    kept.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return Selection(files, ["--run", f"@{kept}"])


@dataclass(frozen=True)
class Options:
    """What `run` was asked to do."""

    selection: Selection
    judged: Sequence[Implementation]
    players: Sequence[Implementation]
    assign: str | None
    expectations: str | None
    repeat: Sequence[str]
    jobs: int
    out: Path | None
    python: Path
    timeout_scale: float
    fail_fast: bool
    verbose: bool
    trace: bool = False
    #: Runners that run together; as many as `jobs` unless given.
    at_once: int | None = None


def run(layout: Layout, options: Options) -> Exit:
    """Judges each implementation, prints a block per failure, one table and a closing line."""
    for implementation in options.judged:
        if (code := check(layout, options, implementation)) != Exit.AS_EXPECTED:
            return code
    out = results_folder(layout, options.out)
    outcomes, interrupted = judge(layout, options, out, _blocks(options))
    _say_what_is_hidden(options, outcomes)
    code = code_of(outcomes, interrupted=interrupted)
    print(display.table(outcomes))
    print(display.closing(code, from_here(out)))
    return code


def judge(
    layout: Layout, options: Options, out: Path, show: Show
) -> tuple[list[results.Outcome], bool]:
    """Judges each implementation into `out`; says too whether the user interrupted it.

    Every result is handed to `show` as it comes; what `show` returns is printed.
    """
    facts = out / "environment.json"
    facts.write_text(json.dumps(doctor.record(layout, options.python), indent=2), encoding="utf-8")
    jobs = [
        _job(layout, options, implementation, out, number)
        for implementation in options.judged
        for number in range(options.jobs)
    ]
    interrupted = not _watch(layout, options, jobs, show)
    return [_merged(judged.name, jobs, out) for judged in options.judged], interrupted


def code_of(outcomes: Sequence[results.Outcome], *, interrupted: bool) -> Exit:
    """Returns the exit code of a command that judged these."""
    codes = [outcome.code for outcome in outcomes]
    return worst([*codes, Exit.INTERRUPTED] if interrupted else codes)


def _job(
    layout: Layout, options: Options, implementation: Implementation, out: Path, number: int
) -> Job:
    folder = out / implementation.name / f"job-{number}"
    adapters = {player.name: player.command for player in options.players}
    command = [
        str(layout.runner),
        *options.selection.arguments(layout),
        *("--impl", implementation.name),
        *(word for name, start in adapters.items() for word in ("--adapter", f"{name}={start}")),
        *("--expectations", _expectations(options, implementation)),
        *("--out", str(folder)),
        *("--job", f"{number}/{options.jobs}"),
        *("--environment", str(out / "environment.json")),
        *("--timeout-scale", str(options.timeout_scale)),
        *("--repeat-command", shlex.join([*options.repeat, "--impl", implementation.given])),
    ]
    if options.assign is not None:
        command += ["--assign", options.assign]
    if options.fail_fast:
        command.append("--fail-fast")
    if options.trace:
        command.append("--trace")
    folder.mkdir(parents=True)
    return Job(
        implementation.name, command, folder / "runner.log", results.Part(folder / "results.jsonl")
    )


def _expectations(options: Options, implementation: Implementation) -> str:
    return options.expectations or str(implementation.expectations or "none")


def check(layout: Layout, options: Options, implementation: Implementation) -> Exit:
    """Lets the runner read everything once, so that it says what is wrong with it only once."""
    command = [str(layout.runner), *options.selection.arguments(layout), "--check"]
    command += ["--expectations", _expectations(options, implementation)]
    return from_status(read(command).returncode)


def read(command: Sequence[str], output: int | None = None) -> subprocess.CompletedProcess[bytes]:
    """Lets a runner read the cases and judge nothing."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            timeout=_READ_DEADLINE_S,
            check=False,
            preexec_fn=ending_with_us(),
        )
    except subprocess.TimeoutExpired as problem:
        raise TdconfError(
            f"{command[0]} did not end within {_READ_DEADLINE_S:.0f} s of reading the cases; "
            f"the command was\n  {shlex.join(command)}"
        ) from problem


def _blocks(options: Options) -> Show:
    """Lays out a block for each case that needs attention, until there are too many of them."""
    seen: Counter[str] = Counter()

    def show(case: results.Line) -> str | None:
        if results.is_as_expected(case) and (not options.verbose or case["verdict"] == "pass"):
            return None
        seen[case["impl"]] += 1
        if options.verbose or seen[case["impl"]] <= _BLOCKS_SHOWN:
            return display.block(case, with_stacks=options.verbose)
        return None

    return show


def _say_what_is_hidden(options: Options, outcomes: Sequence[results.Outcome]) -> None:
    for outcome in outcomes:
        count = sum(not results.is_as_expected(case) for case in outcome.cases)
        if count > _BLOCKS_SHOWN and not options.verbose:
            print(f"{outcome.name}: {count - _BLOCKS_SHOWN} more like these; -v shows them all")


def _watch(layout: Layout, options: Options, jobs: Sequence[Job], show: Show) -> bool:
    """Runs `jobs` with progress on the terminal; returns false when the user interrupted them."""
    progress = display.progress()

    def on_case(job: Job, case: results.Line) -> None:
        if (text := show(case)) is not None:
            progress.show(text)
        share = [other.part for other in jobs if other.implementation == job.implementation]
        done = sum(len(part.cases) for part in share)
        progress.update(job.implementation, done, sum(part.selected for part in share))

    watching = Watching(
        at_once=options.at_once or options.jobs,
        silence_s=SILENCE_S * max(1.0, options.timeout_scale),
        fail_fast=options.fail_fast,
        environment=adapter_environment(layout),
        on_case=on_case,
    )
    try:
        run_jobs(jobs, watching)
    except KeyboardInterrupt:
        return False
    finally:
        progress.close()
    return True


def _merged(name: str, jobs: Sequence[Job], out: Path) -> results.Outcome:
    share = [job for job in jobs if job.implementation == name]
    parts = [job.part for job in share]
    started = [job for job in share if job.process is not None]
    first = min((job.started_at for job in started), default=0.0)
    seconds = max((job.ended_at for job in started), default=first) - first
    outcome = results.merge(name, parts, seconds)
    results.write(outcome, parts, out / name / "results.jsonl")
    for text in (*outcome.remarks, *outcome.problems):
        display.say(text)
    for job in share:
        if job.part.problems() and job.part.stopped not in STOPPED_ON_PURPOSE:
            _print_tail(job.log)
    return outcome


def _print_tail(log: Path) -> None:
    if not log.exists():
        return
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_TAIL_LINES:]
    if lines:
        display.say(f"the end of {log}:")
        print("\n".join(f"  {line}" for line in lines), file=sys.stderr)


def results_folder(layout: Layout, wanted: Path | None, below: str = "") -> Path:
    """Makes the folder of the results: `wanted`, or one named after the time, beside `latest`.

    That one lies in `tdconf-out`, or in its folder `below`.
    """
    if wanted is not None:
        if wanted.exists() and (not wanted.is_dir() or any(wanted.iterdir())):
            raise TdconfError(f"--out {wanted}: exists and is not an empty folder", Exit.USAGE)
        wanted.mkdir(parents=True, exist_ok=True)
        return wanted
    output = layout.output / below
    output.mkdir(parents=True, exist_ok=True)
    name = stem = datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ")
    count = 1
    while True:
        try:
            (output / name).mkdir()
            break
        except FileExistsError:
            count += 1
            name = f"{stem}-{count}"
    # A link is replaced whole, so that `latest` exists at every moment.
    link = output / f".latest-{name}"
    link.symlink_to(name)
    link.replace(output / "latest")
    return output / name


def list_cases(layout: Layout, selection: Selection) -> Exit:
    """Prints the name of every selected case, one a line."""
    command = [str(layout.runner), *selection.arguments(layout), "--list"]
    ended = read(command, subprocess.PIPE)
    sys.stdout.write(ended.stdout.decode())
    sys.stdout.flush()
    return from_status(ended.returncode)
