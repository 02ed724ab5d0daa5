# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what is accepted, what is refused before any set-up, what help says."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tdconf import build, cli, preparing
from tdconf.arguments import parser
from tdconf.exits import Exit
from tdconf.layout import Layout

COMMANDS = ("run", "explain", "clauses", "interop", "list", "test", "doctor")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_an_example_of_it(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([command, "--help"])
    assert ended.value.code == 0
    assert f"example: ./launcher/tdconf {command}" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_example_of_every_command_can_be_typed(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args([command, "--help"])
    example = capsys.readouterr().out.split("example: ./launcher/tdconf ")[1]
    words = example.replace("'", "").split()
    before = words[: words.index("--")] if "--" in words else words
    assert parser().parse_args(before).command == command


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fly"],
        ["run", "--jobs", "0"],
        ["run", "--jobs", "two"],
        ["run", "--timeout-scale", "0"],
        ["run", "--timeout-scale", "inf"],
        ["run", "--timeout-scale", "nan"],
        ["run", "--timeout-scale", "1000001"],
        ["test", "--only", "nothing"],
        ["list", "--impl", "reference"],
        ["explain"],
        ["explain", "one", "two"],
    ],
)
def test_wrong_usage_ends_with_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == Exit.USAGE


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "--impl", "nobody"], "nobody is no implementation"),
        (["run", "--assign", "0=nobody"], "nobody is no implementation"),
        (["run", "--assign", "first=reference"], "expected RANK=NAME"),
        (["run", "--assign", ""], "expected RANK=NAME"),
        (["run", "--impl", "mine=exec:'./adapter"], "No closing quotation in the command"),
        (["run", "--expectations", "/"], "--expectations /: is not a regular file"),
        (["run", "--expectations", "absent.yaml"], "absent.yaml: is not a regular file"),
        (["run", "/dev/null"], "/dev/null: is neither a regular file nor a folder"),
        (["run", "absent.yaml"], "absent.yaml: no such file"),
        (["list", "absent.yaml"], "absent.yaml: no such file"),
        (["run", "--", "-k", "x"], "run takes no arguments after --"),
        (["explain", "absent.yaml"], "absent.yaml: is no file"),
        (["explain", "send.tags", "--impl", "nobody"], "nobody is no implementation"),
        (["interop", "--impl", "reference"], "takes two implementations"),
        (["interop", "absent.yaml"], "absent.yaml: no such file"),
        (["clauses", "--impl", "reference"], "--impl goes with --ambiguous"),
    ],
)
def test_wrong_input_is_found_before_anything_is_set_up(
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(preparing, "prepare", lambda *_: pytest.fail("set up for wrong input"))
    assert cli.main(words) == Exit.USAGE
    assert message in capsys.readouterr().err


def test_expectations_from_a_pipe_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "prepare", lambda *_: pytest.fail("set up for wrong input"))
    os.mkfifo(tmp_path / "pipe")
    assert cli.main(["run", "--expectations", str(tmp_path / "pipe")]) == Exit.USAGE
    assert "is not a regular file" in capsys.readouterr().err


def test_a_dash_becomes_a_file_that_the_command_names_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli.typed, "keep", lambda _layout: tmp_path / "kept.yaml")
    kept = str(tmp_path / "kept.yaml")
    for words in (["run", "-"], ["explain", "-", "--all"]):
        seen: dict[str, object] = {}

        def command(
            _: object, options: object, arguments: object, seen: dict[str, object] = seen
        ) -> int:
            seen.update(vars(options), arguments=arguments)
            return 0

        monkeypatch.setitem(cli._COMMANDS, words[0], command)
        assert cli.main(words) == 0
        assert seen["arguments"] == [words[0], kept, *words[2:]]
        assert kept in (seen["target"], *(str(path) for path in seen.get("files", [])))


def test_an_assignment_reaches_the_runner_without_its_spaces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = parser().parse_args(["run", "--assign", "1=tensordict, 0=reference"])
    seen = {}
    monkeypatch.setattr(preparing, "prepare", lambda *_: Path(sys.executable))
    monkeypatch.setattr(preparing, "build_targets", lambda *_: None)
    monkeypatch.setattr(cli.run, "run", lambda _, chosen: seen.update(vars(chosen)))
    cli._run(cli.THIS_CHECKOUT, options, [])
    assert seen["assign"] == "1=tensordict,0=reference"
    assert [implementation.name for implementation in seen["judged"]] == ["reference"]


@pytest.mark.parametrize(
    "words", [["run"], ["explain", "send.tags"], ["list"], ["interop"], ["clauses"]]
)
def test_who_only_asks_waits_for_no_build(
    words: list[str],
    layout: Layout,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cli, "THIS_CHECKOUT", layout)
    monkeypatch.setattr(preparing, "prepare", lambda *_: Path(sys.executable))
    monkeypatch.setattr(build, "build", lambda *_: pytest.fail("built though told not to"))
    assert cli.main([*words, "--no-build"]) == Exit.NO_VERDICT
    assert f"--no-build: {layout.runner} was never built" in capsys.readouterr().err


def test_closed_standard_streams_are_no_obstacle() -> None:
    script = (
        "import os, sys; from tdconf import cli, display\n"
        "def command(*_):\n"
        "    display.progress().show('seen by nobody')\n"
        "    return 0 if os.open('/', os.O_RDONLY) > 2 else 1\n"
        "cli._COMMANDS['run'] = command\n"
        "sys.exit(cli.main(['run']))\n"
    )
    source = str(Path(cli.__file__).parents[1])
    shell = ["bash", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', sys.executable, script]
    ended = subprocess.run(shell, env=os.environ | {"PYTHONPATH": source}, timeout=60, check=False)
    assert ended.returncode == 0


def test_filters_reach_the_runner_as_they_were_typed(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.touch()
    words = ["list", str(own), "--run", "a/**", "--run", "@file", "--axis", "x=1", "--shard", "1/2"]
    selection = preparing.selection(parser().parse_args(words))
    assert selection.files == [own]
    assert selection.filters == [
        *("--run", "a/**", "--run", "@file"),
        *("--axis", "x=1"),
        *("--shard", "1/2"),
    ]


def test_repeating_a_case_keeps_what_changes_its_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cli.THIS_CHECKOUT.root)
    words = ["run", "own.yaml", "--assign", "0=reference", "--timeout-scale", "2", "--jobs", "1"]
    repeat = preparing.repeat(cli.THIS_CHECKOUT, parser().parse_args(words))
    assert repeat == [
        *("./launcher/tdconf", "run", "own.yaml"),
        *("--assign", "0=reference", "--timeout-scale", "2.0"),
    ]


def test_repeating_a_case_works_from_the_folder_where_it_ran(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(cli.THIS_CHECKOUT.root / "launcher" / "tests")
    assert preparing.repeat(cli.THIS_CHECKOUT, parser().parse_args(["run"])) == ["../tdconf", "run"]


def test_repeating_a_case_from_elsewhere_takes_the_whole_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    stub = str(cli.THIS_CHECKOUT.root / "launcher" / "tdconf")
    assert preparing.repeat(cli.THIS_CHECKOUT, parser().parse_args(["run"])) == [stub, "run"]


def test_a_file_that_cannot_be_written_is_named_and_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fill_the_disk(*_: object) -> Exit:
        raise OSError(errno.ENOSPC, "No space left on device", "out/results.jsonl")

    monkeypatch.setitem(cli._COMMANDS, "run", fill_the_disk)
    assert cli.main(["run"]) == Exit.NO_VERDICT
    assert "No space left on device: 'out/results.jsonl'" in capsys.readouterr().err
