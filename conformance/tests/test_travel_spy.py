# SPDX-License-Identifier: BSD-3-Clause
"""What became bytes is counted once, and only when it did."""

import pickle
from collections.abc import Iterator

import pytest
import torch
from tensordict import TensorDict, TensorDictBase
from torch.distributed import distributed_c10d

from tdconf_tensordict_adapter import travel_spy
from tdconf_tensordict_adapter.transcript import Transcript, watch


@pytest.fixture
def transcript() -> Iterator[Transcript]:
    transcript = Transcript()
    watch(transcript)
    transcript.enter_step(3)
    yield transcript
    watch(None)


def test_bytes_are_counted_where_they_are_made_and_read(transcript: Transcript) -> None:
    data = travel_spy.spied_dumps("x")
    assert (pickle.loads(data), travel_spy.spied_loads(bytearray(data))) == ("x", "x")
    assert transcript.events() == [
        {"event": event, "bytes": len(data), "step": 3} for event in ("pickle", "unpickle")
    ]


def test_an_object_collective_counts_its_objects(transcript: Transcript) -> None:
    to_tensor = travel_spy.spied_to_tensor(distributed_c10d._object_to_tensor)
    to_object = travel_spy.spied_to_object(distributed_c10d._tensor_to_object)
    data, size = to_tensor("x", "cpu", None)
    # Buffers are as long as the longest; only the front is the object.
    buffer = torch.cat([data, torch.zeros(9, dtype=torch.uint8)])
    assert to_object(buffer, size, None) == "x"
    assert [event["bytes"] for event in transcript.events()] == [len(pickle.dumps("x"))] * 2


def test_what_fails_has_not_happened(transcript: Transcript) -> None:
    with pytest.raises(pickle.UnpicklingError):
        travel_spy.spied_loads(b"no pickle")
    with pytest.raises((AttributeError, pickle.PicklingError)):
        travel_spy.spied_dumps(lambda: None)
    assert transcript.events() == []


def test_a_consolidation_inside_another_is_not_counted(transcript: Transcript) -> None:
    spied = travel_spy.spied_consolidate

    def consolidate_by_itself(td: TensorDictBase) -> TensorDictBase:
        return spied(TensorDictBase.consolidate)(td)

    with_a_helper = spied(consolidate_by_itself)
    consolidated = with_a_helper(TensorDict(a=torch.zeros(3)))
    assert with_a_helper(consolidated) is consolidated
    assert transcript.events() == [{"event": "consolidate", "bytes": 16, "step": 3}]


def test_nothing_is_noted_outside_a_case() -> None:
    assert travel_spy.spied_loads(travel_spy.spied_dumps("x")) == "x"
