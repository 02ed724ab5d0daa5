# SPDX-License-Identifier: BSD-3-Clause
"""Consolidated files: tensordict and the codec write the same bytes and read each other's."""

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from tensordict import LazyStackedTensorDict, NonTensorData, TensorDict, TensorDictBase

from .codec import Codec, CodecError
from .same import described, without_class
from .trees import Forms, Pair, collections, examples, json_data

# The keys that metadata uses itself stand in the tests below; so does complex128, whose elements
# tensordict's layout does not align.
RESERVED = ("cls", "non_tensors", "leaves", "cls_metadata", "size")
FORMS = Forms(
    dtypes=tuple(dtype for dtype in Forms().dtypes if dtype is not torch.complex128),
    is_folder_key=lambda key: key not in RESERVED,
    data=json_data(),
    stack_data=json_data().map(lambda data: [data, 1, "b"]),
    has_jagged=True,
)


@examples
@given(td=collections(FORMS))
def test_both_write_the_same_bytes(codec: Codec, tmp_path: Path, td: TensorDictBase) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    td.consolidate(filename=theirs)
    codec.write("C", ours, td)
    assert ours.read_bytes() == theirs.read_bytes()


@examples
@given(td=collections(FORMS))
def test_the_codec_reads_what_tensordict_wrote(
    codec: Codec, tmp_path: Path, td: TensorDictBase
) -> None:
    td.consolidate(filename=tmp_path / "td")
    assert described(codec.read("F", tmp_path / "td")) == without_class(described(td))


@examples
@given(td=collections(FORMS))
def test_tensordict_reads_what_the_codec_wrote(
    codec: Codec, tmp_path: Path, td: TensorDictBase
) -> None:
    written = codec.write("C", tmp_path / "td", td)
    assert described(written) == described(td)
    read = TensorDict.from_consolidated(tmp_path / "td")
    assert described(read) == without_class(described(td))


def test_device_and_lock_are_those_of_the_tensordict(codec: Codec, tmp_path: Path) -> None:
    td = TensorDict(a=torch.ones(2), device="cpu").lock_()
    codec.write("C", tmp_path / "td", td)
    read = TensorDict.from_consolidated(tmp_path / "td")
    assert read.is_locked
    assert read.device == torch.device("cpu")


def test_a_file_that_is_there_is_replaced_whatever_its_size(codec: Codec, tmp_path: Path) -> None:
    for size in (100, 1):
        td = TensorDict(a=torch.arange(size))
        codec.write("C", tmp_path / "td", td)
        assert TensorDict.from_consolidated(tmp_path / "td")["a"].tolist() == list(range(size))


