# SPDX-License-Identifier: BSD-3-Clause
"""Cases as the runner describes them, written by hand, and what their programs must print.

What must be printed follows from the formulas of the fills, written here a second time.
"""

import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from tdconf.described import Case, Tree, dotted, leaves

Step = dict[str, Any]

FORMATS = {"bool": "?", "uint8": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q"}
FORMATS |= {"uint16": "H", "uint32": "I", "uint64": "Q", "float16": "e", "float32": "f"}
FORMATS |= {"float64": "d"}


def tensor(dtype: str, shape: Sequence[int], start: int, form: str = "plain") -> Tree:
    """A ramp from `start` in steps of 1."""
    fill = {"ramp": {"start": start, "step": 1}}
    return filled(dtype, shape, fill, form)


def filled(dtype: str, shape: Sequence[int], fill: Tree, form: str = "plain") -> Tree:
    return {"kind": "tensor", "dtype": dtype, "shape": list(shape), "fill": fill, "form": form}


def td(entries: Mapping[str, Tree], batch_size: Sequence[int] = (), **marks: object) -> Tree:
    plain = {"names": None, "device": None, "consolidated": False, "locked": False}
    listed = [[key, entry] for key, entry in entries.items()]
    tree = {"kind": "tensordict", "batch_size": list(batch_size), "entries": listed}
    return tree | plain | marks


def lazy(*members: Tree) -> Tree:
    return {"kind": "lazy_stack", "stack_dim": 0, "members": list(members)}


def poison(tree: Tree, **marks: object) -> Tree:
    """The structure of `tree` with other elements."""
    if tree["kind"] == "tensor":
        return tree | {"fill": tree["fill"] | {"invert": True}}
    changed = dict(tree)
    if "entries" in tree:
        changed["entries"] = [[key, poison(entry)] for key, entry in tree["entries"]]
    if "members" in tree:
        changed["members"] = [poison(member) for member in tree["members"]]
    return changed | marks


def step(op: str, /, *, kept: str | None = None, expect: object = None, **args: object) -> Step:
    plain = {"label": None, "after": [], "blocks": None}
    return plain | {"op": op, "args": args, "as": kept, "expect": expect}


def make(name: str, tree: Tree) -> Step:
    return step("make", name=name, tree=tree)


def snapshot(name: str, equals: str) -> Step:
    return step("snapshot", td=name, expect={"equals": equals})


def case(name: str, *programs: Sequence[Step], **changes: object) -> Case:
    world = len(programs)
    default = {"name": "default", "kind": "default", "backend": "gloo", "ranks": [*range(world)]}
    plain = {
        "name": name,
        "id": name,
        "axes": {},
        "clauses": ["send.tags"],
        "level": "must",
        "says": "what is sent arrives",
        "broken_by": None,
        "notes": None,
        "world": world,
        "groups": [default],
        "roles": {},
        "deadline_s": 10,
        "slow": None,
        "file": "by_hand.yaml",
        "line": 1,
        "document": {"ranks": {}},
        "programs": [list(program) for program in programs],
        "messages": None,
        "transcript": None,
    }
    return plain | changes  # type: ignore[return-value]


def group(name: str, ranks: Sequence[int], kind: str = "subgroup") -> dict[str, Any]:
    return {"name": name, "kind": kind, "backend": "gloo", "ranks": list(ranks)}


def numbers(tree: Tree) -> list[Any]:
    """The elements of a tensor by the formula of its fill."""
    dtype, count, fill = tree["dtype"], math.prod(tree["shape"]), tree["fill"]
    if "ramp" in fill:
        ramp = [fill["ramp"]["start"] + fill["ramp"]["step"] * i for i in range(count)]
        if dtype == "bool":
            found: list[Any] = [number % 2 == 1 for number in ramp]
        elif dtype.startswith("complex"):
            found = [complex(number, -number) for number in ramp]
        else:
            found = ramp
        assert not fill.get("invert"), "nothing is expected to be poison"
        return found
    if "const" in fill:
        return [fill["const"]] * count
    size = struct.calcsize(FORMATS[dtype])
    data = scrambled(fill["scramble"], count * size)
    if dtype == "bool":
        return [byte & 1 == 1 for byte in data]
    return [value for (value,) in struct.iter_unpack(f"<{FORMATS[dtype]}", data)]


def scrambled(seed: int, count: int) -> bytes:
    found = bytearray()
    for k in range(count):
        z = (seed * 2**32 + k + 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        found.append((z ^ z >> 31) >> 56)
    return bytes(found)


Printed = dict[str, tuple[str, list[int], list[Any]]]


def expected(case_: Case, expression: str | dict[str, Any]) -> Printed:
    """The leaves of an expression, as `src@0` or `{stack: [src@1, src@2]}`: key -> what is printed.

    `{reduced: src, op: MAX}` is of all ranks, each of which makes `src`.
    """
    if isinstance(expression, dict) and "reduced" in expression:
        combine = {"SUM": sum, "MAX": max}[expression["op"]]
        parts = [expected(case_, f"{expression['reduced']}@{r}") for r in range(case_["world"])]
        return {
            key: (
                dtype,
                shape,
                [combine(row) for row in zip(*(part[key][2] for part in parts), strict=True)],
            )
            for key, (dtype, shape, _) in parts[0].items()
        }
    if isinstance(expression, dict):
        rows = [expected(case_, row) for row in expression["stack"]]
        return {
            key: (dtype, [len(rows), *shape], [n for row in rows for n in row[key][2]])
            for key, (dtype, shape, _) in rows[0].items()
        }
    name, _, rank = expression.partition("@")
    makes = [s["args"] for s in case_["programs"][int(rank)] if s["op"] == "make"]
    tree = next(args["tree"] for args in makes if args["name"] == name)
    return {
        dotted(path): (leaf["dtype"], leaf["shape"], numbers(leaf)) for path, leaf in leaves(tree)
    }


_LEAF = re.compile(
    r"(?:returned )?(?:(?P<key>\S+) )?(?P<dtype>\w+) \[(?P<shape>.*?)\] \[(?P<values>.*)\]"
)


def printed(output: str, rank: int, number: int) -> Printed:
    """What a program printed of a step: key -> dtype, shape, elements; a bare tensor is ''."""
    found: Printed = {}
    start = f"rank {rank} step {number} "
    for line in output.splitlines():
        match = _LEAF.fullmatch(line.partition(": ")[2]) if line.startswith(start) else None
        if match is not None:
            shape = [int(size) for size in match["shape"].split(",") if size.strip()]
            words = [word.strip() for word in match["values"].split(",") if word.strip()]
            found[match["key"] or ""] = (match["dtype"], shape, [_value(word) for word in words])
    return found


def _value(word: str) -> bool | complex | float:
    if word in ("True", "False"):
        return word == "True"
    if "j" in word:
        return complex(word)
    return float(word) if re.search(r"[.einf]", word) else int(word)


SRC = td(
    {
        "c": tensor("float64", [2], 1001),
        "b": td({"z": tensor("float32", [2, 3], 1101), "x": tensor("int16", [2, 2], 1201)}, [2]),
        "a": tensor("int64", [2], 1301),
    },
    [2],
)
KINDS = td(
    {
        "bool": filled("bool", [5], {"scramble": 1003}),
        "int8": filled("int8", [3], {"scramble": 1004}),
        "uint8": tensor("uint8", [2, 2], 250),
        "complex64": tensor("complex64", [2], 7),
        "const": filled("float16", [2], {"const": 0.5}),
        "empty": tensor("float32", [0, 2], 1),
    }
)
STACK = td({"s": lazy(td({"y": tensor("int64", [2], 11)}), td({"y": tensor("int64", [2], 21)}))})
MEMBERS = lazy(
    lazy(td({"x": tensor("int16", [2], 1)}), td({"x": tensor("int16", [3], 4, "parameter")})),
    lazy(td({"x": tensor("float32", [], 7, "parameter")}), td({"x": tensor("int16", [], 8)})),
)
ROWS = [td({"x": tensor("float32", [2], 100 * r), "i": tensor("int32", [], r)}) for r in range(3)]
OUT = td({"x": tensor("float32", [2, 2], 900), "i": tensor("int32", [2], 900)}, [2])


def bare(tree: Tree) -> Tree:
    return poison(tree)


def leaf(tree: Tree, *path: str) -> Tree:
    return next(found for at, found in leaves(tree) if at == path)


TAGS = case(
    "tags",
    [make("src", SRC), step("send", td="src", dst=1, init_tag=5)],
    [
        step("c10d_recv", tensor=bare(leaf(SRC, "a")), src=0, tag=5),
        step("c10d_recv", tensor=bare(leaf(SRC, "b", "x")), src=0, tag=6),
        step("c10d_recv", tensor=bare(leaf(SRC, "b", "z")), src=0, tag=7),
        step("c10d_recv", tensor=bare(leaf(SRC, "c")), src=0, tag=8),
    ],
    roles={"1": "probe"},
)
BARE_LEAVES = {1: ("a",), 2: ("b", "x"), 3: ("b", "z"), 4: ("c",)}

P2P = case(
    "p2p",
    [make("src", SRC), step("send", td="src", dst=1, init_tag=5)],
    [
        make("dst", poison(SRC)),
        step("recv", td="dst", src=0, init_tag=5, expect={"returns": 8}),
        snapshot("dst", "src@0"),
    ],
)
EARLY = case(
    "early",
    [
        make("src", SRC),
        step(
            "isend", td="src", dst=1, return_early=True, kept="works", expect={"returns": "works"}
        ),
        step("wait", works="works"),
    ],
    [
        make("dst", poison(SRC)),
        step("irecv", td="dst", src=0, return_premature=True, kept="works"),
        step("wait", works="works"),
        snapshot("dst", "src@0"),
    ],
)
FILLS = case(
    "fills",
    [make("src", KINDS), step("isend", td="src", dst=1)],
    [make("dst", poison(KINDS)), step("irecv", td="dst", src=0), snapshot("dst", "src@0")],
)
CONSOLIDATED = case(
    "consolidated",
    [make("src", SRC | {"consolidated": True}), step("send", td="src", dst=1, consolidated=True)],
    [
        make("dst", poison(SRC, consolidated=True)),
        step("recv", td="dst", src=0, consolidated=True),
        snapshot("dst", "src@0"),
    ],
)
GATHER = case(
    "gather",
    [
        make("out", OUT),
        step("gather_and_stack", td="out", dst=0),
        step("snapshot", td="out", expect={"equals": {"stack": ["row@1", "row@2"]}}),
    ],
    [make("row", ROWS[1]), step("gather_and_stack", td="row", dst=0)],
    [make("row", ROWS[2]), step("gather_and_stack", td="row", dst=0)],
)
LAZY = case(
    "lazy",
    [make("src", STACK), step("send", td="src", dst=1)],
    [make("dst", poison(STACK)), step("recv", td="dst", src=0), snapshot("dst", "src@0")],
)
LAZY_ROOT = case(
    "lazy_root",
    [make("stack", MEMBERS), step("send", td="stack", dst=1)],
    [make("other", poison(MEMBERS)), step("recv", td="other", src=0), snapshot("other", "stack@0")],
)
SUBGROUP = case(
    "subgroup",
    [],
    [make("src", SRC), step("send", td="src", group_dst=1, group="pair")],
    [
        make("dst", poison(SRC)),
        step("recv", td="dst", src=1, group="pair"),
        snapshot("dst", "src@1"),
    ],
    groups=[group("default", [0, 1, 2], "default"), group("pair", [1, 2])],
)
STANDALONE = case(
    "standalone",
    [make("src", SRC), step("send", td="src", group_dst=1, group="own")],
    [
        make("dst", poison(SRC)),
        step("recv", td="dst", group_src=0, group="own"),
        snapshot("dst", "src@0"),
    ],
    groups=[group("own", [0, 1], "standalone")],
)
RAISES = case(
    "raises",
    [make("src", SRC), step("send", td="src", expect={"raises": "value"})],
    [make("dst", SRC), step("recv", td="dst", expect={"raises": "value"})],
)
PROBE_SENDS = case(
    "probe_sends",
    [
        step("c10d_isend", tensor=leaf(SRC, "c"), dst=1, tag=3, kept="later"),
        step("c10d_send", tensor=leaf(SRC, "a"), dst=1, tag=0),
        step("wait", works="later"),
    ],
    [
        make("only", SRC),
        step("c10d_irecv", tensor=bare(leaf(SRC, "c")), src=0, tag=3, kept="works"),
        step("c10d_recv", tensor=bare(leaf(SRC, "a")), src=0, tag=0),
        step("c10d_result", works="works"),
    ],
)
_AFTER = step("send", td="second", dst=1, init_tag=9) | {"after": [[1, 2]]}
AFTER = case(
    "after",
    [make("first", SRC), make("second", KINDS), _AFTER],
    [
        make("dst", poison(SRC)),
        make("other", poison(KINDS)),
        make("later", KINDS),
        step("recv", td="other", src=0, init_tag=9),
        snapshot("other", "second@0"),
    ],
)
GATHER_PROBE = case(
    "gather_probe",
    [step("c10d_gather_buffers", dst=0, header=3)],
    [make("row", ROWS[1]), step("gather_and_stack", td="row", dst=0)],
    roles={"0": "probe"},
)

PAIR = td({"y": tensor("int16", [2], 1), "x": tensor("float32", [2], 9)}, [2])
PAIR |= {"kind": "tensorclass", "class": "Pair"}
FIELDS = {"second": tensor("int64", [2], 5), "inner": PAIR, "pieces": lazy(PAIR, PAIR)}
OUTER = td(FIELDS, [2], locked=True) | {"kind": "tensorclass", "class": "Outer"}
TENSORCLASS = case(
    "tensorclass",
    [make("outer", OUTER), step("send", td="outer", dst=1)],
    [
        make("inner", poison(OUTER)),
        step("recv", td="inner", src=0),
        snapshot("inner", "outer@0"),
        step("consolidate", td="inner", kept="whole"),
        snapshot("whole", "outer@0"),
    ],
)
INIT = case(
    "init",
    [make("src", SRC), step("init_remote", td="src", dst=1, expect={"returns": "none"})],
    [
        step("from_remote_init", src=0, kept="got", expect={"returns": "tensordict"}),
        snapshot("got", "src@0"),
        step("consolidate", td="got", kept="again"),
    ],
)


def _numbered(rank: int) -> Tree:
    """Another value for each rank, nested and with two dtypes."""
    first = 1 + 10 * rank
    nested = td({"y": tensor("int32", [2, 2], first + 1)}, [2])
    return td({"x": tensor("float32", [2], first), "n": nested}, [2])


def _collective(rank: int) -> Sequence[Step]:
    given = {"tensordicts": ["mine", "all.0"]} if rank == 1 else {}
    sums = {"reduced": "mine", "op": "SUM"}
    largest = {"reduced": "top", "op": "MAX"}
    last = [step("snapshot", td="top", expect={"equals": largest})] if rank == 1 else []
    return [
        make("mine", _numbered(rank)),
        step("all_gather", td="mine", kept="all", expect={"returns": {"tensordicts": 2}}),
        snapshot("all.0", "mine@0"),
        snapshot("all.1", "mine@1"),
        step("broadcast", td="mine", src=0, kept="copy", device="cpu"),
        snapshot("copy", "mine@0"),
        step("scatter", td="copy", src=1, kept="part", **given),
        snapshot("part", f"mine@{1 - rank}"),
        step("getitem", td="part", index=[[1, 2]], kept="row"),
        step("all_reduce", td="mine", async_op=True, kept="works"),
        step("wait", works="works"),
        step("snapshot", td="mine", expect={"equals": sums}),
        make("top", _numbered(rank)),
        step("reduce", td="top", dst=1, op="MAX", group="default", bucket_bytes=100),
        *last,
    ]


COLLECTIVES = case("collectives", _collective(0), _collective(1))
COLD = case(
    "cold",
    [make("src", SRC), step("init_remote", td="src", use_broadcast=True, device="cpu")],
    [
        step("from_remote_init", src=0, kept="got", use_broadcast=True),
        snapshot("got", "src@0"),
    ],
)

# Not one of those that are written in both languages.
PIPE = case(
    "pipe",
    [
        make("src", SRC),
        step("open_pipe", peer=1, listen=True, kept="pipe"),
        step("send", td="src", pipe="pipe"),
        step("send", td="src", pipe="pipe", init_tag=5),
        step("close_pipe", pipe="pipe"),
    ],
    [
        make("empty", td({})),
        step("open_pipe", peer=0, listen=False, kept="p"),
        step("recv", td="empty", pipe="p", kept="got", expect={"returns": "tensordict"}),
        step("recv", td="empty", pipe="p", expect={"returns": {"td": "got"}}),
        snapshot("got", "src@0"),
    ],
)

CASES = (
    TAGS,
    P2P,
    EARLY,
    FILLS,
    CONSOLIDATED,
    GATHER,
    LAZY,
    LAZY_ROOT,
    SUBGROUP,
    STANDALONE,
    RAISES,
)
CASES += (PROBE_SENDS, AFTER, GATHER_PROBE, INIT, TENSORCLASS, COLLECTIVES, COLD)
