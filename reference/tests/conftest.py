# SPDX-License-Identifier: BSD-3-Clause
"""One codec server for all tests, which must outlive every one of them."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tensordict import TensorDict

from .codec import BUILT_SERVER, Codec


@pytest.fixture(scope="session")
def server() -> Path:
    path = Path(os.environ.get("TDREF_CODEC_SERVER", BUILT_SERVER))
    assert path.is_file(), f"{path} is missing; build it, or set TDREF_CODEC_SERVER to a built one"
    return path


@pytest.fixture(scope="session")
def codec(server: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codec]:
    codec = Codec(server)
    # The first time the code itself comes into memory, which is measured later.
    folder = tmp_path_factory.mktemp("first")
    for write, read in ("CF", "ML", "PH"):
        codec.write(write, folder / write, TensorDict(a=torch.ones(2), s="text"))
        codec.read(read, folder / write)
    yield codec
    assert codec.close() == 0


@pytest.fixture(autouse=True)
def _without_warnings() -> Iterator[None]:
    """tensordict warns of pickles and of text in files, which these tests mean."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
