# SPDX-License-Identifier: BSD-3-Clause
"""Writes a value as the C++ expression that builds it, with the helpers of the templates."""

import json
from collections.abc import Sequence

from tdconf.described import Tree, fill_call

# The rest of a line is for what stands before and behind the list.
_WIDEST_LIST = 68
_DTYPES = {
    "bool": "at::kBool",
    "uint8": "at::kByte",
    "int8": "at::kChar",
    "int16": "at::kShort",
    "uint16": "at::kUInt16",
    "int32": "at::kInt",
    "uint32": "at::kUInt32",
    "int64": "at::kLong",
    "uint64": "at::kUInt64",
    "float8_e4m3fn": "at::kFloat8_e4m3fn",
    "float8_e5m2": "at::kFloat8_e5m2",
    "float16": "at::kHalf",
    "bfloat16": "at::kBFloat16",
    "float32": "at::kFloat",
    "float64": "at::kDouble",
    "complex32": "at::kComplexHalf",
    "complex64": "at::kComplexFloat",
    "complex128": "at::kComplexDouble",
}
# `const` is a word of C++.
_HELPERS = {"const": "constant"}
_FORMS = ("requires_grad", "parameter", "meta", "transposed", "expanded", "sparse_coo")


class NotInCppError(ValueError):
    """The case uses what these programs are not written with."""


def value(tree: Tree, depth: int) -> str:
    """Returns the expression that builds a value, over several lines where it is long."""
    match tree["kind"]:
        case "tensor":
            return _tensor(tree)
        case "non_tensor":
            return f"tdref::NonTensor{{.data = {_literal(tree['data'])}}}"
        case "lazy_stack":
            return _lazy_stack(tree, depth)
        case "persistent":
            raise NotInCppError("this script writes no persistent tensordicts")
    if tree.get("device"):
        raise NotInCppError("this script gives a tensordict no device")
    entries = [
        f"{{{json.dumps(key)}, {value(entry, depth + 1)}}}" for key, entry in tree["entries"]
    ]
    batch_size = ", ".join(str(size) for size in tree["batch_size"])
    line = f"tensordict({{{batch_size}}}, {_listed(entries, depth)})"
    if tree.get("names"):
        names = ", ".join("std::nullopt" if n is None else json.dumps(n) for n in tree["names"])
        line = f"named({line}, {{{names}}})"
    if tree.get("locked"):
        line = f"locked({line})"
    if tree["kind"] == "tensorclass":
        line = f'TensorClass({{"__main__", {json.dumps(tree["class"])}}}, {line})'
    return f"tdref::consolidate({line})" if tree.get("consolidated") else line


def _lazy_stack(tree: Tree, depth: int) -> str:
    if all(member["kind"] == "non_tensor" for member in tree["members"]):
        data = _literal([member["data"] for member in tree["members"]])
        return f"tdref::NonTensor{{.data = {data}, .stacked = true}}"
    members = [value(member, depth + 1) for member in tree["members"]]
    return f"LazyStackedTensorDict({_listed(members, depth)}, {tree['stack_dim']})"


def _listed(items: Sequence[str], depth: int) -> str:
    """Writes a list in braces, a line for each item where one line does not hold them."""
    line = f"{{{', '.join(items)}}}"
    if len(line) + 2 * depth < _WIDEST_LIST and "\n" not in line:
        return line
    inner = "".join(f"{'  ' * (depth + 1)}{item},\n" for item in items)
    return f"{{\n{inner}{'  ' * depth}}}"


def _literal(data: object) -> str:
    """Writes data beside tensors as a tdref::Value."""
    match data:
        case None:
            return "tdref::Value()"
        case bool() | float() | str():
            return f"tdref::Value({json.dumps(data)})"
        case int():
            return f"tdref::Value(std::int64_t{{{data}}})"
        case list():
            return f"tdref::Value(tdref::Value::List{{{', '.join(_literal(i) for i in data)}}})"
        case dict():
            pairs = [f"{{{_literal(key)}, {_literal(item)}}}" for key, item in data.items()]
            return f"tdref::Value(tdref::Value::Dict{{{', '.join(pairs)}}})"
    raise NotInCppError(f"this script writes no {type(data).__name__}")


def _tensor(tree: Tree) -> str:
    fill, args = fill_call(tree["fill"])
    shape = ", ".join(str(size) for size in tree["shape"])
    start = f"{_DTYPES[tree['dtype']]}, {{{shape}}}"
    text = f"{_HELPERS.get(fill, fill)}({start}, {', '.join(map(json.dumps, args))})"
    if tree["fill"].get("invert"):
        text = f"inverted({text})"
    form = tree.get("form", "plain")
    if form == "plain":
        return text
    if form not in _FORMS:
        raise NotInCppError(f"this script writes no leaf of the form {form}")
    return f"{form}({text})"
