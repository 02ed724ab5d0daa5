# SPDX-License-Identifier: BSD-3-Clause
"""Finds what a rank holds under a name."""

from typing import TypeVar

from .errors import AdapterError

T = TypeVar("T")


def lookup(held: dict[str, T], name: str, what: str) -> T:
    """Errors  AdapterError: nothing is held under this name."""
    if name not in held:
        raise AdapterError(f"no {what} is called {name!r}; there are: {', '.join(held) or 'none'}")
    return held[name]
