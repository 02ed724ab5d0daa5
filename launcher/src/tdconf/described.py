# SPDX-License-Identifier: BSD-3-Clause
"""Cases as the runner describes them: every axis chosen, every value known, a program per rank."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypedDict

from tdconf.exits import Exit, TdconfError, from_status
from tdconf.layout import Layout
from tdconf.run import Selection, read

Tree = dict[str, Any]

DEFAULT_GROUP = "default"
# The order in which people and option structs name what a step is given.
ARGUMENTS = (
    "td",
    "works",
    "tensor",
    "dst",
    "src",
    "tensordicts",
    "pipe",
    "peer",
    "listen",
    "op",
    "group",
    "group_dst",
    "group_src",
    "return_premature",
    "tag",
    "init_tag",
    "pseudo_rand",
    "return_early",
    "consolidated",
    "header",
    "async_op",
    "bucket_bytes",
    "device",
    "use_broadcast",
)


class Step(TypedDict("Step", {"as": str | None})):
    """One step of a rank; `after` and `blocks` name others as (rank, index from 0)."""

    op: str
    args: dict[str, Any]
    label: str | None
    after: list[list[int]]
    blocks: list[int] | None
    expect: dict[str, Any] | None
    #: The value that the step must show: what `equals`, `unchanged` and bare receipts stand for.
    equals: Tree | None


class Group(TypedDict):
    name: str
    kind: str
    backend: str
    ranks: list[int]


class Case(TypedDict):
    """An expanded case; `document` is what was written, after substitution."""

    name: str
    id: str
    axes: dict[str, Any]
    clauses: list[str]
    level: str
    says: str
    broken_by: str | None
    notes: str | None
    world: int
    groups: list[Group]
    roles: dict[str, str]
    deadline_s: float
    slow: str | None
    file: str
    line: int
    document: dict[str, Any]
    programs: list[list[Step]]
    messages: list[dict[str, Any]] | None
    transcript: dict[str, Any] | None


def describe(layout: Layout, selection: Selection) -> list[Case]:
    """Lets the runner describe the selected cases, in its order."""
    ended = read([str(layout.runner), *selection.arguments(layout), "--describe"], subprocess.PIPE)
    if ended.returncode != 0:
        # What is wrong, the runner has said on stderr.
        sys.stdout.write(ended.stdout.decode(errors="replace"))
        raise TdconfError("the cases cannot be described", from_status(ended.returncode))
    try:
        return [json.loads(line) for line in ended.stdout.splitlines()]
    except ValueError as problem:
        raise TdconfError(f"the runner described no cases: {problem}", Exit.INTERNAL) from problem


def document_step(case: Case, rank: int, index: int) -> dict[str, Any]:
    """Returns the step as its author wrote it, which names leaves where the protocol has bytes."""
    ranks = case["document"].get("ranks", {})
    program = ranks.get(str(rank), ranks.get("*", []))
    return program[index] if index < len(program) else {}


def waits_of(case: Case, rank: int, index: int) -> list[str]:
    """Names what a step waits for: others done, or one begun that must not be done before."""
    waits = [f"{other}.{number + 1}" for other, number in case["programs"][rank][index]["after"]]
    for other, program in enumerate(case["programs"]):
        for number, blocked in enumerate(program):
            if blocked["blocks"] == [rank, index]:
                waits.append(f"{other}.{number + 1} begun")
    return waits


def outcomes_of(case: Case, step: Step) -> list[str]:
    """Names what may come of a step: `return`, `raise`, or both where nothing counts."""
    if case["level"] == "observe":
        return ["return", "raise"]
    return ["raise"] if "raises" in (step["expect"] or {}) else ["return"]


def status_of_script(case: Case, values: str) -> str:
    """Says what the exit status of a program of the case means; `values`, what it compares."""
    if case["level"] == "observe":
        return "The status is 0 whatever the steps do, unless a rank hangs."
    return (
        "The status is 0 when the steps that must raise do so and the others return; "
        f"of values {values}."
    )


def group_ranks(case: Case) -> dict[str, list[int]]:
    """Returns the global ranks of each group by its name."""
    return {group["name"]: group["ranks"] for group in case["groups"]}


def leaves(tree: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Tree]]:
    """Yields the tensors of a tree with their keys, in insertion order; members go by number."""
    if tree["kind"] == "tensor":
        yield path, tree
    for key, below in children(tree):
        yield from leaves(below, (*path, key))


def children(tree: Tree) -> Iterator[tuple[str, Tree]]:
    """Yields what a tree holds directly, in insertion order; members go by number."""
    yield from tree.get("entries", ())
    for number, member in enumerate(tree.get("members", ())):
        yield str(number), member


def numbered(name: str, program: Sequence[Step]) -> tuple[str, int] | None:
    """Splits the name of one of several tensordicts that a step of `program` made: `all.1`."""
    made, _, number = name.rpartition(".")
    is_made = any(step["op"] == "all_gather" and step["as"] == made for step in program)
    return (made, int(number)) if is_made and number.isdecimal() else None


def fill_call(fill: dict[str, Any]) -> tuple[str, list[Any]]:
    """Names the helper of the scripts that fills a tensor, and what it takes beside the tensor."""
    match fill:
        case {"ramp": {"start": start, "step": by}}:
            return "ramp", [start, by]
        case {"const": constant}:
            return "const", [constant]
        case {"bits": pattern}:
            return "bits", [pattern]
        case {"scramble": seed}:
            return "scramble", [seed]
    raise ValueError(f"no such fill: {fill}")


def identifier(name: str | None, is_taken: Callable[[str], bool]) -> str:
    """Returns the variable of a script that holds what a step keeps under `name`."""
    clean = re.sub(r"\W", "_", name or "kept")
    if clean[0].isdigit():
        clean = f"v{clean}"
    return f"{clean}_value" if is_taken(clean) else clean


def dotted(path: tuple[str, ...]) -> str:
    return ".".join(path)
