# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what can be typed, and which part of the launcher answers."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tdconf import (
    build,
    clauses,
    doctor,
    environment,
    explain,
    interop,
    interruptions,
    preparing,
    processes,
    run,
    testing,
    typed,
)
from tdconf.arguments import parser
from tdconf.bench import command as bench
from tdconf.display import open_closed_streams, say
from tdconf.exits import Exit, TdconfError
from tdconf.implementations import (
    DEFAULT_NAMES,
    known,
    needed_packages,
    parse_assignment,
    require,
)
from tdconf.layout import THIS_CHECKOUT, Layout


def main(arguments: Sequence[str]) -> int:
    """Does what `arguments` ask for and returns the exit code."""
    open_closed_streams()
    options = parser().parse_args(_before_dashes(arguments))
    options.extra = _after_dashes(arguments)
    processes.adopt_orphans()
    interruptions.interrupt_on_signals()
    try:
        if options.extra and options.command != "test":
            raise TdconfError(f"{options.command} takes no arguments after --", Exit.USAGE)
        arguments = _without_stdin(options, arguments)
        return int(_COMMANDS[options.command](THIS_CHECKOUT, options, arguments))
    except TdconfError as problem:
        say(str(problem))
        return int(problem.code)
    except KeyboardInterrupt:
        say("interrupted")
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has had enough of it; nothing more can be said there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.INTERRUPTED)
    except OSError as problem:
        # A full disk or a folder that nobody may write to is no verdict on an implementation.
        say(str(problem))
        return int(Exit.NO_VERDICT)


def _without_stdin(options: argparse.Namespace, arguments: Sequence[str]) -> Sequence[str]:
    """Puts a file in the place of `-`: set-up starts the launcher again, input is read once."""
    files = getattr(options, "files", [])
    if Path(typed.STDIN) not in files and getattr(options, "target", None) != typed.STDIN:
        return arguments
    kept = typed.keep(THIS_CHECKOUT)
    options.files = [kept if path == Path(typed.STDIN) else path for path in files]
    options.target = str(kept)
    return [str(kept) if word == typed.STDIN else word for word in arguments]


def _before_dashes(arguments: Sequence[str]) -> Sequence[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _after_dashes(arguments: Sequence[str]) -> Sequence[str]:
    return arguments[arguments.index("--") + 1 :] if "--" in arguments else ()


def _run(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Exit:
    players = parse_assignment(options.assign) if options.assign is not None else {}
    if players:
        # As the runner reads it, which takes no spaces.
        options.assign = ",".join(f"{rank}={name}" for rank, name in players.items())
    # A mixed run judges the implementation that plays the lowest rank.
    named = options.impl or ([players[min(players)]] if players else DEFAULT_NAMES)
    _check_expectations(options.expectations)
    selected = preparing.selection(options)
    # Read once before anything is installed: a typing error should not cost minutes.
    python = preparing.judged_python(layout, options)
    everything, chosen = known(layout, python, named)
    for name in players.values():
        require(everything, name, f"--assign {options.assign}")
    if options.out is not None:
        options.out = Path(os.path.abspath(options.out))

    python = preparing.prepare(
        layout, options, arguments, needed_packages([*chosen, *players.values()])
    )
    everything, chosen = known(layout, python, named)
    preparing.build_targets(layout, options, python, build.JUDGE_TARGETS)
    return run.run(
        layout,
        run.Options(
            selection=selected,
            judged=[everything[name] for name in chosen],
            players=list(everything.values()),
            assign=options.assign,
            expectations=options.expectations or ("none" if options.files else None),
            repeat=preparing.repeat(layout, options),
            jobs=options.jobs or int(processes.cores()),
            out=options.out,
            python=python,
            timeout_scale=options.timeout_scale,
            fail_fast=options.fail_fast,
            verbose=options.verbose,
        ),
    )


def _check_expectations(given: str | None) -> None:
    """Refuses what several runners cannot read one after the other."""
    if given not in (None, "none") and not Path(given).is_file():
        raise TdconfError(
            f"--expectations {given}: is not a regular file; allowed: a file, or none", Exit.USAGE
        )


def _list(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Exit:
    selected = preparing.selection(options)
    python = preparing.prepare(layout, options, arguments, environment.LINKED_PACKAGES)
    preparing.build_targets(layout, options, python, build.JUDGE_TARGETS[:1])
    return run.list_cases(layout, selected)


def _test(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Exit:
    pinned = environment.pinned_versions(layout.ci / "requirements.txt")
    python = preparing.prepare(layout, options, arguments, tuple(pinned))
    names = [name for name in testing.PART_NAMES if name in (options.only or testing.USUAL_PARTS)]
    if names != ["lint"]:
        preparing.build_targets(layout, options, python, build.EVERYTHING)
    return testing.run_parts(layout, python, names, options.extra)


def _doctor(layout: Layout, options: argparse.Namespace, _arguments: Sequence[str]) -> Exit:
    text, code = doctor.report(doctor.examine(layout, options.python))
    print(text)
    return code


_COMMANDS = {
    "run": _run,
    "explain": explain.command,
    "clauses": clauses.command,
    "interop": interop.command,
    "bench": bench.command,
    "list": _list,
    "test": _test,
    "doctor": _doctor,
}
