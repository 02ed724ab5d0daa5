# SPDX-License-Identifier: BSD-3-Clause
"""A whole run over runners that follow a script: what is printed, written and returned."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tdconf import doctor, watch
from tdconf.exits import Exit, TdconfError
from tdconf.implementations import Implementation
from tdconf.layout import Layout
from tdconf.run import Options, Selection, list_cases, results_folder, run

Line = dict[str, Any]
Install = Callable[[dict[str, list[Line]]], None]
MakeCase = Callable[..., Line]


@pytest.fixture(autouse=True)
def _no_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "record", lambda _layout, _python: {"cores": "2"})


def options(**changes: object) -> Options:
    reference = Implementation("reference", "reference", "adapter", None)
    plain = Options(
        selection=Selection([], []),
        judged=[reference],
        players=[reference],
        assign=None,
        expectations=None,
        repeat=["./launcher/tdconf", "run"],
        jobs=2,
        out=None,
        python=Path(sys.executable),
        timeout_scale=1.0,
        fail_fast=False,
        verbose=False,
    )
    return replace(plain, **changes)


def test_the_jobs_of_two_implementations_end_in_one_table(
    layout: Layout, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    scripted_runner(
        {
            "reference": [{"cases": [case("a")]}, {"cases": [case("b")]}],
            "other": [{"cases": [case("a", verdict="fail")]}, {"cases": [case("b")]}],
        }
    )
    other = Implementation("other", "other=exec:x", "x", None)
    judged = [*options().judged, other]
    assert run(layout, options(judged=judged)) == Exit.AS_EXPECTED
    rows = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert rows[0][:6] == [
        "implementation",
        "cases",
        "pass",
        "expected",
        "unexpected",
        "unsupported",
    ]
    assert rows[1][:7] == ["reference", "2", "2", "0", "0", "0", "0"]
    assert rows[2][:7] == ["other", "2", "1", "1", "0", "0", "0"]
    assert rows[3][:4] == ["tdconf:", "exit", "0,", "everything"]
    merged = (layout.output / "latest" / "other" / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["type"] for line in merged] == ["header", "case", "case", "footer"]


def test_an_unexpected_failure_is_shown_with_everything_needed_to_repeat_it(
    layout: Layout, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = case("a/b", verdict="hang", expected=False, findings=[{"text": "rank 1 waits"}])
    scripted_runner({"reference": [{"cases": [bad], "exit": 1}]})
    assert run(layout, options(jobs=1)) == Exit.UNEXPECTED
    shown = capfd.readouterr().out
    for words in (
        "HANG, not expected: reference: a/b",
        "clauses  send.tags (must)",
        "found    rank 1 waits",
        "listed   no",
        "repeat   ./launcher/tdconf run --run 'a/b'",
    ):
        assert words in shown


def test_an_expected_difference_is_shown_only_when_asked_for(
    layout: Layout, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    entry = {"match": "a", "status": "fail", "reason": "a known flaw"}
    scripted_runner({"reference": [{"cases": [case("a", verdict="fail", listed=entry)]}]})
    run(layout, options(jobs=1))
    assert "FAIL" not in capfd.readouterr().out
    run(layout, options(jobs=1, verbose=True))
    shown = capfd.readouterr().out
    assert "FAIL: reference: a\n" in shown
    assert "listed   fail as a: a known flaw\n" in shown


def test_many_failures_do_not_bury_the_table(
    layout: Layout, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    lost = [case(f"a/{n}", verdict="error", expected=False, signature="lost") for n in range(23)]
    scripted_runner({"reference": [{"cases": lost, "exit": 4}]})
    assert run(layout, options(jobs=1)) == Exit.NO_VERDICT
    printed = capfd.readouterr().out
    assert printed.count("found    lost") == 20
    assert "reference: 3 more like these; -v shows them all\n" in printed
    run(layout, options(jobs=1, verbose=True))
    assert capfd.readouterr().out.count("found    lost") == 23


def test_a_runner_that_dies_is_an_internal_error_and_its_last_words_are_shown(
    layout: Layout, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    scripted_runner(
        {
            "reference": [
                {"cases": [case("a")]},
                {"cases": [case("b")], "footer": False, "status": 139},
            ]
        }
    )
    assert run(layout, options()) == Exit.INTERNAL
    said = capfd.readouterr().err
    assert "no footer, the runner ended with 139" in said
    assert "the runner's own words" in said


def test_wrong_input_is_found_before_anything_is_judged(
    layout: Layout, scripted_runner: Install
) -> None:
    scripted_runner({})
    assert run(layout, options(selection=Selection([], ["--run", "refused"]))) == Exit.USAGE
    assert not layout.output.exists()


def test_a_silent_runner_is_ended(
    layout: Layout, scripted_runner: Install, case: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tdconf.run.SILENCE_S", 0.5)
    scripted_runner({"reference": [{"cases": [case("a")], "footer": False, "waits": True}]})
    assert run(layout, options(jobs=1)) == Exit.NO_VERDICT


def test_fail_fast_ends_the_other_jobs_and_keeps_the_failure(
    layout: Layout, scripted_runner: Install, case: MakeCase
) -> None:
    bad = case("a", verdict="fail", expected=False)
    scripted_runner(
        {
            "reference": [
                {"cases": [bad], "exit": 1, "waits": True},
                {"cases": [case("b")], "footer": False, "waits": True},
            ]
        }
    )
    assert run(layout, options(fail_fast=True)) == Exit.UNEXPECTED


def test_each_runner_is_told_its_share_and_how_to_repeat_a_case(
    layout: Layout, scripted_runner: Install, case: MakeCase
) -> None:
    scripted_runner({"reference": [{"cases": [case("a")]}, {"cases": [case("b")]}]})
    run(layout, options(timeout_scale=2.0, selection=Selection([], ["--run", "p2p/**"])))
    header = (layout.output / "latest" / "reference" / "job-1" / "results.jsonl").read_text()
    words = json.loads(header.splitlines()[0])["argv"]
    for name, value in {
        "--fixtures": str(layout.fixtures),
        "--clauses": str(layout.fixtures / "clauses.yaml"),
        "--run": "p2p/**",
        "--impl": "reference",
        "--adapter": "reference=adapter",
        "--expectations": "none",
        "--job": "1/2",
        "--timeout-scale": "2.0",
        "--repeat-command": "./launcher/tdconf run --impl reference",
    }.items():
        assert words[words.index(name) + 1] == value


# Judges one implementation by the checkout `argv[1]`, as the command line does.
_LAUNCHER = """
import os, sys; from pathlib import Path
from tdconf import doctor, interruptions, processes, run
from tdconf.implementations import Implementation; from tdconf.layout import Layout
if os.isatty(0):
    os.open(os.ttyname(0), os.O_RDWR)  # The first terminal that a session opens controls it.
