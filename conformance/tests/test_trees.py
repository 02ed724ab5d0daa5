# SPDX-License-Identifier: BSD-3-Clause
"""Trees become values of tensordict, and snapshots describe them."""

import hashlib
import itertools
import math
import pickle
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tensordict import NonTensorStack, TensorDictBase

from tdconf_tensordict_adapter import tensorclasses
from tdconf_tensordict_adapter.decode import Json
from tdconf_tensordict_adapter.errors import AdapterError, ImplementationError, UnsupportedError
from tdconf_tensordict_adapter.fills import DTYPES
from tdconf_tensordict_adapter.snapshots import Snapshots, dense_bytes
from tdconf_tensordict_adapter.tree_types import decode_tree
from tdconf_tensordict_adapter.trees import FORMS, build

from .worlds import leaf, ramp, tensordict

pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")


@pytest.fixture
def made(tmp_path: Path):  # noqa: ANN201
    return lambda tree: build(decode_tree(tree, "tree"), lambda: tmp_path / "file")


def described(td: tensorclasses.AnyTensorDict) -> Json:
    return Snapshots().describe(td)


def entry(td: TensorDictBase, key: str = "a") -> Json:
    return dict(described(td)["entries"])[key]


def test_entries_keep_their_order_and_are_nested(made) -> None:  # noqa: ANN001
    tree = tensordict(
        [
            ["z", leaf("int16", [2], ramp(1))],
            ["n", tensordict([["b", leaf("uint8", [2, 1], ramp(5))]], batch_size=(2, 1))],
            ["a", leaf("bool", [2], {"const": 1})],
        ],
        names=["time"],
        device="cpu",
    )
    snapshot = described(made(tree))
    token_of = {key: value.pop("token", None) for key, value in snapshot["entries"]}
    assert len(set(token_of.values())) == 3
    nested = dict(snapshot["entries"])["n"]
    assert nested.pop("entries")[0][1]["bytes"] == "0506"
    tensor = {"kind": "tensor", "requires_grad": False, "class": "Tensor"}
    tensor |= {"device": "cpu", "layout": "strided", "shape": [2]}
    about = {"kind": "tensordict", "class": "TensorDict", "locked": False, "device": "cpu"}
    assert snapshot == about | {
        "batch_size": [2],
        "names": ["time"],
        "entries": [
            ["z", tensor | {"dtype": "int16", "bytes": "01000200"}],
            ["n", about | {"batch_size": [2, 1], "names": ["time", None]}],
            ["a", tensor | {"dtype": "bool", "bytes": "0101"}],
        ],
        "consolidated": None,
    }


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_holds_its_bytes(made, dtype: str) -> None:  # noqa: ANN001
    bits = "01" * DTYPES[dtype].itemsize
    snapshot = entry(made(tensordict([["a", leaf(dtype, [2, 2], {"bits": bits})]])))
    assert (snapshot["dtype"], snapshot["bytes"]) == (dtype, bits * 4)


def test_scalars_and_empty_tensors(made) -> None:  # noqa: ANN001
    entries = [["s", leaf("int8", [], ramp(3))], ["e", leaf("int8", [0, 3], ramp(0))]]
    td = made(tensordict(entries, batch_size=()))
    assert (entry(td, "s")["shape"], entry(td, "s")["bytes"]) == ([], "03")
    assert (entry(td, "e")["shape"], entry(td, "e")["bytes"]) == ([0, 3], "")


def test_elements_are_conjugated_and_negated_where_the_tensor_only_says_so() -> None:
    conjugate = torch.tensor([1 + 2j]).conj()
    shown = Snapshots().describe_tensor(conjugate)
    assert shown["bytes"] == struct.pack("<2f", 1, -2).hex()
    shown = Snapshots().describe_tensor(conjugate.imag)
    assert shown["bytes"] == struct.pack("<f", -2).hex()


def test_more_than_1024_bytes_are_digested(made) -> None:  # noqa: ANN001
    plain = entry(made(tensordict([["a", leaf("uint8", [2, 512], {"bits": "07"})]])))
    assert plain["bytes"] == "07" * 1024
    long = entry(made(tensordict([["a", leaf("uint8", [2, 513], {"bits": "07"})]])))
    assert long["sha256"] == hashlib.sha256(b"\x07" * 1026).hexdigest()
    assert "bytes" not in long


