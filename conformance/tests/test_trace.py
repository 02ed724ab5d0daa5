# SPDX-License-Identifier: BSD-3-Clause
"""With --trace the results hold what was said and in which order; a hang is always explained."""

from pathlib import Path

import pytest

from tdconf_tensordict_adapter.decode import Json

from .runner import Harness, Run, adapter_path, module, scripted

CASE = """
id: harness/case
clauses: [harness.clause]
level: must
says: rank 0 sends before rank 1 receives
world: 2
deadline_s: 1
slow: a test waits until it has passed
values:
  trigger: {batch_size: [2], entries: [[a, {dtype: uint8, shape: [2], fill: {const: 0}}]]}
ranks:
  0:
    - make: trigger
    - send: {td: trigger, dst: 1}
      label: sent
  1:
    - make: trigger
    - recv: {td: trigger, src: 0}
      after: 0.sent
"""


def run(folder: Path, fault: str, *options: str) -> Run:
    harness = Harness(folder)
    harness.write("fixtures/case.yaml", CASE)
    return harness.run(scripted(fault), *options)


def ranks(run: Run) -> list[Json]:
    return run.cases["harness/case"]["ranks"]


def test_a_trace_holds_every_answer_as_it_came(tmp_path: Path) -> None:
    sender, receiver = ranks(run(tmp_path, "none", "--trace"))
    assert [answer["type"] for answer in sender["answers"]] == ["returned", "returned"]
    assert sender["answers"][1]["value"] == {"kind": "none"}
    assert receiver["answers"][0]["value"]["kind"] == "snapshot"
    # This adapter does not claim to report what it did.
    assert sender["transcript"] is None


def test_a_trace_holds_the_one_order_of_releases_and_answers(tmp_path: Path) -> None:
    sender, receiver = ranks(run(tmp_path, "none", "--trace"))
    places = [*sender["released"], *sender["answered"]]
    places += [*receiver["released"], *receiver["answered"]]
    assert sorted(places) == list(range(8))
    assert receiver["released"][1] > sender["answered"][1] > sender["released"][1]


def test_without_the_option_results_stay_small(tmp_path: Path) -> None:
    for rank in ranks(run(tmp_path, "none")):
        assert not {"answers", "transcript", "released", "answered"} & set(rank)


@pytest.mark.parametrize("options", [(), ("--trace",)])
def test_a_hang_is_explained(tmp_path: Path, options: tuple[str, ...]) -> None:
    case = run(tmp_path, "never_answers", *options).cases["harness/case"]
    sentence = "rank 0 is in send(dst=1); rank 0 reported no pending call"
    assert case["hang"] == {
        "sentence": sentence,
        "ranks": [{"rank": 0, "step": 2, "op": "send", "pending": []}],
    }
    assert case["signature"].endswith(f"no answer within 1000 ms: {sentence}")


def test_a_stopped_process_is_named_as_one(tmp_path: Path) -> None:
    case = run(tmp_path, "stopped_in_step").cases["harness/case"]
    assert case["hang"]["sentence"] == (
        "rank 0 is in send(dst=1) and answers nothing, as a stopped process does; "
        "rank 0 reported no pending call"
    )


@pytest.mark.parametrize("name", ["reference", "tensordict"])
def test_ranks_that_never_agree_say_what_they_wait_for(tmp_path: Path, name: str) -> None:
    python = module("tdconf_tensordict_adapter")
    adapter = python if name == "tensordict" else [str(adapter_path(name))]
    harness = Harness(tmp_path)
    tags = CASE.replace("dst: 1", "dst: 1, init_tag: 7").replace("src: 0", "src: 0, init_tag: 9")
    together = tags.replace("      after: 0.sent\n", "").replace("      label: sent\n", "")
    harness.write("fixtures/case.yaml", together)
    case = harness.run(adapter).cases["harness/case"]
    assert case["hang"]["sentence"] == (
        "rank 0 sends tag 7 to rank 1, which waits for tag 9 from rank 0"
    )
    waits = [[(call["event"], call["tag"]) for call in r["pending"]] for r in case["hang"]["ranks"]]
    assert waits == [[("send", 7)], [("recv", 9)]]
