# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: PT009, PT027 -- unittest: this runs wherever torch and tensordict are, pytest or not
"""Checks that the codec reads what Python writes, and that Python reads what the codec writes.

Usage: codec_agrees_with_python.py CODEC_SERVER
"""

import pickle
import struct
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import torch
from codec import Codec, CodecError
from tensordict import (
    LazyStackedTensorDict,
    NonTensorData,
    NonTensorStack,
    PersistentTensorDict,
    TensorDict,
    TensorDictBase,
    is_tensorclass,
    tensorclass,
)
from tensordict._reductions import _rebuild_tensordict_files_consolidated

codec: Codec

DTYPES = [
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex32,
    torch.complex64,
    torch.complex128,
    torch.uint16,
    torch.uint32,
    torch.uint64,
]
# Python cannot load its own pickles of these; what the codec writes it can.
UNPICKLABLE = [torch.float8_e4m3fn, torch.float8_e5m2]


def every_dtype(dtypes: list[torch.dtype]) -> TensorDict:
    leaves = {}
    for dtype in dtypes:
        data = torch.arange(1, 49, dtype=torch.uint8)
        leaves[str(dtype)] = data.bool() if dtype is torch.bool else data.view(dtype)
    return TensorDict(leaves)


def nested() -> TensorDict:
    return TensorDict(
        {
            "b": torch.arange(6.0).view(2, 3),
            "a": torch.arange(2),
            "n": TensorDict({"x": torch.ones(2, 2).t(), "empty": TensorDict({}, [2])}, [2]),
            "zero": torch.zeros(2, 0),
            "s": "text",
            "d": NonTensorData({"k": (1, [2.5, None, b"\x00"]), "é": True}, [2]),
        },
        batch_size=[2],
        names=["time"],
    )


def stacked_text() -> TensorDict:
    return TensorDict({"s": NonTensorStack("x", "y"), "v": torch.ones(2)}, batch_size=[2])


class Subclass(torch.Tensor):
    """What the codec knows by its name alone."""


def subclasses() -> TensorDict:
    return TensorDict(
        {
            "plain": torch.arange(3.0).as_subclass(Subclass),
            "grad": torch.arange(3.0).as_subclass(Subclass).requires_grad_(),
            "scalar": torch.tensor(7).as_subclass(Subclass),
        }
    )


@tensorclass
class Pair:
    """What the codec holds by the name of its class and a tensordict."""

    b: torch.Tensor
    a: torch.Tensor
    s: str | None = None
    n: object = None


def pair() -> Pair:
    inner = Pair(b=torch.ones(2, 3), a=torch.arange(2), batch_size=[2])
    return Pair(
        b=torch.arange(6.0).view(2, 3), a=torch.arange(2), s="text", n=inner, batch_size=[2]
    )


def holders() -> TensorDict:
    stack = LazyStackedTensorDict(pair(), pair(), stack_dim=1)
    return TensorDict({"p": pair(), "l": stack, "z": torch.ones(2)}, batch_size=[2])


def jagged() -> TensorDict:
    values, offsets = torch.arange(12.0).view(6, 2), torch.tensor([0, 2, 6])
    lengths = torch.tensor([1, 3])
    make = torch.nested.nested_tensor_from_jagged
    return TensorDict(
        {
            "rows": make(values, offsets),
            "holes": make(values, offsets, lengths=lengths),
            "second": make(values.t(), offsets, jagged_dim=2),
            "plain": torch.ones(2),
        },
        batch_size=[2],
    )


def lazy() -> LazyStackedTensorDict:
    """Members of which only the batch size is the same."""
    return LazyStackedTensorDict(
        TensorDict({"a": torch.arange(6.0).view(2, 3), "s": "text"}, batch_size=[2]),
        TensorDict({"a": torch.arange(4.0).view(2, 2), "n": {"b": torch.ones(2)}}, batch_size=[2]),
        stack_dim=1,
        stack_dim_name="time",
    )


def autograd() -> TensorDict:
    return TensorDict(
        {
            "grad": torch.ones(2, requires_grad=True),
            "parameter": torch.nn.Parameter(torch.ones(2)),
            "frozen": torch.nn.Parameter(torch.ones(2), requires_grad=False),
            "view": torch.arange(10.0)[2:8:3],
        },
        device="cpu",
    )


