# SPDX-License-Identifier: BSD-3-Clause
"""Reads the elements of a tensor from the bytes that a snapshot holds."""

import math
import struct
from dataclasses import dataclass
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
    "float64": "d",
}


@dataclass(frozen=True)
class _Float:
    """A binary floating type: its bits as an unsigned integer, and how many are for what."""

    format: str
    exponent: int
    fraction: int
    has_infinity: bool = True


_FLOATS = {
    "float8_e4m3fn": _Float("B", 4, 3, has_infinity=False),
    "float8_e5m2": _Float("B", 5, 2),
    "float16": _Float("H", 5, 10),
    "bfloat16": _Float("H", 8, 7),
    "float32": _Float("I", 8, 23),
}
# As many digits as tell any two of these apart.
_MOST_DIGITS = 9
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def item_bytes(dtype: str) -> int:
    """Returns the size of one element."""
    if dtype in _PARTS:
        return 2 * item_bytes(_PARTS[dtype])
    return struct.calcsize(_FORMATS[dtype] if dtype in _FORMATS else _FLOATS[dtype].format)


def elements(dtype: str, data: bytes) -> list[str]:
    """Writes the elements in row-major order, with no more digits than the dtype needs."""
    if dtype in _PARTS:
        parts = elements(_PARTS[dtype], data)
        return [_complex(real, imag) for real, imag in zip(parts[::2], parts[1::2], strict=True)]
    if dtype in _FLOATS:
        kind = _FLOATS[dtype]
        return [_shortest(kind, bits) for (bits,) in struct.iter_unpack(f"<{kind.format}", data)]
    return [str(value) for (value,) in struct.iter_unpack(f"<{_FORMATS[dtype]}", data)]


def _complex(real: str, imag: str) -> str:
    return f"({real}{'' if imag.startswith('-') else '+'}{imag}j)"


def _shortest(kind: _Float, bits: int) -> str:
    """Writes the shortest number that is nearer to this element than to any other."""
    sign_bit = 1 << (kind.exponent + kind.fraction)
    sign = "-" if bits & sign_bit else ""
    bits &= sign_bit - 1
    exact = _number(kind, bits)
    if math.isnan(exact):
        return "nan"
    if exact in (0, math.inf):
        return f"{sign}{exact}"
    below = exact - _number(kind, bits - 1)
    above = _number(kind, bits + 1) - exact
    if not math.isfinite(above):
        above = below
    for digits in range(1, _MOST_DIGITS):
        number = float(f"{exact:.{digits}g}")
        if -below < 2 * (number - exact) < above:
            return f"{sign}{number}"
    return f"{sign}{float(f'{exact:.{_MOST_DIGITS}g}')}"


def _number(kind: _Float, bits: int) -> float:
    """Returns the value of `bits`, in which the sign is not set."""
    exponent, fraction = divmod(bits, 1 << kind.fraction)
    all_ones = fraction == (1 << kind.fraction) - 1
    if exponent == (1 << kind.exponent) - 1 and (kind.has_infinity or all_ones):
        return math.inf if kind.has_infinity and fraction == 0 else math.nan
    one = (1 << (kind.exponent - 1)) - 1
    if exponent > 0:
        fraction += 1 << kind.fraction
    return math.ldexp(fraction, max(exponent, 1) - one - kind.fraction)


def shown(leaf: dict[str, Any], most: int) -> str:
    """Writes a leaf of a snapshot: dtype, shape, and the first `most` elements."""
    text = f"{leaf['dtype']}{list(leaf['shape'])}"
    if "rows" in leaf:
        text += f" rows at {leaf['rows']['offsets']}"
    if "bytes" not in leaf:
        digest = leaf.get("sha256")
        return f"{text} sha256 {digest[:12]}..." if digest else f"{text} ({leaf['layout']})"
    values = elements(leaf["dtype"], bytes.fromhex(leaf["bytes"]))
    if len(values) > most:
        return f"{text} [{', '.join(values[:most])}, ...]"
    return f"{text} [{', '.join(values)}]"
