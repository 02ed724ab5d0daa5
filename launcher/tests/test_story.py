# SPDX-License-Identifier: BSD-3-Clause
"""What is told of a result: each step, what it holds, and how the case ended."""

from typing import Any

import pytest

from tdconf.described import Case
from tdconf.story import tell, told_steps

from .scripted_cases import case, make, step, td

Line = dict[str, Any]
NONE = {"type": "returned", "value": {"kind": "none"}}
SENDS = case("p/sends", [make("src", td({})), step("send", td="src", dst=1)], [])


def tensor() -> Line:
    leaf = {"kind": "tensor", "class": "Tensor", "dtype": "int8", "shape": [2], "layout": "strided"}
    return leaf | {"bytes": "01ff"}


def nested(kind: str, name: str, **more: object) -> Line:
    return {"kind": kind, "class": name, **more}


def result(*answers: Line, verdict: str = "pass", **more: object) -> Line:
    record = {"rank": 0, "transcript": [], "answers": list(answers)}
    record |= {"released": [*range(len(answers))], "answered": [*range(len(answers))]}
    idle = {"rank": 1, "transcript": [], "answers": [], "released": [], "answered": []}
    about = {
        "verdict": verdict,
        "expected": verdict == "pass",
        "findings": [],
        "listed": None,
        "signature": "",
        "hang": None,
    }
    return about | {"ranks": [record, idle], "stacks": {}} | more


def shown(snapshot: Line) -> list[str]:
    answer = {"type": "returned", "value": {"kind": "snapshot", "snapshot": snapshot}}
    return [line for told in told_steps(SENDS, result(answer)) for line in told.lines]


def test_several_tensordicts_are_told_by_their_names() -> None:
    def said(*names: str) -> str:
        answer = {"type": "returned", "value": {"kind": "values", "names": list(names)}}
        return told_steps(SENDS, result(answer))[0].lines[0]

    assert said("all.0", "all.1") == "rank 0 step 1 make src: returned all.0, all.1"
    assert said() == "rank 0 step 1 make src: returned an empty list"


def test_a_snapshot_shows_classes_data_and_tensors() -> None:
    member = nested("tensordict", "TensorDict", batch_size=[], entries=[["x", tensor()]])
    pair = nested("tensorclass", "Pair", batch_size=[2], entries=[["x", tensor()]])
    empty = nested("tensordict", "TensorDict", batch_size=[2], entries=[])
    stack = nested("lazy_stack", "LazyStackedTensorDict", stack_dim=0, members=[member, member])
    text = {"kind": "non_tensor", "class": "NonTensorData", "data": "hi", "batch_size": []}
    entries = [["p", pair], ["s", stack], ["n", empty], ["t", text], ["m", member]]
    assert shown(nested("tensordict", "TensorDict", batch_size=[2], entries=entries)) == [
        "rank 0 step 1 make src: TensorDict [2]",
        "    p  Pair (tensorclass) [2]",
        "    p.x  int8[2] [1, -1]",
        "    s  LazyStackedTensorDict of 2 in dimension 0",
        "    s.0.x  int8[2] [1, -1]",
        "    s.1.x  int8[2] [1, -1]",
        "    n  TensorDict [2]",
        "    t  'hi'",
        "    m.x  int8[2] [1, -1]",
    ]


def test_the_root_is_named_whatever_it_is() -> None:
    stack = nested("lazy_stack", "LazyStackedTensorDict", stack_dim=1, members=[])
    assert shown(stack) == [
        "rank 0 step 1 make src: LazyStackedTensorDict of 0 in dimension 1",
    ]


def test_an_end_without_findings_says_its_signature() -> None:
    ended = tell(SENDS, result(verdict="error", signature="no adapter `mine`"), steps=False)
    assert ended.splitlines()[-2:] == ["ERROR, not expected", "  no adapter `mine`"]
    finding = {"text": "rank 0 broke it"}
    found = result(verdict="fail", signature="no more", findings=[finding])
    assert tell(SENDS, found, steps=False).splitlines()[-2:] == [
        "FAIL, not expected",
        "  rank 0 broke it",
    ]


@pytest.mark.parametrize(
    ("of", "says_so"),
    [(SENDS, False), (case("p/pipe", [step("send", td="src", pipe="wire")], []), True)],
)
def test_what_no_transcript_holds_is_said(of: Case, says_so: bool) -> None:
    text = tell(of, result(NONE), steps=True)
    assert ("(what travels through a pipe is not seen)" in text) == says_so
