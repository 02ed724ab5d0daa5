# SPDX-License-Identifier: BSD-3-Clause
"""What an exit code says, and which one wins when several hold."""

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of every command."""

    AS_EXPECTED = 0
    UNEXPECTED = 1
    USAGE = 2
    OUT_OF_DATE = 3
    NO_VERDICT = 4
    SLOWER = 5
    INTERNAL = 70
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_MEANINGS = {
    Exit.AS_EXPECTED: "everything as expected",
    Exit.UNEXPECTED: "an unexpected failure, crash or hang",
    Exit.USAGE: "wrong usage, invalid input, or a selection that matches nothing",
    Exit.OUT_OF_DATE: "nothing worse than expectations that are out of date",
    Exit.NO_VERDICT: "no full verdict",
    Exit.SLOWER: "slower than before, or than a target allows",
    Exit.INTERNAL: "an internal error of the judge",
    Exit.INTERRUPTED: "interrupted",
}

# An interruption and wrong usage end a run at once; among verdicts, known-bad precedes unknown.
_PRECEDENCE = (
    Exit.INTERRUPTED,
    Exit.USAGE,
    Exit.INTERNAL,
    Exit.UNEXPECTED,
    Exit.SLOWER,
    Exit.NO_VERDICT,
    Exit.OUT_OF_DATE,
    Exit.AS_EXPECTED,
)


def worst(codes: Iterable[Exit]) -> Exit:
    """Returns the code that speaks for all of `codes`; without any, nothing was judged."""
    return min(codes, key=_PRECEDENCE.index, default=Exit.NO_VERDICT)


def from_status(status: int) -> Exit:
    """Reads the exit status of one runner; a signal or an unknown status is an internal error."""
    try:
        return Exit(status)
    except ValueError:
        return Exit.INTERNAL


class TdconfError(Exception):
    """Something the user has to know: a message and the exit code that it leads to."""

    def __init__(self, message: str, code: Exit = Exit.NO_VERDICT) -> None:
        super().__init__(message)
        self.code = code
