# SPDX-License-Identifier: BSD-3-Clause
"""Tells what one implementation did in one case: the diagram, a line per step, the verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tdconf import drawing, results, spacetime
from tdconf.described import Case, Step, Tree, children, dotted, group_ranks
from tdconf.display import plain
from tdconf.elements import shown
from tdconf.events import events, silent_ranks
from tdconf.results import Line

_ELEMENTS_SHOWN = 8
_STACK_LINES = 12
_FINDINGS_SHOWN = 5


def rows(case: Case, result: Line) -> list[spacetime.Row]:
    """Lays out what travelled in a traced case."""
    return spacetime.rows(events(case, result), group_ranks(case))


def tell(case: Case, result: Line, *, steps: bool) -> str:
    """Tells one result; without `steps`, only what travelled and the verdict."""
    laid_out, silent = rows(case, result), silent_ranks(case, result)
    parts = [drawing.draw(laid_out, case["world"])] if laid_out or not silent else []
    if silent:
        ranks = ", ".join(str(rank) for rank in silent)
        parts.append(f"(rank {ranks}: no transcript came)")
    if any("pipe" in step["args"] for program in case["programs"] for step in program):
        parts.append("(what travels through a pipe is not seen)")
    if steps:
        parts.append("\n".join(line for told in told_steps(case, result) for line in told.lines))
    parts.append("\n".join(_verdict(case, result)))
    return plain("\n\n".join(part for part in parts if part))


@dataclass(frozen=True)
class Told:
    """What a step returned or raised, in lines; nothing is the `answer` of one that did not."""

    rank: int
    number: int
    answer: Line | None
    lines: Sequence[str]


def told_steps(case: Case, result: Line, *, leave_out: Sequence[str] = ()) -> list[Told]:
    """Says what each step that began has returned or raised, rank by rank."""
    return [
        told
        for record in result["ranks"]
        for told in _told_by(case, record)
        if case["programs"][told.rank][told.number - 1]["op"] not in leave_out
    ]


def _told_by(case: Case, record: Line) -> Iterator[Told]:
    rank, program = record["rank"], case["programs"][record["rank"]]
    answers = record.get("answers") or []
    for index, (step, answer) in enumerate(zip(program, answers, strict=False)):
        yield Told(rank, index + 1, answer, _answer(_start(rank, index, step), answer))
    for index in range(len(answers), len(record.get("released") or [])):
        line = f"{_start(rank, index, program[index])} no answer"
        yield Told(rank, index + 1, None, [line])


def _start(rank: int, index: int, step: Step) -> str:
    args = step["args"]
    name = args.get("name") or args.get("td") or args.get("works") or ""
    return f"rank {rank} step {index + 1} {step['op']}{f' {name}' if name else ''}:"


def _answer(start: str, answer: Line) -> list[str]:
    if answer["type"] == "returned":
        return _returned(start, answer.get("value") or {"kind": "none"})
    if answer["type"] == "raised":
        return [f"{start} raised {answer['exception']} ({answer['category']}): {_first(answer)}"]
    return [f"{start} {answer['type']}: {answer.get('what') or answer.get('message')}"]


def _first(answer: Line) -> str:
    lines = answer["message"].strip().splitlines()
    return lines[0] if lines else ""


def _returned(start: str, value: Line) -> list[str]:
    match value["kind"]:
        case "int":
            return [f"{start} returned {value['int']}"]
        case "works":
            return [f"{start} returned {value['works']} works"]
        case "value":
            return [f"{start} returned {value['name']}"]
        case "values":
            return [f"{start} returned {', '.join(value['names']) or 'an empty list'}"]
        case "tensor":
            return [f"{start} returned {shown(value['tensor'], _ELEMENTS_SHOWN)}"]
        case "snapshot":
            held = [f"    {line}" for line in _contents(value["snapshot"])]
            return [f"{start} {_kind(value['snapshot'])}", *held]
        case "buffers":
            headers = value["headers"]
            sizes = ", ".join(str(len(buffer) // 2) for buffer in value["buffers"])
            return [f"{start} headers {headers}, buffers of {sizes} B"]
    return [f"{start} returned None"]


def _kind(tree: Tree) -> str:
    """Names the class of a tensordict, with what its entries do not show."""
    if tree["kind"] == "lazy_stack":
        return f"{tree['class']} of {len(tree['members'])} in dimension {tree['stack_dim']}"
    batch = f" {tree['batch_size']}" if tree.get("batch_size") else ""
    what = " (tensorclass)" if tree["kind"] == "tensorclass" else ""
    return f"{tree['class']}{what}{batch}"


def _contents(tree: Tree, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Writes a line for each tensor and datum, and for what more there is than plain nesting."""
    for key, entry in children(tree):
        place = dotted((*path, key))
        if entry["kind"] == "tensor":
            yield f"{place}  {shown(entry, _ELEMENTS_SHOWN)}"
        elif entry["kind"] == "non_tensor":
            yield f"{place}  {entry['data']!r}"
        else:
            is_told_by_its_leaves = entry["kind"] == "tensordict" and entry.get("entries")
            if not is_told_by_its_leaves:
                yield f"{place}  {_kind(entry)}"
            yield from _contents(entry, (*path, key))


def _verdict(case: Case, result: Line) -> Iterator[str]:
    attention = ", as expected" if results.is_as_expected(result) else ", not expected"
    if case["level"] == "observe" and results.is_as_expected(result):
        attention = " (observe: nothing counts)"
    yield f"{result['verdict'].upper()}{attention}"
    for finding in result["findings"][:_FINDINGS_SHOWN]:
        yield f"  {finding['text']}"
    if not result["findings"] and result["signature"]:
        yield f"  {result['signature']}"
    if result["listed"] is not None:
        yield f"  listed: {result['listed']['reason']}"
    if (hang := result.get("hang")) is None:
        return
    if not any(hang["sentence"] in finding["text"] for finding in result["findings"]):
        yield f"  {hang['sentence']}"
    for rank, text in sorted(result["stacks"].items()):
        yield f"  rank {rank} stands at"
        yield from (f"    {line}" for line in where_it_stands(text))


def where_it_stands(stacks: str) -> Sequence[str]:
    """Returns the innermost lines of the first thread, which is the one that does the steps.

    What a debugger saw comes behind what the adapter says, and counts when that is nothing.
    """
    lines = stacks.rstrip().splitlines()
    parts = [list(part) for is_head, part in groupby(lines, _is_heading) if not is_head]
    stack = next((part for part in parts if any(map(_is_frame, part))), lines)
    frames = [line for line in stack if _is_frame(line)] or lines
    # Python's own traceback ends with the innermost frame, debuggers begin with it.
    if frames and frames[0].lstrip().startswith("File "):
        return frames[-_STACK_LINES:]
    return frames[:_STACK_LINES]


def _is_heading(line: str) -> bool:
    return line.startswith(("thread ", "Thread ", "py-spy:", "gdb:"))


def _is_frame(line: str) -> bool:
    return line.startswith((" ", "#"))
