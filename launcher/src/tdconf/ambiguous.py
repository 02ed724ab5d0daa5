# SPDX-License-Identifier: BSD-3-Clause
"""What the text leaves open, and what each implementation answers."""

from collections.abc import Mapping, Sequence

from tdconf.described import Case
from tdconf.registry import Clause
from tdconf.results import Line
from tdconf.story import told_steps

_NOTHING_ASKED = ("make",)


def report(
    clauses: Sequence[Clause], cases: Sequence[Case], found: Mapping[str, Sequence[Line]]
) -> str:
    """Lays out, for each open clause, its question and the answers of each implementation.

    `cases` are those that observe them, `found` holds the traced results by implementation.
    """
    return "\n\n".join("\n".join(_clause(clause, cases, found)) for clause in clauses)


def _clause(
    clause: Clause, cases: Sequence[Case], found: Mapping[str, Sequence[Line]]
) -> list[str]:
    lines = [
        f"{clause.id}  ({clause.source})",
        f"  says      {clause.says}",
        f"  question  {(clause.question or 'none is written down').strip()}",
    ]
    ours = [case for case in cases if clause.id in case["clauses"]]
    if not ours:
        return [*lines, "  no case observes it"]
    for case in ours:
        lines.append(f"  {case['name']}: {case['says']}")
        for implementation, results in found.items():
            lines += _answers(implementation, case, results)
    return lines


def _answers(implementation: str, case: Case, results: Sequence[Line]) -> list[str]:
    answers: list[str] = []
    for result in results:
        if result["case"] == case["name"]:
            answers += told_steps(case, result, leave_out=_NOTHING_ASKED, rank_by_rank=True)
            if result["verdict"] not in ("pass", "fail"):
                answers.append(f"{result['verdict']}: {result['signature']}")
    label = f"    {implementation:<11} "
    first, *others = answers or ["no answer"]
    return [f"{label}{first}", *(f"{' ' * len(label)}{text}" for text in others)]
