# SPDX-License-Identifier: BSD-3-Clause
"""Two real ranks of the tensordict adapter carry out collective operations."""

import pytest

from tdconf_tensordict_adapter.decode import Json

from .worlds import World, leaf, ramp, tensordict


def int16(start: int, batch_size: tuple[int, ...] = (2,), **more: Json) -> Json:
    return tensordict([["a", leaf("int16", [2], ramp(start))]], batch_size=batch_size, **more)


def a_of(world: World, rank: int, name: str = "td") -> str:
    return dict(world.snapshot(rank, name)["entries"])["a"]["bytes"]


def both(world: World, op: str, /, as_: str | None = None, **args: Json) -> list[Json]:
    """Lets both ranks take one step, and returns the values of their answers."""
    step = {"op": op, "args": {"td": "td"} | args} | ({} if as_ is None else {"as": as_})
    answers = world.steps(step, step)
    assert {answer["type"] for answer in answers} == {"returned"}, answers
    return [answer["value"] for answer in answers]


def test_a_broadcast_makes_a_new_value_or_returns_the_consolidated_one(world: World) -> None:
    world.join()
    world.make("td", int16(1, consolidated=True), int16(90))
    source, other = both(world, "broadcast", as_="out", src=0, device="cpu")
    assert source == {"kind": "value", "name": "td"}
    assert other == {"kind": "value", "name": "out"}
    assert a_of(world, 1, "out") == "01000200"
    assert a_of(world, 1) == "5a005b00"


def test_a_scatter_takes_names_of_values(world: World) -> None:
    world.join()
    for name, start in {"td": 90, "one": 1, "two": 3}.items():
        world.make(name, int16(start), int16(start))
    scatter = {"op": "scatter", "args": {"td": "td", "src": 0}, "as": "out"}
    with_list = {**scatter, "args": {"td": "td", "src": 0, "tensordicts": ["one", "two"]}}
    answers = world.steps(with_list, scatter)
    assert [answer["value"] for answer in answers] == [{"kind": "value", "name": "out"}] * 2
    assert [a_of(world, rank, "out") for rank in (0, 1)] == ["01000200", "03000400"]
    unknown = {**scatter, "args": {"td": "td", "src": 0, "tensordicts": ["none"]}}
    assert world.ranks[0].ask("step", **unknown)["type"] == "error"


def test_a_gathered_value_is_kept_under_its_number(world: World) -> None:
    world.join()
    world.make("td", int16(1), int16(3))
    names = {"kind": "values", "names": ["all.0", "all.1"]}
    assert both(world, "all_gather", as_="all") == [names, names]
    for rank in (0, 1):
        assert a_of(world, rank, "all.0") == "01000200"
        assert a_of(world, rank, "all.1") == "03000400"


def int32_of_two(first: int, second: int) -> str:
    return first.to_bytes(4, "little").hex() + second.to_bytes(4, "little").hex()


# Of 1 and 3, and of 2 and 4.
REDUCED = {
    "SUM": int32_of_two(4, 6),
    "PRODUCT": int32_of_two(3, 8),
    "MIN": int32_of_two(1, 2),
    "MAX": int32_of_two(3, 4),
    "BAND": int32_of_two(1, 0),
    "BOR": int32_of_two(3, 6),
    "BXOR": int32_of_two(2, 6),
}


def int32(start: int) -> Json:
    entries = [["b", leaf("int32", [2], ramp(start))], ["a", leaf("int32", [2], ramp(start))]]
    return tensordict(entries)


@pytest.mark.parametrize("op", REDUCED)
def test_an_all_reduce_knows_every_op_of_whole_numbers(world: World, op: str) -> None:
    world.join()
    world.make("td", int32(1), int32(3))
    assert both(world, "all_reduce", op=op) == [{"kind": "none"}] * 2
    assert [a_of(world, rank) for rank in (0, 1)] == [REDUCED[op]] * 2


def test_an_average_is_one_of_floating_numbers(world: World) -> None:
    world.join()
    floats = [tensordict([["a", leaf("float32", [1], {"const": c})]], (1,)) for c in (1, 2)]
    world.make("td", *floats)
    both(world, "all_reduce", op="AVG")
    # 1.5.
    assert a_of(world, 1) == "0000c03f"


def test_a_reduce_gives_the_result_to_one_rank(world: World) -> None:
    world.join()
    world.make("td", int32(1), int32(3))
    assert both(world, "reduce", dst=1) == [{"kind": "none"}] * 2
    assert a_of(world, 1) == REDUCED["SUM"]


