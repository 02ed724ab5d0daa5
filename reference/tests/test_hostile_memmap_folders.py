# SPDX-License-Identifier: BSD-3-Clause
"""Memory-mapped folders that are wrong on purpose: one clear error, no crash, nothing outside."""

import json
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensordict import LazyStackedTensorDict, NonTensorData, NonTensorStack, TensorDict

from .codec import Codec, CodecError
from .hostile import flips, mutated, refusal_of, to_json, with_flipped_bytes
from .trees import Pair, examples


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all kinds."""
    pair = Pair(b=torch.ones(2), a=torch.zeros(2), s="x", batch_size=[2])
    td = TensorDict(
        {
            "a": torch.arange(6.0).view(2, 3),
            "d": NonTensorData(b"pickled", [2]),
            "e": torch.ones(2, 0),
            "l": LazyStackedTensorDict(TensorDict(x=torch.ones(2)), TensorDict(x=torch.ones(3))),
            "n": TensorDict({"u": torch.ones(2, dtype=torch.uint8)}, [2]),
            "p": pair,
            "s": NonTensorStack("a", "b"),
            "t": "text",
        },
        [2],
        names=["time"],
    )
    folder = tmp_path_factory.mktemp("good") / "td"
    td.memmap(folder)
    return folder


METAS = (
    "meta.json",
    "d/meta.json",
    "l/meta.json",
    "l/0/meta.json",
    "n/meta.json",
    "p/meta.json",
    "p/_tensordict/meta.json",
    "s/meta.json",
    "t/meta.json",
)


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    """A copy that the test may spoil."""
    return Path(shutil.copytree(good, tmp_path / "td"))


def refusal(codec: Codec, folder: Path) -> str | None:
    size = sum(path.lstat().st_size for path in folder.rglob("*"))
    error = refusal_of(codec, "L", folder, size)
    return None if error is None else f"{error.type}: {error.message}"


def says(codec: Codec, folder: Path, text: str) -> bool:
    message = refusal(codec, folder)
    assert message is not None
    assert text in message, message
    return True


def change(meta: Path, **changes: object) -> None:
    meta.write_bytes(to_json(json.loads(meta.read_bytes()) | changes))


def test_the_good_folder_is_read(codec: Codec, folder: Path) -> None:
    assert refusal(codec, folder) is None


@pytest.mark.parametrize("meta", METAS)
def test_a_meta_json_is_cut_or_gone(codec: Codec, folder: Path, meta: str) -> None:
    content = (folder / meta).read_bytes()
    for length in range(len(content) - 1):
        (folder / meta).write_bytes(content[:length])
        assert says(codec, folder, "ValueError: this is no JSON")
    (folder / meta).unlink()
    assert says(codec, folder, "OSError: ")


@pytest.mark.parametrize("leaf", ["a.memmap", "n/u.memmap", "l/1/x.memmap"])
def test_a_leaf_is_cut_gone_or_no_file(codec: Codec, folder: Path, leaf: str) -> None:
    content = (folder / leaf).read_bytes()
    for length in range(len(content)):
        (folder / leaf).write_bytes(content[:length])
        assert says(codec, folder, "are needed")
        assert (folder / leaf).stat().st_size == length
    (folder / leaf).unlink()
    assert says(codec, folder, "has no file")
    (folder / leaf).mkdir()
    assert says(codec, folder, leaf)
    (folder / leaf).rmdir()
    os.mkfifo(folder / leaf)
    assert says(codec, folder, "is not a regular file")


def test_tensordict_reads_and_grows_what_is_too_short(codec: Codec, folder: Path) -> None:
    (folder / "a.memmap").write_bytes(b"")
    TensorDict.load_memmap(folder, allow_pickle=True)
    assert (folder / "a.memmap").stat().st_size == 24


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"dtype": "torch.float7"}, "unknown dtype 'torch.float7'"),
        ({"dtype": 7}, "must not be of type int"),
        ({"shape": [2, 2**50]}, "are needed"),
        ({"shape": [2, 2**40, 2**40]}, "too large"),
        ({"shape": [-2]}, "negative"),
        ({"shape": "2"}, "must be a list"),
        ({"shape": [2, 3.0]}, "must be an int"),
        ({"shape": [3, 2]}, "batch size"),
        ({"is_nested": True}, "nested tensor"),
    ],
)
def test_a_leaf_is_described_wrongly(
    codec: Codec, folder: Path, entry: dict[str, Any], text: str
) -> None:
    meta = json.loads((folder / "meta.json").read_bytes())
    change(folder / "meta.json", a=meta["a"] | entry)
    assert says(codec, folder, text)


@pytest.mark.parametrize(
    ("meta", "changes", "text"),
    [
        ("meta.json", {"_format_version": 2}, "format version 2"),
        ("meta.json", {"_class": "tensordict:Unknown"}, "names the class tensordict.Unknown"),
        ("meta.json", {"_class": "os:system"}, "names the class os.system"),
        ("meta.json", {"_class": "x"}, "does not name a class"),
        ("meta.json", {"device": "cuda:0"}, "'cuda:0' is not supported"),
        ("meta.json", {"shape": [2**60]}, "batch size"),
        ("meta.json", {"_names": ["a", "b", "c"]}, "names"),
        ("l/meta.json", {"stack_dim": 2**60}, "the stack dimension"),
        ("l/meta.json", {"stack_dim": -1}, "the stack dimension"),
        ("l/meta.json", {"stack_dim": "0"}, "must not be of type str"),
        ("p/meta.json", {"_type": "x"}, "does not name a class"),
        ("p/meta.json", {"s": "elsewhere"}, "outside of its tensordict"),
        ("s/meta.json", {"data": ["a"]}, "no row for each row"),
        ("s/meta.json", {"data": "../../x"}, "no row for each row"),
        ("s/meta.json", {"data": "pickle.pkl"}, "pickle.pkl"),
        ("t/meta.json", {"_class": "tensordict:TensorDict", "shape": [3]}, "batch size"),
    ],
)
def test_a_level_is_described_wrongly(
    codec: Codec, folder: Path, meta: str, changes: dict[str, Any], text: str
) -> None:
    change(folder / meta, **changes)
    assert says(codec, folder, text)


def test_a_stack_of_no_members(codec: Codec, folder: Path) -> None:
    shutil.rmtree(folder / "l/0")
    assert says(codec, folder, "at least one member")


def test_a_root_that_is_data(codec: Codec, folder: Path) -> None:
    assert says(codec, folder / "t", "non-tensor data alone")


@pytest.mark.parametrize("key", ["../secret", "/secret", "x/../../secret", "..", "%2E%2E"])
def test_no_key_leads_outside(codec: Codec, folder: Path, key: str) -> None:
    """Neither as a file nor as a folder."""
    (folder / "x").mkdir()
    (folder.parent / "secret.memmap").write_bytes(bytes(8))
    shutil.copytree(folder / "n", folder.parent / "secret")
    leaf = {"device": "cpu", "shape": [2], "dtype": "torch.float32", "is_nested": False}
    change(folder / "meta.json", **{key: leaf})
    assert says(codec, folder, "has no file")
    change(folder / "meta.json", **{key: {"type": "TensorDict"}})
    assert says(codec, folder, "OSError: ")


@pytest.mark.parametrize(
    "place",
    ["a.memmap", "meta.json", "n", "n/meta.json", "l/1", "p/_tensordict", "d/other.pickle", "s"],
)
def test_links_are_not_followed(codec: Codec, folder: Path, place: str) -> None:
    """Even to what is right."""
    (folder / place).rename(folder.parent / "moved")
    (folder / place).symlink_to(folder.parent / "moved")
    assert says(codec, folder, "is a symbolic link")


def test_links_are_not_written_through(codec: Codec, tmp_path: Path) -> None:
    td = TensorDict({"a": torch.ones(2), "n": TensorDict(b=torch.ones(1)), "s": "text"})
    for place in ("a.memmap", "meta.json", "n", "s"):
        td.memmap(tmp_path / place)
        outside = tmp_path / f"outside of {place}"
        (tmp_path / place / place).rename(outside)
        (tmp_path / place / place).symlink_to(outside)
        with pytest.raises(CodecError, match="is a symbolic link"):
            codec.write("M", tmp_path / place, td + 1)
        if outside.is_file():
            assert outside.read_bytes() != b""
    assert (tmp_path / "outside of a.memmap").read_bytes() == torch.ones(2).numpy().tobytes()


class Bomb:
    """Makes a file when Python's pickle reads it."""

    def __reduce__(self) -> tuple[object, ...]:
        return (open, (Bomb.path, "w"))

    path = ""


