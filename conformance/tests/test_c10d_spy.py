# SPDX-License-Identifier: BSD-3-Clause
"""The spy sees every way into c10d, once each, and is not noticed."""

import weakref
from collections.abc import Iterator

import pytest
import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from tdconf_tensordict_adapter import c10d_spy
from tdconf_tensordict_adapter.c10d_spy import digest
from tdconf_tensordict_adapter.messages import FileStore, Group, Join
from tdconf_tensordict_adapter.transcript import Transcript, watch

RANKS = [0, 1, 2]


@pytest.fixture
def transcript(monkeypatch: pytest.MonkeyPatch) -> Iterator[Transcript]:
    """That of rank 1 of three whose peers do not exist: every call succeeds at once."""
    for owner, name in c10d_spy.boundary():
        monkeypatch.setattr(owner, name, getattr(owner, name))
    c10d_spy.install()
    dist.init_process_group("fake", store=FakeStore(), rank=1, world_size=3)
    transcript = Transcript()
    spec = Group("default", "default", RANKS, "fake")
    join = Join(1, 3, FileStore("file", "unused"), [spec], 1000)
    transcript.name_groups({"default": dist.group.WORLD}, join)
    watch(transcript)
    transcript.enter_step(7)
    yield transcript
    watch(None)
    dist.destroy_process_group()


def tensor() -> torch.Tensor:
    return torch.zeros(2, dtype=torch.int16)


CALLS = {
    "send": lambda: dist.send(tensor(), 2, tag=4),
    "recv": lambda: dist.recv(tensor(), 2, tag=4),
    "all_gather": lambda: dist.all_gather([tensor() for _ in RANKS], tensor()),
    "all_gather into one": lambda: dist.all_gather_into_tensor(torch.cat([tensor()] * 3), tensor()),
    "gather": lambda: dist.gather(tensor(), dst=2),
    "scatter": lambda: dist.scatter(tensor(), src=2),
    "broadcast": lambda: dist.broadcast(tensor(), 2),
    "reduce": lambda: dist.reduce(tensor(), 2),
    "all_reduce": lambda: dist.all_reduce(tensor()),
}


@pytest.mark.parametrize("event", CALLS)
def test_a_call_is_one_event(transcript: Transcript, event: str) -> None:
    CALLS[event]()
    has_tag = event in ("send", "recv")
    expected = {
        "event": event.removesuffix(" into one"),
        "group": "default",
        "peer": None if event.startswith("all_") else 2,
        "dtype": "int16",
        "shape": [2],
        "bytes": 4,
        # sha256 of four zero bytes.
        "sha256": "df3f619804a92fdb4057192dc43dd748ea778adc52bc498ce80524c014b81119",
        "done": True,
        "step": 7,
    }
    assert transcript.events() == [expected | ({"tag": 4} if has_tag else {})]


def roots() -> dict[str, tuple]:
    options = dist.GatherOptions()
    options.rootRank = 2
    outputs: list = []
    return {
        "alone": ((outputs, [tensor()], options), {}),
        "by name": ((), {"output_tensors": outputs, "input_tensors": [tensor()], "opts": options}),
        "as a number": ((outputs, tensor(), 2), {}),
    }


@pytest.mark.parametrize("form", roots())
def test_a_root_is_found_in_every_form(transcript: Transcript, form: str) -> None:
    args, kwargs = roots()[form]
    dist.group.WORLD.gather(*args, **kwargs).wait()
    assert [event["peer"] for event in transcript.events()] == [2]


def test_the_root_of_a_broadcast_hands_over_what_it_holds_now(transcript: Transcript) -> None:
    value = tensor()
    work = dist.broadcast(value, src=1, async_op=True)
    handed_over = transcript.events()[0]["sha256"]
    value += 1
    work.wait()
    assert handed_over is not None
    assert transcript.events()[0]["sha256"] == handed_over


def test_a_call_is_done_once_its_future_was_waited_for(transcript: Transcript) -> None:
    work = dist.all_reduce(tensor(), async_op=True)
    assert [event["done"] for event in transcript.events()] == [False]
    work.get_future().then(lambda _: None).wait()
    assert [event["done"] for event in transcript.events()] == [True]


def test_a_call_whose_future_failed_is_not_done(transcript: Transcript) -> None:
    event = transcript.begin(bytes=4, done=False)
    failed = torch.futures.Future()
    failed.set_exception(RuntimeError("no peer"))
    c10d_spy.finish_unless_failed(c10d_spy.Started(transcript, event, None), failed)
    assert [event["done"] for event in transcript.events()] == [False]


def test_a_result_has_a_digest_once_it_is_there(transcript: Transcript) -> None:
    value = tensor()
    work = dist.all_reduce(value, async_op=True)
    assert transcript.events()[0]["sha256"] is None
    value += 1
    result = digest(value)
    work.wait()
    assert transcript.events()[0]["sha256"] == result


def test_the_first_end_of_a_call_is_what_counts(transcript: Transcript) -> None:
    """Who waits for the future may change the tensor: it is no longer what the call gave."""
    value = tensor()
    work = dist.all_reduce(value, async_op=True)
    result = digest(value)
    work.get_future().then(lambda _: value.add_(1)).wait()
    work.wait()
    assert transcript.events()[0]["sha256"] == result


@pytest.mark.parametrize("peer", [-1, 3, 2**31 - 1])
def test_a_call_to_a_rank_that_the_case_has_not_is_no_event(
    transcript: Transcript, peer: int
) -> None:
    assert dist.group.WORLD.send([tensor()], peer, 4).wait()
    assert transcript.events() == []


def test_a_call_in_a_group_that_the_case_has_not_is_no_event(transcript: Transcript) -> None:
    own = dist.new_group(RANKS)
    assert own.send([tensor()], 2, 4).wait()
    assert transcript.events() == []


def test_a_work_that_nobody_holds_is_given_up(transcript: Transcript) -> None:
    work = dist.group.WORLD.send([tensor()], 2, 4)
    held = weakref.ref(work)
    del work
    assert held() is None
    assert [event["done"] for event in transcript.events()] == [False]


def test_what_cannot_be_read_has_no_digest() -> None:
    assert digest(torch.zeros(2, device="meta")) is None
    assert digest(torch.zeros(2).to_sparse()) is None


def test_a_digest_is_of_the_elements_in_row_major_order() -> None:
    square = torch.arange(4, dtype=torch.uint8).reshape(2, 2)
    assert digest(square.t()) == digest(square.t().contiguous()) != digest(square)
    conjugate = torch.tensor([1 + 2j]).conj()
    assert digest(conjugate) == digest(torch.tensor([1 - 2j]))
    assert digest(torch.nn.Parameter(torch.ones(2))) == digest(torch.ones(2))
