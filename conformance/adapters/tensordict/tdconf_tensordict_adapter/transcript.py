# SPDX-License-Identifier: BSD-3-Clause
"""What the implementation did since `join`, in the order in which it began."""

import threading
from dataclasses import dataclass

import torch.distributed as dist

from .decode import Json
from .messages import Join

Event = dict[str, Json]


@dataclass(frozen=True)
class NamedGroup:
    """A group as the case calls it; `ranks` are global, in the order of the ranks in the group."""

    group: dist.ProcessGroup
    name: str
    ranks: list[int]


class Transcript:
    """The events of one case. The control thread may read while an operation adds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._groups: dict[int, NamedGroup] = {}
        self._step: int | None = None

    def name_groups(self, groups: dict[str, dist.ProcessGroup], join: Join) -> None:
        """Holds the groups, so that nothing else gets their identity while the case runs."""
        for spec in join.groups:
            if (group := groups.get(spec.name)) is not None:
                # c10d sorts the ranks of a subgroup; a standalone group keeps the order given.
                ranks = spec.ranks if spec.kind == "standalone" else sorted(spec.ranks)
                self._groups[id(group)] = NamedGroup(group, spec.name, ranks)

    def forget_groups(self) -> None:
        """Lets go of the groups.

        A callback of a thread of gloo may hold the transcript longer than the case does, and a
        group whose last handle goes on a thread of its own ends the process.
        """
        self._groups.clear()

    def named(self, group: dist.ProcessGroup) -> NamedGroup | None:
        return self._groups.get(id(group))

    def enter_step(self, seq: int) -> None:
        """Events belong to this step from now on; those of groups being made belong to none."""
        self._step = seq

    @property
    def is_recording(self) -> bool:
        return self._step is not None

    def begin(self, **fields: Json) -> Event:
        """Adds an event; one whose `bytes` are still None is not shown."""
        event = fields | {"step": self._step}
        with self._lock:
            self._events.append(event)
        return event

    def change(self, event: Event, **fields: Json) -> None:
        with self._lock:
            event.update(fields)

    def drop(self, event: Event) -> None:
        """Forgets what turned out not to have happened."""
        with self._lock:
            self._events = [kept for kept in self._events if kept is not event]

    def events(self) -> list[Event]:
        """Returns a copy of what is known now."""
        with self._lock:
            return [dict(event) for event in self._events if event["bytes"] is not None]


_watched: Transcript | None = None


def watch(transcript: Transcript | None) -> None:
    """Has what this process does written into `transcript` from now on."""
    global _watched
    _watched = transcript


def watched() -> Transcript | None:
    """Returns the transcript to write into, if any is being kept."""
    return _watched if _watched is not None and _watched.is_recording else None
