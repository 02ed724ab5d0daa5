# SPDX-License-Identifier: BSD-3-Clause
"""Which cases are evidence for which clause, and which clause has too little of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tdconf.described import Case
from tdconf.display import columns
from tdconf.registry import Clause

LEVELS = ("must", "sound", "compat", "observe")


@dataclass(frozen=True)
class Evidence:
    """A clause with its cases by level: documents, and what they expand to."""

    clause: Clause
    documents: Mapping[str, int]
    expanded: Mapping[str, int]

    @property
    def lack(self) -> str | None:
        """Says what a must-clause lacks: a case, where it does not say why there is none.

        One with a question needs a case that asks it.
        """
        if self.clause.level != "must" or self.clause.reason or sum(self.expanded.values()):
            return None
        return "has no case"


def evidence(clauses: Sequence[Clause], cases: Sequence[Case]) -> list[Evidence]:
    """Counts for each of `clauses` the cases that name it."""
    return [_evidence(clause, cases) for clause in clauses]


def _evidence(clause: Clause, cases: Sequence[Case]) -> Evidence:
    ours = [case for case in cases if clause.id in case["clauses"]]
    documents = {(case["level"], case["id"]) for case in ours}
    return Evidence(
        clause,
        Counter(level for level, _ in documents),
        Counter(case["level"] for case in ours),
    )


def table(found: Sequence[Evidence], *, with_text: bool = False) -> str:
    """Lays out a row per clause: `documents/expanded cases` for each level, status, source.

    `with_text` puts under each row what the clause says, with its reason or its question.
    """
    head = ["clause", "level", *LEVELS, "status", "source"]
    first, *rows = columns([head, *(_row(entry) for entry in found)]).splitlines()
    lines = [first]
    for entry, row in zip(found, rows, strict=True):
        lines += [row, *(entry.clause.text if with_text else ())]
    return "\n".join(lines)


def _row(entry: Evidence) -> list[str]:
    counts = [
        f"{entry.documents[level]}/{entry.expanded[level]}" if entry.expanded[level] else "-"
        for level in LEVELS
    ]
    clause = entry.clause
    return [clause.id, clause.level, *counts, clause.status, clause.source]


def closing(found: Sequence[Evidence], cases: Sequence[Case]) -> str:
    """Counts the clauses by status, and the cases that are evidence for them."""
    status = Counter(entry.clause.status for entry in found)
    ids = {entry.clause.id for entry in found}
    ours = [case for case in cases if ids & set(case["clauses"])]
    lacking = sum(entry.lack is not None for entry in found)
    return (
        f"{len(found)} clauses: {status['tested']} tested, {status['untested']} untested, "
        f"{status['ambiguous']} ambiguous, {lacking} without evidence; "
        f"{len({case['id'] for case in ours})} documents, {len(ours)} cases"
    )
