# SPDX-License-Identifier: BSD-3-Clause
"""Patterns of names as the judge reads them: `*` is anything in one component, `**` any of them."""

import re


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
