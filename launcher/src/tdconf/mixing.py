# SPDX-License-Identifier: BSD-3-Clause
"""Which ranks of a case two implementations play between them, and what that puts to the test."""

from collections import defaultdict
from collections.abc import Sequence

from tdconf.described import Case

_OPERATIONS = (
    "send",
    "isend",
    "recv",
    "irecv",
    "gather_and_stack",
    "init_remote",
    "from_remote_init",
    "broadcast",
    "scatter",
    "all_gather",
    "all_reduce",
    "reduce",
)
METHODS = (*_OPERATIONS, "consolidated", "pipe")


def players(case: Case) -> list[int]:
    """Returns the ranks that an implementation plays and that have something to do."""
    return [
        rank
        for rank, program in enumerate(case["programs"])
        if program and str(rank) not in case["roles"]
    ]


def why_alone(case: Case) -> str | None:
    """Says why two implementations cannot meet in `case`; nothing where they can."""
    if case["level"] == "sound":
        return "it is sound: what is on no page cannot be asked of one rank for the other"
    if case["level"] == "observe":
        return "it observes, so that nothing counts"
    if len(players(case)) < 2:
        return "a probe plays the other rank" if case["roles"] else "only one rank has steps"
    return (
        None if methods(case) else "no rank sends, receives or takes part in a collective operation"
    )


def methods(case: Case) -> list[str]:
    """Returns the operations that a case puts to the test, in the order of `METHODS`."""
    used = set()
    for rank in players(case):
        for step in case["programs"][rank]:
            if step["op"] in _OPERATIONS:
                used.add(step["op"])
            if step["args"].get("consolidated") or step["op"] == "consolidate":
                used.add("consolidated")
            if step["op"] in _OPERATIONS and "pipe" in step["args"]:
                used.add("pipe")
    return [method for method in METHODS if method in used]


def assignment(case: Case, pair: Sequence[str]) -> str:
    """Lets the two of `pair` take turns over the ranks of `case`, the first of them first.

    Where every other rank would leave one of them without anything to do, those that have something
    to do take turns.
    """
    turns = {rank: pair[rank % 2] for rank in range(case["world"])}
    active = players(case)
    if len({turns[rank] for rank in active}) < len(pair):
        turns |= {rank: pair[turn % 2] for turn, rank in enumerate(active)}
    turns = {rank: name for rank, name in turns.items() if str(rank) not in case["roles"]}
    return ",".join(f"{rank}={name}" for rank, name in turns.items())


def grouped(cases: Sequence[Case], pair: Sequence[str]) -> dict[str, list[str]]:
    """Puts the names of cases that one run can play together: assignment -> names.

    An assignment says nothing wrong about a case with fewer ranks, or whose roles take some.
    """
    wanted: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        wanted[assignment(case, pair)].append(case["name"])
    merged: dict[str, list[str]] = {}
    for text in sorted(wanted, key=len, reverse=True):
        ours = set(text.split(","))
        home = next((other for other in merged if ours <= set(other.split(","))), text)
        merged.setdefault(home, []).extend(wanted[text])
    return merged
