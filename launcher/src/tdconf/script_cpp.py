# SPDX-License-Identifier: BSD-3-Clause
"""Writes a case as one C++ program on tdref, with a CMakeLists.txt that builds it."""

import json
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from tdconf.build import linked_python
from tdconf.cpp_values import NotInCppError, value
from tdconf.described import (
    ARGUMENTS,
    DEFAULT_GROUP,
    Case,
    Group,
    Step,
    document_step,
    identifier,
    outcomes_of,
    status_of_script,
    waits_of,
)
from tdconf.layout import Layout
from tdconf.programs import WIDEST, seen

_TEMPLATES = Path(__file__).parent / "templates"
# A lazy stack is never without members, nor a tensorclass without a class: they have no default.
_STACK = "std::optional<LazyStackedTensorDict>"
_TENSORCLASS = "std::optional<TensorClass>"
# Nor has what another rank decides.
_ANY = "std::optional<tdref::AnyTensorDict>"
_SEVERAL = "std::vector<tdref::AnyTensorDict>"
# The order of the fields of ReduceOptions, which is that of Python's arguments too.
_OF_REDUCE = ("dst", "op", "async_op", "return_premature", "group", "bucket_bytes")
_MAY = {("return",): "", ("raise",): ", May::kRaise", ("return", "raise"): ", May::kEither"}
_COMPARED = "nothing is compared, they are printed"
_WORDS = {"int", "double", "float", "new", "self", "out", "wait", "kept", "number", "element"}
_WORDS |= {"locked", "named", "ramp", "constant", "bits", "scramble", "inverted", "returned"}
_WORDS |= {"held", "meta", "parameter", "transposed", "expanded", "tensordict"}
# What C++ reserves.
# fmt: off
_WORDS |= {
    "and", "auto", "bool", "break", "case", "catch", "char", "class", "const", "continue",
    "default", "delete", "do", "else", "enum", "explicit", "export", "extern", "false", "for",
    "friend", "goto", "if", "inline", "long", "namespace", "not", "operator", "or", "private",
    "protected", "public", "register", "return", "short", "signed", "sizeof", "static", "struct",
    "switch", "template", "this", "throw", "true", "try", "typedef", "typename", "union",
    "unsigned", "using", "virtual", "void", "volatile", "while", "xor",
}
# fmt: on


def write(layout: Layout, case: Case, folder: Path, name: str) -> str:
    """Writes NAME.cpp and a CMakeLists.txt into `folder`, and says how to build and run it."""
    path = folder / f"{name}.cpp"
    try:
        path.write_text(program(case), encoding="utf-8")
    except NotInCppError as problem:
        return f"no C++ program of {case['name']}: {problem}"
    lists = (_TEMPLATES / "CMakeLists.txt").read_text(encoding="utf-8")
    filled = Template(lists).substitute(
        root=layout.root, build=layout.build, python=linked_python(layout)
    )
    (folder / "CMakeLists.txt").write_text(filled, encoding="utf-8")
    build = folder / "build"
    source, built, made = (shlex.quote(str(place)) for place in (folder, build, build / name))
    return f"cmake -S {source} -B {built} && cmake --build {built} && {made}"


def program(case: Case) -> str:
    """Returns the program: a function for each rank, a process for each function.

    Errors  NotInCppError: the case has what this script cannot write.
    """
    if any(step["op"] == "open_pipe" for program in case["programs"] for step in program):
        raise NotInCppError("this script links tdref alone, which opens no pipes")
    frame = (_TEMPLATES / "script.cpp.txt").read_text(encoding="utf-8")
    # Bare messages do not say what they are a part of, so that there is nothing to compare.
    is_bare = any(step["op"].startswith("c10d_") for ops in case["programs"] for step in ops)
    more = ", .agree_on_structure = false" if is_bare else ""
    groups = [line for group in case["groups"] for line in _group(group, more)]
    return Template(frame).substitute(
        name=case["name"],
        says=textwrap.indent(textwrap.fill(case["says"], WIDEST), "// "),
        status=textwrap.indent(textwrap.fill(status_of_script(case, _COMPARED), WIDEST), "// "),
        world=case["world"],
        helpers=(_TEMPLATES / "helpers.cpp.txt").read_text(encoding="utf-8").rstrip(),
        groups=textwrap.indent("\n".join(groups or ["static_cast<void>(store);"]), "    "),
        ranks="\n\n".join(_rank(case, rank) for rank in range(case["world"])),
        names=", ".join(f"rank_{rank}" for rank in range(case["world"])),
    )


