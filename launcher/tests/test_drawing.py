# SPDX-License-Identifier: BSD-3-Clause
"""A diagram as text and as SVG: the same rows, with what is known of them."""

from xml.etree import ElementTree

from tdconf import drawing, svg
from tdconf.spacetime import Bar, Event, rows

GROUPS = {"default": [0, 1, 2]}
EVENTS = [
    Event(0, "send", "default", 1, 5, "int64", (2,), 16, key="nested.x"),
    Event(0, "send", "default", 2, 6, "float32", (), 4, done=False),
    Event(1, "recv", "default", 0, 5, "int64", (2,), 16),
    Event(1, "gather", "default", 0, None, "uint8", (9,), 9, done=False),
    Event(2, "pickle", nbytes=40),
    Event(2, "recv", "default", 1, 7, "int64", (2,), 16, done=False),
]
DRAWN = """\
rank 0        rank 1        rank 2
   ●── tag 5 ───▶●             │               nested.x  int64[2]  16 B
   ○─ tag 6 ─?   │             │               sent to rank 2, no receive is known, pending: (key unknown)  float32[]  4 B
   │             ╪   gather    │               gather to rank 0: uint8[9], 2 of 3 ranks did not come, pending on rank 1
   │             │             ◇               rank 2: pickle, 40 B
   │             │   ?─ tag 7 ▶○               from rank 1, no send is known, pending: (key unknown)  int64[2]  16 B"""  # noqa: E501


def test_each_row_is_a_line_with_a_column_for_each_rank() -> None:
    assert drawing.draw(rows(EVENTS, GROUPS), 3) == DRAWN


def test_an_arrow_to_a_lower_rank_points_to_the_left() -> None:
    sent, received = Event(1, "send", "default", 0, 3), Event(0, "recv", "default", 1, 3)
    assert (
        drawing.draw(rows([sent, received], GROUPS), 2)
        .splitlines()[1]
        .startswith("   ●◀─── tag 3 ──●")
    )


def test_a_collective_is_a_bar_over_its_ranks() -> None:
    calls = tuple(Event(rank, "all_gather", "default") for rank in (0, 2))
    assert (
        drawing.draw([Bar(calls, 2)], 3)
        .splitlines()[1]
        .startswith("   ╪══ all_gather ═════════════════════╪")
    )


def test_a_collective_says_what_it_carries_and_from_or_to_whom() -> None:
    def told(kind: str, peer: int | None, key: str | None) -> str:
        about = {"dtype": "float32", "shape": (2,), "key": key}
        calls = tuple(Event(rank, kind, "default", peer, **about) for rank in (0, 1))
        return drawing.describe(Bar(calls, 2))

    assert told("all_reduce", None, "n.x") == "all_reduce: n.x  float32[2]"
    assert told("reduce", 1, "n.x") == "reduce to rank 1: n.x  float32[2]"
    assert told("broadcast", 0, None) == "broadcast from rank 0: float32[2]"
    assert told("scatter", 0, None) == "scatter from rank 0: float32[2]"


def test_a_long_tag_widens_the_columns() -> None:
    events = [
        Event(0, "send", "default", 1, 2147483646),
        Event(1, "recv", "default", 0, 2147483646),
    ]
    assert " tag 2147483646 ─" in drawing.draw(rows(events, GROUPS), 2)


def test_another_group_is_named() -> None:
    events = [Event(0, "send", "pair", 1, 5, key="a"), Event(1, "recv", "pair", 0, 5)]
    assert "  in pair" in drawing.draw(rows(events, {"pair": [0, 1]}), 2)


def test_no_rows_are_said_to_be_nothing() -> None:
    assert drawing.draw([], 2) == "(nothing reached c10d)"


def graphs(*events: Event) -> list[str]:
    """The lines of a diagram of two ranks, without the words beside them."""
    lines = drawing.draw(rows(events, {"default": [0, 1]}), 2).splitlines()
    return [line[:22].rstrip() for line in lines[1:]]


