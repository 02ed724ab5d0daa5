# SPDX-License-Identifier: BSD-3-Clause
"""Writes a case as one Python program that needs torch, tensordict and what that needs for it."""

import functools
import json
import keyword
import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template

from tdconf.build import linked_python
from tdconf.described import (
    ARGUMENTS,
    Case,
    Group,
    Step,
    document_step,
    identifier,
    numbered,
    outcomes_of,
    status_of_script,
    waits_of,
)
from tdconf.layout import Layout, from_here
from tdconf.programs import WIDEST, index_text, seen
from tdconf.python_checks import checks
from tdconf.python_values import value

_TEMPLATES = Path(__file__).parent / "templates"
_COMPARED = "elements, non-tensor data, keys and batch sizes are compared, and nothing else"
_DEFINITION = re.compile(r"^(?:async def|def|class) (\w+)", re.MULTILINE)
_IMPORTED = (
    "LazyStackedTensorDict",
    "MemoryMappedTensor",
    "NonTensorData",
    "NonTensorStack",
    "PersistentTensorDict",
    "TensorDict",
    "is_non_tensor",
    "is_tensor_collection",
    "tensorclass",
)
# What tensordict needs for what a helper does.
_PACKAGES = {"persistent": "h5py", "open_pipe": "ucxx"}
_PIPES = "\nPIPES = []  # closed when every rank is done"
_CLOSING = "\n    for pipe in PIPES:\n        pipe.close()"
_TAKEN = {"step", "say", "described", "play", "main", "torch", "dist", "store", "wait", *_IMPORTED}
_TAKEN |= {"GROUPS", "slice", "differences"}


def write(layout: Layout, case: Case, folder: Path, name: str) -> str:
    """Writes NAME.py into `folder`, and says how to run it."""
    path, python = folder / f"{name}.py", linked_python(layout)
    command = shlex.join([str(python), str(path.absolute())])
    path.write_text(program(case, command), encoding="utf-8")
    return shlex.join([str(from_here(python)), str(path)])


def program(case: Case, command: str) -> str:
    """Returns the program: a function for each rank, a process for each function.

    `command` is what to type for it.
    """
    ranks = "\n\n\n".join(_rank(case, rank) for rank in range(case["world"]))
    known = _helpers()
    used = _needed(known, f"{ranks}{_groups(case['groups'])}")
    helpers = "\n\n\n".join(text for name, text in known.items() if name in used)
    frame = (_TEMPLATES / "script.py.txt").read_text(encoding="utf-8")
    return Template(frame).substitute(
        name=case["name"],
        says=textwrap.fill(case["says"], WIDEST),
        status=textwrap.fill(status_of_script(case, _COMPARED), WIDEST),
        command=command,
        packages=_packages(used),
        pipes=_PIPES if "open_pipe" in used else "",
        closing=_CLOSING if "open_pipe" in used else "",
        imports=_imports(f"{frame}{ranks}{helpers}"),
        world=case["world"],
        helpers=helpers,
        ranks=ranks,
        groups=_groups(case["groups"]),
        names=", ".join(f"rank_{rank}" for rank in range(case["world"])),
    )


@functools.cache
def _helpers() -> dict[str, str]:
    text = (_TEMPLATES / "helpers.py.txt").read_text(encoding="utf-8")
    parts = [part.strip("\n") for part in text.split("\n\n\n")]
    found = {}
    for part in parts:
        match = _DEFINITION.search(part)
        assert match is not None
        found[match.group(1)] = part
    return found


def _needed(known: dict[str, str], code: str) -> set[str]:
    """Returns the names of the helpers that `code` uses, and those that they use in turn."""
    used: set[str] = set()
    while True:
        text = code + "".join(known[name] for name in used)
        more = {name for name in known if re.search(rf"\b{name}\b[(),]", text)} - used
        if not more:
            return used
        used |= more


def _packages(used: set[str]) -> str:
    more = [package for helper, package in _PACKAGES.items() if helper in used]
    *first, last = ["torch", "tensordict", *more]
    return f"{', '.join(first)} and {last}"


def _imports(code: str) -> str:
    standard = ["import multiprocessing", "import os", "import sys", "import tempfile"]
    standard += ["import time"]
    if "math." in code:
        standard.insert(0, "import math")
    if "types." in code:
        standard.append("import types")
    standard.append("from datetime import timedelta")
    names = [name for name in _IMPORTED if re.search(rf"\b{name}\b", code)]
    tensordict = "".join(f"    {name},\n" for name in names)
    lines = [*standard, "", "import torch", "import torch.distributed as dist"]
    return "\n".join([*lines, f"from tensordict import (\n{tensordict})"])


