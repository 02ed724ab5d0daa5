# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the fixtures: what can be said about them without running a case."""

import copy
import functools
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import yaml
from jsonschema import Draft202012Validator

FIXTURES = Path(__file__).parents[2] / "fixtures"
CASE_FILES = sorted(path for path in FIXTURES.rglob("*.yaml") if path.name != "clauses.yaml")
BESIDE_CASES = {"README.md", "clauses.yaml", "case.schema.json", "clauses.schema.json"}

NEVER_SAID = re.compile(r"\bshould\b|\btests? that\b|\bverif|\.$", re.IGNORECASE)

Mapping = dict[str, Any]


def with_string_keys(node: object) -> object:
    """JSON has no integers as keys, YAML has."""
    if isinstance(node, dict):
        return {str(key): with_string_keys(value) for key, value in node.items()}
    if isinstance(node, list):
        return [with_string_keys(element) for element in node]
    return node


@functools.cache
def read(path: Path) -> list[Any]:
    documents = yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)
    return [with_string_keys(document) for document in documents]


@functools.cache
def cases_of(path: Path) -> list[Mapping]:
    """The cases of a file, each with the values that the file lends."""
    found = []
    lent: Mapping = {}
    for document in read(path):
        if document.keys() == {"values"}:
            lent = document["values"]
        else:
            found.append(document | {"values": lent | document.get("values", {})})
    return found


def cases() -> list[Mapping]:
    return [case for path in CASE_FILES for case in cases_of(path)]


def clauses() -> list[Mapping]:
    [registry] = read(FIXTURES / "clauses.yaml")
    return registry


@functools.cache
def validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((FIXTURES / schema).read_text()))


def problems(schema: str, document: Mapping | list[Mapping]) -> list[str]:
    errors = validator(schema).iter_errors(document)
    return [f"{error.json_path}: {error.message}" for error in errors]


def expansions(case: Mapping) -> Iterator[Mapping]:
    """The choices of axes of a case, as README.md describes them."""
    axes = case.get("axes", {})
    for mapping in axes if isinstance(axes, list) else [axes]:
        for chosen in itertools.product(*mapping.values()):
            yield dict(zip(mapping, chosen, strict=True))


def expanded_name(case: Mapping, chosen: Mapping) -> str:
    return "/".join([case["id"], *(f"{axis}={chosen[axis]}" for axis in sorted(chosen))])


def repeated(names: list[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


@pytest.mark.parametrize("schema", ["case.schema.json", "clauses.schema.json"])
def test_schemas_are_schemas(schema: str) -> None:
    Draft202012Validator.check_schema(json.loads((FIXTURES / schema).read_text()))


@pytest.mark.parametrize("path", CASE_FILES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_cases_match_their_schema_and_stand_in_the_file_of_their_id(path: Path) -> None:
    documents = read(path)
    assert documents
    prefix = f"{path.relative_to(FIXTURES).with_suffix('')}/"
    for document in documents:
        assert problems("case.schema.json", document) == []
    for case in cases_of(path):
        assert case["id"].startswith(prefix)


def test_case_schema_refuses_an_unknown_key_at_each_level() -> None:
    case = read(FIXTURES / "p2p" / "tags.yaml")[0]
    assert problems("case.schema.json", case) == []
    for spoil in (
        lambda c: c.update(observe={}),
        lambda c: c["values"]["src"].update(stride=[1]),
        lambda c: c["ranks"]["0"][2]["send"].update(tag=0),
        lambda c: c["ranks"]["0"][2]["expect"].update(blocks=True),
        lambda c: c["ranks"]["0"][2].update(recv={"td": "src", "src": 1}),
        lambda c: c.pop("ranks"),
    ):
        spoiled = copy.deepcopy(case)
        spoil(spoiled)
        assert problems("case.schema.json", spoiled)


def test_clauses_match_their_schema() -> None:
    assert problems("clauses.schema.json", clauses()) == []


def test_untested_and_ambiguous_clauses_say_why() -> None:
    for clause in clauses():
        for status, key in (("untested", "reason"), ("ambiguous", "question")):
            if clause["status"] == status:
                without = {k: v for k, v in clause.items() if k != key}
                assert problems("clauses.schema.json", [without])


def test_each_rule_of_a_page_has_a_case_or_a_question() -> None:
    rules = [clause for clause in clauses() if clause["level"] == "must"]
    assert len({clause["source"]["document"] for clause in rules}) >= 10
    assert [clause["id"] for clause in rules if clause["status"] == "untested"] == []


def test_ids_are_unique() -> None:
    assert repeated([case["id"] for case in cases()]) == []
    assert repeated([clause["id"] for clause in clauses()]) == []
    assert repeated([expanded_name(c, chosen) for c in cases() for chosen in expansions(c)]) == []


@pytest.mark.parametrize("sentences", [cases, clauses])
def test_says_states_what_holds(sentences: Callable[[], list[Mapping]]) -> None:
    said = {entry["id"]: entry["says"] for entry in sentences()}
    assert [name for name, says in said.items() if NEVER_SAID.search(says)] == []


def test_every_case_names_a_fault_of_its_own() -> None:
    assert [case["id"] for case in cases() if "broken_by" not in case] == []
    for path in CASE_FILES:
        assert repeated([case["broken_by"] for case in cases_of(path)]) == [], path


def test_cases_name_registered_clauses_that_count_as_tested() -> None:
    status = {clause["id"]: clause["status"] for clause in clauses()}
    allowed = {"observe": {"tested", "ambiguous"}}
    for case in cases():
        for clause in case["clauses"]:
            assert status.get(clause) in allowed.get(case["level"], {"tested"}), case["id"]


def test_ambiguous_clauses_are_looked_at() -> None:
    observed = {
        clause for case in cases() if case["level"] == "observe" for clause in case["clauses"]
    }
    ambiguous = {clause["id"] for clause in clauses() if clause["status"] == "ambiguous"}
    assert ambiguous - observed == set()


def test_tested_clauses_have_a_case() -> None:
    named = {clause for case in cases() for clause in case["clauses"]}
    tested = {clause["id"] for clause in clauses() if clause["status"] == "tested"}
    assert tested - named == set()


def test_the_level_of_a_case_is_that_of_one_of_its_clauses() -> None:
    level = {clause["id"]: clause["level"] for clause in clauses()}
    for case in cases():
        if case["level"] == "observe":
            continue
        assert case["level"] in {level[clause] for clause in case["clauses"]}, case["id"]


def test_every_file_is_reached() -> None:
    files = {path for path in FIXTURES.rglob("*") if path.is_file()}
    assert {path.name for path in files - set(CASE_FILES)} == BESIDE_CASES


def test_there_are_enough_cases() -> None:
    assert sum(1 for case in cases() for _ in expansions(case)) >= 400


def test_pseudo_random_tags_are_the_chain_of_init_tag() -> None:
    chains = [
        chosen
        for case in cases()
        for chosen in expansions(case)
        if "compat.pseudo_rand" in case["clauses"] and "t1" in chosen
    ]
    assert {chain["init_tag"] for chain in chains} >= {0, 7, 2**32 + 1, 2**63 - 1}
    for chain in chains:
        seed = chain["init_tag"]
        for n in range(1, len(chain)):
            first_bytes = numpy.random.default_rng(seed).bytes(8)
            assert chain[f"t{n}"] == int.from_bytes(first_bytes, "big") % 10000
            seed = chain[f"t{n}"] + 1