def _group(group: Group, more: str) -> Iterator[str]:
    """Opens a group; `more` are options beside those of every group."""
    name, backend = json.dumps(group["name"]), json.dumps(group["backend"])
    ranks = ", ".join(str(rank) for rank in group["ranks"])
    options = f"{{.backend = {backend}, .timeout = kDeadline{more}}}"
    match group["kind"]:
        case "default":
            yield "world = tdref::World::init_process_group("
            yield f"    store, rank_, kWorld, {options});"
            yield f"groups.emplace({name}, world.default_group());"
        case "subgroup":
            yield f"groups.emplace({name}, world.new_group({{{ranks}}}, {backend}));"
        case _:
            prefix = json.dumps(f"standalone/{group['name']}/")
            own = _variable(group["name"])
            members, place = f"ranks_of_{own}", f"in_{own}"
            yield f"const std::vector<int> {members}{{{ranks}}};"
            yield f"const auto {place} = std::ranges::find({members}, rank_);"
            yield f"if ({place} != {members}.end()) {{"
            yield f"  const auto own = c10::make_intrusive<c10d::PrefixStore>({prefix}, store);"
            yield f"  groups.emplace({name}, tdref::open_standalone("
            yield f"      own, static_cast<int>({place} - {members}.begin()),"
            yield f"      static_cast<int>({members}.size()), {options}));"
            yield "}"


def _rank(case: Case, rank: int) -> str:
    program = case["programs"][rank]
    if not program:
        return f"void rank_{rank}(Rank&) {{}}"
    kinds = _variables(program)
    lines = [f"  {kind} {name};" for name, kind in kinds.items()]
    for index, step in enumerate(program):
        for text in seen(step, document_step(case, rank, index)):
            lines += textwrap.wrap(f"  // => {text}", WIDEST, subsequent_indent="  //    ")
        lines.append(_step(case, rank, index, kinds))
    body = "\n".join(lines)
    return f"void rank_{rank}(Rank& self) {{\n{body}\n}}"


def _variables(program: Sequence[Step]) -> dict[str, str]:
    """Lists what steps keep, by name the type: tensordicts, pending messages, bare tensors."""
    kinds: dict[str, str] = {}
    for index, step in enumerate(program):
        op = step["op"]
        if op == "make":
            kind = {"lazy_stack": _STACK, "tensorclass": _TENSORCLASS}
            made = kind.get(step["args"]["tree"]["kind"], "TensorDict")
            kinds[_variable(step["args"]["name"])] = made
        elif op == "consolidate":
            kinds[_variable(step["as"])] = _kind(step["args"]["td"], kinds)
        elif op in ("from_remote_init", "broadcast", "scatter", "getitem"):
            kinds[_variable(step["as"])] = _ANY
        elif op == "all_gather":
            kinds[_variable(step["as"])] = _SEVERAL
        elif op in ("isend", "irecv", "all_reduce", "reduce", "c10d_isend", "c10d_irecv"):
            kinds[_works(step, index)] = "tdref::Works"
        if op == "c10d_irecv":
            kinds[f"{_works(step, index)}_tensor"] = "at::Tensor"
    return kinds


def _step(case: Case, rank: int, index: int, kinds: Mapping[str, str]) -> str:
    step, waits = case["programs"][rank][index], waits_of(case, rank, index)
    may = _MAY[tuple(outcomes_of(case, step))]
    after = f", {{{', '.join(json.dumps(wait) for wait in waits)}}}" if waits or may else ""
    body = "\n".join(f"    {line}" for line in _body(step, index, kinds))
    return f'  self.step({index + 1}, "{step["op"]}", [&] {{\n{body}\n  }}{after}{may});'


def _body(step: Step, index: int, kinds: Mapping[str, str]) -> Iterator[str]:
    op, args = step["op"], step["args"]
    td = _tensordict(args["td"], kinds) if "td" in args else ""
    done = 'return std::string("returned None");'
    match op:
        case "make":
            yield f"{_variable(args['name'])} = {value(args['tree'], 2)};"
            yield 'return std::string("made");'
        case "snapshot":
            yield f"return leaf_lines({td});"
        case "consolidate":
            yield f"{_variable(step['as'])} = tdref::consolidate({td});"
            yield f"return leaf_lines({_tensordict(step['as'], kinds)});"
        case "getitem":
            yield f"{_variable(step['as'])} = tdref::getitem({td}, {_index(args['index'])});"
            yield f"return leaf_lines({_tensordict(step['as'], kinds)});"
        case "wait":
            yield f"return wait({_variable(args['works'])});"
        case "c10d_result":
            yield f'return "returned " + tensor_text({_variable(args["works"])}_tensor);'
        case "send":
            yield f"tdref::send(self.world, {td}, {_options(args)});"
            yield done
        case "recv":
            yield f"return returned(tdref::recv(self.world, {td}, {_options(args)}));"
        case "isend" | "irecv":
            call = f"tdref::{op}(self.world, {td}, {_options(args)})"
            yield f"return kept({call}, {_works(step, index)});"
        case "gather_and_stack":
            call = f"tdref::gather_and_stack(self.world, {td}, {_options(args)})"
            yield f"const bool is_root = {call} != nullptr;"
            yield 'return std::string(is_root ? "returned a tensordict" : "returned None");'
        case "init_remote":
            yield f"tdref::init_remote(self.world, {td}, {_options(args)});"
            yield done
        case "from_remote_init" | "scatter":
            call = f"tdref::{op}(self.world, {_options(args, kinds)})"
            yield f"{_variable(step['as'])} = {call};"
            yield 'return std::string("returned a tensordict");'
        case "broadcast":
            call = f"tdref::broadcast(self.world, {td}, {_options(args)})"
            yield f"{_variable(step['as'])} = held({call});"
            yield 'return std::string("returned a tensordict");'
        case "all_gather":
            name = _variable(step["as"])
            yield f"{name} = tdref::all_gather(self.world, {td}, {_options(args)});"
            yield f'return "returned " + std::to_string({name}.size()) + " tensordicts";'
        case "all_reduce" | "reduce":
            options = _options(args, order=_OF_REDUCE if op == "reduce" else ARGUMENTS)
            call = f"tdref::{op}(self.world, {td}, {options})"
            yield f"return kept({call}, {_works(step, index)});"
        case "c10d_gather_buffers":
            yield from _gather_buffers(args)
        case _:
            yield from _bare(step, index, done)


