# SPDX-License-Identifier: BSD-3-Clause
"""Draws the rows of a space-time diagram as SVG, with the text as text."""

from collections.abc import Sequence
from xml.etree import ElementTree

from tdconf.drawing import describe, short
from tdconf.spacetime import Arrow, Bar, Note, Open, Row
from tdconf.written import MARK

_COLUMN = 160
_ROW = 36
_LEFT = 60
_TOP = 64
_LETTER = 7  # as wide as one may be
_MARGIN = 12
_LEGEND = "? nobody is known to send or to receive the other end"
_STYLE = (
    "text{font:12px sans-serif;fill:#222} .title{font-weight:bold} .life{stroke:#999}"
    " .message{stroke:#1f5fa8;fill:none} .pending{stroke:#b3261e;stroke-dasharray:5 3}"
    " .awaited{stroke-dasharray:1 4} .meeting{stroke:#2e7d32;stroke-width:4}"
    " .end{fill:#1f5fa8} .unknown{fill:#b3261e}"
)


def draw(laid_out: Sequence[Row], world: int, title: str) -> str:
    """Draws the same rows as `drawing.draw`; the document stands alone."""
    notes_at = _x(world - 1) + _COLUMN // 2
    notes = [describe(row) for row in laid_out]
    legend = [_LEGEND] if any(map(_is_unknown, laid_out)) else []
    ends = [notes_at + _LETTER * len(note) for note in notes]
    ends += [_MARGIN + _LETTER * len(line) for line in (title, *legend)]
    width = max(ends) + _MARGIN
    life_end = _TOP + _ROW * max(1, len(laid_out))
    height = life_end + _ROW * len(legend) + _MARGIN
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": str(width),
            "height": str(height),
            "viewBox": f"0 0 {width} {height}",
        },
    )
    ElementTree.SubElement(root, "title").text = title
    ElementTree.SubElement(root, "style").text = _STYLE
    _arrow_head(root)
    _box(root, width, height)
    _text(root, _MARGIN, 20, title, "title")
    for rank in range(world):
        _text(root, _x(rank), _TOP - 20, f"rank {rank}", anchor="middle")
        _line(root, (_x(rank), _TOP - 12), (_x(rank), life_end), "life")
    for index, row in enumerate(laid_out):
        _row(root, row, _y(index))
        _text(root, notes_at, _y(index) + 4, notes[index])
    for line in legend:
        _text(root, _MARGIN, life_end + _ROW // 2, line)
    ElementTree.indent(root)
    return f"<!-- {MARK} -->\n{ElementTree.tostring(root, encoding='unicode')}\n"


def _x(rank: int) -> int:
    return _LEFT + _COLUMN * rank


def _y(index: int) -> int:
    return _TOP + _ROW * index + _ROW // 2


def _is_unknown(row: Row) -> bool:
    return isinstance(row, Open) and row.other is None


def _row(root: ElementTree.Element, row: Row, y: int) -> None:
    match row:
        case Arrow(sent, received):
            done = sent.done and received.done
            kind = "message" if done else "message pending"
            _line(root, (_x(sent.rank), y), (_x(received.rank), y), kind, head=True)
            middle = (_x(sent.rank) + _x(received.rank)) // 2
            _text(root, middle, y - 5, short(row), anchor="middle")
        case Open():
            _half(root, row, y)
        case Bar(calls, _):
            ranks = [call.rank for call in calls]
            _line(root, (_x(min(ranks)) - 8, y), (_x(max(ranks)) + 8, y), "meeting")
            _text(root, (_x(min(ranks)) + _x(max(ranks))) // 2, y - 6, short(row), anchor="middle")
        case Note(event):
            mark = {"class": "end", "cx": str(_x(event.rank)), "cy": str(y), "r": "4"}
            ElementTree.SubElement(root, "circle", mark)


def _half(root: ElementTree.Element, row: Open, y: int) -> None:
    """Draws one end of a message, open towards the other, or bent to the row of that."""
    event = row.event
    away = 1 if event.peer is None or event.peer > event.rank else -1
    here, there = _x(event.rank), _x(event.rank) + away * _COLUMN // 3
    start, end = (here, there) if event.kind == "send" else (there, here)
    is_awaited = row.is_first and event.kind == "recv"
    kind = "message" if event.done else "message pending"
    kind = f"{kind} awaited" if is_awaited else kind
    # The head of a message that is bent is at its other end.
    _line(root, (start, y), (end, y), kind, head=row.other is None or event.kind == "recv")
    _text(root, (here + there) // 2, y - 5, short(row), anchor="middle")
    if row.other is None:
        _text(root, there + away * 8, y + 4, "?", "unknown", anchor="middle")
    elif not is_awaited:
        _line(root, (there, y), (there, y + (_ROW if row.is_first else -_ROW) // 2), kind)


def _arrow_head(root: ElementTree.Element) -> None:
    shape = {"id": "head", "markerWidth": "9", "markerHeight": "8", "refX": "8", "refY": "4"}
    marker = ElementTree.SubElement(
        ElementTree.SubElement(root, "defs"), "marker", shape | {"orient": "auto"}
    )
    ElementTree.SubElement(marker, "path", {"class": "end", "d": "M0,0 L9,4 L0,8 z"})


def _box(root: ElementTree.Element, width: int, height: int) -> None:
    size = {"width": str(width), "height": str(height), "fill": "white"}
    ElementTree.SubElement(root, "rect", size)


def _line(
    root: ElementTree.Element,
    start: tuple[int, int],
    end: tuple[int, int],
    kind: str,
    *,
    head: bool = False,
) -> None:
    ends = {"x1": start[0], "y1": start[1], "x2": end[0], "y2": end[1]}
    attributes = {"class": kind} | {name: str(value) for name, value in ends.items()}
    if head:
        attributes["marker-end"] = "url(#head)"
    ElementTree.SubElement(root, "line", attributes)


def _text(
    root: ElementTree.Element, x: int, y: int, text: str, kind: str = "", *, anchor: str = "start"
) -> None:
    attributes = {"x": str(x), "y": str(y), "text-anchor": anchor}
    ElementTree.SubElement(root, "text", attributes | ({"class": kind} if kind else {})).text = text
