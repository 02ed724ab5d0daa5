# SPDX-License-Identifier: BSD-3-Clause
"""What a run shows: progress while it lasts, a block for each failure, and one table."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tdconf.exits import Exit
from tdconf.results import COLUMNS, Line, Outcome, is_as_expected

_SECONDS_BETWEEN_LINES = 5.0
_FINDINGS_SHOWN = 5
_LETTERS_SHOWN = 2000


def say(line: str) -> None:
    """Prints a line about the launcher's own work, apart from the results."""
    print(f"tdconf: {line}", file=sys.stderr, flush=True)


def open_closed_streams() -> None:
    """Gives a standard stream that the caller has closed the null device to go to.

    The next file to be opened would take its place, and get what a child prints.
    """
    while (null := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(null, True)
    os.close(null)
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            stream = open(descriptor, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def plain(text: str) -> str:
    """Makes what an implementation said fit to be shown: nothing that steers, nothing endless."""
    lines = [
        "".join(letter if letter.isprintable() else _escaped(letter) for letter in line)
        for line in text.split("\n")
    ]
    return "\n".join(
        line
        if len(line) <= _LETTERS_SHOWN
        else f"{line[:_LETTERS_SHOWN]}... and {len(line) - _LETTERS_SHOWN} more, in results.jsonl"
        for line in lines
    )


def _escaped(letter: str) -> str:
    return letter if letter == "\t" else letter.encode("unicode_escape").decode()


class Progress(Protocol):
    """Shows how far each implementation is."""

    def update(self, name: str, done: int, total: int) -> None: ...

    def show(self, text: str) -> None: ...

    def close(self) -> None: ...


class PlainProgress:
    """Prints a line for each implementation every 5 s, where no terminal is."""

    def __init__(self) -> None:
        self._state: dict[str, tuple[int, int]] = {}
        self._said_at = time.monotonic()

    def update(self, name: str, done: int, total: int) -> None:
        self._state[name] = (done, total)
        if time.monotonic() - self._said_at >= _SECONDS_BETWEEN_LINES:
            self._said_at = time.monotonic()
            say(
                ", ".join(
                    f"{name} {done} of {total}" for name, (done, total) in self._state.items()
                )
            )

    def show(self, text: str) -> None:
        print(text, flush=True)

    def close(self) -> None:
        pass


class BarProgress:
    """Draws a bar for each implementation, with rich."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._bars = Bars(*columns, console=Console(), transient=True)
        self._tasks: dict[str, int] = {}
        self._bars.start()

    def update(self, name: str, done: int, total: int) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name)
        self._bars.update(self._tasks[name], completed=done, total=total or None)

    def show(self, text: str) -> None:
        self._bars.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        self._bars.stop()


def progress() -> Progress:
    """Returns bars for a terminal, if rich is there to draw them, else plain lines."""
    if not sys.stdout.isatty():
        return PlainProgress()
    try:
        return BarProgress()
    except ImportError:
        return PlainProgress()


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Lays out rows of cells, all of one length, in columns that begin below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def block(case: Line, *, with_stacks: bool) -> str:
    """Lays out what is known of one case that did not simply pass."""
    stacks = case["stacks"].items() if with_stacks else ()
    findings = [finding["text"] for finding in case["findings"]] or [case["signature"]]
    more = len(findings) - _FINDINGS_SHOWN
    rows = [
        ("clauses", f"{', '.join(case['clauses'])} ({case['level']})"),
        *(("found", text) for text in findings[:_FINDINGS_SHOWN]),
        *([("found", f"and {more} more, in results.jsonl")] if more > 0 else []),
        *((f"rank {rank}", text) for rank, text in stacks),
        ("listed", _listed(case["listed"])),
        ("repeat", case["repeat"]),
    ]
    indent = "\n" + " " * 11
    lines = [f"  {label:<8} {text.rstrip()}".replace("\n", indent) for label, text in rows]
    attention = "" if is_as_expected(case) else ", not expected"
    head = f"{case['verdict'].upper()}{attention}: {case['impl']}: {case['case']}"
    return plain("\n".join([head, *lines]))


def _listed(entry: Line | None) -> str:
    return "no" if entry is None else f"{entry['status']} as {entry['match']}: {entry['reason']}"


def table(outcomes: Sequence[Outcome]) -> str:
    """Lays out a row per implementation; what stands between `cases` and `time` adds up."""
    rows = [["implementation", "cases", *COLUMNS, "time"]]
    for outcome in outcomes:
        counts = outcome.counts
        rows.append(
            [
                outcome.name,
                str(len(outcome.cases)),
                *(str(counts[name]) for name in COLUMNS),
                f"{outcome.seconds:.1f} s",
            ]
        )
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    )


def closing(code: Exit, out: Path) -> str:
    """Says what the exit code means and where the results are."""
    return f"tdconf: exit {int(code)}, {code.meaning}; results in {out}"
