# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what is accepted, what is refused before any set-up, what help says."""

from pathlib import Path

import pytest

from tdconf import cli
from tdconf.arguments import parser
from tdconf.exits import Exit

COMMANDS = ("run", "test", "list", "doctor")


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
        ["test", "--only", "nothing"],
        ["list", "--impl", "reference"],
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
        (["run", "absent.yaml"], "absent.yaml: no such file"),
        (["list", "absent.yaml"], "absent.yaml: no such file"),
        (["run", "--", "-k", "x"], "run takes no arguments after --"),
    ],
)
def test_wrong_input_is_found_before_anything_is_set_up(
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cli, "_prepare", lambda *_: pytest.fail("set up for wrong input"))
    assert cli.main(words) == Exit.USAGE
    assert message in capsys.readouterr().err


def test_filters_reach_the_runner_as_they_were_typed(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.touch()
    words = ["list", str(own), "--run", "a/**", "--run", "@file", "--axis", "x=1", "--shard", "1/2"]
    selection = cli.selection(parser().parse_args(words))
    assert selection.files == [own]
    assert selection.filters == [
        *("--run", "a/**", "--run", "@file"),
        *("--axis", "x=1"),
        *("--shard", "1/2"),
    ]


def test_repeating_a_case_keeps_what_changes_its_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cli.THIS_CHECKOUT.root)
    words = ["run", "own.yaml", "--assign", "0=reference", "--timeout-scale", "2", "--jobs", "1"]
    repeat = cli.repeat(cli.THIS_CHECKOUT, parser().parse_args(words))
    assert repeat == [
        *("./launcher/tdconf", "run", "own.yaml"),
        *("--assign", "0=reference", "--timeout-scale", "2.0"),
    ]


def test_repeating_a_case_works_from_the_folder_where_it_ran(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(cli.THIS_CHECKOUT.root / "launcher" / "tests")
    assert cli.repeat(cli.THIS_CHECKOUT, parser().parse_args(["run"])) == ["../tdconf", "run"]
