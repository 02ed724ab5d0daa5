# SPDX-License-Identifier: BSD-3-Clause
"""Writes what a step must show as the checks that a Python script makes of it."""

from typing import Any

from tdconf.described import Case, Step, Tree
from tdconf.python_values import value

# A tensor of another form is compared by its elements alone.
_COMPARED_FORMS = ("jagged", "meta", "sparse_coo")
_CHECKS = {
    "values": "has_values",
    "sum": "has_sums",
    "keys": "has_keys",
    "batch_size": "has_batch_size",
}


def checks(case: Case, step: Step) -> list[str]:
    """Returns an expression for each check; where nothing counts there is none."""
    if case["level"] == "observe":
        return []
    found = []
    if (wanted := step.get("equals")) is not None:
        found.append(f"equals({value(_contents(wanted), 1)})")
    expect: dict[str, Any] = step["expect"] or {}
    found += [f"{check}({expect[key]!r})" for key, check in _CHECKS.items() if key in expect]
    return found


def _contents(tree: Tree) -> Tree:
    """Leaves of a value what is compared: keys, batch sizes, elements and non-tensor data."""
    match tree["kind"]:
        case "tensor":
            form = tree["form"] if tree["form"] in _COMPARED_FORMS else "plain"
            return tree | {"form": form}
        case "non_tensor":
            return tree
        case "lazy_stack":
            return tree | {"members": [_contents(member) for member in tree["members"]]}
    entries = [[key, _contents(entry)] for key, entry in tree["entries"]]
    return {"kind": "tensordict", "batch_size": tree["batch_size"], "entries": entries}
