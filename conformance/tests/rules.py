# SPDX-License-Identifier: BSD-3-Clause
"""Which cases a mutant must fail, told from the text of the cases alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tdconf_tensordict_adapter.decode import Json

from .test_fixtures import cases, expanded_name, expansions

SENDS = ("send", "isend")
RECEIVES = ("recv", "irecv")


@dataclass(frozen=True)
class Transfer:
    """One leaf-wise transfer with sequential tags by the implementation under test."""

    value: Json
    states_tag: bool
    meets_probe: bool


def expanded_cases() -> dict[str, Json]:
    """Returns every case with its axes chosen, by name."""
    return {
        expanded_name(case, chosen): substitute(case, chosen)
        for case in cases()
        for chosen in expansions(case)
    }


def substitute(node: Json, chosen: Json) -> Json:
    if isinstance(node, dict):
        return {substitute(key, chosen): substitute(value, chosen) for key, value in node.items()}
    if isinstance(node, list):
        return [substitute(item, chosen) for item in node]
    if not isinstance(node, str):
        return node
    if "@" in node:
        return "@".join(str(substitute(side, chosen)) for side in node.rsplit("@", 1))
    match = re.fullmatch(r"\$(\w+)([+-]\d+)?", node)
    if match is None or match[1] not in chosen:
        return node
    value = chosen[match[1]]
    return value + int(match[2]) if match[2] else value


def transfers(case: Json) -> Iterator[Transfer]:
    """Lists the transfers that get as far as a message."""
    probes = {str(rank) for rank in case.get("roles", {})}
    for rank, steps in case["ranks"].items():
        made = {}
        for step in steps:
            expect = step.get("expect", {})
            if "make" in step:
                value = step["make"]
                name = value if isinstance(value, str) else value["name"]
                made[name] = value if isinstance(value, str) else value["value"]
            for op in set(step) & set(SENDS + RECEIVES) if str(rank) not in probes else ():
                args = step[op]
                if args.get("pseudo_rand") or args.get("consolidated") or "raises" in expect:
                    continue
                peer = args.get("dst", args.get("src"))
                yield Transfer(
                    value=resolve(case, made[args["td"]]),
                    states_tag=isinstance(expect.get("returns"), int),
                    meets_probe=bool(probes) and (peer is None or str(peer) in probes),
                )


def resolve(case: Json, name: str) -> Json:
    """Follows `poison` to the value whose structure it has."""
    value = case["values"][name]
    if "poison" not in value:
        return value
    structure = resolve(case, value["poison"].split("@")[0])
    return reverse(structure) if value.get("reversed") else structure


def reverse(value: Json) -> Json:
    if "entries" not in value:
        return value
    entries = [[key, reverse(entry)] for key, entry in value["entries"]]
    return value | {"entries": entries[::-1]}


def leaves(value: Json, is_sorted: bool = False) -> list[str]:
    """Returns the dotted paths of the leaves in the order in which they are visited."""
    if "members" in value:
        entries = list(enumerate(value["members"]))
    elif "entries" in value:
        entries = sorted(value["entries"]) if is_sorted else value["entries"]
    else:
        return [""] if "dtype" in value else []
    return [f"{key}.{rest}" for key, entry in entries for rest in leaves(entry, is_sorted)]


def must_fail_unsorted(case: Json) -> bool:
    """`messages`, a peer that sorts, or one with another order, notice insertion order."""
    orders = {}
    for transfer in transfers(case):
        visited = leaves(transfer.value)
        is_seen = transfer.meets_probe or case.get("messages")
        if is_seen and visited != leaves(transfer.value, is_sorted=True):
            return True
        orders.setdefault(frozenset(visited), set()).add(tuple(visited))
    return any(len(visited) > 1 for visited in orders.values())


def must_fail_shifted_tags(case: Json) -> bool:
    """The probe and `messages` name tags, and so does a step that states what is returned."""
    return any(
        transfer.states_tag
        or ((transfer.meets_probe or case.get("messages")) and leaves(transfer.value))
        for transfer in transfers(case)
    )