def _groups(groups: Sequence[Group]) -> str:
    lines = [line for group in groups for line in _group(group)]
    return textwrap.indent("\n".join(lines or ["pass"]), "    ")


def _group(group: Group) -> Iterator[str]:
    name, ranks = json.dumps(group["name"]), group["ranks"]
    match group["kind"]:
        case "default":
            yield f"dist.init_process_group({json.dumps(group['backend'])}, store=store, rank=rank,"
            yield "                        world_size=WORLD, timeout=timeout)"
            yield f"GROUPS[{name}] = dist.group.WORLD"
        case "subgroup":
            backend = json.dumps(group["backend"])
            yield f"GROUPS[{name}] = dist.new_group({ranks}, timeout, {backend})"
        case _:
            yield f"if rank in {ranks}:"
            yield f'    own = dist.PrefixStore("standalone/{group["name"]}/", store)'
            yield f"    GROUPS[{name}] = dist.ProcessGroupGloo("
            yield f"        own, {ranks}.index(rank), {len(ranks)}, timeout)"


def _rank(case: Case, rank: int) -> str:
    lines = [f"def rank_{rank}():"]
    program = case["programs"][rank]
    if not program:
        return f"{lines[0]}\n    pass"
    for index in range(len(program)):
        lines += [f"    {line}" for line in _step(case, rank, index)]
    return "\n".join(lines)


def _step(case: Case, rank: int, index: int) -> Iterator[str]:
    program = case["programs"][rank]
    step = program[index]
    for text in seen(step, document_step(case, rank, index)):
        yield from textwrap.wrap(f"# => {text}", WIDEST, subsequent_indent="#    ")
    op, args = step["op"], step["args"]
    kept = args["name"] if op == "make" else step["as"]
    if op == "c10d_irecv":
        # The tensor has to outlive the call: `c10d_result` reads it.
        yield f"{_variable(kept)}_tensor = {value(args['tensor'])}"
    start = f"{_variable(kept)} = " if kept is not None else ""
    waits = waits_of(case, rank, index)
    more = f", after={waits}" if waits else ""
    if (outcomes := outcomes_of(case, step)) != ["return"]:
        more += f", may={outcomes}"
    if must := checks(case, step):
        listed = "".join(f"    {check},\n" for check in must)
        more += f", must=[\n{listed}]"
    call = _call(step, program)
    if "\n" in call + more:
        yield from f'{start}step({index + 1}, "{op}", lambda: {call}{more})'.splitlines()
    else:
        yield f'{start}step({index + 1}, "{op}", lambda: {call}{more})'


def _call(step: Step, program: Sequence[Step]) -> str:
    op, args = step["op"], step["args"]
    td = _held(args["td"], program) if "td" in args else ""
    match op:
        case "make":
            return value(args["tree"])
        case "snapshot":
            return td
        case "consolidate":
            return f"{td}.consolidate(metadata=True)"
        case "getitem":
            return f"{td}[{index_text(args['index'])}]"
        case "wait":
            return f"wait({_variable(args['works'])})"
        case "close_pipe":
            return f"{_variable(args['pipe'])}.close()"
        case "c10d_result":
            return f"{_variable(args['works'])}_tensor"
    given = [name for name in ARGUMENTS if name in args and name not in ("td", "tensor")]
    named = [_argument(op, name, args[name], program) for name in given]
    if op == "from_remote_init":
        return f"TensorDict.{op}({', '.join(named)})"
    if not op.startswith("c10d_") and op != "open_pipe":
        return f"{td}.{op}({', '.join(named)})"
    if "tensor" in args:
        tensor = f"{_variable(step['as'])}_tensor" if op == "c10d_irecv" else value(args["tensor"])
        named.insert(0, tensor)
    return f"{op}({', '.join(named)})"


def _held(name: str, program: Sequence[Step]) -> str:
    """Writes what is held under a name: a variable, or one of a list that a variable holds."""
    several = numbered(name, program)
    return _variable(name) if several is None else f"{_variable(several[0])}[{several[1]}]"


def _argument(op: str, name: str, item: object, program: Sequence[Step]) -> str:
    match name:
        case "op":
            return f"op=dist.ReduceOp.{item}"
        case "tensordicts":
            assert isinstance(item, list)
            return f"tensordicts=[{', '.join(_held(held, program) for held in item)}]"
        case "group":
            return f"group=GROUPS[{json.dumps(item)}]"
        case "pipe":
            return f"{'dst' if op == 'send' else 'src'}={_variable(str(item))}"
    return f"{name}={item!r}"


def _variable(name: str | None) -> str:
    return identifier(
        name, lambda word: keyword.iskeyword(word) or word in _TAKEN or word in _helpers()
    )
