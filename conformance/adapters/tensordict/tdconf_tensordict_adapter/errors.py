# SPDX-License-Identifier: BSD-3-Clause
"""Tells what the implementation raised from what this adapter could not do."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import torch.distributed as dist

P = ParamSpec("P")
R = TypeVar("R")


class AdapterError(Exception):
    """The adapter cannot carry the request out; answered by `error`."""


class UnsupportedError(Exception):
    """The request needs a capability that `hello` does not claim; answered by `unsupported`."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class ImplementationError(Exception):
    """The implementation raised `error`; answered by `raised`."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def call(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Calls the implementation: an exception that leaves it is its behaviour.

    Errors  ImplementationError: whatever `function` raises.
    """
    try:
        return function(*args, **kwargs)
    except Exception as error:
        raise ImplementationError(error) from error


# The first match counts, so a type stands before the types that it derives from.
CATEGORIES: tuple[tuple[type[Exception], str], ...] = (
    (NotImplementedError, "not_implemented"),
    (TimeoutError, "timeout"),
    (ConnectionError, "connection"),
    (dist.DistError, "connection"),
    (ValueError, "value"),
    (TypeError, "type"),
    (IndexError, "index"),
    (KeyError, "key"),
    (AttributeError, "attribute"),
    (RuntimeError, "runtime"),
)

# torch turns every exception of gloo into a bare RuntimeError: only the text tells what happened.
GLOO_TEXTS = (
    ("Timed out waiting", "timeout"),
    ("Wait timeout", "timeout"),
    ("wait timeout", "timeout"),
    ("Application timeout caused pair closure", "connection"),
    ("gloo/transport", "connection"),
    ("Connection closed by peer", "connection"),
    ("Connection reset by peer", "connection"),
)


# The package of pipes may not be there to be imported, and has no other base than this one.
UCXX_ERROR = ("ucxx", "UCXXError")


def is_of_ucxx(error: Exception) -> bool:
    return UCXX_ERROR in [(kind.__module__, kind.__name__) for kind in type(error).__mro__]


def category_of(error: Exception) -> str:
    """Sorts an exception into the categories of the protocol."""
    if isinstance(error, dist.DistError) or type(error) is RuntimeError:
        for text, category in GLOO_TEXTS:
            if text in str(error):
                return category
    if is_of_ucxx(error):
        return "timeout" if "TimedOut" in type(error).__name__ else "connection"
    for kind, category in CATEGORIES:
        if isinstance(error, kind):
            return category
    return "other"


def describe_raised(raised: ImplementationError) -> dict[str, str]:
    error = raised.error
    return {
        "category": category_of(error),
        "exception": type(error).__name__,
        "message": str(error),
    }
