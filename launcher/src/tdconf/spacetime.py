# SPDX-License-Identifier: BSD-3-Clause
"""Lays what ranks did out as rows of a space-time diagram: pure, from events to rows.

Two events of one rank keep their order, and a message is sent before it is received. Where that
leaves a choice, what was released first stands first.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

LOCAL = ("pickle", "unpickle", "consolidate")


@dataclass(frozen=True)
class Event:
    """What one rank did: a call at the boundary of c10d, or work on its own.

    `key` names the leaf that travelled where it is known; `since` is the position, in the one order
    in which the judge saw everything, at which the step of the event was released.
    """

    rank: int
    kind: str
    group: str = ""
    peer: int | None = None
    tag: int | None = None
    dtype: str = ""
    shape: tuple[int, ...] = ()
    nbytes: int = 0
    done: bool = True
    step: int | None = None
    key: str | None = None
    since: int = 0

    @property
    def is_collective(self) -> bool:
        return self.kind not in ("send", "recv", *LOCAL)


@dataclass(frozen=True)
class Arrow:
    """A message that both ends know of."""

    sent: Event
    received: Event


@dataclass(frozen=True)
class Open:
    """A message of which only this end is known, or an end that stands apart from its arrow."""

    event: Event
    #: The other end, where it is drawn in another row, and whether that row is a later one.
    other: Event | None = None
    is_first: bool = False


@dataclass(frozen=True)
class Bar:
    """A collective: the calls of those ranks that came to it, in the order of ranks."""

    calls: tuple[Event, ...]
    #: How many ranks the group has.
    size: int


@dataclass(frozen=True)
class Note:
    """What a rank did on its own."""

    event: Event


Row = Arrow | Open | Bar | Note


def rows(events: Sequence[Event], groups: Mapping[str, Sequence[int]]) -> list[Row]:
    """Lays out `events`, those of one rank in the order in which they began.

    `groups` gives the global ranks of each group.
    """
    return list(_Layout(events, groups).rows())


class _Layout:
    def __init__(self, events: Sequence[Event], groups: Mapping[str, Sequence[int]]) -> None:
        self._groups = groups
        self._queues: dict[int, deque[int]] = defaultdict(deque)
        self._events = list(events)
        for index, event in enumerate(self._events):
            self._queues[event.rank].append(index)
        self._other = _ends_of_messages(self._events)
        self._together = _calls_of_collectives(self._events)
        #: Receives that were drawn before their message was sent.
        self._posted: set[int] = set()

    def rows(self) -> Iterator[Row]:
        while heads := [queue[0] for _, queue in sorted(self._queues.items()) if queue]:
            ready = [index for index in heads if self._is_ready(index)]
            if ready:
                yield self._drawn(min(ready, key=self._since))
            else:
                yield self._apart(heads)

    def _since(self, index: int) -> tuple[int, int]:
        event = self._events[index]
        return event.since, event.rank

    def _is_ready(self, index: int) -> bool:
        """Says whether everything that belongs into the row of `index` is next on its rank."""
        if self._events[index].is_collective:
            return all(self._is_next(call) for call in self._together[index])
        other = self._other.get(index)
        return other is None or other in self._posted or self._is_next(other)

    def _is_next(self, index: int) -> bool:
        queue = self._queues[self._events[index].rank]
        return bool(queue) and queue[0] == index

    def _drawn(self, index: int) -> Row:
        event = self._events[index]
        if event.kind in LOCAL:
            self._take(index)
            return Note(event)
        if event.is_collective:
            return self._bar(self._together[index])
        self._take(index)
        other = self._other.get(index)
        if other is None:
            return Open(event)
        if other in self._posted:
            return self._arrived(event, self._events[other])
        self._take(other)
        return Arrow(*self._in_order(event, self._events[other]))

    def _arrived(self, event: Event, other: Event) -> Row:
        if event.kind == "recv":
            return Open(event, other)
        return Arrow(event, other)

    def _in_order(self, one: Event, other: Event) -> tuple[Event, Event]:
        return (one, other) if one.kind == "send" else (other, one)

    def _bar(self, calls: Sequence[int]) -> Bar:
        for call in calls:
            self._take(call)
        made = tuple(sorted((self._events[call] for call in calls), key=lambda event: event.rank))
        return Bar(made, len(self._groups.get(made[0].group, made)))

    def _apart(self, heads: Sequence[int]) -> Row:
        """Draws one end by itself: the messages cross, and no row can hold both ends of any."""
        order = {"send": 0, "recv": 1}
        index = min(heads, key=lambda head: (order.get(self._events[head].kind, 2), head))
        event = self._events[index]
        if event.is_collective:
            ours = [call for call in self._together[index] if self._is_next(call)]
            for call in self._together[index]:
                rest = [other for other in self._together[call] if other not in ours]
                self._together[call] = ours if call in ours else rest
            return self._bar(ours)
        self._take(index)
        self._posted.add(index)
        return Open(event, self._events[self._other[index]], is_first=True)

    def _take(self, index: int) -> None:
        self._queues[self._events[index].rank].popleft()


def _ends_of_messages(events: Sequence[Event]) -> dict[int, int]:
    """Pairs the n-th send under a tag from one rank to another with the n-th receive of it."""
    ends: dict[tuple[object, ...], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for index, event in enumerate(events):
        if event.kind == "send":
            ends[event.group, event.tag, event.rank, event.peer][0].append(index)
        elif event.kind == "recv":
            ends[event.group, event.tag, event.peer, event.rank][1].append(index)
    pairs = [pair for sends, receives in ends.values() for pair in zip(sends, receives)]  # noqa: B905
    return dict(pairs) | {receive: send for send, receive in pairs}


def _calls_of_collectives(events: Sequence[Event]) -> dict[int, list[int]]:
    """Puts the n-th calls in a group together, where they are calls of the same collective."""
    nth: dict[tuple[int, str], int] = defaultdict(int)
    meetings: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index, event in enumerate(events):
        if event.is_collective:
            meetings[event.group, nth[event.rank, event.group], event.kind].append(index)
            nth[event.rank, event.group] += 1
    return {call: calls for calls in meetings.values() for call in calls}
