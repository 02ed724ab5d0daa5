# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files: tensordict, h5py and the codec read what each of them wrote."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from tensordict import (
    LazyStackedTensorDict,
    NonTensorData,
    NonTensorStack,
    PersistentTensorDict,
    TensorDict,
    TensorDictBase,
)
from tensordict.base import is_tensor_collection
from tensordict.tensorclass import NonTensorDataBase

from .codec import Codec, CodecError
from .same import Description, described
from .trees import Forms, Pair, collections, examples

# HDF5 has no type for two, and tensordict cannot read one number of the third.
UNSUPPORTED = (torch.bfloat16, torch.complex32, torch.uint64)
TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=5)
BYTES = st.binary(max_size=4).map(lambda data: data.rstrip(b"\x00"))
FORMS = Forms(
    dtypes=tuple(dtype for dtype in Forms().dtypes if dtype not in UNSUPPORTED),
    is_key=lambda key: key not in ("", ".") and "/" not in key and "\x00" not in key,
    data=TEXTS | BYTES | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(width=64),
    stack_data=st.one_of(
        st.lists(kind, min_size=2, max_size=2)
        for kind in (TEXTS, BYTES, st.booleans(), st.floats(width=64), st.integers(-9, 2**40))
    ),
    has_lazy=False,
    has_names=False,
)


def in_a_file(td: TensorDictBase) -> TensorDict:
    """What is left of a tensordict: no classes."""
    plain = TensorDict({}, td.batch_size)
    for key in td.keys():  # noqa: SIM118
        value = td.get(key)
        if value is not None:
            is_nested = is_tensor_collection(value) and not is_data(value)
            plain.set(key, in_a_file(value) if is_nested else value)
    return plain


def is_data(value: object) -> bool:
    return isinstance(value, NonTensorDataBase | NonTensorStack)


def read_by_tensordict(path: Path) -> Description:
    """What tensordict has in memory after reading, where texts and scalars are Python's again."""
    file = TensorDict.from_h5(path)
    try:
        return described(with_python_scalars(file))
    finally:
        file.close()


def with_python_scalars(td: PersistentTensorDict) -> TensorDict:
    plain = TensorDict({}, td.batch_size)
    for key in td.keys():  # noqa: SIM118
        value = td.get(key)
        if isinstance(value, PersistentTensorDict):
            value = with_python_scalars(value)
        elif td.file[key].attrs.get("__tensordict_str__", False):
            value = NonTensorData(value.data.decode(), batch_size=value.batch_size)
        elif isinstance(value, NonTensorDataBase) and isinstance(value.data, np.generic):
            value = NonTensorData(value.data.item(), batch_size=value.batch_size)
        elif isinstance(value, torch.Tensor):
            value = value.clone()
        plain.set(key, value)
    return plain


def without_batch_sizes(description: Description) -> Description:
    """Leaves out what a file does not have; with them a stack is a list of data."""
    if description[0] == "TensorDict":
        items = {key: without_batch_sizes(value) for key, value in description[3].items()}
        return ("TensorDict", items)
    return ("data", description[1]) if description[0] == "stack" else description


@examples
@given(td=collections(FORMS))
def test_tensordict_reads_what_the_codec_wrote(
    codec: Codec, tmp_path: Path, td: TensorDictBase
) -> None:
    assume(not has_only_unmarked_data(td))
    codec.write("P", tmp_path / "td.h5", td)
    assert without_batch_sizes(read_by_tensordict(tmp_path / "td.h5")) == without_batch_sizes(
        described(in_a_file(td))
    )


@examples
@given(td=collections(FORMS))
def test_the_codec_reads_what_tensordict_wrote(
    codec: Codec, tmp_path: Path, td: TensorDictBase
) -> None:
    assume(not has_a_stack_of_one_datum(td))
    PersistentTensorDict.from_dict(td, tmp_path / "td.h5").close()
    read = codec.read("H", tmp_path / "td.h5")
    assert without_batch_sizes(described(read)) == without_batch_sizes(described(in_a_file(td)))


def has_only_unmarked_data(td: TensorDictBase) -> bool:
    """Whether a level has entries, and none has a shape in a file: tensordict cannot open it."""
    values = [value for key in td.keys() if (value := td.get(key)) is not None]  # noqa: SIM118
    nested = [value for value in values if is_tensor_collection(value) and not is_data(value)]
    alone = bool(values) and all(
        isinstance(value, NonTensorDataBase) or is_stack_of_one_datum(value) for value in values
    )
    return alone or any(map(has_only_unmarked_data, nested))


def has_a_stack_of_one_datum(td: TensorDictBase) -> bool:
    return any(
        is_stack_of_one_datum(value)
        or (is_tensor_collection(value) and not is_data(value) and has_a_stack_of_one_datum(value))
        for key in td.keys()  # noqa: SIM118
        if (value := td.get(key)) is not None
    )


