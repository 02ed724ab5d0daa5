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


def test_a_long_tag_widens_the_columns() -> None:
    events = [
        Event(0, "send", "default", 1, 2147483646),
        Event(1, "recv", "default", 0, 2147483646),
    ]
    assert " tag 2147483646 ─" in drawing.draw(rows(events, GROUPS), 2)


def test_another_group_is_named() -> None:
    events = [Event(0, "send", "pair", 1, 5, key="a"), Event(1, "recv", "pair", 0, 5)]
    assert "  in pair" in drawing.draw(rows(events, {"pair": [0, 1]}), 2)


def test_no_rows_are_the_ranks_alone() -> None:
    assert drawing.draw([], 2) == "rank 0        rank 1"


def test_svg_is_well_formed_and_holds_the_words_of_every_row_as_text() -> None:
    laid_out = rows(EVENTS, GROUPS)
    root = ElementTree.fromstring(svg.draw(laid_out, 3, "a <title> & more"))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"rank 0", "rank 1", "rank 2", "a <title> & more"} <= set(texts)
    for row in laid_out:
        assert drawing.describe(row) in texts


def test_svg_marks_what_is_pending() -> None:
    root = ElementTree.fromstring(svg.draw(rows(EVENTS, GROUPS), 3, "t"))
    kinds = [line.get("class") for line in root.iter("{http://www.w3.org/2000/svg}line")]
    assert kinds.count("message") == 1
    assert kinds.count("message pending") == 2
    assert kinds.count("meeting") == 1