def _bare(step: Step, index: int, done: str) -> Iterator[str]:
    """Sends or receives one tensor by its tag."""
    op, args = step["op"], step["args"]
    peer, group = args["dst" if "send" in op else "src"], _group_named(args)
    kept = f"{_works(step, index)}_tensor" if op == "c10d_irecv" else "tensor"
    yield f"{'' if op == 'c10d_irecv' else 'const auto '}{kept} = {value(args['tensor'], 2)};"
    call = f"{group}.{'isend' if 'send' in op else 'irecv'}({kept}, {peer}, {args['tag']})"
    if op in ("c10d_isend", "c10d_irecv"):
        yield f"{_works(step, index)} = {{{call}}};"
        yield f"return returned({_works(step, index)});"
        return
    yield f"{call}.wait();"
    yield 'return "returned " + tensor_text(tensor);' if op == "c10d_recv" else done


def _gather_buffers(args: dict[str, Any]) -> Iterator[str]:
    group = _group_named(args)
    yield f"const auto headers = {group}.all_gather(at::zeros({{{args['header']}}}, at::kLong));"
    yield "std::int64_t largest = 0;"
    yield 'std::string text = "returned headers [";'
    yield "for (const at::Tensor& row : headers) {"
    yield "  largest = std::max(largest, row[-1].item<std::int64_t>());"
    yield "  if (text.back() != '[') text += \", \";"
    yield "  text += '[';"
    yield "  for (std::int64_t i = 0; i < row.numel(); ++i)"
    yield '    text += (i ? ", " : "") + element(row[i]);'
    yield "  text += ']';"
    yield "}"
    yield f"{group}.gather(at::zeros({{largest}}, at::kByte), {args['dst']});"
    yield 'return text + "], buffers of " + std::to_string(largest) + " B";'


def _group_named(args: dict[str, Any]) -> str:
    return f"self.groups.at({json.dumps(args.get('group', DEFAULT_GROUP))})"


def _options(
    args: dict[str, Any], kinds: Mapping[str, str] | None = None, order: Sequence[str] = ARGUMENTS
) -> str:
    """Writes the struct of options; C++ wants its fields in their `order`."""
    given = [name for name in order if name in args and name != "td"]
    fields = (f".{name} = {_option(args, name, kinds or {})}" for name in given)
    return f"{{{', '.join(fields)}}}"


def _option(args: dict[str, Any], name: str, kinds: Mapping[str, str]) -> str:
    match name:
        case "group":
            return _group_named(args)
        case "op":
            return f"c10d::ReduceOp::{args['op']}"
        case "device":
            return f"at::Device({json.dumps(args['device'])})"
        case "tensordicts":
            held = (f"tdref::AnyTensorDict({_tensordict(td, kinds)})" for td in args["tensordicts"])
            return f"{_SEVERAL}{{{', '.join(held)}}}"
    return json.dumps(args[name])


def _index(index: Sequence[int | Sequence[int]]) -> str:
    items = (
        str(item) if isinstance(item, int) else f"tdref::Slice{{{item[0]}, {item[1]}}}"
        for item in index
    )
    return f"{{{', '.join(items)}}}"


def _variable(name: str | None) -> str:
    return identifier(name, _WORDS.__contains__)


def _tensordict(name: str, kinds: Mapping[str, str]) -> str:
    """Writes the tensordict that a variable holds, or one of a list that it holds."""
    variable = _variable(name)
    made, _, number = name.rpartition(".")
    if variable not in kinds and kinds.get(_variable(made)) == _SEVERAL:
        return f"*{_variable(made)}.at({number})"
    held = {_STACK: f"*{variable}", _TENSORCLASS: f"*{variable}", _ANY: f"*{variable}.value()"}
    return held.get(_kind(name, kinds), variable)


def _kind(name: str, kinds: Mapping[str, str]) -> str:
    """Errors  NotInCppError: what would be held under this name is none of the script's."""
    made = name.rpartition(".")[0]
    if kinds.get(_variable(made)) == _SEVERAL:
        return _ANY
    kind = kinds.get(_variable(name))
    if kind is None or kind in ("tdref::Works", _SEVERAL):
        raise NotInCppError(f"in C++, what is kept as {name} is no tensordict of its own")
    return kind


def _works(step: Step, index: int) -> str:
    return _variable(step["as"]) if step["as"] is not None else f"works_{index + 1}"
