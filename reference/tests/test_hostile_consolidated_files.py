# SPDX-License-Identifier: BSD-3-Clause
"""Consolidated files that are wrong on purpose: one clear error, no crash, no more memory."""

import json
import os
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensordict import LazyStackedTensorDict, NonTensorStack, TensorDict

from .codec import Codec, CodecError
from .hostile import flips, mutated, refusal_of, to_json, with_flipped_bytes
from .trees import Pair, examples


def _good_file() -> bytes:
    """A file of all kinds."""
    jagged = torch.nested.nested_tensor_from_jagged(torch.arange(6.0), torch.tensor([0, 2, 6]))
    pair = Pair(b=torch.ones(2), a=torch.zeros(2), s="x", batch_size=[2])
    td = TensorDict(
        {
            "a": torch.arange(6.0).view(2, 3),
            "j": jagged,
            "l": LazyStackedTensorDict(TensorDict(x=torch.ones(2)), TensorDict(x=torch.ones(3))),
            "n": TensorDict({"u": torch.ones(2, dtype=torch.uint8)}, [2]),
            "p": pair,
            "s": NonTensorStack("a", "b"),
            "t": "text",
        },
        [2],
    )
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"tdref-good-{os.getpid()}"
    td.consolidate(filename=path)
    try:
        return path.read_bytes()
    finally:
        path.unlink()


GOOD = _good_file()
(_SIZE,) = struct.unpack("<q", GOOD[-8:])
STORAGE, METADATA = GOOD[: -8 - _SIZE], json.loads(GOOD[-8 - _SIZE : -8])


def file_of(metadata: bytes, storage: bytes = STORAGE, size: int | None = None) -> bytes:
    return storage + metadata + struct.pack("<q", len(metadata) if size is None else size)


def refusal(codec: Codec, tmp_path: Path, content: bytes) -> str | None:
    path = tmp_path / "td"
    path.write_bytes(content)
    error = refusal_of(codec, "F", path, len(content))
    if error is not None:
        assert error.type == "ValueError"
    return None if error is None else error.message


def leaf(dtype: Any, shape: Any, start: Any, stop: Any, pad: Any) -> bytes:  # noqa: ANN401
    """Metadata with two leaves, of which the first is the one that is given."""
    leaves = {"a": [dtype, shape, start, stop, pad], "z": ["torch.uint8", [8], 56, 64, 0]}
    cls_metadata = {"device": None, "names": [], "batch_size": [], "is_locked": False}
    return to_json(
        {"cls": "TensorDict", "non_tensors": {}, "leaves": leaves, "cls_metadata": cls_metadata}
    )


def test_the_good_file_is_read(codec: Codec, tmp_path: Path) -> None:
    assert refusal(codec, tmp_path, GOOD) is None
    good = leaf("torch.float32", [2], 0, 8, 0)
    assert refusal(codec, tmp_path, file_of(good, bytes(64))) is None


def test_every_truncation(codec: Codec, tmp_path: Path) -> None:
    for length in range(len(GOOD)):
        assert refusal(codec, tmp_path, GOOD[:length]) is not None, length


def test_bytes_missing_or_added_at_the_begin(codec: Codec, tmp_path: Path) -> None:
    for content in (GOOD[1:], GOOD[8:], b"\0" + GOOD, bytes(8) + GOOD):
        assert "its leaves take" in (refusal(codec, tmp_path, content) or "")


@pytest.mark.parametrize("size", [-1, -(2**63), 2**63 - 1, 2**60, _SIZE + len(STORAGE) + 1])
def test_the_size_of_the_metadata_is_wrong(codec: Codec, tmp_path: Path, size: int) -> None:
    content = file_of(to_json(METADATA), size=size)
    assert "bytes of metadata stand before it" in (refusal(codec, tmp_path, content) or "")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (("torch.float32", [2], 0, 16, 0), "padding"),
        (("torch.float32", [2], 52, 60, 0), "on the same bytes"),
        (("torch.float32", [2], -8, 0, 0), "the bytes -8 to 0"),
        (("torch.float32", [2], 8, 0, 0), "the bytes 8 to 0"),
        (("torch.float32", [2], 64, 72, 0), "its leaves take 72 bytes"),
        (("torch.float32", [2], 2**63 - 8, 2**63 - 1, 0), "the bytes"),
        (("torch.float32", [2], 2**62, 2**62 + 8, 0), "its leaves take"),
        (("torch.float32", [2], -(2**63), 2**63 - 1, 0), "the bytes"),
        (("torch.float32", [2], 0, 8, 2**63), "more than 64 bits"),
        (("torch.float32", [2], 1, 9, 0), "not a multiple of its element size"),
        (("torch.float32", [2**60], 0, 8, 0), "has"),
        (("torch.float32", [2**40, 2**40], 0, 8, 0), "too large"),
        (("torch.float32", [-2], 0, 8, 0), "negative"),
        (("torch.float7", [2], 0, 8, 0), "unknown dtype 'torch.float7'"),
        ((7, [2], 0, 8, 0), "a dtype must be a str"),
        (("torch.float32", "2", 0, 8, 0), "a shape must be a list"),
        (("torch.float32", [2.0], 0, 8, 0), "must be an int"),
        (("torch.float32", [2], "0", 8, 0), "must be an int"),
        (("torch.float32", [2], None, 8, 0), "must be an int"),
        (("torch.float32", [2], True, 8, 0), "must be an int"),
    ],
)
def test_a_leaf_is_wrong(codec: Codec, tmp_path: Path, fields: tuple[Any, ...], says: str) -> None:
    message = refusal(codec, tmp_path, file_of(leaf(*fields), bytes(64)))
    assert message is not None
    assert says in message


