# SPDX-License-Identifier: BSD-3-Clause
"""The matrix of interoperability: each method, and how two implementations share the ranks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tdconf import results
from tdconf.described import Case
from tdconf.display import columns
from tdconf.exits import Exit
from tdconf.mixing import METHODS, methods, players, why_alone
from tdconf.patterns import matches
from tdconf.results import Line


@dataclass(frozen=True)
class Meeting:
    """A case as the two implementations played it: by ranks, `A B` or `B A B`."""

    case: Case
    shared: str
    result: Line
    #: Whether a known difference of either implementation covers the case.
    is_listed: bool

    @property
    def passed(self) -> bool:
        return self.result["verdict"] == "pass"

    @property
    def code(self) -> Exit:
        if self.passed or self.is_listed:
            return Exit.AS_EXPECTED
        column = results.column(self.result | {"expected": False})
        return Exit.UNEXPECTED if column == "unexpected" else Exit.NO_VERDICT


def meet(case: Case, result: Line, listed: Sequence[str]) -> Meeting:
    """Puts a result beside its case; `listed` are the patterns of the known differences of both."""
    shared = " ".join(result["assign"][str(rank)] for rank in players(case))
    known = any(matches(pattern, case["name"]) for pattern in listed)
    return Meeting(case, shared, result, known)


def matrix(meetings: Sequence[Meeting]) -> str:
    """Lays out passed of all cases, a row for each method and a column for each way to share."""
    ways = sorted({meeting.shared for meeting in meetings}, key=lambda c: (len(c.split()), c))
    used = [method for method in METHODS if any(method in methods(m.case) for m in meetings)]
    rows = [["method", *ways]]
    for method in used:
        ours = [meeting for meeting in meetings if method in methods(meeting.case)]
        rows.append([method, *(_cell([m for m in ours if m.shared == shared]) for shared in ways)])
    rows.append(["all", *(_cell([m for m in meetings if m.shared == shared]) for shared in ways)])
    return columns(rows)


def _cell(meetings: Sequence[Meeting]) -> str:
    if not meetings:
        return "-"
    listed = sum(not meeting.passed and meeting.is_listed for meeting in meetings)
    text = f"{sum(meeting.passed for meeting in meetings)}/{len(meetings)}"
    return f"{text} ({listed} listed)" if listed else text


def differing(meetings: Sequence[Meeting]) -> list[str]:
    """Names what did not pass, a block each, with the command that repeats it."""
    lines: list[str] = []
    for meeting in meetings:
        if meeting.passed:
            continue
        word = "listed" if meeting.is_listed else meeting.result["verdict"]
        lines.append(f"{word}: {meeting.case['name']}  ({meeting.shared})")
        lines.append(f"  {meeting.result['verdict']}: {meeting.result['signature']}")
        if not meeting.is_listed:
            lines.append(f"  repeat: {meeting.result['repeat']}")
    return lines


def left_out(cases: Sequence[Case]) -> list[str]:
    """Counts the cases in which no two can meet, a line for each reason."""
    reasons = Counter(reason for case in cases if (reason := why_alone(case)) is not None)
    return [
        f"{count} of {len(cases)} left out: {reason}" for reason, count in reasons.most_common()
    ]
