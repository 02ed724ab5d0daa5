# SPDX-License-Identifier: BSD-3-Clause
"""What a rank is asked: one JSON object on one line."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

# "l0000" to "l9999" sort as they are inserted, "l10000" would not.
MOST_LEAVES = 10_000
MOST_DEPTH = 32
MOST_TIMES = 1_000_000
# What one bucket of all_reduce_buckets holds.
MOST_BYTES = 1 << 30

ITEMSIZES = {"float32": 4, "float64": 8, "int64": 8, "uint8": 1}
CASE_KEYS = ("operation", "leaves", "bytes", "depth", "dtype")
COUNT_KEYS = (*CASE_KEYS, "count")
TIME_KEYS = (*CASE_KEYS, "iterations", "batch")


@dataclass(frozen=True)
class Case:
    """What is timed or counted: one operation with one tensordict."""

    operation: str
    leaves: int
    """How many leaves there are, at every depth together."""
    bytes: int
    """The size of each leaf."""
    depth: int
    """How many levels of nested tensordicts stand below the root."""
    dtype: str

    @property
    def elements(self) -> int:
        """How many elements a leaf has."""
        return self.bytes // ITEMSIZES[self.dtype]

    def name(self, world: int) -> str:
        """Returns the name under which results are compared."""
        return (
            f"{self.operation}/leaves:{self.leaves}/bytes:{self.bytes}/depth:{self.depth}"
            f"/dtype:{self.dtype}/world:{world}"
        )


@dataclass(frozen=True)
class Request:
    case: Case
    count: bool = False
    """Whether one operation is counted; else operations are timed."""
    iterations: int = 1
    batch: int = 1
    """How many operations one iteration does."""


def read_request(line: str) -> Request:
    """Reads one line of standard input.

    Errors  ValueError: not a JSON object; a key that is missing, unknown, or of another type; a
            number that is out of range; bytes that are not whole elements.
    """
    request = _parse(line)
    if "count" in request:
        _check_keys(request, COUNT_KEYS)
        if request["count"] is not True:
            raise ValueError(f'"count" is true, not {_shown(request["count"])}')
        return Request(_case(request), count=True)
    _check_keys(request, TIME_KEYS)
    return Request(
        _case(request),
        iterations=_number(request, "iterations", 1, MOST_TIMES),
        batch=_number(request, "batch", 1, MOST_TIMES),
    )


def _parse(line: str) -> dict[str, object]:
    try:
        request = json.loads(line)
    except ValueError:
        request = None
    if not isinstance(request, dict):
        raise ValueError(f"a request is one JSON object on one line, not: {line}")
    return request


def _check_keys(request: dict[str, object], keys: Sequence[str]) -> None:
    for key in keys:
        if key not in request:
            raise ValueError(f'the request has no "{key}"')
    for key in request:
        if key not in keys:
            raise ValueError(
                f'the request has the key "{key}"; allowed are the keys {_shown(keys)}'
            )


def _case(request: dict[str, object]) -> Case:
    case = Case(
        operation=_text(request, "operation"),
        leaves=_number(request, "leaves", 1, MOST_LEAVES),
        bytes=_number(request, "bytes", 1, MOST_BYTES),
        depth=_number(request, "depth", 0, MOST_DEPTH),
        dtype=_text(request, "dtype"),
    )
    if case.dtype not in ITEMSIZES:
        raise ValueError(f'"dtype" is float32, float64, int64 or uint8, not "{case.dtype}"')
    itemsize = ITEMSIZES[case.dtype]
    if case.bytes % itemsize != 0:
        raise ValueError(
            f'"bytes" is a multiple of {itemsize}, the size of one {case.dtype}, not {case.bytes}'
        )
    if case.leaves * case.bytes > MOST_BYTES:
        raise ValueError(
            f"{case.leaves} leaves of {case.bytes} bytes are more than the {MOST_BYTES} bytes "
            "that are allowed"
        )
    return case


def _text(request: dict[str, object], key: str) -> str:
    value = request[key]
    if not isinstance(value, str):
        raise ValueError(f'"{key}" is a string, not {_shown(value)}')
    return value


def _number(request: dict[str, object], key: str, low: int, high: int) -> int:
    value = request[key]
    # To Python, True is a 1.
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f'"{key}" is an integer from {low} to {high}, not {_shown(value)}')
    return value


def _shown(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