def nested(levels: int) -> bytes:
    """Tensordicts one in the other."""
    begin = '{"cls": "TensorDict", "non_tensors": {}, "leaves": {}, "cls_metadata": '
    begin += '{"device": null, "names": [], "batch_size": [], "is_locked": false}'
    return (begin + (', "n": ' + begin) * levels + "}" * (levels + 1)).encode()


def test_nesting(codec: Codec, tmp_path: Path) -> None:
    assert refusal(codec, tmp_path, file_of(nested(400), b"")) is None
    deep = (nested(10_000), b"[" * 10_000 + b"]" * 10_000, b"[" * 10_000, b'{"a":' * 10_000)
    for metadata in deep:
        message = refusal(codec, tmp_path, file_of(metadata, b""))
        assert "nests deeper than 500 levels" in (message or "")


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b'{"cls": "\xff"}', "no JSON"),
        (b'{"cls": "\\ud800"}', "no JSON"),
        (b'{"cls": 1} x', "no JSON"),
        (b"NaN", "is missing"),
        (b"[]", "is missing"),
        (b'{"a": 1, "a": 2}', "the key 'a' twice"),
        (b'{"cls": "os.system", "leaves": {}}', "names the class 'os.system'"),
        (b'{"cls": ["TensorDict"], "leaves": {}}', "a class must be a str"),
        (b"9" * 30, "more than 64 bits"),
        (b"9" * 100_000, "no JSON"),
        (b'{"cls": ' + b"1" + b"0" * 400 + b".5}", "no JSON"),
    ],
)
def test_the_metadata_is_wrong(codec: Codec, tmp_path: Path, metadata: bytes, says: str) -> None:
    message = refusal(codec, tmp_path, file_of(metadata, b""))
    assert message is not None
    assert says in message


def test_a_leaf_of_no_elements_may_have_any_shape(codec: Codec, tmp_path: Path) -> None:
    refusal(codec, tmp_path, file_of(leaf("torch.float32", [0, 2**62, 2**62], 0, 0, 0), bytes(64)))


def test_many_small_things_take_memory_in_proportion(codec: Codec, tmp_path: Path) -> None:
    for metadata in (
        b"[" + b"0," * 1_000_000 + b"0]",
        b"[" + b"[]," * 300_000 + b"0]",
        b'{"cls": "TensorDict", "non_tensors": {"0": [' + b"NaN," * 500_000 + b"0]}}",
    ):
        assert refusal(codec, tmp_path, file_of(metadata, b"")) is not None


def test_a_stack_of_many_data_is_read_in_time_in_proportion(codec: Codec, tmp_path: Path) -> None:
    members = {str(i): [i, [], None] for i in range(100_000)}
    stack = {"cls": "NonTensorStack", "non_tensors": members, "leaves": {}}
    stack["cls_metadata"] = {"stack_dim": 0, "stack_dim_name": None, "is_locked": False}
    cls_metadata = {"device": None, "names": [None], "batch_size": [100_000], "is_locked": False}
    root = {"cls": "TensorDict", "non_tensors": {}, "leaves": {}, "cls_metadata": cls_metadata}
    assert refusal(codec, tmp_path, file_of(to_json(root | {"s": stack}), b"")) is None


@examples
@given(metadata=mutated(METADATA))
def test_any_place_of_the_metadata_is_wrong(codec: Codec, tmp_path: Path, metadata: object) -> None:
    refusal(codec, tmp_path, file_of(to_json(metadata)))


@examples
@given(flips=flips(), cut=st.none() | st.integers(0, len(GOOD)))
def test_any_bytes_are_wrong(
    codec: Codec, tmp_path: Path, flips: list[tuple[int, int]], cut: int | None
) -> None:
    refusal(codec, tmp_path, with_flipped_bytes(GOOD, flips)[:cut])


def test_files_that_are_none(codec: Codec, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, error_type in (("missing", "OSError"), ("", "ValueError"), ("pipe", "ValueError")):
        error = refusal_of(codec, "F", tmp_path / name, 0)
        assert error is not None
        assert error.type == error_type
    with pytest.raises(CodecError, match="null character") as refused:
        codec.read("F", tmp_path / "a\0b")
    assert refused.value.type == "ValueError"
