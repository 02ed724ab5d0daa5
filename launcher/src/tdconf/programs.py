# SPDX-License-Identifier: BSD-3-Clause
"""Writes the programs of a case for people: one column per rank, what must be seen under a step."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tdconf.described import ARGUMENTS, Case, Step, Tree, document_step

# The longest lines of a program that is written out.
WIDEST = 92
_GAP = "  "
_NARROWEST = 26


def side_by_side(case: Case, width: int) -> str:
    """Lays the programs of all ranks out in columns that take `width` letters together."""
    world = case["world"]
    column = max(_NARROWEST, (width - len(_GAP) * (world - 1)) // world)
    columns = [_column(case, rank, column) for rank in range(world)]
    height = max(len(lines) for lines in columns)
    padded = [lines + [""] * (height - len(lines)) for lines in columns]
    return "\n".join(
        _GAP.join(cell.ljust(column) for cell in row).rstrip() for row in zip(*padded, strict=True)
    )


def _column(case: Case, rank: int, width: int) -> list[str]:
    role = case["roles"].get(str(rank))
    lines = [f"rank {rank}{f' ({role})' if role else ''}"]
    for index, step in enumerate(case["programs"][rank]):
        written = document_step(case, rank, index)
        lines += _wrapped(f"{index + 1:>2} ", step_text(step, written), width)
        for text in seen(step, written):
            lines += _wrapped("   => ", text, width)
    return lines


def _wrapped(start: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=start,
        subsequent_indent=" " * (len(start) + 2),
        break_on_hyphens=False,
    )


def step_text(step: Step, written: Mapping[str, Any]) -> str:
    """Writes a step as a call: `recv(td, src=0, init_tag=5) -> r`."""
    text = _call(step, written.get(step["op"]))
    if step["as"] is not None:
        text += f" -> {step['as']}"
    if step["after"]:
        text += f", after {', '.join(f'{rank}.{index + 1}' for rank, index in step['after'])}"
    return text


def _call(step: Step, written: object) -> str:
    op, args = step["op"], step["args"]
    if op == "make":
        return f"make {args['name']}: {tree_text(args['tree'])}"
    if op == "getitem":
        return f"{args['td']}[{index_text(args['index'])}]"
    plain = [str(args[name]) for name in ("td", "works") if name in args]
    if "tensor" in args:
        plain.append(_tensor(args["tensor"], written))
    named = [
        f"{name}={_python(args[name])}"
        for name in ARGUMENTS
        if name in args and name not in ("td", "works", "tensor")
    ]
    return f"{op}({', '.join(plain + named)})"


def _tensor(tree: Tree, written: object) -> str:
    text = tensor_text(tree)
    if not isinstance(written, Mapping):
        return text
    source = source_of(written)
    return text if source is None else f"{source}: {text}"


def _python(value: object) -> str:
    """Writes an argument; names stand without quotes."""
    if isinstance(value, list):
        return f"[{', '.join(map(_python, value))}]"
    return value if isinstance(value, str) else repr(value)


def index_text(index: Sequence[int | Sequence[int]]) -> str:
    """Writes what stands in the brackets of `td[0, 1:3]`."""
    return ", ".join(
        str(item) if isinstance(item, int) else ":".join(map(str, item)) for item in index
    )


def tree_text(tree: Tree) -> str:
    """Writes the structure of a value: `{a: int64[2], n: {x: float32[2, 3]}}`."""
    match tree["kind"]:
        case "tensor":
            return tensor_text(tree)
        case "non_tensor":
            return repr(tree["data"])
        case "lazy_stack":
            members = ", ".join(tree_text(member) for member in tree["members"])
            dim = tree["stack_dim"]
            return f"lazy stack [{members}]" + (f" along {dim}" if dim else "")
    entries = ", ".join(f"{key}: {tree_text(entry)}" for key, entry in tree["entries"])
    marks = [mark for mark in ("consolidated", "locked") if tree.get(mark)]
    marks += ["persistent"] if tree["kind"] == "persistent" else []
    return f"{tree.get('class', '')}{{{entries}}}{''.join(f' {mark}' for mark in marks)}"


def tensor_text(tree: Tree) -> str:
    """Writes dtype, shape and form of a tensor."""
    form = tree.get("form", "plain")
    sizes = ", ".join(str(size) for size in tree["shape"])
    return f"{tree['dtype']}[{sizes}]{'' if form == 'plain' else f' {form}'}"


def seen(step: Step, written: Mapping[str, Any]) -> Iterator[str]:
    """Says what must be seen of a step, beside that it returns."""
    inner = written.get(step["op"])
    receives = step["op"] in ("c10d_recv", "c10d_irecv")
    if receives and isinstance(inner, Mapping) and source_of(inner) is not None:
        yield "exactly this arrives"
    for key, value in (step["expect"] or {}).items():
        yield _expectation(key, value)
    if step["blocks"] is not None:
        rank, index = step["blocks"]
        yield f"blocks until {rank}.{index + 1} is released"


def source_of(written: Mapping[str, Any]) -> str | None:
    """Writes where a bare tensor comes from, `nested.x of td@0`; nothing for one by itself."""
    if "leaf" in written:
        return f"{'.'.join(map(str, written['key']))} of {expression(written['leaf'])}"
    if "storage" in written:
        return f"the storage of {expression(written['storage'])}"
    return None


def _expectation(key: str, value: object) -> str:
    if key == "raises":
        return f"raises {' or '.join(value) if isinstance(value, list) else value}"
    if key == "returns":
        return f"returns {_returned(value)}"
    if key == "equals":
        return f"equals {expression(value)}"
    if value is True:
        return key.replace("_", " ")
    return f"{key.replace('_', ' ')}: {expression(value)}"


def _returned(value: object) -> str:
    if value == "tensordict":
        return "a new tensordict"
    match value:
        case {"works": count}:
            return f"{count} works"
        case {"td": name}:
            return str(name)
        case {"tensordicts": count}:
            return f"{count} new tensordicts"
    return str(value)


def expression(value: object) -> str:
    """Writes an expression of the case language on one line."""
    match value:
        case {"stack": rows}:
            return f"the stack of {expression(rows)}"
        case {"reduced": name, **more}:
            group = f" of {more['group']}" if "group" in more else ""
            return f"the {more.get('op', 'SUM')} of {name} over the ranks{group}"
        case {"poison": of}:
            return f"the poison of {expression(of)}"
        case dict():
            return (
                "{" + ", ".join(f"{key}: {expression(item)}" for key, item in value.items()) + "}"
            )
        case list():
            return "[" + ", ".join(expression(item) for item in value) + "]"
    return str(value)


def messages_text(case: Case) -> Sequence[str]:
    """Says what must be seen on the wire, a line each."""
    wanted = case["messages"]
    lines = []
    if wanted == []:
        lines.append("no message travels point to point")
    for message in wanted or []:
        group = "" if message["group"] in (None, "default") else f" in {message['group']}"
        size = "any number of" if message["bytes"] is None else message["bytes"]
        lines.append(
            f"rank {message['from']} -> rank {message['to']}{group}  tag {message['tag']}  "
            f"{message.get('key') or ''}  {message['dtype']}, {size} B"
        )
    for rank, counts in (case["transcript"] or {}).items():
        said = ", ".join(
            f"{name} {_counted(count)}" for name, count in counts.items() if count is not None
        )
        lines.append(f"rank {rank}: {said}")
    return lines


def _counted(count: int | list[str | dict[str, Any]] | None) -> str:
    if not isinstance(count, list):
        return str(count)
    return ", ".join(map(_call_text, count)) or "none"


def _call_text(call: str | dict[str, Any]) -> str:
    """Writes a collective call with what is known of it: `broadcast (int64, 8 B, root 1)`."""
    if isinstance(call, str):
        return call
    [(name, known)] = call.items()
    words = {"dtype": "{}", "bytes": "{} B", "root": "root {}", "group": "in {}"}
    said = [text.format(known[key]) for key, text in words.items() if key in known]
    return f"{name} ({', '.join(said)})"