def test_a_message_that_arrives_in_a_later_row_is_bent_towards_it() -> None:
    sends = [Event(0, "send", "default", 1, tag) for tag in (1, 2)]
    receives = [Event(1, "recv", "default", 0, tag) for tag in (2, 1)]
    assert graphs(*sends, *receives) == [
        "   ●─ tag 1 ─╮   │",
        "   ●── tag 2 ───▶●",
        "   │   ╰─ tag 1 ▶●",
    ]


def test_a_message_to_a_lower_rank_is_bent_to_the_left() -> None:
    sends = [Event(1, "send", "default", 0, tag) for tag in (1, 2)]
    receives = [Event(0, "recv", "default", 1, tag) for tag in (2, 1)]
    assert graphs(*sends, *receives) == [
        "   │   ╭─ tag 1 ─●",
        "   ●◀─── tag 2 ──●",
        "   ●◀ tag 1 ─╯   │",
    ]


def test_a_receive_that_waits_for_an_arrow_below_is_dotted() -> None:
    events = [Event(0, "recv", "default", 1, 1), Event(0, "send", "default", 1, 2)]
    events += [Event(1, "recv", "default", 0, 2), Event(1, "send", "default", 0, 1)]
    assert graphs(*events) == [
        "   ●◀ tag 1 ┄┄   │",
        "   ●── tag 2 ───▶●",
        "   ●◀─── tag 1 ──●",
    ]


def test_svg_is_well_formed_and_holds_the_words_of_every_row_as_text() -> None:
    laid_out = rows(EVENTS, GROUPS)
    root = ElementTree.fromstring(svg.draw(laid_out, 3, "a <title> & more"))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"rank 0", "rank 1", "rank 2", "a <title> & more"} <= set(texts)
    for row in laid_out:
        assert drawing.describe(row) in texts


def test_svg_says_what_a_question_mark_means_where_there_is_one() -> None:
    assert "? nobody is known to" in svg.draw(rows(EVENTS, GROUPS), 3, "t")
    whole = [Event(0, "send", "default", 1, 5), Event(1, "recv", "default", 0, 5)]
    crossed = [Event(0, "send", "default", 1, 6), *whole]
    crossed.append(Event(1, "recv", "default", 0, 6))
    for events in (whole, crossed):
        assert "?" not in svg.draw(rows(events, GROUPS), 2, "t")


def test_svg_bends_a_message_towards_the_row_of_its_other_end() -> None:
    sends = [Event(0, "send", "default", 1, tag) for tag in (1, 2)]
    receives = [Event(1, "recv", "default", 0, tag) for tag in (2, 1)]
    root = ElementTree.fromstring(svg.draw(rows([*sends, *receives], GROUPS), 2, "t"))
    lines = [
        line
        for line in root.iter("{http://www.w3.org/2000/svg}line")
        if line.get("class") == "message"
    ]
    upright = [line for line in lines if line.get("x1") == line.get("x2")]
    assert len(lines) - len(upright) == 3
    assert len(upright) == 2
    assert sum(line.get("marker-end") is not None for line in lines) == 2


def test_svg_is_white_and_as_wide_as_its_longest_line() -> None:
    def width(key: str) -> int:
        events = [Event(0, "send", "default", 1, 5, key=key), Event(1, "recv", "default", 0, 5)]
        root = ElementTree.fromstring(svg.draw(rows(events, GROUPS), 2, "t"))
        box = root.find("{http://www.w3.org/2000/svg}rect")
        assert box is not None
        assert box.get("fill") == "white"
        assert (box.get("width"), box.get("height")) == (root.get("width"), root.get("height"))
        return int(root.get("width", ""))

    assert width("k" * 11) - width("k") == 70


def test_svg_marks_what_is_pending() -> None:
    root = ElementTree.fromstring(svg.draw(rows(EVENTS, GROUPS), 3, "t"))
    kinds = [line.get("class") for line in root.iter("{http://www.w3.org/2000/svg}line")]
    assert kinds.count("message") == 1
    assert kinds.count("message pending") == 2
    assert kinds.count("meeting") == 1


def test_a_meeting_that_only_the_last_rank_began_is_drawn() -> None:
    call = Event(1, "all_gather", "default", None, None)
    line = drawing.draw([Bar([call], 2)], 2).splitlines()[1]
    assert "╪" in line
    assert "all_gather" in line
    assert "1 of 2 ranks did not come" in line
