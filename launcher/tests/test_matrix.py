# SPDX-License-Identifier: BSD-3-Clause
"""Which kinds a value is of, and which cells of the matrix a case fills."""

import pytest

from tdconf import matrix
from tdconf.described import Tree

from .scripted_cases import case, lazy, make, step, td, tensor

LEAF = tensor("float32", [2], 1)
DATA: Tree = {"kind": "non_tensor", "data": "text", "batch_size": []}
TD = td({"a": LEAF})


@pytest.mark.parametrize(
    ("tree", "kinds"),
    [
        (TD, ["TensorDict"]),
        (td({}), ["TensorDict", "without entries"]),
        (td({"n": TD}), ["TensorDict", "nested"]),
        (lazy(TD, TD), ["lazy stack"]),
        (lazy(TD, TD) | {"stack_dim": 1}, ["lazy stack", "lazy stack, stack_dim 1"]),
        (
            lazy(TD, td({"a": tensor("float32", [3], 1)})),
            ["lazy stack", "lazy stack, ragged"],
        ),
        (td({"s": lazy(TD, TD)}), ["TensorDict", "lazy stack inside"]),
        (TD | {"kind": "tensorclass", "class": "Sample"}, ["tensorclass"]),
        (td({"s": DATA}), ["TensorDict", "NonTensorData"]),
        (td({"s": lazy(DATA, DATA)}), ["TensorDict", "NonTensorData", "NonTensorStack"]),
        (TD | {"kind": "persistent"}, ["PersistentTensorDict"]),
        (td({"a": tensor("float32", [2, 0], 1)}), ["TensorDict", "zero elements"]),
        (td({"a": tensor("float32", [2], 1, "memmap")}), ["TensorDict", "MemoryMappedTensor"]),
        (td({"a": LEAF}, locked=True), ["TensorDict", "locked"]),
        (td({"a": LEAF}, [2], names=["x"]), ["TensorDict", "names"]),
    ],
)
def test_a_value_is_of_each_kind_that_it_holds(tree: Tree, kinds: list[str]) -> None:
    assert matrix.kinds_of(tree) == kinds


def test_a_method_meets_the_kinds_that_it_is_given() -> None:
    sent = case(
        "p2p/x",
        [make("td", TD), make("other", td({})), step("send", td="td", dst=1)],
        [make("out", td({"n": TD})), step("recv", td="out", src=0)],
    )
    assert matrix.count([sent, sent]) == {
        ("send", "TensorDict"): 2,
        ("recv", "TensorDict"): 2,
        ("recv", "nested"): 2,
    }


def test_rows_of_their_own_have_what_is_consolidated_or_goes_through_a_pipe() -> None:
    program = [
        make("td", TD),
        step("consolidate", td="td", kept="packed"),
        step("recv", td="packed", src=0, consolidated=True),
        step("send", td="td", pipe="pipe"),
    ]
    assert matrix.count([case("p2p/x", program)]) == {
        ("consolidated", "TensorDict"): 1,
        ("pipe", "TensorDict"): 1,
    }


def test_what_init_remote_sends_is_what_from_remote_init_meets() -> None:
    sends = [make("td", TD), step("init_remote", td="td", dst=1)]
    assert matrix.count([case("a/x", sends)]) == {("init_remote", "TensorDict"): 1}
    both = case("a/x", sends, [step("from_remote_init", src=0, kept="got")])
    assert matrix.count([both])["from_remote_init", "TensorDict"] == 1


def test_a_view_and_what_a_list_holds_count() -> None:
    program = [
        make("td", TD),
        make("empty", td({})),
        step("getitem", td="td", index=[0], kept="row"),
        step("scatter", td="empty", tensordicts=["row"], src=0, kept="got"),
    ]
    assert matrix.count([case("a/x", program)]) == {
        ("scatter", "TensorDict"): 1,
        ("scatter", "view"): 1,
    }


def test_cells_without_a_case_are_listed_and_counted() -> None:
    counted = {(method, kind): 1 for method in matrix.METHODS for kind in matrix.KINDS}
    assert matrix.empty(counted) == []
    del counted["send", "names"]
    assert matrix.empty(counted) == [("send", "names")]
    assert matrix.table(counted).splitlines()[-1].split()[:3] == ["names", "-", "1"]
    assert matrix.closing([], counted).endswith(" 1 without; 0 cases")
