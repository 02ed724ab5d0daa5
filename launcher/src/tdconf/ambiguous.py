# SPDX-License-Identifier: BSD-3-Clause
"""What the text leaves open, and what each implementation answers."""

import re
from collections.abc import Iterator, Mapping, Sequence

from tdconf.described import Case
from tdconf.registry import Clause
from tdconf.results import Line
from tdconf.story import Told, told_steps

_NOTHING_ASKED = ("make",)
# A case that came to these ends has said everything in its answers.
_ENDED = ("pass", "fail")
# What Python calls an error of libtorch that has no kind of its own.
_PLAIN_ERROR = ("c10::Error", "RuntimeError")
_ADDRESS = re.compile(r"0x[0-9a-f]+")


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
    lines = [f"{clause.id}  ({clause.source})", *clause.text]
    observing = [case for case in cases if clause.id in case["clauses"]]
    if not observing:
        return [*lines, "  no case observes it"]
    for case in observing:
        lines += _answers(case, found)
    return lines


def _answers(case: Case, found: Mapping[str, Sequence[Line]]) -> Iterator[str]:
    """Lays out what each implementation answers to one case, and where the answers differ."""
    yield f"  {case['name']}: {case['says']}"
    answers: list[list[Told]] = []
    for implementation, results in found.items():
        ours = [result for result in results if result["case"] == case["name"]]
        told = [step for r in ours for step in told_steps(case, r, leave_out=_NOTHING_ASKED)]
        lines = [line for step in told for line in step.lines]
        lines += [f"{r['verdict']}: {r['signature']}" for r in ours if r["verdict"] not in _ENDED]
        label = f"    {implementation:<11} "
        first, *others = lines or ["no answer"]
        yield f"{label}{first}"
        yield from (f"{' ' * len(label)}{text}" for text in others)
        answers.append(told)
    if len(answers) > 1 and all(answers):
        yield f"    {compared(answers)}"


def compared(answers: Sequence[Sequence[Told]]) -> str:
    """Says whether all answer alike: the same values, or errors of one category and name."""
    first, *others = [
        {(told.rank, told.number): _essence(told) for told in steps} for steps in answers
    ]
    places = sorted({place for steps in (first, *others) for place in steps})
    for place in places:
        if any(steps.get(place) != first.get(place) for steps in others):
            return f"they differ at rank {place[0]} step {place[1]}"
    return "alike"


def _essence(told: Told) -> object:
    if told.answer is not None and told.answer["type"] == "raised":
        return told.answer["category"], _name(told.answer["exception"])
    return [_ADDRESS.sub("0x", line) for line in told.lines]


def _name(exception: str) -> str:
    """Returns the name of an error as both languages spell it, without namespaces and modules."""
    cpp, python = _PLAIN_ERROR
    return python if exception == cpp else re.split(r"::|\.", exception)[-1]
