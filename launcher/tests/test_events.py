# SPDX-License-Identifier: BSD-3-Clause
"""From a traced result to events: whose they are, and which leaf travelled."""

import hashlib
import struct
from typing import Any

from tdconf.described import Case, Tree
from tdconf.events import events, silent_ranks

from .scripted_cases import INIT, PROBE_SENDS, TAGS, case, make, step, td, tensor

Line = dict[str, Any]
TWINS = td(
    {"a": tensor("int64", [1], 7), "b": tensor("int64", [1], 7), "c": tensor("int32", [3], 1)}
)


def snapshot(tree: Tree, values: dict[str, list[int]]) -> Line:
    """What `make` answers for a flat tensordict of integers."""
    entries = []
    for key, leaf in tree["entries"]:
        code = {"int64": "q", "int32": "i"}[leaf["dtype"]]
        data = struct.pack(f"<{len(values[key])}{code}", *values[key])
        entries.append([key, leaf | {"bytes": data.hex(), "layout": "strided"}])
    shown = tree | {"entries": entries, "consolidated": None}
    return {"type": "returned", "value": {"kind": "snapshot", "snapshot": shown}}


def reported(event: str, tag: int, data: bytes | None, **more: object) -> Line:
    digest = None if data is None else hashlib.sha256(data).hexdigest()
    line = {"event": event, "group": "default", "peer": 1, "tag": tag, "dtype": "int64"}
    return line | {"shape": [1], "bytes": 8, "sha256": digest, "done": True, "step": 2} | more


def result(*ranks: Line) -> Line:
    return {"ranks": [{"rank": rank, **record} for rank, record in enumerate(ranks)]}


MADE = {"a": [1], "b": [2], "c": [3, 4, 5]}
SENDING = case("sending", [make("src", TWINS), step("send", td="src", dst=1)], [])


def keys(
    transcript: list[Line], values: dict[str, list[int]], of: Case = SENDING
) -> list[str | None]:
    record = {
        "answers": [snapshot(TWINS, values)],
        "released": [0, 2],
        "answered": [1],
        "transcript": transcript,
    }
    return [event.key for event in events(of, result(record, {"transcript": []}))]


def test_a_message_is_the_leaf_that_has_its_bytes() -> None:
    sent = [reported("send", 0, struct.pack("<q", n)) for n in (2, 1)]
    assert keys(sent, MADE) == ["b", "a"]


def test_a_reduction_is_of_the_leaf_that_has_its_bytes() -> None:
    reduced = [reported("all_reduce", 0, struct.pack("<q", n), peer=None) for n in (2, 1, 9)]
    assert keys(reduced, MADE) == ["b", "a", None]


def test_what_a_broadcast_or_a_scatter_carries_has_a_name() -> None:
    for op, names in {
        "broadcast": ["the size of the metadata", "the metadata", "consolidated storage", None],
        "scatter": [
            "the size of the largest metadata",
            "the metadata",
            "the size of the metadata",
            "consolidated storage",
        ],
    }.items():
        made = case(op, [make("src", TWINS), step(op, td="src", src=0, kept="got")], [])
        assert keys([reported(op, 0, None)] * 4, MADE, made) == names


def test_equal_leaves_are_both_named() -> None:
    assert keys([reported("send", 0, struct.pack("<q", 7))], MADE | {"a": [7], "b": [7]}) == [
        "a or b"
    ]


def test_bytes_that_no_leaf_has_are_no_key() -> None:
    assert keys([reported("send", 0, struct.pack("<q", 99))], MADE) == [None]


def test_a_pending_receive_is_the_leaf_that_alone_has_its_shape() -> None:
    pending = {"done": False, "shape": [3], "bytes": 12, "dtype": "int32"}
    assert keys([reported("recv", 0, None, **pending)], MADE) == ["c"]


def test_one_message_for_all_leaves_is_the_storage() -> None:
    consolidated = case(
        "consolidated", [make("src", TWINS), step("send", td="src", dst=1, consolidated=True)], []
    )
    assert keys([reported("send", 0, b"anything", bytes=8)], MADE, consolidated) == [
        "consolidated storage"
    ]


def test_what_is_posted_while_somebody_waits_belongs_to_the_works() -> None:
    early = step("isend", kept="works", td="src", dst=1, return_early=True)
    waiting = case("waiting", [make("src", TWINS), early, step("wait", works="works")], [])
    sent = [reported("send", 0, struct.pack("<q", 2), step=3)]
    assert keys(sent, MADE, waiting) == ["b"]


def test_an_event_stands_where_its_step_was_released() -> None:
    record = {"answers": [], "released": [4, 9], "transcript": [reported("send", 3, None)]}
    (event,) = events(SENDING, result(record, {"transcript": []}))
    assert (event.since, event.step, event.tag, event.peer) == (9, 1, 3, 1)


def test_what_describes_a_tensordict_is_named_by_its_place_in_the_step() -> None:
    sent = [reported("send", 0, None, step=2) for _ in range(4)]
    record = {"answers": [], "released": [0, 1], "transcript": sent}
    seen = events(INIT, result(record, {"transcript": []}))
    assert [event.key for event in seen] == [
        "the size of the metadata",
        "the metadata",
        "consolidated storage",
        None,
    ]


def test_an_event_of_no_step_comes_first() -> None:
    record = {"answers": [], "released": [4], "transcript": [reported("send", 3, None, step=None)]}
    (event,) = events(SENDING, result(record, {"transcript": []}))
    assert event.since == -1


def test_a_probe_without_transcript_is_seen_through_its_steps() -> None:
    returned = {"type": "returned", "value": {"kind": "none"}}
    probe = {"transcript": None, "released": [0, 1, 2], "answers": [returned, returned]}
    document = {"ranks": {"1": [{"c10d_recv": {"leaf": "src@0", "key": ["a"]}}]}}
    seen = events(TAGS | {"document": document}, result({"transcript": []}, probe))
    assert [(e.kind, e.peer, e.tag, e.nbytes, e.done) for e in seen] == [
        ("recv", 0, 5, 16, True),
        ("recv", 0, 6, 8, True),
        ("recv", 0, 7, 24, False),
    ]
    assert [event.key for event in seen] == ["a of src@0", None, None]


def test_a_message_of_the_probe_is_done_when_it_was_waited_for() -> None:
    works = {"type": "returned", "value": {"kind": "works", "works": 1}}
    none = {"type": "returned", "value": {"kind": "none"}}
    roles = PROBE_SENDS | {"roles": {"0": "probe"}}
    for answers, done in (([works, none], [False, True]), ([works, none, none], [True, True])):
        probe = {"transcript": None, "released": [0, 1, 2], "answers": answers}
        seen = events(roles, result(probe, {"transcript": []}))
        assert [event.done for event in seen] == done


def test_ranks_without_transcript_are_named_but_for_the_probe() -> None:
    assert silent_ranks(TAGS, result({"transcript": None}, {"transcript": None})) == [0]
