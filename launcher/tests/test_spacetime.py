# SPDX-License-Identifier: BSD-3-Clause
"""The layout of a space-time diagram, from transcripts written by hand."""

from tdconf.spacetime import Arrow, Bar, Event, Note, Open, Row, rows

PAIR = {"default": [0, 1]}
THREE = {"default": [0, 1, 2]}


def send(rank: int, peer: int, tag: int, **more: object) -> Event:
    return Event(rank, "send", "default", peer, tag, "int64", (2,), 16, **more)  # type: ignore[arg-type]


def recv(rank: int, peer: int, tag: int, **more: object) -> Event:
    return Event(rank, "recv", "default", peer, tag, "int64", (2,), 16, **more)  # type: ignore[arg-type]


def meet(rank: int, kind: str, **more: object) -> Event:
    return Event(rank, kind, "default", None, None, "int64", (3,), 24, **more)  # type: ignore[arg-type]


def short(laid_out: list[Row]) -> list[str]:
    """One word for each row: what a test compares."""
    return [_word(row) for row in laid_out]


def _word(row: Row) -> str:
    match row:
        case Arrow(sent, received):
            return f"{sent.rank}>{received.rank}:{sent.tag}"
        case Open(event, other, is_first):
            away = "?" if other is None else "first" if is_first else "last"
            return f"{event.kind}{event.rank}:{event.tag} {away}"
        case Bar(calls, _):
            return f"{calls[0].kind} {[call.rank for call in calls]}"
        case Note(event):
            return f"{event.kind}{event.rank}"


def test_both_ends_of_a_message_are_one_row() -> None:
    assert short(rows([send(0, 1, 5), recv(1, 0, 5)], PAIR)) == ["0>1:5"]


def test_equal_tags_pair_in_order() -> None:
    first, second = send(0, 1, 5, key="a"), send(0, 1, 5, key="b")
    laid_out = rows([first, second, recv(1, 0, 5), recv(1, 0, 5)], PAIR)
    assert [row.sent.key for row in laid_out if isinstance(row, Arrow)] == ["a", "b"]


def test_a_message_to_another_group_is_another_message() -> None:
    theirs = Event(1, "recv", "pair", 0, 5)
    laid_out = rows([send(0, 1, 5), theirs], PAIR | {"pair": [0, 1]})
    assert short(laid_out) == ["send0:5 ?", "recv1:5 ?"]


def test_the_order_of_a_rank_is_kept_across_messages() -> None:
    events = [send(0, 1, 5), recv(0, 1, 6), recv(1, 0, 5), send(1, 0, 6)]
    assert short(rows(events, PAIR)) == ["0>1:5", "1>0:6"]


def test_messages_that_cross_show_each_end_in_its_place() -> None:
    """Sent as 5, 6 and received as 6, 5: no order of whole messages has both."""
    events = [send(0, 1, 5), send(0, 1, 6), recv(1, 0, 6), recv(1, 0, 5)]
    assert short(rows(events, PAIR)) == ["send0:5 first", "0>1:6", "recv1:5 last"]


def test_receives_that_wait_for_each_others_sends_are_drawn_first() -> None:
    events = [recv(0, 1, 1), send(0, 1, 2), recv(1, 0, 2), send(1, 0, 1)]
    laid_out = short(rows(events, PAIR))
    assert laid_out == ["recv0:1 first", "0>1:2", "1>0:1"]


def test_what_was_released_first_stands_first_where_there_is_a_choice() -> None:
    early, late = send(0, 1, 5, since=3), send(2, 1, 6, since=1)
    assert short(rows([early, late], THREE)) == ["send2:6 ?", "send0:5 ?"]


def test_a_collective_is_one_row_when_all_have_come() -> None:
    events = [meet(0, "all_gather"), send(1, 0, 5), meet(1, "all_gather"), meet(2, "all_gather")]
    laid_out = rows([*events, recv(0, 1, 5)], THREE)
    assert short(laid_out) == ["send1:5 first", "all_gather [0, 1, 2]", "recv0:5 last"]


def test_a_rank_that_does_not_come_leaves_the_others_on_their_bar() -> None:
    (row,) = rows([meet(0, "gather", done=False), meet(2, "gather", done=False)], THREE)
    assert isinstance(row, Bar)
    assert [call.rank for call in row.calls] == [0, 2]
    assert row.size == 3


def test_different_collectives_at_the_same_place_are_two_bars() -> None:
    events = [meet(0, "gather"), meet(1, "all_gather")]
    assert short(rows(events, PAIR)) == ["gather [0]", "all_gather [1]"]


def test_collectives_in_two_groups_that_cross_do_not_stop_the_layout() -> None:
    groups = PAIR | {"pair": [0, 1]}
    ours = [Event(0, "gather", "default"), Event(0, "gather", "pair")]
    theirs = [Event(1, "gather", "pair"), Event(1, "gather", "default")]
    laid_out = short(rows(ours + theirs, groups))
    assert sorted(laid_out) == ["gather [0, 1]", "gather [0]", "gather [1]"]


def test_work_on_its_own_stands_where_the_rank_did_it() -> None:
    pickled = Event(0, "pickle", nbytes=7)
    events = [send(0, 1, 5), pickled, send(0, 1, 6), recv(1, 0, 5), recv(1, 0, 6)]
    assert short(rows(events, PAIR)) == ["0>1:5", "pickle0", "0>1:6"]


def test_every_event_is_drawn_once() -> None:
    events = [recv(0, 1, 1), send(0, 1, 2), meet(0, "gather"), send(0, 2, 3)]
    events += [recv(1, 0, 2), meet(1, "gather"), send(1, 0, 1), recv(2, 0, 3), meet(2, "gather")]
    drawn: list[Event] = []
    for row in rows(events, THREE):
        match row:
            case Arrow(sent, received):
                drawn += [event for event in (sent, received) if event not in drawn]
            case Open(event) | Note(event):
                drawn.append(event)
            case Bar(calls):
                drawn += calls
    assert sorted(drawn, key=str) == sorted(events, key=str)
