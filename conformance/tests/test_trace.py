# SPDX-License-Identifier: BSD-3-Clause
"""With --trace the results hold what was said and in which order; a hang is always explained."""

from pathlib import Path

import pytest

from tdconf_tensordict_adapter.decode import Json

from .runner import Harness, Run, scripted

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
    sentence = "rank 0 is in send(dst=1); no pending call was reported"
    assert case["hang"] == {
        "sentence": sentence,
        "ranks": [{"rank": 0, "step": 2, "op": "send", "pending": []}],
    }
    assert case["signature"].endswith(f"no answer within 1000 ms: {sentence}")
