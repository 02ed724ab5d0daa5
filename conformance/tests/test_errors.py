# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions of the implementation are sorted into the categories of the protocol."""

import pytest
import torch.distributed as dist
import ucxx
from tensordict.base import _InplaceWriteError

from tdconf_tensordict_adapter.errors import ImplementationError, call, category_of, describe_raised

GLOO = "[/pytorch/third_party/gloo/gloo/transport/tcp/"


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (ValueError("x"), "value"),
        (_InplaceWriteError("x"), "value"),
        (TypeError("x"), "type"),
        (NotImplementedError("x"), "not_implemented"),
        (IndexError("x"), "index"),
        (KeyError("x"), "key"),
        (AttributeError("x"), "attribute"),
        (TimeoutError("x"), "timeout"),
        (ConnectionResetError("x"), "connection"),
        (RuntimeError("x"), "runtime"),
        (RecursionError("x"), "runtime"),
        (AssertionError("x"), "other"),
        (dist.DistBackendError("x"), "connection"),
        (dist.DistStoreError("wait timeout after 8000ms, keys: /0/1"), "timeout"),
        (RuntimeError(GLOO + "unbound_buffer.cc:78] Timed out waiting 60ms for recv"), "timeout"),
        (RuntimeError(GLOO + "pair.cc:545] Read error [127.0.0.1]:1: reset"), "connection"),
        (ucxx.exceptions.UCXConnectionResetError("x"), "connection"),
        (ucxx.exceptions.UCXCanceledError("x"), "connection"),
        (ucxx.exceptions.UCXTimedOutError("x"), "timeout"),
        (RuntimeError("Application timeout caused pair closure"), "connection"),
    ],
)
def test_category(error: Exception, category: str) -> None:
    assert category_of(error) == category


def test_only_what_leaves_the_implementation_is_raised() -> None:
    with pytest.raises(ImplementationError) as caught:
        call(int, "x")
    assert describe_raised(caught.value) == {
        "category": "value",
        "exception": "ValueError",
        "message": "invalid literal for int() with base 10: 'x'",
    }