doctor.record = lambda layout, python: {}
processes._GRACE_S = 0.5
processes.adopt_orphans()
interruptions.interrupt_on_signals()
one = Implementation("reference", "reference", "adapter", None)
options = run.Options(run.Selection([], []), [one], [one], None, None, [], 1, None,
                      Path(sys.executable), 1.0, False, False)
sys.exit(run.run(Layout(Path(sys.argv[1])), options))
"""


def _launched(layout: Layout, *prefix: str, **streams: int) -> subprocess.Popen[bytes]:
    source = str(Path(watch.__file__).parents[1])
    return subprocess.Popen(
        [*prefix, sys.executable, "-c", _LAUNCHER, layout.root],
        env=os.environ | {"PYTHONPATH": source},
        start_new_session=True,
        **streams,
    )


def _footer(layout: Layout) -> Line:
    merged = layout.output / "latest" / "reference" / "results.jsonl"
    return json.loads(merged.read_text().splitlines()[-1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_ends_its_runners_and_writes_what_it_has(
    layout: Layout, scripted_runner: Install, case: MakeCase, number: signal.Signals
) -> None:
    scripted_runner({"reference": [{"cases": [case("a")], "footer": False, "waits": True}]})
    process = _launched(layout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    runner = _appears(layout.output / "latest" / "reference" / "job-0" / "pid", process)
    process.send_signal(number)
    assert process.wait(30) == Exit.INTERRUPTED
    assert not Path(f"/proc/{runner}").exists()
    footer = _footer(layout)
    assert (footer["complete"], footer["exit"]) == (False, Exit.INTERRUPTED)


def test_a_second_interruption_does_not_break_off_the_clean_up(
    layout: Layout, scripted_runner: Install, case: MakeCase
) -> None:
    plan = {"cases": [case("a")], "footer": False, "waits": True, "stubborn": True}
    scripted_runner({"reference": [plan]})
    process = _launched(layout, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    job = layout.output / "latest" / "reference" / "job-0"
    runner = _appears(job / "pid", process)
    process.send_signal(signal.SIGINT)
    _appears(job / "told", process)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process.send_signal(number)
    shown, _ = process.communicate(timeout=30)
    assert process.returncode == Exit.INTERRUPTED
    assert not Path(f"/proc/{runner}").exists()
    footer = _footer(layout)
    assert (footer["complete"], footer["exit"]) == (False, Exit.INTERRUPTED)
    row = next(line.split() for line in shown.decode().splitlines() if line.startswith("reference"))
    assert float(row[-2]) >= 0


def test_a_closed_terminal_ends_the_run_like_ctrl_c(
    layout: Layout, scripted_runner: Install, case: MakeCase
) -> None:
    scripted_runner({"reference": [{"cases": [case("a")], "footer": False, "waits": True}]})
    ours, theirs = os.openpty()
    process = _launched(layout, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    runner = _appears(layout.output / "latest" / "reference" / "job-0" / "pid", process)
    os.close(ours)
    assert process.wait(30) == Exit.INTERRUPTED
    assert not Path(f"/proc/{runner}").exists()
    assert _footer(layout)["exit"] == Exit.INTERRUPTED


def test_nohup_keeps_its_meaning(layout: Layout, scripted_runner: Install, case: MakeCase) -> None:
    scripted_runner({"reference": [{"cases": [case("a")], "footer": False, "waits": True}]})
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    process = _launched(layout, "nohup", **quiet)
    runner = _appears(layout.output / "latest" / "reference" / "job-0" / "pid", process)
    process.send_signal(signal.SIGHUP)
    os.kill(int(runner), signal.SIGKILL)
    assert process.wait(30) == Exit.INTERNAL
    assert _footer(layout)["exit"] == Exit.INTERNAL


def test_a_runner_that_reads_forever_is_ended_with_a_message(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tdconf.run._READ_DEADLINE_S", 0.2)
    layout.runner.parent.mkdir(parents=True)
    layout.runner.write_text(f"#!{sys.executable}\nimport signal\nsignal.pause()\n")
    layout.runner.chmod(0o755)
    for reading in (
        lambda: run(layout, options()),
        lambda: list_cases(layout, Selection([], [])),
    ):
        with pytest.raises(TdconfError, match="did not end within") as raised:
            reading()
        assert raised.value.code == Exit.NO_VERDICT
    assert not layout.output.exists()


def _appears(path: Path, process: subprocess.Popen[bytes]) -> str:
    give_up_at = time.monotonic() + 30
    while not path.exists() or not path.read_text():
        assert process.poll() is None
        assert time.monotonic() < give_up_at
        time.sleep(0.01)
    return path.read_text()


def test_results_never_mix_with_what_a_folder_holds_already(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "results.jsonl").touch()
    with pytest.raises(TdconfError, match="is not an empty folder") as raised:
        results_folder(layout, tmp_path / "old")
    assert raised.value.code == Exit.USAGE


def test_two_runs_within_a_second_get_two_folders_and_latest_is_the_newer(layout: Layout) -> None:
    first, second, third = (results_folder(layout, None) for _ in range(3))
    assert len({first, second, third}) == 3
    assert (layout.output / "latest").resolve() == third
