# SPDX-License-Identifier: BSD-3-Clause
"""The judge tells right from wrong: wrong cases, ranks that fail, and mutants."""

import sys
from pathlib import Path

import pytest

from .rules import expanded_cases, must_fail_shifted_tags, must_fail_unsorted
from .runner import FAULTY, Harness, Run, module, run_fixtures

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
    "wrong_locked": "{locked: true}",
    "wrong_requires_grad": "{requires_grad: {a: true}}",
}


RECEIVING = """
id: harness/{name}
clauses: [harness.clause]
level: must
says: a rank receives while its peer does something else
world: 2{deadline}
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


DEADLINE = """
deadline_s: 3
slow: a test waits until it has passed"""


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """What the judge says of tensordict, which dies in one case and waits in vain in another."""
    harness = Harness(tmp_path_factory.mktemp("real"))
    for name, expect in EXPECTS.items():
        harness.write(f"fixtures/{name}.yaml", CASE.format(name=name, expect=expect))
    dies = RECEIVING.format(name="dies", step="send", td="{td: trigger, dst: 1}", deadline="")
    waits = RECEIVING.format(name="in_vain", step="snapshot", td="trigger", deadline=DEADLINE)
    harness.write("fixtures/receiving.yaml", "---".join((dies, waits)))
    return harness.run(["fork:", sys.executable, str(FAULTY / "killed_in_send.py")])


def test_a_wrong_expectation_fails_a_right_implementation(real: Run) -> None:
    verdicts = {name: real.cases[f"harness/{name}"]["verdict"] for name in EXPECTS}
    assert verdicts.pop("right") == "pass"
    assert set(verdicts.values()) == {"fail"}, verdicts
    assert real.status == 1


def test_a_rank_that_dies_or_waits_in_vain_is_replaced(real: Run) -> None:
    dies, in_vain = real.cases["harness/dies"], real.cases["harness/in_vain"]
    assert (dies["verdict"], in_vain["verdict"]) == ("crash", "hang")
    assert "rank 0 step 2 (send): killed by SIGKILL" in dies["signature"]
    assert "rank 1 step 2 (recv)" in in_vain["signature"]
    assert "_recv" in str(in_vain["stacks"])
    # The cases run in the order of their names, and the right one comes after both.
    assert list(real.cases).index("harness/in_vain") < list(real.cases).index("harness/right")


# A few cases of each kind; running all of them takes minutes, since many a mutant hangs.
SAMPLES = {
    "tdconf_mutants.unsorted": ["p2p/order/*", "p2p/tags/defaults", "p2p/tags/receiving-defaults"],
    "tdconf_mutants.shifted_tags": [
        "p2p/receiving/isend-to-recv/*",
        "p2p/receiving/send-to-irecv/*",
        "p2p/order/*-reversed",
        "p2p/pseudo_rand/repeated-tags",
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
