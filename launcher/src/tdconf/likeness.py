# SPDX-License-Identifier: BSD-3-Clause
"""Which clauses speak about a case that names none: those of the cases that are most like it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

from tdconf.described import DEFAULT_GROUP, Case, Tree, children

_CASES_ASKED = 12
_CLAUSES_NAMED = 3
# What a case does tells more of it than how its sentence is put.
_WEIGHT_OF_WORDS = 0.4
# Almost every transfer has these, so that they tell no case from another.
_COMMON_OPS = {"make", "snapshot", "wait"}
_COMMON_ARGS = {"td", "works", "dst", "src"}
# Parts of the names of clauses that stand for an argument of another name.
_MEANT = {"storage": "consolidated"}

Feature = tuple[str, ...]


def likely_clauses(case: Case, known: Sequence[Case]) -> list[str]:
    """Returns the clauses of those cases of `known` that are like `case`, the likeliest first.

    What few cases do counts for more than what many do, and no clause about an operation or an
    argument that `case` does not use is named.
    """
    features = [_features(other) for other in known]
    common = Counter(feature for found in features for feature in found)
    mine = _features(case)

    def weight(found: set[Feature]) -> float:
        return sum(
            log((1 + len(known)) / (1 + common[feature])) * _weight_of(feature) for feature in found
        )

    def likeness(theirs: set[Feature]) -> float:
        either = weight(mine | theirs)
        return weight(mine & theirs) / either if either else 0.0

    scores = [likeness(theirs) for theirs in features]
    alike = sorted(range(len(known)), key=lambda index: -scores[index])[:_CASES_ASKED]
    subjects = _COMMON_ARGS.union(*map(_subjects, features))
    used = _subjects(mine) | {arg for ops in case["programs"] for op in ops for arg in op["args"]}
    clauses: Counter[str] = Counter()
    for index in alike:
        for name in known[index]["clauses"]:
            about = subjects & {_MEANT.get(part, part) for part in name.split(".")}
            if scores[index] and about <= used:
                clauses[name] += scores[index] * (1 + len(about))
    return [name for name, _ in clauses.most_common(_CLAUSES_NAMED)]


def _weight_of(feature: Feature) -> float:
    return _WEIGHT_OF_WORDS if feature[0] == "word" else 1.0


def _subjects(features: set[Feature]) -> set[str]:
    """The operations and arguments among the features, which clauses are named after."""
    return {feature[-1] for feature in features if feature[0] in ("operation", "argument")}


def _features(case: Case) -> set[Feature]:
    found = {("group", group["kind"]) for group in case["groups"] if group["name"] != DEFAULT_GROUP}
    found.update(("word", word) for word in re.findall(r"\w{4,}", case["says"].lower()))
    for program in case["programs"]:
        for step in program:
            if step["op"] == "make":
                found.update(_kinds(step["args"]["tree"]))
            if step["op"] not in _COMMON_OPS:
                found.add(("operation", step["op"]))
                found.update(("argument", name) for name in step["args"].keys() - _COMMON_ARGS)
    return found


def _kinds(tree: Tree, outer: str = "root") -> Iterator[Feature]:
    """Yields what is inside what, except plain tensors."""
    kind = tree["form"] if tree["kind"] == "tensor" else tree["kind"]
    if kind != "plain":
        yield ("inside", outer, kind)
    for _, below in children(tree):
        yield from _kinds(below, tree["kind"])
