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


def test_cases_that_share_nothing_with_it_say_nothing() -> None:
    alone = case("p/alone", [step("consolidate", td="td")], clauses=[])
    assert likely_clauses(alone, KNOWN) == []
    assert likely_clauses(alone, []) == []
