# SPDX-License-Identifier: BSD-3-Clause
"""What can be typed: the commands, their options, and an example of each."""

import argparse
from pathlib import Path

from tdconf import explain, testing
from tdconf.bench.arguments import add_bench
from tdconf.implementations import DEFAULT_NAMES

_LARGEST_SCALE = 1e6


def parser() -> argparse.ArgumentParser:
    """Returns the parser of every command."""
    top = argparse.ArgumentParser(
        prog="tdconf",
        description="Judges implementations of TensorDict's distributed API.",
        epilog="example: ./launcher/tdconf run",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    judge = _command(
        commands,
        "run",
        "set up and build what is missing, then judge implementations",
        "./launcher/tdconf run --impl tensordict --run 'p2p/**' --level must",
    )
    _add_selection(judge)
    _add_implementations(judge, "judge")
    judge.add_argument(
        "--assign", metavar="0=A,1=B", help="let these implementations play these ranks"
    )
    _add_pace(judge, 1.0)
    _add_no_build(judge)
    judge.add_argument(
        "--expectations",
        metavar="FILE|none",
        help="known differences; default: those of the implementation",
    )
    judge.add_argument("--out", type=Path, metavar="DIR", help="default: tdconf-out/TIME")
    judge.add_argument(
        "--fail-fast", action="store_true", help="stop at the first unexpected verdict"
    )
    judge.add_argument("-v", "--verbose", action="store_true", help="show expected differences too")

    ask = _command(
        commands,
        "explain",
        "say what a case or a clause means, and show what implementations do about it",
        "./launcher/tdconf explain send.tags --impl reference",
    )
    ask.add_argument(
        "target",
        metavar="CASE|CLAUSE|FILE.yaml|-",
        help="a case (its name, its id or a pattern), a clause, or cases of your own; "
        "- reads them from standard input",
    )
    _add_implementations(ask, "show")
    ask.add_argument("--all", action="store_true", help="every case that is meant, not the first")
    ask.add_argument(
        "--svg", type=Path, metavar="FILE", help="draw the diagram; one file for each there is"
    )
    ask.add_argument(
        "--script",
        type=_folder,
        metavar="DIR",
        help="write each case as programs that need no judge: in Python, and in C++ for tdref",
    )
    _add_pace(ask, explain.TIMEOUT_SCALE)
    _add_no_build(ask)

    sentences = _command(
        commands,
        "clauses",
        "count the cases of each clause; a must-clause without evidence is a finding",
        "./launcher/tdconf clauses --clause 'send.**'",
    )
    sentences.add_argument(
        "--clause",
        action="append",
        metavar="PATTERN",
        help="only clauses whose id matches (* one component between dots, ** any)",
    )
    sentences.add_argument(
        "--ambiguous",
        action="store_true",
        help="ask implementations what the text leaves open, and print what each does",
    )
    sentences.add_argument(
        "--matrix",
        action="store_true",
        help="count the cases of each method with each kind; an empty cell is a finding",
    )
    _add_implementations(sentences, "with --ambiguous: ask")
    _add_pace(sentences, 1.0)
    _add_no_build(sentences)

    mixed = _command(
        commands,
        "interop",
        "let two implementations share the ranks of each case, both ways round",
        "./launcher/tdconf interop --run 'p2p/tags/**'",
    )
    _add_selection(mixed)
    _add_implementations(mixed, "one of the two is")
    _add_pace(mixed, 1.0)
    _add_no_build(mixed)
    mixed.add_argument("--out", type=Path, metavar="DIR", help="default: tdconf-out/TIME")

    tests = _command(
        commands,
        "test",
        "run lint, the C++ and Python tests, and the built-in implementations",
        "./launcher/tdconf test --only python -- -k results",
    )
    tests.add_argument(
        "--only",
        action="append",
        choices=testing.PART_NAMES,
        metavar="PART",
        help=f"only this part (may be repeated): {', '.join(testing.PART_NAMES)}; "
        "tidy runs only if named; with one part, arguments after -- go to its program",
    )

    add_bench(commands, _command, _add_no_build)

    cases = _command(
        commands,
        "list",
        "print one expanded case a line",
        "./launcher/tdconf list --clause send.tags",
    )
    _add_selection(cases)
    _add_no_build(cases)

    _command(
        commands, "doctor", "say what was found and what is missing", "./launcher/tdconf doctor"
    )
    return top


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    purpose: str,
    example: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=purpose,
        description=f"{purpose[0].upper()}{purpose[1:]}.",
        epilog=f"example: {example}",
    )
    command.add_argument(
        "--python",
        type=Path,
        metavar="PATH",
        help="use the environment of this Python, which has torch and tensordict, instead of .venv",
    )
    return command


def _add_no_build(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--no-build",
        action="store_true",
        help="take the programs as they were built last, though their sources have changed since",
    )


def _add_implementations(command: argparse.ArgumentParser, verb: str) -> None:
    command.add_argument(
        "--impl",
        action="append",
        metavar="NAME[=exec:CMD|=fork:CMD]",
        help=f"{verb} this one (may be repeated): a built-in name, or a name and how its adapter "
        f"starts; default: {' and '.join(DEFAULT_NAMES)}",
    )


def _add_pace(command: argparse.ArgumentParser, scale: float) -> None:
    command.add_argument(
        "--jobs", type=_positive, metavar="N", help="runners at once; default: the cores"
    )
    command.add_argument(
        "--timeout-scale",
        type=_scale,
        default=scale,
        metavar="X",
        help=f"multiply every deadline by X; default: {scale:g}",
    )


def _add_selection(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE.yaml",
        help="cases of your own instead of fixtures/; - reads them from standard input",
    )
    patterns = "cases whose name matches (* one component, ** any), or the patterns in a file"
    command.add_argument("--run", action="append", metavar="PATTERN|@FILE", help=f"only {patterns}")
    command.add_argument(
        "--skip", action="append", metavar="PATTERN|@FILE", help=f"without {patterns}"
    )
    command.add_argument(
        "--clause", action="append", metavar="ID", help="only evidence for this clause"
    )
    command.add_argument(
        "--level", action="append", metavar="LEVEL", help="only must, sound, compat or observe"
    )
    command.add_argument(
        "--axis", action="append", metavar="NAME=VALUE", help="only this value of an axis"
    )
    command.add_argument(
        "--shard", metavar="I/N", help="only part I (from 0) of N, for several machines"
    )


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("names no folder")
    return Path(text)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def _scale(text: str) -> float:
    number = float(text)
    # Deadlines are counted in nanoseconds of 64 bits.
    if not 0 < number <= _LARGEST_SCALE:
        raise argparse.ArgumentTypeError(
            f"{text} is not a positive number up to {_LARGEST_SCALE:.0f}"
        )
    return number