def is_stack_of_one_datum(value: object) -> bool:
    """Whether tensordict takes the stack for one datum, and writes that: where all are the same."""
    if not isinstance(value, NonTensorStack):
        return False
    try:
        _ = value.data
    except AttributeError:
        return False
    return True


@examples
@given(td=collections(FORMS))
def test_both_files_hold_the_same(codec: Codec, tmp_path: Path, td: TensorDictBase) -> None:
    assume(not has_a_stack_of_one_datum(td))
    codec.write("P", tmp_path / "ours.h5", td)
    PersistentTensorDict.from_dict(td, tmp_path / "theirs.h5").close()
    assert content(tmp_path / "ours.h5") == content(tmp_path / "theirs.h5")


def content(path: Path) -> dict[str, Any]:
    """Describes a file as h5py sees it: groups, datasets, their types, attributes and elements."""
    found: dict[str, Any] = {}

    def visit(name: str, node: h5py.Group | h5py.Dataset) -> None:
        attributes = {key: repr(value) for key, value in node.attrs.items()}
        if isinstance(node, h5py.Group):
            found[name] = attributes
            return
        kind = node.id.get_type()
        elements = node[()]
        plain = (
            repr(elements.tolist())
            if kind.get_class() == h5py.h5t.STRING and node.shape
            else (elements.tobytes() if hasattr(elements, "tobytes") else elements)
        )
        found[name] = (node.dtype.str, kind.get_class(), node.shape, attributes, plain)

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def test_a_text_is_a_str_for_the_codec_and_bytes_for_tensordict(
    codec: Codec, tmp_path: Path
) -> None:
    td = TensorDict({"s": "tëxt", "a": torch.ones(1)})
    td.to_h5(tmp_path / "theirs.h5").close()
    codec.write("P", tmp_path / "ours.h5", td)
    for name in ("theirs.h5", "ours.h5"):
        assert codec.read("H", tmp_path / name)["s"] == "tëxt"
        file = PersistentTensorDict(filename=tmp_path / name, batch_size=[])
        assert file["s"] == "tëxt".encode()
        file.close()


def test_a_text_that_tensordict_did_not_write_is_bytes(codec: Codec, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "td.h5", "w") as file:
        file["s"] = "text"
        file["a"] = np.ones(2)
    assert codec.read("H", tmp_path / "td.h5")["s"] == b"text"


def test_a_lazy_stack_is_a_group_of_stacked_leaves(codec: Codec, tmp_path: Path) -> None:
    td = TensorDict({"a": torch.arange(3)})
    stack = LazyStackedTensorDict(td, td + 1, stack_dim=0)
    for written in (stack, TensorDict({"l": stack}, [2])):
        codec.write("P", tmp_path / "ours.h5", written)
        written.to_h5(tmp_path / "theirs.h5").close()
        assert content(tmp_path / "ours.h5") == content(tmp_path / "theirs.h5")


def test_members_of_other_shapes_are_refused_by_both(codec: Codec, tmp_path: Path) -> None:
    stack = LazyStackedTensorDict(TensorDict(a=torch.ones(2)), TensorDict(a=torch.ones(3)))
    with pytest.raises(RuntimeError):
        stack.to_h5(tmp_path / "theirs.h5")
    with pytest.raises(CodecError) as error:
        codec.write("P", tmp_path / "ours.h5", stack)
    assert error.value.type == "RuntimeError"
    assert not (tmp_path / "ours.h5").exists()


@pytest.mark.parametrize(
    "td",
    [
        TensorDict(a=torch.ones(1).bfloat16()),
        TensorDict(a=torch.ones(1).to(torch.complex32)),
        TensorDict(s=NonTensorData(None)),
        TensorDict(s=NonTensorData({"a": 1})),
        TensorDict(s=NonTensorData("a\x00b")),
        TensorDict({"s": NonTensorStack("a", 1)}, [2]),
        TensorDict({"": torch.ones(1)}),
        TensorDict({".": torch.ones(1)}),
        TensorDict({"n": TensorDict({".": torch.ones(1)})}),
    ],
    ids=range(9),
)
def test_what_neither_writes(codec: Codec, tmp_path: Path, td: TensorDict) -> None:
    with pytest.raises((TypeError, ValueError, KeyError)):
        td.to_h5(tmp_path / "theirs.h5")
    with pytest.raises(CodecError) as error:
        codec.write("P", tmp_path / "ours.h5", td)
    assert error.value.type == "NotImplementedError"
    assert not (tmp_path / "ours.h5").exists()


