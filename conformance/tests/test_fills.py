# SPDX-License-Identifier: BSD-3-Clause
"""Fills give the bytes that the protocol defines. Expected bytes are worked out by hand."""

import pytest

from tdconf_tensordict_adapter.decode import Json, decode
from tdconf_tensordict_adapter.fills import DTYPES, FillError, dtype_named, fill_bytes
from tdconf_tensordict_adapter.tree_types import Fill


def filled(fill: Json, dtype: str, numel: int) -> str:
    return fill_bytes(decode(Fill, fill, "fill"), dtype_named(dtype), [numel]).hex()


def ramp(start: int, step: int = 1) -> Json:
    return {"ramp": {"start": start, "step": step}}


@pytest.mark.parametrize(
    ("start", "step", "dtype", "numel", "expected"),
    [
        (1, 1, "int16", 3, "010002000300"),
        (1, 1, "int32", 2, "0100000002000000"),
        (-1, 2, "int64", 2, "ffffffffffffffff0100000000000000"),
        (254, 1, "uint8", 4, "feff0001"),
        (127, 1, "int8", 2, "7f80"),
        (65535, 1, "uint16", 2, "ffff0000"),
        (2**32 - 1, 1, "uint32", 2, "ffffffff00000000"),
        (-1, 1, "uint64", 2, "ffffffffffffffff0000000000000000"),
        (2, 1, "bool", 4, "00010001"),
        # 1001 = 1.955078125 * 2^9: exponent 9 + 127 = 0x88, mantissa 0x7a4000.
        (1001, 1, "float32", 1, "00407a44"),
        (-1, 1, "float32", 2, "000080bf00000000"),
        (1, 1, "float64", 2, "000000000000f03f0000000000000040"),
        (1, 1, "float16", 3, "003c00400042"),
        (1, 1, "bfloat16", 3, "803f00404040"),
        # e4m3fn has bias 7: 1 is 0x38. e5m2 has bias 15: 1 is 0x3c.
        (1, 1, "float8_e4m3fn", 3, "384044"),
        (1, 1, "float8_e5m2", 3, "3c4042"),
        (-1, 1, "float8_e4m3fn", 2, "b800"),
        (1, 1, "complex64", 1, "0000803f000080bf"),
        (1, 1, "complex32", 1, "003c00bc"),
        (1, 1, "complex128", 1, "000000000000f03f000000000000f0bf"),
        # The imaginary part is the negative integer, and there is no negative integer zero.
        (0, 1, "complex64", 1, "0000000000000000"),
    ],
)
def test_ramp(start: int, step: int, dtype: str, numel: int, expected: str) -> None:
    assert filled(ramp(start, step), dtype, numel) == expected


@pytest.mark.parametrize(
    ("const", "dtype", "numel", "expected"),
    [
        (65504, "float16", 1, "ff7b"),
        (448, "float8_e4m3fn", 1, "7e"),
        (57344, "float8_e5m2", 1, "7b"),
        (0.5, "float16", 1, "0038"),
        (2.0**-24, "float16", 1, "0100"),
        (2.0**-9, "float8_e4m3fn", 1, "01"),
        (2, "complex64", 2, "00000040000000000000004000000000"),
        (2, "bool", 2, "0101"),
        (0, "bool", 2, "0000"),
        (-2, "int16", 2, "fefffeff"),
        (3.0, "uint8", 2, "0303"),
    ],
)
def test_const(const: float, dtype: str, numel: int, expected: str) -> None:
    assert filled({"const": const}, dtype, numel) == expected


def test_bits_are_repeated() -> None:
    assert filled({"bits": "0000c07f"}, "float32", 2) == "0000c07f0000c07f"
    assert filled({"bits": "010203"}, "uint8", 5) == "0102030102"


# The C++ tests hold the same bytes. The first three begin the published first outputs of splitmix64
# for the seeds 0, 1 and 2: e220a8397b1dcdaf, 910a2dec89025cc1, 975835de1c9756ce.
def test_scramble_mixes_the_index_of_the_byte() -> None:
    assert filled({"scramble": 0}, "uint8", 8) == "e291971d6e63bd63"
    assert filled({"scramble": 1000}, "float16", 4) == "de55dea3075032ac"


def test_scramble_of_bool_takes_the_lowest_bit() -> None:
    assert filled({"scramble": 7}, "uint8", 8) == "bc1aa7fde3f9eece"
    assert filled({"scramble": 7}, "bool", 8) == "0000010101010000"


def test_invert_complements_every_byte_and_flips_bools() -> None:
    assert filled(ramp(1) | {"invert": True}, "int32", 1) == "feffffff"
    assert filled({"const": 1, "invert": True}, "bool", 2) == "0000"
    assert filled({"bits": "0f", "invert": True}, "uint8", 2) == "f0f0"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fill", [ramp(0), {"const": 1}, {"bits": "01"}, {"scramble": 3}])
def test_a_fill_gives_as_many_bytes_as_the_elements_have(fill: Json, dtype: str) -> None:
    for numel in (0, 1, 2):
        assert len(filled(fill, dtype, numel)) == 2 * numel * DTYPES[dtype].itemsize


@pytest.mark.parametrize(
    ("fill", "dtype", "message"),
    [
        (ramp(2049), "float16", "2049, which torch.float16"),
        (ramp(257), "bfloat16", "257, which torch.bfloat16"),
        (ramp(449), "float8_e4m3fn", "449, which torch.float8_e4m3fn"),
        (ramp(2**24 + 1), "float32", "16777217, which torch.float32"),
        (ramp(2**53 + 1), "float64", "9007199254740993, which torch.float64"),
        (ramp(2049), "complex32", "2049, which torch.float16"),
        ({"const": 65536}, "float16", "65536, which torch.float16"),
        ({"const": 2.0**-25}, "float16", "which torch.float16"),
        ({"const": 0.1}, "float32", "0.1, which torch.float32"),
        ({"const": 0.5}, "int32", "0.5, which torch.int32"),
        ({"bits": ""}, "uint8", "has no bytes"),
        ({"bits": "02"}, "bool", "other than 00 and 01"),
        ({}, "uint8", "exactly one of"),
        ({"const": 1, "scramble": 1}, "uint8", "exactly one of"),
        (ramp(1), "float8", "unknown dtype 'float8', allowed: bool, uint8"),
    ],
)
def test_what_a_dtype_cannot_hold_is_refused(fill: Json, dtype: str, message: str) -> None:
    with pytest.raises(FillError, match=message):
        filled(fill, dtype, 1)