@pytest.mark.parametrize(
    ("form", "differs"),
    [
        ("requires_grad", {"requires_grad": True}),
        ("parameter", {"requires_grad": True, "class": "Parameter"}),
        ("memmap", {"class": "MemoryMappedTensor"}),
        ("subclass", {"class": "TensorSubclass"}),
        ("transposed", {}),
        ("meta", {"device": "meta", "bytes": None}),
        ("sparse_coo", {"layout": "sparse_coo"}),
        ("jagged", {"layout": "jagged", "class": "NestedTensor", "shape": [2, -1]}),
    ],
)
def test_a_form_changes_only_what_it_is_about(made, form: str, differs: Json) -> None:  # noqa: ANN001
    plain, formed = (
        entry(made(tensordict([["a", leaf("float32", [2, 2], ramp(1), name)]])))
        for name in ("plain", form)
    )
    assert plain["bytes"] == "0000803f000000400000404000008040"
    assert {key: formed.get(key) for key in plain if key != "token"} == {
        key: differs.get(key, value) for key, value in plain.items() if key != "token"
    }


def test_transposed_elements_lie_in_the_reverse_order_of_dimensions(made) -> None:  # noqa: ANN001
    tensor = made(tensordict([["a", leaf("int8", [2, 3, 4], ramp(0), "transposed")]]))["a"]
    assert tensor.stride() == (1, 2, 6)
    assert tensor[1, 2, 3] == 23


@pytest.mark.parametrize(
    ("shape", "offsets"),
    [([2, 3], [0, 2, 6]), ([3, 2, 2], [0, 1, 3, 6]), ([2, 1], [0, 0, 2]), ([3, 0], [0, 0, 0, 0])],
)
def test_jagged_rows_grow(made, shape: list[int], offsets: list[int]) -> None:  # noqa: ANN001
    """Row i of n begins at the value m i (i + 1) / (n + 1)."""
    td = made(tensordict([["a", leaf("int8", shape, ramp(1), "jagged")]], batch_size=()))
    shown = entry(td)
    assert shown["rows"] == {"offsets": offsets, "lengths": None, "ragged_idx": 1}
    assert shown["bytes"] == bytes(range(1, math.prod(shape) + 1)).hex()
    lengths = [len(row) for row in td["a"].unbind()]
    assert lengths == [end - begin for begin, end in itertools.pairwise(offsets)]


def test_rows_that_end_early_are_told_with_their_lengths() -> None:
    values, offsets = torch.arange(5, dtype=torch.uint8), torch.tensor([0, 2, 5])
    jagged = torch.nested.nested_tensor_from_jagged(values, offsets, torch.tensor([1, 3]))
    shown = Snapshots().describe_tensor(jagged)
    assert shown["rows"] == {"offsets": [0, 2, 5], "lengths": [1, 3], "ragged_idx": 1}
    assert shown["bytes"] == "0001020304"


def test_the_values_of_long_jagged_tensors_are_digested(made) -> None:  # noqa: ANN001
    bits = {"bits": "07"}
    shown = entry(made(tensordict([["a", leaf("uint8", [2, 513], bits, "jagged")]])))
    assert shown["sha256"] == hashlib.sha256(b"\x07" * 1026).hexdigest()
    assert shown["rows"]["offsets"] == [0, 342, 1026]
    assert "bytes" not in shown


def test_a_sparse_tensor_has_the_bytes_of_a_dense_one() -> None:
    values = torch.tensor([[1.0, -0.0], [3.0, 4.0]])
    sparse = torch.sparse_coo_tensor([[2, 0]], values, (3, 2), check_invariants=True)
    assert dense_bytes(sparse) == struct.pack("<6f", 3, 4, 0, 0, 1, -0.0)
    # Elements at one place are added.
    twice = torch.sparse_coo_tensor([[1, 1]], torch.tensor([3, 4]), (2,), check_invariants=True)
    assert dense_bytes(twice) == struct.pack("<2q", 0, 7)
    nothing = torch.sparse_coo_tensor(size=(2, 0), check_invariants=True)
    assert dense_bytes(nothing) == b""


@pytest.mark.parametrize("dtype", DTYPES)
def test_sparse_elements_of_every_dtype_are_read(made, dtype: str) -> None:  # noqa: ANN001
    bits = "01" * DTYPES[dtype].itemsize
    tree = tensordict([["a", leaf(dtype, [2, 2], {"bits": bits}, "sparse_coo")]])
    assert entry(made(tree))["bytes"] == bits * 4


def test_expanded_rows_share_memory(made) -> None:  # noqa: ANN001
    tensor = made(tensordict([["a", leaf("int8", [2, 3], {"bits": "010203"}, "expanded")]]))["a"]
    assert tensor.stride() == (0, 1)
    assert tensor.tolist() == [[1, 2, 3], [1, 2, 3]]


