# SPDX-License-Identifier: BSD-3-Clause
"""Patterns of names as the judge reads them: `*` is anything in one component, `**` any of them."""

import re
from collections.abc import Collection
from difflib import get_close_matches


def matches(pattern: str, name: str, separator: str = "/") -> bool:
    """Says whether `name` fits `pattern`; components stand between `separator`s."""
    return _fit(pattern.split(separator), name.split(separator))


def _fit(pattern: list[str], name: list[str]) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "**":
        return _fit(pattern[1:], name) or (bool(name) and _fit(pattern, name[1:]))
    return bool(name) and _fits(pattern[0], name[0]) and _fit(pattern[1:], name[1:])


def _fits(pattern: str, component: str) -> bool:
    parts = [re.escape(part) for part in pattern.split("*")]
    return re.fullmatch(".*".join(parts), component, re.DOTALL) is not None


def near(
    name: str,
    known: Collection[str],
    things: str,
    *,
    below: Collection[str],
    command: str,
    separator: str = "/",
) -> str:
    """Says in a line of its own what an unknown `name` may have meant, if anything.

    That is the `things` whose names `below` begin with it, or else what is written much like it,
    with the `command` to type.
    """
    start = name.rstrip(separator) + separator
    if count := sum(other.startswith(start) for other in below):
        return f"\n{start}** has {count} {things}: {command} '{start}**'"
    if alike := get_close_matches(name, known):
        return f"\nnear it: {', '.join(alike)}: {command} {alike[0]}"
    return ""
