# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf clauses --matrix`: which method has a case with which kind of tensordict."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from tdconf.described import Case, Step, Tree, children, leaves
from tdconf.display import columns

Cell = tuple[str, str]

COLLECTIVES = ("gather_and_stack", "broadcast", "scatter", "all_gather", "all_reduce", "reduce")
METHODS = (
    "send",
    "recv",
    "isend",
    "irecv",
    "consolidated",
    "pipe",
    "init_remote",
    "from_remote_init",
    *COLLECTIVES,
)

# What makes a tensordict of another, and the kind that this adds.
DERIVES = {"consolidate": set[str](), "getitem": {"view"}}


def count(cases: Sequence[Case]) -> Counter[Cell]:
    """Counts for each method and kind the cases in which the method is given such a tensordict."""
    return Counter(cell for case in cases for cell in set(_cells(case)))


def empty(counted: Mapping[Cell, int]) -> list[Cell]:
    """Lists the cells without a case."""
    return [
        (method, kind) for kind in KINDS for method in METHODS if not counted.get((method, kind))
    ]


def table(counted: Mapping[Cell, int]) -> str:
    """Lays out a row for each kind and a column for each method."""
    rows = [
        [kind, *(str(counted.get((method, kind), "-")) for method in METHODS)] for kind in KINDS
    ]
    return columns([["", *METHODS], *rows])


def closing(cases: Sequence[Case], counted: Mapping[Cell, int]) -> str:
    lacking = len(empty(counted))
    return (
        f"{len(METHODS)} methods x {len(KINDS)} kinds: "
        f"{len(METHODS) * len(KINDS) - lacking} with a case, {lacking} without; {len(cases)} cases"
    )


def _cells(case: Case) -> Iterator[Cell]:
    for program in case["programs"]:
        kinds: dict[str, set[str]] = {}
        for step in program:
            args = step["args"]
            if step["op"] == "make":
                kinds[args["name"]] = set(kinds_of(args["tree"]))
            elif step["op"] in DERIVES and step["as"]:
                kinds[step["as"]] = kinds.get(args["td"], set()) | DERIVES[step["op"]]
            for name in _given(step):
                for method in _methods(case, step):
                    yield from ((method, kind) for kind in kinds.get(name, ()))


def _given(step: Step) -> Sequence[str]:
    """Names the tensordicts that a method is given; those of a scatter are in its list."""
    args = step["args"]
    if step["op"] == "scatter":
        return args.get("tensordicts", ())
    return [args["td"]] if "td" in args else ()


def _methods(case: Case, step: Step) -> Iterator[str]:
    args = step["args"]
    if "pipe" in args:
        yield "pipe"
    elif args.get("consolidated"):
        yield "consolidated"
    elif step["op"] in METHODS:
        yield step["op"]
    if step["op"] == "init_remote" and any(
        other["op"] == "from_remote_init" for program in case["programs"] for other in program
    ):
        # It is called on a class, and what it meets is what the other end sends.
        yield "from_remote_init"


def kinds_of(tree: Tree) -> list[str]:
    """Names the kinds that a value is of, or holds."""
    return [kind for kind, is_of in KINDS.items() if is_of(tree)]


def _below(tree: Tree) -> Iterator[Tree]:
    """Yields all that a tree holds, and the tree itself."""
    yield tree
    for _, child in children(tree):
        yield from _below(child)


def _holds(is_of: Callable[[Tree], bool]) -> Callable[[Tree], bool]:
    return lambda tree: any(is_of(part) for part in _below(tree))


def _is(kind: str) -> Callable[[Tree], bool]:
    return lambda tree: tree["kind"] == kind


def _form(*forms: str) -> Callable[[Tree], bool]:
    return _holds(lambda part: part.get("form") in forms)


def _is_stack_of_data(tree: Tree) -> bool:
    return tree["kind"] == "lazy_stack" and all(m["kind"] == "non_tensor" for m in tree["members"])


def _is_lazy(tree: Tree) -> bool:
    return tree["kind"] == "lazy_stack" and not _is_stack_of_data(tree)


def _is_ragged(tree: Tree) -> bool:
    shapes = [[(path, leaf["shape"]) for path, leaf in leaves(m)] for m in tree.get("members", ())]
    return _is_lazy(tree) and any(shape != shapes[0] for shape in shapes)


def _is_nested(tree: Tree) -> bool:
    return any(
        child["kind"] in ("tensordict", "tensorclass") for _, child in tree.get("entries", ())
    )


KINDS: dict[str, Callable[[Tree], bool]] = {
    "TensorDict": _is("tensordict"),
    "nested": _is_nested,
    "without entries": lambda tree: tree.get("entries") == [],
    "lazy stack": _is_lazy,
    "lazy stack, stack_dim 1": lambda tree: _is_lazy(tree) and tree["stack_dim"] == 1,
    "lazy stack, ragged": _holds(_is_ragged),
    "lazy stack inside": lambda tree: any(map(_is_lazy, list(_below(tree))[1:])),
    "tensorclass": _holds(_is("tensorclass")),
    "NonTensorData": _holds(_is("non_tensor")),
    "NonTensorStack": _holds(_is_stack_of_data),
    "MemoryMappedTensor": _form("memmap"),
    "PersistentTensorDict": _holds(_is("persistent")),
    "jagged": _form("jagged"),
    "Parameter": _form("parameter"),
    "requires_grad": _form("requires_grad"),
    "zero elements": _holds(lambda part: 0 in part.get("shape", ())),
    "not contiguous": _form("transposed", "expanded"),
    "view": lambda _: False,
    "locked": lambda tree: tree.get("locked", False),
    "names": lambda tree: tree.get("names") is not None,
}
