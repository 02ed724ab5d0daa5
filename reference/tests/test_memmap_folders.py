# SPDX-License-Identifier: BSD-3-Clause
"""Memory-mapped folders: tensordict and the codec write the same files and read each other's."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensordict import (
    LazyStackedTensorDict,
    MemoryMappedTensor,
    NonTensorData,
    NonTensorStack,
    TensorDict,
    TensorDictBase,
)

from .codec import Codec, CodecError
from .same import described
from .trees import Forms, Pair, any_data, collections, examples, tensordicts

# What meta.json or the folder uses itself stands in the tests below.
RESERVED = ("shape", "device", "_type")
FORMS = Forms(
    is_key=lambda key: key not in RESERVED,
    is_folder_key=lambda key: key != "meta.json" and not key.endswith(".memmap"),
    data=any_data(),
    # tensordict takes a list for a stack, as a test below says.
    stack_data=any_data().map(lambda data: ["b" if isinstance(data, list) else data, "a", 1]),
)


def fresh(folder: Path) -> Path:
    """An empty place, also for the next example."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def files_of(folder: Path) -> dict[str, Any]:
    """The files by their paths, and what they hold; pickles differ in how they are written."""
    files = {}
    for path in folder.rglob("*"):
        if path.is_file():
            content: Any = path.read_bytes()
            if path.suffix == ".json":
                content = repr(json.loads(content))
            elif path.suffix in (".pickle", ".pkl"):
                content = "a pickle"
            files[str(path.relative_to(folder))] = content
    return files


@examples
@given(td=collections(FORMS))
def test_both_write_the_same_files(codec: Codec, tmp_path: Path, td: TensorDictBase) -> None:
    theirs, ours = fresh(tmp_path / "theirs"), fresh(tmp_path / "ours")
    written = codec.write("M", ours, td)
    try:
        td.memmap(theirs)
    except AttributeError:
        assert has_a_lazy_stack_of_tensorclasses(td)
        return
    assert files_of(ours) == files_of(theirs)
    assert described(written) == described(TensorDict.load_memmap(theirs))
    assert written.is_locked


@examples
@given(td=collections(FORMS))
def test_tensordict_reads_what_the_codec_wrote(
    codec: Codec, tmp_path: Path, td: TensorDictBase
) -> None:
    written = codec.write("M", fresh(tmp_path / "td"), td)
    read = TensorDict.load_memmap(tmp_path / "td")
    assert described(read) == described(written)
    assert type(read) is type(td)


@examples
@given(td=tensordicts(FORMS))
def test_the_codec_reads_what_tensordict_wrote(
    codec: Codec, tmp_path: Path, td: TensorDict
) -> None:
    try:
        td.memmap(fresh(tmp_path / "td"))
    except AttributeError:
        assert has_a_lazy_stack_of_tensorclasses(td)
        return
    read = codec.read("L", tmp_path / "td")
    assert described(read) == described(TensorDict.load_memmap(tmp_path / "td"))
    assert not read.is_locked


def has_a_lazy_stack_of_tensorclasses(td: TensorDictBase) -> bool:
    """tensordict cannot map these."""
    return "LazyStackedTensorDict" in repr(td) and "Pair" in repr(td)


