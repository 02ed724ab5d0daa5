# SPDX-License-Identifier: BSD-3-Clause
"""Input that is wrong on purpose, and what must come of it."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from .codec import Codec, CodecError

# JSON takes up to 72 bytes for an item of two, twice while a list grows, and its text once more.
BYTES_FOR_A_BYTE = 150
BYTES_FOR_NOTHING = 4 << 20

#: What stands where something else belongs.
WRONG_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    7,
    2**31,
    2**60,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "torch.float7",
    "torch.int64",
    "TensorDict",
    "NonTensorStack",
    "LazyStackedTensorDict",
    "<class 'a.B'>",
    "<class '.'>",
    "<class '",
    "cuda:0",
    "../x",
    [],
    [-1],
    [2**60],
    [2**40, 2**40, 2**40],
    [0, 2**62, 2**62],
    ["torch.uint8", [8], 0, 8, 0],
    [1] * 5,
    {},
    {"type": "TensorDict"},
    {"a": {}},
)


def refusal_of(codec: Codec, request: str, path: Path, size: int) -> CodecError | None:
    """Lets the codec read; checks that it survives, takes no more memory than it may, and says one
    clear thing if it refuses."""
    refusal = _ask(codec, request, path)
    assert codec.process.poll() is None
    allowed = BYTES_FOR_A_BYTE * size + BYTES_FOR_NOTHING
    assert codec.peak <= allowed, f"{codec.peak} bytes of memory for {size} bytes of input"
    if refusal is not None:
        assert refusal.type in ("ValueError", "OSError"), refusal
        assert str(path) in refusal.message, refusal
        assert "\n" not in refusal.message.replace(str(path), ""), refusal
    return refusal


def _ask(codec: Codec, request: str, path: Path) -> CodecError | None:
    try:
        codec.peak_of_reading(request, path)
    except CodecError as refusal:
        return refusal
    return None


def places(document: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Lists all places of a JSON document."""
    yield path
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*path, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from places(value, (*path, index))


@st.composite
def mutated(draw: st.DrawFn, document: Any) -> Any:  # noqa: ANN401
    """The document with a few places changed: another value, none, one more, or one moved."""
    result = [copy.deepcopy(document)]
    for _ in range(draw(st.integers(1, 2))):
        below_the_root = list(places(result[0]))[1:]
        if not below_the_root:
            break
        *above, last = draw(st.sampled_from(below_the_root))
        parent = result[0]
        for step in above:
            parent = parent[step]
        how = draw(st.sampled_from(["replace", "replace", "replace", "remove", "copy"]))
        if how == "remove":
            del parent[last]
        elif how == "replace":
            parent[last] = copy.deepcopy(draw(st.sampled_from(WRONG_VALUES)))
        elif isinstance(parent, dict):
            copied = copy.deepcopy(parent[last])
            parent[draw(st.sampled_from(["0", "2", "z", "leaves", "cls", ""]))] = copied
        else:
            parent.append(copy.deepcopy(parent[last]))
    return result[0]


def to_json(document: object) -> bytes:
    return json.dumps(document).encode()


def with_flipped_bytes(data: bytes, flips: list[tuple[int, int]]) -> bytes:
    mutable = bytearray(data)
    for place, value in flips:
        mutable[place % len(mutable)] = value
    return bytes(mutable)


def flips() -> st.SearchStrategy[list[tuple[int, int]]]:
    byte = st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255)
    return st.lists(st.tuples(st.integers(0, 2**16), byte), min_size=1, max_size=4)
