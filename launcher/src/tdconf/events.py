# SPDX-License-Identifier: BSD-3-Clause
"""Reads the events of a traced case, and finds out which leaf each message was."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tdconf.described import (
    DEFAULT_GROUP,
    Case,
    Step,
    Tree,
    document_step,
    dotted,
    group_ranks,
    leaves,
)
from tdconf.elements import item_bytes
from tdconf.programs import source_of
from tdconf.results import Line
from tdconf.spacetime import LOCAL, Event

_STORAGE = "consolidated storage"
_DESCRIBED = ("the size of the metadata", "the metadata", _STORAGE)
# What these operations send, in this order.
_CONTENTS = {
    "init_remote": _DESCRIBED,
    "from_remote_init": _DESCRIBED,
    "broadcast": _DESCRIBED,
    "all_gather": _DESCRIBED,
    "scatter": (
        "the size of the largest metadata",
        "the metadata",
        "the size of the metadata",
        _STORAGE,
    ),
}
# Calls whose own tensor is a leaf.
_OF_LEAVES = ("send", "recv", "reduce", "all_reduce")
_MOST_NAMED = 3


@dataclass(frozen=True)
class _Leaf:
    """What is known of one leaf of a value: enough to tell its message from others."""

    value: str
    key: str
    nbytes: int
    shape: tuple[int, ...]
    digest: str | None


def events(case: Case, result: Line) -> list[Event]:
    """Returns what all ranks did, each rank's in its own order.

    A rank whose player reports no transcript is seen through its own steps, if it is the probe.
    """
    found: list[Event] = []
    for record in result["ranks"]:
        rank = record["rank"]
        released = record.get("released") or []
        reported = record.get("transcript")
        if reported is not None:
            found += _reported(case, record, reported)
        elif case["roles"].get(str(rank)) == "probe":
            found += _of_probe(case, rank, len(released), record.get("answers") or [], released)
    return found


def silent_ranks(case: Case, result: Line) -> list[int]:
    """Returns the ranks of which nothing on the wire is known."""
    return [
        record["rank"]
        for record in result["ranks"]
        if record.get("transcript") is None and str(record["rank"]) not in case["roles"]
    ]


def _reported(case: Case, record: Line, reported: Sequence[Line]) -> Iterator[Event]:
    rank = record["rank"]
    released = record.get("released") or []
    known = list(_leaves_made(case, rank, record.get("answers") or []))
    places: Counter[int | None] = Counter()
    for line in reported:
        number = line.get("step")
        step = None if number is None else number - 1
        event = Event(
            rank=rank,
            kind=line["event"],
            group=line.get("group", ""),
            peer=line.get("peer"),
            tag=line.get("tag"),
            dtype=line.get("dtype", ""),
            shape=tuple(line.get("shape", ())),
            nbytes=line["bytes"],
            done=line.get("done", True),
            step=step,
            since=released[step] if step is not None and step < len(released) else -1,
        )
        key = _key(case, event, line.get("sha256"), known, places[step])
        places[step] += event.kind not in LOCAL
        yield Event(**(vars(event) | {"key": key}))


def _of_probe(
    case: Case, rank: int, steps: int, answers: Sequence[Line], released: Sequence[int]
) -> Iterator[Event]:
    """The steps of a probe say what it does at the boundary of c10d."""
    for index, step in enumerate(case["programs"][rank][:steps]):
        kind = step["op"].removeprefix("c10d_").removeprefix("i")
        if kind not in ("send", "recv"):
            continue
        group = step["args"].get("group", DEFAULT_GROUP)
        written = document_step(case, rank, index).get(step["op"], {})
        tensor = step["args"]["tensor"]
        yield Event(
            rank=rank,
            kind=kind,
            group=group,
            peer=group_ranks(case)[group][step["args"]["dst" if kind == "send" else "src"]],
            tag=step["args"]["tag"],
            dtype=tensor["dtype"],
            shape=tuple(tensor["shape"]),
            nbytes=_nbytes(tensor),
            done=_is_done(case["programs"][rank], index, answers),
            step=index,
            key=source_of(written),
            since=released[index],
        )


def _is_done(program: Sequence[Step], index: int, answers: Sequence[Line]) -> bool:
    """Says whether a step of the probe, or the one that waits for its works, has returned."""
    name = program[index]["as"]
    waits = [
        later
        for later, step in enumerate(program)
        if name is not None and step["args"].get("works") == name
    ]
    needed = waits[0] if program[index]["op"].startswith("c10d_i") and waits else index
    return needed < len(answers) and answers[needed].get("type") == "returned"


def _nbytes(tensor: Tree) -> int:
    count = item_bytes(tensor["dtype"])
    for size in tensor["shape"]:
        count *= size
    return count


def _leaves_made(case: Case, rank: int, answers: Sequence[Line]) -> Iterator[_Leaf]:
    """Lists the leaves of the values that `rank` made, from the snapshots that it answered."""
    for step, answer in zip(case["programs"][rank], answers, strict=False):
        value = answer.get("value") or {}
        if value.get("kind") != "snapshot":
            continue
        name = step["as"] or step["args"].get("name") or step["args"]["td"]
        yield from _leaves_of(name, value["snapshot"])


def _leaves_of(name: str, snapshot: Tree) -> Iterator[_Leaf]:
    for path, leaf in leaves(snapshot):
        digest = _digest(leaf)
        yield _Leaf(name, dotted(path), _nbytes(leaf), tuple(leaf["shape"]), digest)
    storage = snapshot.get("consolidated")
    if storage:
        yield _Leaf(name, _STORAGE, storage["nbytes"], (storage["nbytes"],), _digest(storage))


def _digest(described: Mapping[str, Any]) -> str | None:
    if "bytes" in described:
        return hashlib.sha256(bytes.fromhex(described["bytes"])).hexdigest()
    return described.get("sha256")


def _caller(program: Sequence[Step], index: int) -> Step:
    """Returns the step itself; of one that waits, the one that made the works."""
    works = program[index]["args"].get("works")
    makers = (step for step in program[:index] if works is not None and step["as"] == works)
    return next(makers, program[index])


def _key(
    case: Case, event: Event, digest: str | None, known: Sequence[_Leaf], place: int
) -> str | None:
    """Names the leaf whose elements an event carried: by content, else by size where one fits.

    `place` counts the calls of the step before this one.
    """
    step = None if event.step is None else _caller(case["programs"][event.rank], event.step)
    if step is not None and event.kind not in LOCAL and step["op"] in _CONTENTS:
        contents = _CONTENTS[step["op"]]
        return contents[place] if place < len(contents) else None
    if event.kind not in _OF_LEAVES:
        return None
    args = {} if step is None else step["args"]
    if args.get("consolidated"):
        return _STORAGE
    ours = [leaf for leaf in known if leaf.value == args.get("td")]
    if digest is not None:
        fitting = [leaf for leaf in ours if leaf.digest == digest and leaf.nbytes == event.nbytes]
    else:
        fitting = [leaf for leaf in ours if leaf.shape == event.shape]
        fitting = [leaf for leaf in fitting if leaf.nbytes == event.nbytes]
    keys = list(Counter(leaf.key for leaf in fitting))
    if not keys or len(keys) > _MOST_NAMED:
        return None
    return " or ".join(keys)
