# SPDX-License-Identifier: BSD-3-Clause
"""The file of targets, and what is refused of it."""

from pathlib import Path

import pytest

from tdconf.bench import targets
from tdconf.bench.catalogue import Benchmark
from tdconf.bench.targets import Target
from tdconf.exits import Exit, TdconfError
from tdconf.layout import THIS_CHECKOUT

_ENTRY = (
    "{operation: send, leaves: 1000, bytes: 1024, world: 2, "
    "reference_over_floor: 1.15, tensordict_over_reference: 4}"
)


def test_a_target_belongs_to_one_benchmark(tmp_path: Path) -> None:
    file = tmp_path / "targets.yaml"
    file.write_text(f"- {_ENTRY}\n")
    assert targets.read(file) == {Benchmark("send"): Target(1.15, 4.0)}


def test_every_operation_of_the_checkout_but_pickles_has_a_target() -> None:
    found = targets.read(THIS_CHECKOUT.bench / "targets.yaml")
    assert {one.operation for one in found} == {
        "send",
        "send_pseudo_rand",
        "isend",
        "send_consolidated",
        "send_consolidating",
        "init_remote",
        "broadcast",
        "all_gather",
        "all_reduce",
        "all_reduce_buckets",
        "gather_and_stack",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a list of targets"),
        ("a: [", "targets.yaml: "),
        ("- {operation: send}", "target 1: expected the keys operation, leaves"),
        (f"- {_ENTRY}\n- {_ENTRY}", "target 2: send/leaves:1000.* has a target already"),
        (f"- {_ENTRY.replace('send', 'sent')}", "sent is no operation; there are send"),
        (f"- {_ENTRY.replace('1000', '-1')}", "leaves is -1, not a positive number"),
        (f"- {_ENTRY.replace('1.15', 'few')}", "reference_over_floor is few, not a positive"),
    ],
)
def test_a_file_that_is_no_list_of_targets_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "targets.yaml"
    file.write_text(text)
    with pytest.raises(TdconfError, match=said) as refused:
        targets.read(file)
    assert refused.value.code == Exit.USAGE
