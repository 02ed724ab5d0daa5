# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files that are wrong on purpose. HDF5 itself breaks on some of them; the codec must not."""

import os
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensordict import NonTensorData, NonTensorStack, PersistentTensorDict, TensorDict

from .codec import Codec
from .hostile import flips, refusal_of, with_flipped_bytes
from .trees import examples


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of all kinds."""
    td = TensorDict(
        {
            "a": torch.arange(6.0).view(2, 3),
            "b": torch.tensor([True, False]),
            "c": torch.ones(2, dtype=torch.complex64),
            "n": TensorDict({"u": torch.ones(2, dtype=torch.uint8)}, [2]),
            "i": NonTensorData(7, [2]),
            "s": NonTensorStack("a", "b"),
            "t": "text",
        },
        [2],
    )
    path = tmp_path_factory.mktemp("good") / "td.h5"
    PersistentTensorDict.from_dict(td, path).close()
    return path.read_bytes()


def refusal(codec: Codec, path: Path, request: str = "H") -> str | None:
    size = path.stat().st_size if path.is_file() else 0
    error = refusal_of(codec, request, path, size)
    if error is not None:
        assert error.type == "ValueError"
    return None if error is None else error.message


def says(codec: Codec, path: Path, text: str) -> bool:
    message = refusal(codec, path)
    assert message is not None
    assert text in message, message
    return True


def test_the_good_file_is_read(codec: Codec, tmp_path: Path, good: bytes) -> None:
    (tmp_path / "td.h5").write_bytes(good)
    assert refusal(codec, tmp_path / "td.h5") is None


def test_truncations(codec: Codec, tmp_path: Path, good: bytes) -> None:
    for length in range(0, len(good), 97):
        (tmp_path / "td.h5").write_bytes(good[:length])
        assert says(codec, tmp_path / "td.h5", "HDF5 cannot open"), length


def test_files_that_are_none(codec: Codec, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("text" * 1000)
    (tmp_path / "begin").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(4096))
    for name in ("text", "begin"):
        assert says(codec, tmp_path / name, "HDF5 cannot open")
    assert says(codec, tmp_path / "missing", "there is no such file")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path(os.devnull)):
        assert says(codec, path, f"'{path}' is not a regular file")


@settings(examples, max_examples=200)
@given(flips=flips(), cut=st.none() | st.integers(1, 2**14))
def test_any_bytes_are_wrong(
    codec: Codec, tmp_path: Path, good: bytes, flips: list[tuple[int, int]], cut: int | None
) -> None:
    (tmp_path / "td.h5").write_bytes(with_flipped_bytes(good, flips)[:cut])
    refusal(codec, tmp_path / "td.h5")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that only a link leads to."""
    path = tmp_path / "outside.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(4.0)
    (tmp_path / "outside.raw").write_bytes(bytes(32))
    return path


def external_link(file: h5py.File, outside: Path) -> None:
    file["l"] = h5py.ExternalLink(outside, "/x")


def soft_link(file: h5py.File, outside: Path) -> None:
    file["x"] = np.arange(4.0)
    file["l"] = h5py.SoftLink("/x")


def virtual_dataset(file: h5py.File, outside: Path) -> None:
    layout = h5py.VirtualLayout(shape=(4,), dtype="f8")
    layout[:] = h5py.VirtualSource(outside, "x", shape=(4,))
    file.create_virtual_dataset("l", layout)


def external_data(file: h5py.File, outside: Path) -> None:
    raw = [(str(outside.with_suffix(".raw")), 0, h5py.h5f.UNLIMITED)]
    file.create_dataset("l", shape=(4,), dtype="f8", external=raw)


def named_type(file: h5py.File, outside: Path) -> None:
    file["l"] = np.dtype("f8")


def references(file: h5py.File, outside: Path) -> None:
    file.create_dataset("l", data=[file.ref], dtype=h5py.ref_dtype)


def lists(file: h5py.File, outside: Path) -> None:
    file.create_dataset("l", shape=(2,), dtype=h5py.vlen_dtype("f8"))


def records(file: h5py.File, outside: Path) -> None:
    file["l"] = np.zeros(2, dtype=[("x", "f8"), ("y", "i4")])


def other_opaque(file: h5py.File, outside: Path) -> None:
    data = np.array(["a"], dtype="U1")
    file["l"] = data.astype(h5py.opaque_dtype(data.dtype))


def no_elements(file: h5py.File, outside: Path) -> None:
    file["l"] = h5py.Empty("f8")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (external_link, "'l' leads elsewhere"),
        (soft_link, "'l' leads elsewhere"),
        (virtual_dataset, "'l' has its data in another file"),
        (external_data, "'l' has its data in another file"),
        (named_type, "'l' is no dataset"),
        (references, "'l' holds data of an unsupported type"),
        (lists, "'l' holds data of an unsupported type"),
        (records, "'l' holds data of an unsupported type"),
        (other_opaque, "'l' holds data of an unsupported type"),
        (no_elements, "'l' has no shape"),
    ],
)
def test_what_is_no_part_of_a_tensordict(
    codec: Codec,
    tmp_path: Path,
    outside: Path,
    make: Callable[[h5py.File, Path], None],
    text: str,
) -> None:
    with h5py.File(tmp_path / "td.h5", "w") as file:
        make(file, outside)
    assert says(codec, tmp_path / "td.h5", text)


@pytest.mark.parametrize("size", [2**31, 2**48, 2**60])
def test_more_elements_than_the_file_can_hold(codec: Codec, tmp_path: Path, size: int) -> None:
    """Chunks that nobody wrote take no place."""
    with h5py.File(tmp_path / "td.h5", "w") as file:
        file.create_dataset("a", shape=(size,), dtype="f8", chunks=(1024,))
    assert says(codec, tmp_path / "td.h5", "a")
    with h5py.File(tmp_path / "td.h5", "w") as file:
        file.create_dataset("s", shape=(size,), dtype=h5py.string_dtype(), chunks=(1024,))
    assert says(codec, tmp_path / "td.h5", "HDF5 file")


def test_a_small_file_that_expands(codec: Codec, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "td.h5", "w") as file:
        zeros = np.zeros(2**24)
        file.create_dataset("a", data=zeros, compression="gzip", chunks=(2**20,))
    assert says(codec, tmp_path / "td.h5", "more than 64 times as large")


def test_nesting(codec: Codec, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "deep.h5", "w") as file:
        group = file
        for _ in range(600):
            group = group.create_group("n")
    assert says(codec, tmp_path / "deep.h5", "nests deeper than 500 levels")
    with h5py.File(tmp_path / "circle.h5", "w") as file:
        group = file.create_group("n")
        group["n"] = group
    # Which bound it meets first depends on how much memory a level takes.
    message = refusal(codec, tmp_path / "circle.h5") or ""
    bounds = ("more than 64 times as large", "nests deeper than 500 levels")
    assert any(bound in message for bound in bounds), message


def test_groups_that_many_names_lead_to(codec: Codec, tmp_path: Path) -> None:
    """Each level names the next twice: 2 ** 40 groups, if they are counted."""
    with h5py.File(tmp_path / "td.h5", "w") as file:
        group = file
        for _ in range(40):
            below = group.create_group("a")
            group["b"] = below
            group = below
    assert says(codec, tmp_path / "td.h5", "more than 64 times as large")