def test_every_form_is_tested() -> None:
    tested = {"requires_grad", "parameter", "memmap", "subclass", "transposed", "meta"}
    assert set(FORMS) == tested | {"plain", "sparse_coo", "jagged", "expanded"}


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (
            leaf("int8", [2, 2], ramp(0), "expanded"),
            "rows of an expanded leaf must be filled alike",
        ),
        (leaf("int8", [1, 2], ramp(0), "expanded"), "needs two rows"),
        (leaf("int8", [2, 1], ramp(0), "transposed"), "needs two dimensions longer than 1"),
        (leaf("int8", [2], ramp(0), "jagged"), "needs two dimensions"),
        (leaf("float16", [2], ramp(2049)), "cannot represent exactly"),
        (leaf("int8", [-1], ramp(0)), r"negative size in shape \[-1\]"),
        (leaf("int8", [10**12], ramp(0)), r"\[1000000000000\] of torch.int8 exceeds 1073741824"),
        (leaf("int8", [2**32, 2**32], ramp(0)), r"\[4294967296, 4294967296\] of torch.int8"),
        (leaf("int8", [0, 2**63 - 1, 2**63 - 1], ramp(0)), "exceeds 1073741824 bytes"),
        (leaf("int64", [2**27 + 1], ramp(0)), r"\[134217729\] of torch.int64 exceeds"),
    ],
)
def test_a_leaf_that_cannot_be_made(made, tensor: Json, message: str) -> None:  # noqa: ANN001
    with pytest.raises(AdapterError, match=message):
        made(tensordict([["a", tensor]]))


def test_an_unknown_form_is_unsupported(made) -> None:  # noqa: ANN001
    with pytest.raises(UnsupportedError, match="leaf:quantized"):
        made(tensordict([["a", leaf("int8", [2], ramp(0), "quantized")]]))


def test_a_consolidated_value_holds_its_leaves_in_one_storage(made) -> None:  # noqa: ANN001
    entries = [["b", leaf("uint8", [2], ramp(1))], ["a", leaf("int16", [2], ramp(3))]]
    snapshot = described(made(tensordict(entries, consolidated=True)))
    # Two leaves in insertion order, each padded to 8 bytes.
    storage = snapshot["consolidated"]
    assert storage["nbytes"] == 16
    assert (storage["bytes"][:4], storage["bytes"][16:24]) == ("0102", "03000400")
    assert dict(snapshot["entries"])["b"]["token"] == storage["token"]


def test_locked_values_are_locked(made) -> None:  # noqa: ANN001
    assert described(made(tensordict([], locked=True)))["locked"] is True


def test_lazy_stacks_keep_their_members(made) -> None:  # noqa: ANN001
    members = [tensordict([["a", leaf("int8", [2], ramp(i))]]) for i in range(2)]
    snapshot = described(made({"kind": "lazy_stack", "stack_dim": 1, "members": members}))
    assert (snapshot["class"], snapshot["stack_dim"]) == ("LazyStackedTensorDict", 1)
    assert [dict(m["entries"])["a"]["bytes"] for m in snapshot["members"]] == ["0001", "0102"]


def test_non_tensor_data_is_anything_that_json_has(made) -> None:  # noqa: ANN001
    data = {"text": "é", "list": [1, None, 2.5], "flag": True}
    td = made(tensordict([["s", {"kind": "non_tensor", "data": data, "batch_size": []}]]))
    # An entry takes the batch size of the tensordict that it is put into.
    assert entry(td, "s") == {"kind": "non_tensor", "data": data, "batch_size": [2]}


def test_data_that_json_has_not_is_no_snapshot(made) -> None:  # noqa: ANN001
    td = made(tensordict([])).set("s", object())
    with pytest.raises(AdapterError, match="is no JSON"):
        described(td)


def test_stacked_non_tensor_data(made) -> None:  # noqa: ANN001
    members = [{"kind": "non_tensor", "data": text, "batch_size": []} for text in ("x", "y")]
    td = made(tensordict([["s", {"kind": "lazy_stack", "stack_dim": 0, "members": members}]]))
    assert isinstance(td.get("s"), NonTensorStack)
    assert [member["data"] for member in entry(td, "s")["members"]] == ["x", "y"]


def test_persistent_values_live_in_a_file(made, tmp_path: Path) -> None:  # noqa: ANN001
    entries = [["a", leaf("int16", [2], ramp(1))]]
    nested = [["n", tensordict(entries)]]
    td = made({"kind": "persistent", "batch_size": [2], "entries": entries + nested})
    snapshot = described(td)
    assert (snapshot["kind"], snapshot["class"]) == ("persistent", "PersistentTensorDict")
    assert entry(td)["bytes"] == "01000200"
    assert entry(td, "n")["kind"] == "persistent"
    file = tmp_path / "file"
    assert entry(td)["token"] == f"{file}:/a"
    assert dict(entry(td, "n")["entries"])["a"]["token"] == f"{file}:/n/a"


@pytest.fixture
def classes() -> Iterator[None]:
    """What the classes of a case are made in."""
    yield
    tensorclasses.forget()


