# SPDX-License-Identifier: BSD-3-Clause
"""Reads the elements of a tensor from the bytes that a snapshot holds."""

import struct
from collections.abc import Sequence
from typing import Any

_FORMATS = {
    "bool": "?",
    "uint8": "B",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float16": "e",
    "float32": "f",
    "float64": "d",
}
# These have no format of their own.
_ITEM_BYTES = {"float8_e4m3fn": 1, "float8_e5m2": 1, "bfloat16": 2}
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def item_bytes(dtype: str) -> int:
    """Returns the size of one element."""
    if dtype in _PARTS:
        return 2 * item_bytes(_PARTS[dtype])
    return struct.calcsize(_FORMATS[dtype]) if dtype in _FORMATS else _ITEM_BYTES[dtype]


def elements(dtype: str, data: bytes) -> list[Any]:
    """Returns the elements in row-major order; those of 8-bit floating types as hex digits."""
    if dtype in _PARTS:
        parts = elements(_PARTS[dtype], data)
        return [complex(real, imag) for real, imag in zip(parts[::2], parts[1::2], strict=True)]
    if dtype == "bfloat16":
        # The upper half of a float32.
        wide = b"".join(b"\0\0" + data[at : at + 2] for at in range(0, len(data), 2))
        return elements("float32", wide)
    if dtype not in _FORMATS:
        return [f"{byte:02x}" for byte in data]
    return [value for (value,) in struct.iter_unpack(f"<{_FORMATS[dtype]}", data)]


def shown(leaf: dict[str, Any], most: int) -> str:
    """Writes a leaf of a snapshot: dtype, shape, and the first `most` elements."""
    text = f"{leaf['dtype']}{list(leaf['shape'])}"
    if "bytes" not in leaf:
        digest = leaf.get("sha256")
        return f"{text} sha256 {digest[:12]}..." if digest else f"{text} ({leaf['layout']})"
    values = elements(leaf["dtype"], bytes.fromhex(leaf["bytes"]))
    if len(values) > most:
        return f"{text} [{_joined(values[:most])}, ...]"
    return f"{text} [{_joined(values)}]"


def _joined(values: Sequence[Any]) -> str:
    return ", ".join(str(value) for value in values)