@pytest.mark.parametrize("place", ["d/other.pickle", "s/pickle.pkl"])
def test_pickles_are_not_executed(codec: Codec, folder: Path, place: str) -> None:
    Bomb.path = str(folder / "exploded")
    change(folder / "s/meta.json", data="pickle.pkl")
    (folder / "s/pickle.pkl").write_bytes(pickle.dumps(["a", "b"]))
    assert refusal(codec, folder) is None
    content = {"data": Bomb()} if place.startswith("d") else [Bomb(), Bomb()]
    (folder / place).write_bytes(pickle.dumps(content))
    assert says(codec, folder, place)
    assert not (folder / "exploded").exists()


def test_nesting(codec: Codec, folder: Path) -> None:
    """As deep as the system names files; a deeper one cannot be named."""
    level = {"n": {"type": "TensorDict"}, "shape": [], "device": "cpu"}
    level["_type"] = "<class 'tensordict._td.TensorDict'>"
    below = folder / "n"
    for _ in range(600):
        (below / "meta.json").write_bytes(to_json(level))
        below /= "n"
        below.mkdir()
    assert says(codec, folder, "nests deeper than 500 levels")


def test_nesting_of_data(codec: Codec, folder: Path) -> None:
    meta = (folder / "t/meta.json").read_text()
    (folder / "t/meta.json").write_text(meta.replace('"text"', "[" * 10_000 + "]" * 10_000))
    assert says(codec, folder, "nests deeper than 500 levels")
    (folder / "t/meta.json").write_text(meta)
    (folder / "d/other.pickle").write_bytes(b"\x80\x04" + b"]" * 10_000 + b"a" * 9_999 + b".")
    assert says(codec, folder, "other.pickle")


@pytest.mark.parametrize("meta", METAS)
@settings(examples, max_examples=50)
@given(data=st.data())
def test_any_place_of_a_meta_json_is_wrong(
    codec: Codec, good: Path, folder: Path, meta: str, data: st.DataObject
) -> None:
    document = json.loads((good / meta).read_bytes())
    (folder / meta).write_bytes(to_json(data.draw(mutated(document))))
    refusal(codec, folder)


@pytest.mark.parametrize("file", ["meta.json", "d/other.pickle", "p/_tensordict/meta.json"])
@examples
@given(flips=flips())
def test_any_bytes_are_wrong(
    codec: Codec, good: Path, folder: Path, file: str, flips: list[tuple[int, int]]
) -> None:
    (folder / file).write_bytes(with_flipped_bytes((good / file).read_bytes(), flips))
    refusal(codec, folder)