class Pickles(unittest.TestCase):
    """Requests `t` and `v`: Python writes, the codec reads and writes, Python reads."""

    def round_trip(self, td: TensorDictBase) -> TensorDictBase:
        result = pickle.loads(codec.ask("t", pickle.dumps(td)))
        self.assert_same_entry(result, td)
        return result

    def assert_same_items(self, result: TensorDict, expected: TensorDict) -> None:
        self.assertEqual(list(result.keys()), list(expected.keys()))
        self.assertEqual(result.names, expected.names)
        self.assertEqual(result.device, expected.device)
        for key in expected.keys():  # noqa: SIM118 -- iterating a tensordict goes over its rows
            with self.subTest(key=key):
                self.assert_same_entry(result.get(key), expected.get(key))

    def assert_same_members(
        self, result: LazyStackedTensorDict, expected: LazyStackedTensorDict
    ) -> None:
        self.assertEqual(result.stack_dim, expected.stack_dim)
        self.assertEqual(result.names, expected.names)
        self.assertEqual(len(result.tensordicts), len(expected.tensordicts))
        for member, other in zip(result.tensordicts, expected.tensordicts, strict=True):
            self.assert_same_entry(member, other)

    def assert_same_entry(self, result: object, expected: object) -> None:
        self.assertIs(type(result), type(expected))
        if isinstance(expected, Pair):
            result, expected = result._tensordict, expected._tensordict
        if isinstance(expected, TensorDict | LazyStackedTensorDict):
            self.assertEqual(result.batch_size, expected.batch_size)
            self.assertEqual(result.is_locked, expected.is_locked)
        if isinstance(expected, TensorDict):
            self.assert_same_items(result, expected)
        elif type(expected) is LazyStackedTensorDict:
            self.assert_same_members(result, expected)
        elif isinstance(expected, torch.Tensor) and expected.layout is torch.jagged:
            self.assert_same_rows(result, expected)
        elif isinstance(expected, torch.Tensor):
            self.assertEqual(result.dtype, expected.dtype)
            self.assertEqual(result.shape, expected.shape)
            self.assertEqual(result.layout, expected.layout)
            self.assertEqual(result.device, expected.device)
            self.assertEqual(result.requires_grad, expected.requires_grad)
            if expected.device.type != "meta":
                self.assertTrue(same_bits(result, expected))
        else:
            self.assertEqual(result.batch_size, expected.batch_size)
            self.assertEqual(result.tolist(), expected.tolist())

    def assert_same_rows(self, result: torch.Tensor, expected: torch.Tensor) -> None:
        self.assertEqual(result.dim(), expected.dim())
        self.assertEqual(result._ragged_idx, expected._ragged_idx)
        for row, other in zip(result.unbind(), expected.unbind(), strict=True):
            self.assertEqual(row.tolist(), other.tolist())

    def test_nested(self) -> None:
        self.round_trip(nested())

    def test_nested_locked(self) -> None:
        self.round_trip(nested().lock_())

    def test_empty(self) -> None:
        self.round_trip(TensorDict({}, batch_size=[3, 0]))

    def test_stacked_text(self) -> None:
        self.round_trip(stacked_text())

    def test_autograd(self) -> None:
        self.round_trip(autograd())

    def test_dtypes(self) -> None:
        self.round_trip(every_dtype([d for d in DTYPES if "uint" not in str(d) or d.itemsize == 1]))

    def test_dtypes_that_python_cannot_read_back_from_itself(self) -> None:
        self.round_trip(every_dtype(DTYPES + UNPICKLABLE))

    def test_scalar_of_each_dtype(self) -> None:
        self.round_trip(TensorDict({str(d): torch.ones(()).to(d) for d in DTYPES + UNPICKLABLE}))

    def test_sparse_and_meta(self) -> None:
        self.round_trip(
            TensorDict(
                {
                    "coalesced": torch.eye(3).to_sparse().coalesce(),
                    "loose": torch.sparse_coo_tensor([[0, 0]], [1.0, 2.0], [3]),
                    "meta": torch.empty(2, 3, device="meta"),
                }
            )
        )

    def test_conj_and_neg_views(self) -> None:
        values = torch.tensor([1 + 2j])
        td = TensorDict({"conj": values.conj(), "neg": values.conj().imag})
        result = pickle.loads(codec.ask("t", pickle.dumps(td)))
        self.assertEqual(result["conj"].tolist(), [1 - 2j])
        self.assertEqual(result["neg"].tolist(), [-2.0])

    def test_shared_tensor(self) -> None:
        tensor = torch.arange(3.0)
        self.round_trip(TensorDict({"a": tensor, "b": tensor, "n": TensorDict({"c": tensor})}))

    def test_consolidated(self) -> None:
        td = nested().consolidate(metadata=True)
        result = pickle.loads(codec.ask("t", pickle.dumps(td)))
        self.assertTrue(result.is_consolidated())
        self.assertEqual(result._consolidated["metadata"], td._consolidated["metadata"])
        self.assertTrue(result._consolidated["storage"].equal(td._consolidated["storage"]))

    def test_consolidated_without_metadata(self) -> None:
        result = pickle.loads(codec.ask("t", pickle.dumps(nested().consolidate())))
        self.assertTrue((result["b"] == nested()["b"]).all())

    def test_lazy_stack(self) -> None:
        self.round_trip(lazy())
        self.round_trip(lazy().lock_())
        self.round_trip(TensorDict({"l": lazy(), "z": torch.ones(2)}, batch_size=[2]))

    def test_consolidated_lazy_stack(self) -> None:
        td = lazy().consolidate(metadata=True)
        result = pickle.loads(codec.ask("t", pickle.dumps(td)))
        self.assertTrue(result.is_consolidated())
        self.assertEqual(result._consolidated["metadata"], td._consolidated["metadata"])

    def test_jagged(self) -> None:
        self.round_trip(jagged())

    def test_subclasses(self) -> None:
        self.round_trip(subclasses())

    def test_tensorclass(self) -> None:
        self.round_trip(pair())
        self.round_trip(holders())
        self.round_trip(pair().lock_())
        self.assertIsNone(self.round_trip(pair()).n.s)

    def test_consolidated_tensorclass(self) -> None:
        for td in (pair(), holders()):
            whole = td.consolidate(metadata=True)
            result = pickle.loads(codec.ask("t", pickle.dumps(whole)))
            self.assertIs(type(result), type(whole))
            self.assertEqual(result._consolidated["metadata"], whole._consolidated["metadata"])
            self.assertTrue(same_values(result, td))

    def test_lazily_stacked_tensorclasses_are_a_lazy_stack_of_them(self) -> None:
        stack = Pair.lazy_stack([pair(), pair()], 1)
        result = pickle.loads(codec.ask("t", pickle.dumps(TensorDict({"l": stack}, [2]))))
        self.assert_same_entry(result.get("l"), LazyStackedTensorDict(pair(), pair(), stack_dim=1))

    def test_tensorclass_with_a_field_outside_of_its_tensordict(self) -> None:
        odd = pair()
        odd._non_tensordict["s"] = "elsewhere"
        with self.assertRaises(CodecError):
            codec.ask("t", pickle.dumps(odd))

    def test_persistent(self) -> None:
        td = TensorDict(
            {"a": torch.ones(2, 3), "n": {"b": torch.tensor([True, False])}}, batch_size=[2]
        )
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "td.h5"
            PersistentTensorDict.from_dict(td, path).close()
            file = PersistentTensorDict(filename=path, mode="r", batch_size=[2])
            for td_of_file in (file, TensorDict({"f": file}, batch_size=[2])):
                result = pickle.loads(codec.ask("t", pickle.dumps(td_of_file)))
                result = result if td_of_file is file else result.get("f")
                self.assertIs(type(result), PersistentTensorDict)
                self.assertTrue(same_values(result.to_tensordict(), td))

    def test_literals_in_every_protocol(self) -> None:
        value = {
            "ints": [0, -1, 255, 256, 65535, 65536, 2**31, -(2**31), 2**63 - 1, -(2**63)],
            "other": (None, True, False, 1.5, -0.0, float("inf"), "é" * 300, b"\xff" * 300),
            "nested": {1: [], (2, 3): {}, "t": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4))},
        }
        for protocol in (2, 3, 4, 5):
            with self.subTest(protocol=protocol):
                if protocol == 2:
                    value["other"] = value["other"][:-1]  # bytes are a call of _codecs.encode there
                body = pickle.dumps(value, protocol)
                self.assertEqual(pickle.loads(codec.ask("v", body)), value)

    def test_other_objects_are_refused(self) -> None:
        for value in (2**64, {1}, 1j, range(3), print):
            with self.subTest(value=value), self.assertRaises(CodecError):
                codec.ask("v", pickle.dumps(value))


