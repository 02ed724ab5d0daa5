# SPDX-License-Identifier: BSD-3-Clause
"""A case that names no clause is told those of the cases that do what it does."""

from tdconf.described import Case
from tdconf.likeness import likely_clauses

from .scripted_cases import case, group, lazy, make, step, td, tensor

PLAIN = td({"a": tensor("int64", [2], 1)})
STACK = td({"s": lazy(PLAIN, PLAIN)})


def sending(tree: dict, *clauses: str, **more: object) -> Case:
    sends = [make("td", tree), step("send", td="td", dst=1, **more)]
    receives = [make("td", tree), step("recv", td="td", src=0, **more)]
    return case("p/x", sends, receives, clauses=list(clauses))


KNOWN = [
    sending(PLAIN, "c.tags", init_tag=7),
    sending(PLAIN, "c.tags", init_tag=9),
    sending(PLAIN, "c.random", init_tag=7, pseudo_rand=True),
    sending(STACK, "c.stack", "c.tags", init_tag=7),
    sending(STACK, "c.ways", group="g") | {"groups": [group("g", [0, 1])]},
]


def test_the_likeliest_clause_is_that_of_the_most_alike_case() -> None:
    assert likely_clauses(sending(PLAIN, init_tag=3), KNOWN)[0] == "c.tags"
    assert likely_clauses(sending(PLAIN, init_tag=3, pseudo_rand=True), KNOWN)[0] == "c.random"


def test_what_few_cases_do_counts_for_more_than_what_many_do() -> None:
    assert likely_clauses(sending(STACK, init_tag=3), KNOWN)[:2] == ["c.tags", "c.stack"]
    other_group = sending(PLAIN, group="h") | {"groups": [group("h", [0, 1])]}
    assert likely_clauses(other_group, KNOWN)[0] == "c.ways"


def test_a_clause_about_what_the_case_does_not_use_is_not_named() -> None:
    known = [sending(PLAIN, "send.tags", "isend.early", "send.dst.pipe", init_tag=7)]
    pipes = [case("p/y", [step("isend", td="td", pipe="p")], clauses=["recv.all"])]
    assert likely_clauses(sending(PLAIN, init_tag=3), known + pipes) == ["send.tags"]


def test_the_sentence_of_a_case_counts_too() -> None:
    known = [
        sending(PLAIN, name, init_tag=7) | {"says": says}
        for name, says in (("c.order", "keys are sorted"), ("c.waits", "the sender waits"))
    ]
    for says, name in (("which keys come first, sorted?", "c.order"), ("who waits?", "c.waits")):
        assert likely_clauses(sending(PLAIN, init_tag=3) | {"says": says}, known)[0] == name


def test_cases_that_share_nothing_with_it_say_nothing() -> None:
    alone = case("p/alone", [step("consolidate", td="td")], clauses=[])
    assert likely_clauses(alone, KNOWN) == []
    assert likely_clauses(alone, []) == []
