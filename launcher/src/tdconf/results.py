# SPDX-License-Identifier: BSD-3-Clause
"""Reads what runners wrote, case by case, and puts the parts of one implementation together."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tdconf.exits import Exit, from_status, worst

Line = dict[str, Any]

INTERRUPTED = "interrupted"

COLUMNS = ("pass", "expected", "unexpected", "unsupported", "no verdict")
_COLUMN_OF_UNEXPECTED = {
    "unsupported": "unsupported",
    "error": "no verdict",
    "not_run": "no verdict",
}


def column(case: Line) -> str:
    """Returns the column of the table that counts `case`."""
    if case["expected"]:
        return "pass" if case["verdict"] == "pass" else "expected"
    return _COLUMN_OF_UNEXPECTED.get(case["verdict"], "unexpected")


def is_as_expected(case: Line) -> bool:
    """Says whether `case` needs nobody's attention."""
    return column(case) in ("pass", "expected")


@dataclass
class Part:
    """What one runner process has written so far, and how it ended, by itself or `stopped`."""

    path: Path
    header: Line | None = None
    cases: list[Line] = field(default_factory=list)
    footer: Line | None = None
    status: int | None = None
    stopped: str | None = None
    broken: list[str] = field(default_factory=list)
    _offset: int = 0

    @property
    def selected(self) -> int:
        return self.header["selected"] if self.header else 0

    def read_on(self) -> Iterator[Line]:
        """Reads the lines that were completed since the last call, and yields the new cases."""
        try:
            with self.path.open("rb") as source:
                source.seek(self._offset)
                text = source.read()
        except FileNotFoundError:
            return
        complete, _, _ = text.rpartition(b"\n")
        if not complete:
            return
        self._offset += len(complete) + 1
        for line in complete.split(b"\n"):
            yield from self._take(line)

    def _take(self, text: bytes) -> Iterator[Line]:
        try:
            line = json.loads(text)
            kind = line["type"]
        except (ValueError, TypeError, KeyError):
            self.broken.append(f"{self.path}: not a line of results: {text[:80]!r}")
            return
        if kind == "header":
            self.header = line
        elif kind == "case":
            self.cases.append(line)
            yield line
        elif kind == "footer":
            self.footer = line
        else:
            self.broken.append(f"{self.path}: a line of the unknown type {kind!r}")

    def problems(self) -> list[str]:
        """Says what keeps this part from being a full account, once the runner has ended."""
        if self.stopped is not None:
            return [f"{self.path}: {len(self.cases)} cases, then {self.stopped}"]
        found = list(self.broken)
        if self.path.exists() and self.path.stat().st_size > self._offset:
            found.append(f"{self.path}: the last line is cut off")
        if self.header is None:
            found.append(f"{self.path}: no header, the runner ended with {self.status}")
        elif len(self.cases) < self.selected:
            found.append(f"{self.path}: {len(self.cases)} cases of {self.selected} have a result")
        if self.footer is None:
            found.append(f"{self.path}: no footer, the runner ended with {self.status}")
            return found
        if self.footer["counts"] != dict(Counter(case["verdict"] for case in self.cases)):
            found.append(f"{self.path}: the footer counts other cases than the file holds")
        if self.footer["exit"] != self.status:
            found.append(
                f"{self.path}: the footer says exit {self.footer['exit']}, "
                f"the runner ended with {self.status}"
            )
        unexpected = sum(not is_as_expected(case) for case in self.cases)
        if self.status == 0 and unexpected:
            found.append(
                f"{self.path}: the runner ended with 0, {unexpected} cases are not as expected"
            )
        return found

    def code(self) -> Exit:
        """Returns how the runner ended, or an internal error where its file tells another story."""
        if self.stopped == INTERRUPTED:
            return Exit.INTERRUPTED
        if self.stopped is not None:
            seen = any(column(case) == "unexpected" for case in self.cases)
            return Exit.UNEXPECTED if seen else Exit.NO_VERDICT
        ended = Exit.INTERNAL if self.status is None else from_status(self.status)
        codes = [ended]
        if self.footer is not None and not self.footer["complete"]:
            codes.append(Exit.NO_VERDICT)
        if self.problems() and ended not in (Exit.USAGE, Exit.NO_VERDICT, Exit.INTERRUPTED):
            codes.append(Exit.INTERNAL)
        return worst(codes)


@dataclass(frozen=True)
class Outcome:
    """The verdict on one implementation.

    `problems` keep it from being a full account; `remarks` are what the runners found beside cases.
    """

    name: str
    cases: Sequence[Line]
    problems: Sequence[str]
    remarks: Sequence[str]
    code: Exit
    seconds: float

    @property
    def counts(self) -> dict[str, int]:
        counted = Counter(column(case) for case in self.cases)
        return {name: counted[name] for name in COLUMNS}


def merge(name: str, parts: Sequence[Part], seconds: float) -> Outcome:
    """Puts the parts of one implementation together; no two of them may hold the same case."""
    cases = sorted((case for part in parts for case in part.cases), key=lambda case: case["case"])
    problems = [problem for part in parts for problem in part.problems()]
    codes = [part.code() for part in parts]
    counted = Counter(case["case"] for case in cases)
    repeated = [case for case, count in counted.items() if count > 1]
    if repeated:
        problems.append(f"{name}: {len(repeated)} cases have more than one result: {repeated[0]}")
        codes.append(Exit.INTERNAL)
    remarks = [f"{name}: {text}" for text in _gathered(parts, "complaints")]
    for pattern in _gathered(parts, "stale"):
        remarks.append(f"{name}: the expectation of {pattern} matches no case any more")
    return Outcome(name, cases, problems, remarks, worst(codes), seconds)


def _gathered(parts: Sequence[Part], field_name: str) -> list[str]:
    footers = [part.footer for part in parts if part.footer is not None]
    return [text for footer in footers for text in footer[field_name]]


def write(outcome: Outcome, parts: Sequence[Part], path: Path) -> None:
    """Writes the results of one implementation as one file: a header, every case, a footer."""
    footers = [part.footer for part in parts if part.footer is not None]
    header = next((part.header for part in parts if part.header), {"type": "header"})
    header = header | {"selected": sum(part.selected for part in parts)}
    footer = {
        "type": "footer",
        "counts": dict(Counter(case["verdict"] for case in outcome.cases)),
        "complete": not outcome.problems and all(footer["complete"] for footer in footers),
        "exit": int(outcome.code),
        "stale": _gathered(parts, "stale"),
        "complaints": _gathered(parts, "complaints"),
        "adapters": {name: told for footer in footers for name, told in footer["adapters"].items()},
    }
    unfinished = path.with_suffix(".part")
    with unfinished.open("w", encoding="utf-8") as sink:
        for line in (header, *outcome.cases, footer):
            sink.write(json.dumps(line) + "\n")
    unfinished.replace(path)