@given(key=st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
@examples
def test_every_key_is_one_name(codec: Codec, tmp_path: Path, key: str) -> None:
    if key in RESERVED:
        return
    td = TensorDict({key: torch.ones(1)})
    codec.write("M", fresh(tmp_path / "ours"), td)
    td.memmap(fresh(tmp_path / "theirs"))
    assert files_of(tmp_path / "ours") == files_of(tmp_path / "theirs")


def test_what_is_written_into_a_leaf_reaches_the_other_process(
    codec: Codec, tmp_path: Path
) -> None:
    codec.write("M", tmp_path / "td", TensorDict(a=torch.zeros(2), n=TensorDict(b=torch.ones(1))))
    mapped = TensorDict.load_memmap(tmp_path / "td")
    assert type(mapped["a"]) is MemoryMappedTensor
    added = codec.read("A", tmp_path / "td")
    assert added["a"].tolist() == mapped["a"].tolist() == [1, 1]
    assert mapped["n", "b"].tolist() == [2]
    mapped["a"].fill_(7)
    assert codec.read("L", tmp_path / "td")["a"].tolist() == [7, 7]


def test_a_folder_that_is_there_is_written_again(codec: Codec, tmp_path: Path) -> None:
    """Other shapes, and data that JSON has a form for where a pickle was."""
    first = TensorDict({"a": torch.ones(1, 9), "s": NonTensorStack(b"x")}, [1])
    first["d"] = NonTensorData(b"x", [1])
    second = TensorDict({"a": torch.zeros(1, 2), "s": NonTensorStack("y")}, [1])
    second["d"] = NonTensorData("y", [1])
    codec.write("M", tmp_path / "td", first)
    before = TensorDict.load_memmap(tmp_path / "td")
    codec.write("M", tmp_path / "td", second)
    assert described(TensorDict.load_memmap(tmp_path / "td", allow_pickle=False)) == described(
        second
    )
    assert before["a"].tolist() == [[1.0] * 9]


def test_members_that_would_be_taken_for_those_of_a_stack(codec: Codec, tmp_path: Path) -> None:
    """tensordict reads three members where two were written."""
    members = [TensorDict(a=torch.ones(i)) for i in range(3)]
    three, two = LazyStackedTensorDict(*members), LazyStackedTensorDict(*members[:2])
    three.memmap(tmp_path / "theirs")
    two.memmap(tmp_path / "theirs")
    assert len(TensorDict.load_memmap(tmp_path / "theirs").tensordicts) == 3
    codec.write("M", tmp_path / "ours", three)
    with pytest.raises(CodecError) as error:
        codec.write("M", tmp_path / "ours", two)
    assert error.value.type == "ValueError"
    assert "ours" in error.value.message


@pytest.mark.parametrize("key", RESERVED)
def test_the_codec_refuses_keys_that_tensordict_loses(
    codec: Codec, tmp_path: Path, key: str
) -> None:
    td = TensorDict({key: torch.ones(1), "a": torch.ones(1)})
    td.memmap(tmp_path / "theirs")
    assert list(TensorDict.load_memmap(tmp_path / "theirs").keys()) == ["a"]
    with pytest.raises(CodecError) as error:
        codec.write("M", tmp_path / "ours", td)
    assert error.value.type == "NotImplementedError"
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize(
    "td",
    [
        TensorDict({"meta.json": TensorDict(a=torch.ones(1))}),
        TensorDict({"a.memmap": TensorDict(b=torch.ones(1)), "a": torch.ones(1)}),
    ],
    ids=["meta.json", "a.memmap"],
)
def test_two_things_of_one_name(codec: Codec, tmp_path: Path, td: TensorDict) -> None:
    """tensordict writes some of it before it fails."""
    with pytest.raises((OSError, RuntimeError)):
        td.memmap(tmp_path / "theirs")
    with pytest.raises(CodecError) as error:
        codec.write("M", tmp_path / "ours", td)
    assert error.value.type == "NotImplementedError"
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize("key", ["_names", "_class", "_format_version"])
def test_keys_that_meta_json_uses_unless_there_is_an_entry(
    codec: Codec, tmp_path: Path, key: str
) -> None:
    td = TensorDict({key: torch.ones(2), "n": TensorDict({key: torch.ones(1)})})
    codec.write("M", tmp_path / "td", td)
    assert described(TensorDict.load_memmap(tmp_path / "td")) == described(td)
    assert described(codec.read("L", tmp_path / "td")) == described(td)


def test_a_lazy_stack_of_tensorclasses(codec: Codec, tmp_path: Path) -> None:
    """tensordict cannot write it, and reads what the codec writes."""
    pair = Pair(b=torch.ones(2), a=torch.zeros(2), s="text", batch_size=[2])
    td = LazyStackedTensorDict(pair, pair, stack_dim=1)
    with pytest.raises(AttributeError):
        td.memmap(tmp_path / "theirs")
    codec.write("M", tmp_path / "ours", td)
    assert described(TensorDict.load_memmap(tmp_path / "ours")) == described(td)
    assert described(codec.read("L", tmp_path / "ours")) == described(td)


def test_tensorclasses_that_tensordict_stacks_lazily(codec: Codec, tmp_path: Path) -> None:
    pair = Pair(b=torch.ones(2), a=torch.zeros(2), batch_size=[2])
    td = Pair.lazy_stack([pair, pair], 0)
    td.memmap(tmp_path / "td")
    assert described(codec.read("L", tmp_path / "td")) == described(td)


def test_a_stack_of_lists(codec: Codec, tmp_path: Path) -> None:
    """tensordict takes the lists for stacks, whose numbers of rows then differ from the batch's."""
    td = TensorDict({"s": NonTensorStack(NonTensorData([1, 2, 3]), NonTensorData([4, 5, 6]))}, [2])
    td.memmap(tmp_path / "td")
    assert TensorDict.load_memmap(tmp_path / "td").get("s").batch_size == torch.Size([2, 3])
    read = codec.read("L", tmp_path / "td")
    assert read.get("s").batch_size == torch.Size([2])
    assert [row.data for row in read.get("s").tensordicts] == [[1, 2, 3], [4, 5, 6]]


def test_jagged_leaves_have_no_file(codec: Codec, tmp_path: Path) -> None:
    jagged = torch.nested.nested_tensor_from_jagged(torch.arange(6.0), torch.tensor([0, 2, 6]))
    td = TensorDict({"j": jagged}, [2])
    with pytest.raises(NotImplementedError):
        td.memmap(tmp_path / "theirs")
    with pytest.raises(CodecError) as error:
        codec.write("M", tmp_path / "ours", td)
    assert error.value.type == "NotImplementedError"


def test_float8_comes_back_from_the_codec_alone(codec: Codec, tmp_path: Path) -> None:
    """tensordict writes it, and does not know the name when it reads."""
    td = TensorDict(a=torch.ones(3).to(torch.float8_e4m3fn))
    td.memmap(tmp_path / "td")
    with pytest.raises(KeyError):
        TensorDict.load_memmap(tmp_path / "td")
    assert codec.read("L", tmp_path / "td")["a"].dtype is torch.float8_e4m3fn


def test_parameters_and_leaves_with_history_are_mapped_by_their_elements(
    codec: Codec, tmp_path: Path
) -> None:
    td = TensorDict(a=torch.ones(2, requires_grad=True), p=torch.nn.Parameter(torch.ones(1)))
    codec.write("M", tmp_path / "td", td)
    read = TensorDict.load_memmap(tmp_path / "td")
    assert read["a"].tolist() == [1, 1]
    assert not read["a"].requires_grad


def test_a_persistent_tensordict_is_mapped_as_a_tensordict(codec: Codec, tmp_path: Path) -> None:
    td = TensorDict({"a": torch.ones(2), "n": TensorDict({"b": torch.ones(2)}, [2])}, [2])
    file = td.to_h5(tmp_path / "td.h5")
    file.memmap(tmp_path / "theirs")
    file.close()
    assert described(codec.read("L", tmp_path / "theirs")) == described(td)


def test_names_of_older_versions_are_read(codec: Codec, tmp_path: Path) -> None:
    td = TensorDict({"a b": torch.ones(2), "cc:d": TensorDict({"e f": torch.ones(1)})})
    td.memmap(tmp_path / "td", robust_key=False)
    assert (tmp_path / "td/a b.memmap").exists()
    assert described(codec.read("L", tmp_path / "td")) == described(td)


def test_an_archive_is_refused(codec: Codec, tmp_path: Path) -> None:
    td = TensorDict(a=torch.ones(1))
    with pytest.raises(CodecError) as error:
        codec.write("M", tmp_path / "td.tdz", td)
    assert error.value.type == "NotImplementedError"
    td.memmap(tmp_path / "td.tdz")
    with pytest.raises(CodecError) as error:
        codec.read("L", tmp_path / "td.tdz")
    assert error.value.type == "OSError"
