# SPDX-License-Identifier: BSD-3-Clause
"""The closed formulas that give the elements of a tensor, as bytes."""

from math import prod

import numpy as np
import torch

from .tree_types import Fill, Ramp

DTYPES: dict[str, torch.dtype] = {
    "bool": torch.bool,
    "uint8": torch.uint8,
    "int8": torch.int8,
    "int16": torch.int16,
    "uint16": torch.uint16,
    "int32": torch.int32,
    "uint32": torch.uint32,
    "int64": torch.int64,
    "uint64": torch.uint64,
    "float8_e4m3fn": torch.float8_e4m3fn,
    "float8_e5m2": torch.float8_e5m2,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
    "complex32": torch.complex32,
    "complex64": torch.complex64,
    "complex128": torch.complex128,
}

# The floating types of the real and the imaginary part.
COMPLEX_PARTS = {
    torch.complex32: torch.float16,
    torch.complex64: torch.float32,
    torch.complex128: torch.float64,
}


MAX_TENSOR_BYTES = 1 << 30


class FillError(ValueError):
    """A fill gives no value of the dtype, or the shape is too large to fill."""


def dtype_named(name: str) -> torch.dtype:
    if name not in DTYPES:
        raise FillError(f"unknown dtype {name!r}, allowed: {', '.join(DTYPES)}")
    return DTYPES[name]


def fill_bytes(fill: Fill, dtype: torch.dtype, shape: list[int]) -> bytes:
    """Returns the elements in row-major order, little-endian.

    Errors  FillError: not exactly one formula, a number that the dtype cannot represent exactly, or
            a shape beyond the bound.
    """
    check_size(shape, dtype)
    numel = prod(shape)
    formulas = {
        "ramp": fill_ramp,
        "const": fill_const,
        "bits": fill_bits,
        "scramble": fill_scramble,
    }
    given = [name for name in formulas if getattr(fill, name) is not None]
    if len(given) != 1:
        raise FillError(f"a fill has exactly one of {', '.join(formulas)}; got {given}")
    data = formulas[given[0]](getattr(fill, given[0]), dtype, numel)
    return (data ^ complement_mask(dtype)).tobytes() if fill.invert else data.tobytes()


def check_size(shape: list[int], dtype: torch.dtype) -> None:
    """Refuses more than `MAX_TENSOR_BYTES`; a dimension of size 0 counts as 1, for its strides."""
    if any(size < 0 for size in shape):
        raise FillError(f"negative size in shape {shape}")
    if prod(max(size, 1) for size in shape) * dtype.itemsize > MAX_TENSOR_BYTES:
        raise FillError(f"shape {shape} of {dtype} exceeds {MAX_TENSOR_BYTES} bytes")


def complement_mask(dtype: torch.dtype) -> np.uint8:
    return np.uint8(0x01 if dtype is torch.bool else 0xFF)


def fill_ramp(ramp: Ramp, dtype: torch.dtype, numel: int) -> np.ndarray:
    steps = np.arange(numel, dtype=np.uint64) * np.uint64(ramp.step % 2**64)
    integers = (steps + np.uint64(ramp.start % 2**64)).view(np.int64)
    if dtype is torch.bool:
        return (integers & 1).astype(np.uint8)
    if dtype.is_complex:
        return encode_complex(integers, -integers, dtype)
    if dtype.is_floating_point:
        return encode_floats(integers, dtype)
    return encode_integers(integers, dtype)


def fill_const(const: int | float, dtype: torch.dtype, numel: int) -> np.ndarray:
    if dtype is torch.bool:
        return np.full(numel, const != 0, dtype=np.uint8)
    if dtype.is_complex:
        return encode_complex(np.full(numel, const), np.zeros(numel), dtype)
    if dtype.is_floating_point:
        return encode_floats(np.full(numel, const), dtype)
    if int(const) != const:
        raise FillError(f"a fill gives {const}, which {dtype} cannot represent exactly")
    wrapped = np.full(numel, int(const) % 2**64, dtype=np.uint64)
    return encode_integers(wrapped.view(np.int64), dtype)


def fill_bits(bits: str, dtype: torch.dtype, numel: int) -> np.ndarray:
    pattern = bytes.fromhex(bits)
    if not pattern:
        raise FillError("a fill `bits` has no bytes")
    if dtype is torch.bool and max(pattern) > 1:
        raise FillError("a fill `bits` of bool has a byte other than 00 and 01")
    return np.resize(np.frombuffer(pattern, dtype=np.uint8), numel * dtype.itemsize)


def fill_scramble(seed: int, dtype: torch.dtype, numel: int) -> np.ndarray:
    base = np.uint64((seed << 32) % 2**64)
    mixed = mix(base + np.arange(numel * dtype.itemsize, dtype=np.uint64))
    top = (mixed >> np.uint64(56)).astype(np.uint8)
    return top & np.uint8(1) if dtype is torch.bool else top


def mix(z: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def encode_integers(integers: np.ndarray, dtype: torch.dtype) -> np.ndarray:
    return integers.view(np.uint8).reshape(-1, 8)[:, : dtype.itemsize].reshape(-1)


def encode_floats(numbers: np.ndarray, dtype: torch.dtype) -> np.ndarray:
    given = torch.from_numpy(numbers)
    # Unlike given.to(dtype), this has a stride that view() accepts when there are no elements.
    encoded = torch.empty(len(numbers), dtype=dtype).copy_(given)
    # Converting back shows what was rounded.
    wrong = (encoded.to(torch.float64).to(given.dtype) != given).nonzero()
    if len(wrong):
        number = given[wrong[0, 0]].item()
        raise FillError(f"a fill gives {number}, which {dtype} cannot represent exactly")
    return encoded.view(torch.uint8).numpy()


def encode_complex(real: np.ndarray, imaginary: np.ndarray, dtype: torch.dtype) -> np.ndarray:
    parts = np.stack([real, imaginary.astype(real.dtype)], axis=1).reshape(-1)
    return encode_floats(parts, COMPLEX_PARTS[dtype])