class Consolidation(unittest.TestCase):
    """Requests `c` and `r`: storages and metadata are those of tensordict."""

    def trees(self) -> dict[str, TensorDictBase]:
        return {
            "nested": nested(),
            "locked": nested().lock_(),
            "empty": TensorDict({}),
            "stacked text": stacked_text(),
            "autograd": autograd().detach(),
            "dtypes": every_dtype([d for d in DTYPES if d is not torch.complex128]),
            "lazy": lazy(),
            "tensorclass": pair(),
            "nested tensorclass": holders(),
            "nested lazy": TensorDict({"z": torch.ones(2), "l": lazy()}, batch_size=[2]),
        }

    def test_storage_and_metadata_are_tensordicts(self) -> None:
        for name, td in self.trees().items():
            with self.subTest(name):
                expected = td.consolidate(metadata=True)._consolidated
                block = codec.ask("c", pickle.dumps(td))
                (size,) = struct.unpack("<Q", block[:8])
                storage, metadata = block[8 : 8 + size], pickle.loads(block[8 + size :])
                self.assertEqual(metadata, expected["metadata"])
                self.assertEqual(storage, expected["storage"].numpy().tobytes())

    def test_jagged_leaves_are_laid_out_as_tensordict_does(self) -> None:
        for keys in (["rows"], ["holes", "plain"], ["second"]):
            with self.subTest(keys=keys):
                td = jagged().select(*keys)
                expected = td.consolidate(metadata=True)._consolidated
                block = codec.ask("c", pickle.dumps(td))
                (size,) = struct.unpack("<Q", block[:8])
                self.assertEqual(pickle.loads(block[8 + size :]), expected["metadata"])
                self.assertEqual(block[8 : 8 + size], expected["storage"].numpy().tobytes())

    def test_python_rebuilds_them(self) -> None:
        for name, td in self.trees().items():
            with self.subTest(name):
                block = codec.ask("c", pickle.dumps(td))
                (size,) = struct.unpack("<Q", block[:8])
                storage = torch.frombuffer(bytearray(block[8:]), dtype=torch.uint8)[:size]
                metadata = pickle.loads(block[8 + size :])
                result = _rebuild_tensordict_files_consolidated(metadata, storage)
                self.assertTrue(same_values(result, td))

    def test_the_codec_rebuilds_tensordicts(self) -> None:
        for name, td in self.trees().items():
            with self.subTest(name):
                state = td.consolidate(metadata=True)._consolidated
                storage = state["storage"].numpy().tobytes()
                block = struct.pack("<Q", len(storage)) + storage + pickle.dumps(state["metadata"])
                self.assertTrue(same_values(pickle.loads(codec.ask("r", block)), td))


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    a, b = (t.detach().to_dense() if t.is_sparse else t.detach() for t in (a, b))
    a, b = (t.contiguous().view(-1).view(torch.uint8) for t in (a, b))
    return a.equal(b)