# One work for each leaf, or a future that copies one bucket of both leaves back.
@pytest.mark.parametrize(("more", "count"), [({}, 2), ({"bucket_bytes": 1000}, 1)])
@pytest.mark.parametrize("op", ["all_reduce", "reduce"])
def test_a_wait_is_for_works_and_for_futures(world: World, op: str, more: Json, count: int) -> None:
    world.join()
    world.make("td", int32(1), int32(3))
    to_one = {"dst": 0, "return_premature": True} if op == "reduce" else {}
    started = both(world, op, as_="works", async_op=True, **to_one, **more)
    assert started == [{"kind": "works", "works": count}] * 2
    wait = {"op": "wait", "args": {"works": "works"}}
    assert [answer["type"] for answer in world.steps(wait, wait)] == ["returned"] * 2
    assert a_of(world, 0) == REDUCED["SUM"]
    for rank in world.ranks:
        ended = rank.ask("end_case")
        assert ended["leftovers"]["works"] == 0
        assert [(event["event"], event["done"]) for event in ended["transcript"]] == [
            (op, True)
        ] * count


def lazy_stack(start: int, form: str) -> Json:
    members = [
        tensordict([["a", leaf("int32", [2], fill, form)]], batch_size=())
        for fill in ({"const": start}, {"const": start + 1})
    ]
    return {"kind": "lazy_stack", "stack_dim": 0, "members": members}


def test_what_a_future_raises_is_raised_by_the_wait(world: World) -> None:
    """Rank 0 cannot write back into members whose elements share memory."""
    world.join()
    world.make("td", lazy_stack(1, "expanded"), lazy_stack(3, "plain"))
    both(world, "reduce", as_="works", dst=0, async_op=True, return_premature=True)
    wait = {"op": "wait", "args": {"works": "works"}}
    raised, returned = world.steps(wait, wait)
    assert (raised["type"], raised["category"]) == ("raised", "runtime"), raised
    assert returned["type"] == "returned", returned


@pytest.mark.parametrize("use_broadcast", [True, False])
def test_a_remote_start_takes_its_options(world: World, use_broadcast: bool) -> None:
    world.join()
    world.make("td", int16(1), int16(90))
    options = {"device": "cpu", "use_broadcast": use_broadcast}
    answers = world.steps(
        {"op": "init_remote", "args": {"td": "td", "dst": 1} | options},
        {"op": "from_remote_init", "args": {"src": 0} | options, "as": "out"},
    )
    assert [answer["type"] for answer in answers] == ["returned"] * 2, answers
    assert a_of(world, 1, "out") == "01000200"


def test_an_item_is_a_view(world: World) -> None:
    world.join()
    rank = world.ranks[0]
    rows = tensordict([["a", leaf("int16", [3, 2], ramp(1))]], batch_size=(3, 2))
    made = rank.step("make", name="td", tree=rows)["value"]["snapshot"]
    row = rank.step("getitem", as_="row", td="td", index=[1])["value"]["snapshot"]
    assert row["batch_size"] == [2]
    assert dict(row["entries"])["a"]["bytes"] == "03000400"
    part = rank.step("getitem", as_="part", td="td", index=[[1, 3], -1])["value"]["snapshot"]
    assert part["batch_size"] == [2]
    assert dict(part["entries"])["a"]["bytes"] == "04000600"
    first = rank.step("getitem", as_="first", td="td", index=[0])["value"]["snapshot"]
    assert dict(first["entries"])["a"]["token"] == dict(made["entries"])["a"]["token"]
    outside = rank.step("getitem", as_="none", td="td", index=[3])
    assert (outside["type"], outside["category"]) == ("raised", "index"), outside


@pytest.mark.parametrize(
    ("op", "as_", "args"),
    [
        ("all_reduce", None, {"op": "MEAN"}),
        ("reduce", None, {}),
        ("scatter", "out", {"src": 0, "tensordicts": "td"}),
        ("broadcast", None, {"src": 0}),
        ("all_gather", None, {}),
        ("getitem", "out", {"index": [[1, 2, 3]]}),
        ("getitem", "out", {"index": ["a"]}),
    ],
)
def test_what_the_protocol_does_not_have_is_an_error(
    world: World, op: str, as_: str | None, args: Json
) -> None:
    world.join()
    rank = world.ranks[0]
    rank.step("make", name="td", tree=int16(1))
    message = {"seq": 99, "type": "step", "op": op, "args": {"td": "td"} | args}
    answer = rank.send_raw(message | ({} if as_ is None else {"as": as_}))
    assert answer["type"] == "error", answer