def test_a_link_points_at_the_new_file(codec: Codec, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/td").touch()
    (tmp_path / "link").symlink_to(tmp_path / "folder/td")
    codec.write("C", tmp_path / "link", TensorDict(a=torch.ones(1)))
    assert (tmp_path / "link").is_symlink()
    assert TensorDict.from_consolidated(tmp_path / "folder/td")["a"].tolist() == [1]
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["td"]


def test_the_codec_writes_what_is_consolidated_already(codec: Codec, tmp_path: Path) -> None:
    """tensordict writes nothing, and warns."""
    td = TensorDict(a=torch.ones(2), n=TensorDict(b=torch.zeros(3))).consolidate(metadata=True)
    td.consolidate(filename=tmp_path / "theirs")
    assert not (tmp_path / "theirs").exists()
    codec.write("C", tmp_path / "ours", td)
    assert described(TensorDict.from_consolidated(tmp_path / "ours")) == described(td)


def test_a_part_of_a_rebuilt_tensordict_has_the_storage_of_the_whole(
    codec: Codec, tmp_path: Path
) -> None:
    TensorDict(a=torch.ones(2), n=TensorDict(b=torch.zeros(3)), z=torch.ones(9)).consolidate(
        filename=tmp_path / "whole"
    )
    part = TensorDict.from_consolidated(tmp_path / "whole")["n"]
    assert part._consolidated["storage"].numel() > 16
    assert described(pickle.loads(codec.ask("t", pickle.dumps(part)))) == described(part)
    codec.write("C", tmp_path / "part", part)
    assert described(TensorDict.from_consolidated(tmp_path / "part")) == described(part)


@pytest.mark.parametrize("key", RESERVED)
def test_the_codec_refuses_keys_that_tensordict_loses(
    codec: Codec, tmp_path: Path, key: str
) -> None:
    """tensordict writes a nested tensordict under such a key, and cannot read it back."""
    td = TensorDict({"a": torch.ones(1), key: TensorDict(b=torch.ones(1))})
    try:
        td.consolidate(filename=tmp_path / "theirs")
        read = TensorDict.from_consolidated(tmp_path / "theirs")
        assert described(read) != described(td)
    except (KeyError, ValueError, TypeError, AttributeError, RuntimeError):
        pass
    with pytest.raises(CodecError) as error:
        codec.write("C", tmp_path / "ours", td)
    assert error.value.type == "NotImplementedError"
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize(
    ("data", "error"),
    [(b"bytes", "TypeError"), ({1: "a"}, "TypeError"), ({"a": {(1, 2): b""}}, "TypeError")],
)
def test_the_codec_refuses_data_that_json_changes(
    codec: Codec,
    tmp_path: Path,
    data: Any,  # noqa: ANN401
    error: str,
) -> None:
    """tensordict gives keys that are no str back as str, and refuses the others."""
    with pytest.raises(CodecError) as refused:
        codec.write("C", tmp_path / "td", TensorDict(s=NonTensorData(data)))
    assert refused.value.type == error
    assert not (tmp_path / "td").exists()


def test_a_tuple_comes_back_as_a_list(codec: Codec, tmp_path: Path) -> None:
    td = TensorDict(s=NonTensorData((1, (2,))))
    codec.write("C", tmp_path / "td", td)
    assert codec.read("F", tmp_path / "td")["s"] == [1, [2]]
    assert TensorDict.from_consolidated(tmp_path / "td")["s"] == [1, [2]]


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.complex128])
def test_leaves_that_neither_writes(codec: Codec, tmp_path: Path, dtype: torch.dtype) -> None:
    """A name that metadata does not know, and elements that would not be aligned."""
    td = TensorDict({"a": torch.ones(1), "b": torch.ones(2).to(dtype)})
    with pytest.raises((KeyError, RuntimeError)):
        td.consolidate(filename=tmp_path / "theirs")
    with pytest.raises(CodecError) as error:
        codec.write("C", tmp_path / "ours", td)
    assert error.value.type == "NotImplementedError"


def test_aligned_complex128(codec: Codec, tmp_path: Path) -> None:
    td = TensorDict({"b": torch.ones(2).to(torch.complex128), "a": torch.ones(1)})
    codec.write("C", tmp_path / "td", td)
    assert described(TensorDict.from_consolidated(tmp_path / "td")) == described(td)


def test_tensorclasses_that_tensordict_stacks_lazily(codec: Codec, tmp_path: Path) -> None:
    """tensordict cannot read its own file of one below the root; the codec's it can."""
    pair = Pair(b=torch.ones(2, 3), a=torch.arange(2), batch_size=[2])
    td = TensorDict({"p": Pair.lazy_stack([pair, pair], 0)}, [2])
    td.consolidate(filename=tmp_path / "theirs")
    with pytest.raises(TypeError):
        TensorDict.from_consolidated(tmp_path / "theirs")
    with pytest.raises(CodecError) as error:
        codec.read("F", tmp_path / "theirs")
    assert error.value.type == "ValueError"
    codec.write("C", tmp_path / "ours", td)
    read = TensorDict.from_consolidated(tmp_path / "ours")
    assert type(read.get("p")) is LazyStackedTensorDict
    assert described(read) == described(td)


def test_metadata_may_be_followed_by_the_spaces_that_tensordict_pads_with(
    codec: Codec, tmp_path: Path
) -> None:
    td = TensorDict(a=torch.ones(2)).consolidate(filename=tmp_path / "td")
    body = (tmp_path / "td").read_bytes()[8:-8]
    json.loads(body)
    (tmp_path / "td").write_bytes(
        torch.ones(2).numpy().tobytes() + body + b"  " + struct.pack("<q", len(body) + 2)
    )
    assert described(codec.read("F", tmp_path / "td")) == described(td)
