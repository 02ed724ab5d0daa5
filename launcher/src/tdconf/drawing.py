# SPDX-License-Identifier: BSD-3-Clause
"""Draws the rows of a space-time diagram as text: a column for each rank, what is known beside."""

from collections.abc import Sequence

from tdconf.spacetime import Arrow, Bar, Event, Note, Open, Row

_NARROWEST = 14
_MARGIN = 4
# The root of these gives; that of others gets.
_FROM_A_ROOT = ("broadcast", "scatter")


def draw(laid_out: Sequence[Row], world: int) -> str:
    """Draws `laid_out` with the columns of `world` ranks; time runs downwards."""
    if not laid_out:
        return "(nothing reached c10d)"
    words = max(len(short(row)) for row in laid_out)
    width = max(_NARROWEST, words + 8)
    lines = ["".join(f"rank {rank}".ljust(width) for rank in range(world)).rstrip()]
    for row in laid_out:
        lines.append(f"{_graph(row, world, width)}{' ' * _MARGIN}{describe(row)}".rstrip())
    return "\n".join(lines)


def short(row: Row) -> str:
    """Returns what stands on the line of a row: the tag, or the name of the call."""
    match row:
        case Arrow(sent, _):
            return f"tag {sent.tag}"
        case Open(event):
            return f"tag {event.tag}"
        case Bar(calls, _):
            return calls[0].kind
        case Note(event):
            return event.kind


def describe(row: Row) -> str:
    """Says in words what a row holds."""
    match row:
        case Arrow(sent, received):
            end = "" if received.done else ", received by nobody yet"
            end = end if sent.done else f"{end}, the send is still pending"
            return f"{content(_better(sent, received))}{_in_group(sent)}{end}"
        case Open(event, other, is_first):
            known = content(_better(event, other))
            return f"{_half(event, other, is_first)} {known}{_in_group(event)}"
        case Bar(calls, size):
            return _meeting(calls, size)
        case Note(event):
            return f"rank {event.rank}: {event.kind}, {event.nbytes} B"


def content(event: Event) -> str:
    """Writes what travels: `nested.x int64[2] 16 B`."""
    sizes = ", ".join(str(size) for size in event.shape)
    return f"{event.key or '(key unknown)'}  {event.dtype}[{sizes}]  {event.nbytes} B"


def _better(event: Event, other: Event | None) -> Event:
    """Returns the end of a message that knows the key; the sender where both do."""
    known = [end for end in (event, other) if end is not None and end.key is not None]
    return min(known, key=lambda end: end.kind != "send", default=event)


def _half(event: Event, other: Event | None, is_first: bool) -> str:
    if event.kind == "send":
        if other is not None:
            return "sent:"
        return f"sent to rank {event.peer}, no receive is known{_pending(event)}:"
    if other is not None:
        return "waits for:" if is_first else "arrives:"
    return f"from rank {event.peer}, no send is known{_pending(event)}:"


def _pending(event: Event) -> str:
    return "" if event.done else ", pending"


def _in_group(event: Event) -> str:
    return "" if event.group in ("", "default") else f"  in {event.group}"


def _meeting(calls: Sequence[Event], size: int) -> str:
    sent = ", ".join(dict.fromkeys(f"{call.dtype}{list(call.shape)}" for call in calls))
    roots = {call.peer for call in calls if call.peer is not None}
    way = "from" if calls[0].kind in _FROM_A_ROOT else "to"
    root = f" {way} rank {', '.join(str(rank) for rank in sorted(roots))}" if roots else ""
    key = next((f"{call.key}  " for call in calls if call.key is not None), "")
    text = f"{calls[0].kind}{root}: {key}{sent}{_in_group(calls[0])}"
    if len(calls) < size:
        text += f", {size - len(calls)} of {size} ranks did not come"
    waiting = [str(call.rank) for call in calls if not call.done]
    return f"{text}, pending on rank {', '.join(waiting)}" if waiting else text


def _graph(row: Row, world: int, width: int) -> str:
    line = _Line(world, width)
    match row:
        case Arrow(sent, received):
            line.span(sent.rank, received.rank, short(row))
            line.put(sent.rank, "●")
            line.put(received.rank, "●" if received.done else "?")
        case Open():
            line.half(row, short(row))
        case Bar(calls, _):
            line.bar([call.rank for call in calls], short(row))
        case Note(event):
            line.put(event.rank, "◇")
    return line.text()


def _ends(row: Open) -> tuple[str, str]:
    """Returns how a line that leaves its rank ends, to the right and to the left."""
    if row.other is None:
        return "─?", "?─"
    if row.event.kind == "recv":
        # What was waited for comes as an arrow of its own.
        return ("┄┄", "┄┄") if row.is_first else ("─╯", "╰─")
    return "─╮", "╭─"


class _Line:
    """One line of the drawing: a lifeline in the middle of each column, and what lies over it."""

    def __init__(self, world: int, width: int) -> None:
        self._width = width
        self._cells = [" "] * (width * (world - 1) + 8 + width // 2)
        for rank in range(world):
            self._cells[self._at(rank)] = "│"

    def _at(self, rank: int) -> int:
        return rank * self._width + 3

    def put(self, rank: int, mark: str) -> None:
        self._cells[self._at(rank)] = mark

    def span(self, start: int, end: int, label: str) -> None:
        """Draws an arrow from `start` to `end`, with its label near the start."""
        low, high = sorted((self._at(start), self._at(end)))
        for cell in range(low + 1, high):
            self._cells[cell] = "─"
        if start < end:
            self._write(low + 3, f" {label} ")
            self._cells[high - 1] = "▶"
        else:
            self._write(high - len(label) - 4, f" {label} ")
            self._cells[low + 1] = "◀"

    def half(self, row: Open, label: str) -> None:
        """Draws one end of a message, open towards the other, or bent to the row of that."""
        event = row.event
        at = self._at(event.rank)
        head_right, head_left = ("─", "─") if event.kind == "send" else ("◀", "▶")
        end_right, end_left = _ends(row)
        to_left = f"{end_left} {label} {head_left}"
        is_left = event.peer is not None and event.peer <= event.rank and at > len(to_left)
        if is_left:
            self._write(at - len(to_left), to_left)
        else:
            self._write(at + 1, f"{head_right} {label} {end_right}")
        self.put(event.rank, "●" if event.done else "○")

    def bar(self, ranks: Sequence[int], label: str) -> None:
        """Draws a double line over `ranks`."""
        low, high = self._at(min(ranks)), self._at(max(ranks))
        for cell in range(low + 1, high):
            self._cells[cell] = "═"
        self._write(low + 3, f" {label} ")
        for rank in ranks:
            self.put(rank, "╪")

    def _write(self, start: int, text: str) -> None:
        self._cells += " " * (start + len(text) - len(self._cells))
        for offset, letter in enumerate(text):
            self._cells[start + offset] = letter

    def text(self) -> str:
        return "".join(self._cells)