def tensorclass(entries: Json, name: str = "Pair", **more: Json) -> Json:
    return tensordict(entries, **more) | {"kind": "tensorclass", "class": name}


FIELDS = [
    ["b", leaf("int16", [2], ramp(1))],
    ["label", {"kind": "non_tensor", "data": "x", "batch_size": [2]}],
    ["a", leaf("uint8", [2], ramp(5))],
]


@pytest.mark.usefixtures("classes")
def test_a_tensorclass_has_its_fields_in_the_order_of_insertion(made) -> None:  # noqa: ANN001
    snapshot = described(made(tensorclass(FIELDS, names=["time"], device="cpu", locked=True)))
    assert (snapshot["kind"], snapshot["class"]) == ("tensorclass", "Pair")
    assert (snapshot["batch_size"], snapshot["names"]) == ([2], ["time"])
    assert (snapshot["device"], snapshot["locked"]) == ("cpu", True)
    assert [key for key, _ in snapshot["entries"]] == ["b", "label", "a"]
    entries = dict(snapshot["entries"])
    assert entries["label"] == {"kind": "non_tensor", "data": "x", "batch_size": [2]}
    assert (entries["b"]["bytes"], entries["a"]["bytes"]) == ("01000200", "0506")


@pytest.mark.usefixtures("classes")
def test_a_tensorclass_may_be_nested_and_a_member(made) -> None:  # noqa: ANN001
    inner = tensorclass([["n", tensorclass(FIELDS, "Inner")], ["td", tensordict([])]], "Outer")
    td = made(tensordict([["p", inner]]))
    assert entry(td, "p")["class"] == "Outer"
    assert dict(entry(td, "p")["entries"])["n"]["class"] == "Inner"
    assert dict(entry(td, "p")["entries"])["td"]["kind"] == "tensordict"
    stack = described(made({"kind": "lazy_stack", "stack_dim": 1, "members": [inner, inner]}))
    assert (stack["class"], stack["members"][1]["class"]) == ("LazyStackedTensorDict", "Outer")


@pytest.mark.usefixtures("classes")
def test_a_consolidated_tensorclass_keeps_its_class(made) -> None:  # noqa: ANN001
    snapshot = described(made(tensorclass(FIELDS, consolidated=True)))
    assert (snapshot["class"], snapshot["consolidated"]["nbytes"]) == ("Pair", 16)
    token = dict(snapshot["entries"])["b"]["token"]
    assert snapshot["consolidated"]["token"] == token


@pytest.mark.usefixtures("classes")
def test_a_class_is_found_by_its_name_until_the_case_ends(made) -> None:  # noqa: ANN001
    pickled = pickle.dumps(made(tensorclass(FIELDS)))
    assert type(pickle.loads(pickled)) is type(made(tensorclass(list(reversed(FIELDS)))))
    tensorclasses.forget()
    with pytest.raises(AttributeError, match="Pair"):
        pickle.loads(pickled)
    made(tensorclass(FIELDS))
    assert type(pickle.loads(pickled)).__name__ == "Pair"


@pytest.mark.usefixtures("classes")
def test_a_name_stands_for_one_class_within_a_case(made) -> None:  # noqa: ANN001
    made(tensorclass(FIELDS))
    with pytest.raises(AdapterError, match=r"Pair .*: \['a', 'b', 'label'\], not \['b'\]"):
        made(tensorclass(FIELDS[:1]))
    tensorclasses.forget()
    assert len(described(made(tensorclass(FIELDS[:1])))["entries"]) == 1


@pytest.mark.usefixtures("classes")
def test_a_field_that_a_tensorclass_cannot_have_is_refused_by_tensordict(made) -> None:  # noqa: ANN001
    with pytest.raises(ImplementationError, match="stack"):
        made(tensorclass([["stack", FIELDS[0][1]]]))


@pytest.mark.usefixtures("classes")
def test_a_tensorclass_of_a_lazy_stack_is_no_snapshot(made) -> None:  # noqa: ANN001
    value = made(tensorclass(FIELDS))
    with pytest.raises(AdapterError, match="tensorclass of a LazyStackedTensorDict"):
        described(type(value).lazy_stack([value, value]))


def test_equal_tokens_mean_the_same_memory(made) -> None:  # noqa: ANN001
    td = made(tensordict([["a", leaf("int8", [4], ramp(0))]], batch_size=()))
    snapshots = Snapshots()
    before = snapshots.describe_tensor(td["a"])["token"]
    td["a"].zero_()
    assert snapshots.describe_tensor(td["a"])["token"] == before
    assert snapshots.describe_tensor(td["a"][1:])["token"] != before
    td["a"] = torch.zeros(4, dtype=torch.int8)
    assert snapshots.describe_tensor(td["a"])["token"] != before
