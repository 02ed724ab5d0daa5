# SPDX-License-Identifier: BSD-3-Clause
"""The judge tells right from wrong: the real adapter, a wrong case, and mutants."""

import sys
from pathlib import Path

import pytest

from .rules import expanded_cases, must_fail_shifted_tags, must_fail_unsorted
from .runner import FAULTY, Harness, module, run_fixtures

REAL = module("tdconf_tensordict_adapter")

CASE = """
id: harness/{name}
clauses: [harness.clause]
level: must
says: two elements that are sent arrive
world: 2
values:
  src: {{batch_size: [2], entries: [[a, {{dtype: int16, shape: [2], fill: {{ramp: [1, 1]}}}}]]}}
  wrong: {{batch_size: [2], entries: [[a, {{dtype: int16, shape: [2], fill: {{ramp: [2, 1]}}}}]]}}
  dst: {{poison: src@0}}
ranks:
  0:
    - make: src
    - send: {{td: src, dst: 1}}
  1:
    - make: dst
    - recv: {{td: dst, src: 0}}
    - snapshot: dst
      expect: {expect}
"""

EXPECTS = {
    "right": "{equals: src@0, in_place: true, values: {a: [1, 2]}, sum: {a: 3}, keys: [a]}",
    "wrong_equals": "{equals: wrong@0}",
    "wrong_values": "{values: {a: [1, 3]}}",
    "wrong_sum": "{sum: {a: 4}}",
    "wrong_keys": "{keys: [b]}",
    "wrong_batch_size": "{batch_size: [3]}",
    "wrong_unchanged": "{unchanged: true}",
    "wrong_is_consolidated": "{is_consolidated: true}",
    "wrong_requires_grad": "{requires_grad: {a: true}}",
}


def test_a_wrong_expectation_fails_the_real_adapter(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    for name, expect in EXPECTS.items():
        harness.write(f"fixtures/{name}.yaml", CASE.format(name=name, expect=expect))
    run = harness.run(REAL)
    assert run.verdicts() == {
        f"harness/{name}": "pass" if name == "right" else "fail" for name in EXPECTS
    }, run
    assert run.status == 1


RECEIVING = """
id: harness/{name}
clauses: [harness.clause]
level: must
says: a rank receives while its peer does something else
world: 2
deadline_s: 1
slow: the tests of the harness wait for this deadline
values:
  trigger: {{batch_size: [2], entries: [[a, {{dtype: int16, shape: [2]}}]]}}
ranks:
  0:
    - make: trigger
    - {step}: {td}
  1:
    - make: trigger
    - recv: {{td: trigger, src: 0}}
"""


def test_a_real_rank_that_dies_or_waits_in_vain_is_replaced(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    right = CASE.format(name="c_right", expect=EXPECTS["right"])
    dies = RECEIVING.format(name="a_dies", step="send", td="{td: trigger, dst: 1}")
    waits = RECEIVING.format(name="b_waits", step="snapshot", td="trigger")
    for number, text in enumerate((dies, waits, right)):
        harness.write(f"fixtures/{number}.yaml", text)
    run = harness.run(["fork:", sys.executable, str(FAULTY / "killed_in_send.py")])
    assert run.verdicts() == {
        "harness/a_dies": "crash",
        "harness/b_waits": "hang",
        "harness/c_right": "pass",
    }, run
    crash, hang = run.cases["harness/a_dies"], run.cases["harness/b_waits"]
    assert "rank 0 step 2 (send): killed by SIGKILL" in crash["signature"]
    assert "rank 1 step 2 (recv)" in hang["signature"]
    assert "_recv" in str(hang["stacks"])
    assert run.status == 1


# A few cases of each kind; running all of them takes minutes, since many a mutant hangs.
SAMPLES = {
    "tdconf_mutants.unsorted": ["p2p/order/*", "p2p/tags/defaults", "p2p/tags/receiving-defaults"],
    "tdconf_mutants.shifted_tags": [
        "p2p/receiving/isend-to-recv/*",
        "p2p/receiving/send-to-irecv/*",
        "p2p/order/*-reversed",
        "p2p/tags/defaults",
    ],
}
RULES = {
    "tdconf_mutants.unsorted": must_fail_unsorted,
    "tdconf_mutants.shifted_tags": must_fail_shifted_tags,
}


@pytest.mark.parametrize("mutant", RULES)
def test_a_mutant_fails_where_the_rule_says_and_nowhere_else(tmp_path: Path, mutant: str) -> None:
    run = run_fixtures(tmp_path, module(mutant), *SAMPLES[mutant])
    cases = expanded_cases()
    expected = {name: RULES[mutant](cases[name]) for name in run.cases}
    assert set(expected.values()) == {True, False}
    assert {name: verdict != "pass" for name, verdict in run.verdicts().items()} == expected
    assert set(run.verdicts().values()) <= {"pass", "fail", "hang", "crash"}
    assert run.status == 1