def same_values(a: TensorDictBase, b: TensorDictBase) -> bool:
    """Whether two tensordicts hold the same, in any order of keys; a root may lack its class."""
    a, b = (td._tensordict if is_tensorclass(td) else td for td in (a, b))
    if type(b) is LazyStackedTensorDict:
        pairs = zip(a.tensordicts, b.tensordicts, strict=True)
        return a.stack_dim == b.stack_dim and all(same_values(x, y) for x, y in pairs)
    if a.batch_size != b.batch_size or a.names != b.names or set(a.keys()) != set(b.keys()):
        return False
    for key in b.keys():  # noqa: SIM118 -- as above
        x, y = a.get(key), b.get(key)
        if isinstance(y, TensorDict | Pair) or type(y) is LazyStackedTensorDict:
            same = type(x) is type(y) and same_values(x, y)
        elif isinstance(y, torch.Tensor):
            same = x.dtype == y.dtype and x.shape == y.shape and same_bits(x, y)
        else:
            same = type(x) is type(y) and x.tolist() == y.tolist()
        if not same:
            return False
    return True


def main() -> int:
    global codec
    warnings.simplefilter("ignore")
    codec = Codec(sys.argv[1])
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    ended_well = codec.close() == 0
    return 0 if result.wasSuccessful() and result.testsRun > 0 and ended_well else 1


if __name__ == "__main__":
    sys.exit(main())