@pytest.mark.parametrize(
    "td",
    [
        TensorDict({"a/b": torch.ones(1)}),
        TensorDict(s=NonTensorData([1, 2])),
        TensorDict(s=NonTensorData(b"a\x00")),
    ],
    ids=["a key with a slash", "a list", "bytes that end in a zero"],
)
def test_what_tensordict_writes_and_does_not_get_back(
    codec: Codec, tmp_path: Path, td: TensorDict
) -> None:
    """A nested key, an array, fewer bytes: the codec refuses to write these."""
    td.to_h5(tmp_path / "theirs.h5").close()
    file = PersistentTensorDict(filename=tmp_path / "theirs.h5", batch_size=[])
    assert described(with_python_scalars(file)) != described(td)
    file.close()
    with pytest.raises(CodecError) as error:
        codec.write("P", tmp_path / "ours.h5", td)
    assert error.value.type == "NotImplementedError"


def test_a_stack_of_stacks(codec: Codec, tmp_path: Path) -> None:
    rows = [NonTensorStack("a", "b"), NonTensorStack("c", "d")]
    td = TensorDict({"s": NonTensorStack(*rows)}, [2, 2])
    codec.write("P", tmp_path / "ours.h5", td)
    td.to_h5(tmp_path / "theirs.h5").close()
    assert content(tmp_path / "ours.h5") == content(tmp_path / "theirs.h5")
    assert codec.read("H", tmp_path / "theirs.h5").get("s").tolist() == [["a", "b"], ["c", "d"]]


def test_a_stack_of_one_datum_stays_a_stack(codec: Codec, tmp_path: Path) -> None:
    """tensordict reads the stack that the codec writes, and writes one datum itself."""
    td = TensorDict({"s": NonTensorStack("a", "a"), "x": torch.ones(2)}, [2])
    codec.write("P", tmp_path / "ours.h5", td)
    assert read_by_tensordict(tmp_path / "ours.h5") == described(td)
    td.to_h5(tmp_path / "theirs.h5").close()
    assert codec.read("H", tmp_path / "theirs.h5").get("s").tolist() == ["a", "a"]
    assert type(codec.read("H", tmp_path / "theirs.h5").get("s")) is NonTensorData


def test_a_stack_of_stacks_of_one_row_keeps_all_data(codec: Codec, tmp_path: Path) -> None:
    """tensordict writes the first datum alone."""
    rows = [NonTensorStack("x"), NonTensorStack("y")]
    td = TensorDict({"s": NonTensorStack(*rows), "a": torch.ones(2, 1)}, [2, 1])
    td.to_h5(tmp_path / "theirs.h5").close()
    assert codec.read("H", tmp_path / "theirs.h5").get("s").data == "x"
    codec.write("P", tmp_path / "ours.h5", td)
    assert codec.read("H", tmp_path / "ours.h5").get("s").tolist() == [["x"], ["y"]]
    assert read_by_tensordict(tmp_path / "ours.h5") == described(td)


def test_uint64(codec: Codec, tmp_path: Path) -> None:
    """tensordict cannot read one number alone."""
    td = TensorDict(a=torch.tensor([1, 2**64 - 1], dtype=torch.uint64))
    codec.write("P", tmp_path / "ours.h5", td)
    assert without_batch_sizes(read_by_tensordict(tmp_path / "ours.h5")) == without_batch_sizes(
        described(td)
    )
    one = TensorDict(a=torch.tensor(2**64 - 1, dtype=torch.uint64))
    one.to_h5(tmp_path / "theirs.h5").close()
    assert described(codec.read("H", tmp_path / "theirs.h5")) == described(one)


def test_compressed_chunked_and_big_endian_numbers(codec: Codec, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "td.h5", "w") as file:
        file.create_dataset("z", data=np.arange(100.0), compression="gzip", chunks=(10,))
        file.create_dataset("b", data=np.arange(100, dtype=">i4"))
        file.create_dataset("h", data=np.arange(100, dtype=">f2"))
        file.create_dataset("c", data=np.arange(100, dtype=">c16"))
    td = codec.read("H", tmp_path / "td.h5")
    assert td.batch_size == torch.Size([100])
    for key in "zbhc":
        assert td[key].to(torch.complex128).real.tolist() == list(range(100))


def test_the_batch_size_is_the_largest_unless_it_is_given(codec: Codec, tmp_path: Path) -> None:
    td = TensorDict(a=torch.ones(2, 3), n=TensorDict(b=torch.ones(2, 3, 4)), e=TensorDict())
    td.to_h5(tmp_path / "td.h5").close()
    assert described(codec.read("H", tmp_path / "td.h5")) == read_by_tensordict(tmp_path / "td.h5")
    assert described(codec.read("G", tmp_path / "td.h5")) == described(td)


def test_tensorclasses_are_groups(codec: Codec, tmp_path: Path) -> None:
    pair = Pair(b=torch.ones(2, 3), a=torch.arange(2), s="text", batch_size=[2])
    codec.write("P", tmp_path / "ours.h5", TensorDict({"p": pair}, [2]))
    TensorDict({"p": pair}, [2]).to_h5(tmp_path / "theirs.h5").close()
    assert content(tmp_path / "ours.h5") == content(tmp_path / "theirs.h5")
