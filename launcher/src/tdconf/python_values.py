# SPDX-License-Identifier: BSD-3-Clause
"""Writes a value as the Python expression that builds it, with the helpers of the templates."""

import json
from collections.abc import Sequence

from tdconf.described import Tree, fill_call
from tdconf.programs import WIDEST

_FORMS = {
    "requires_grad": "{}.requires_grad_()",
    "meta": '{}.to("meta")',
    "memmap": "MemoryMappedTensor.from_tensor({})",
    "subclass": "{}.as_subclass(Subclass)",
}


def value(tree: Tree, depth: int = 0) -> str:
    """Returns the expression that builds a value, over several lines where it is long."""
    match tree["kind"]:
        case "tensor":
            return _tensor(tree)
        case "non_tensor":
            return f"NonTensorData(data={tree['data']!r}, batch_size={tree['batch_size']})"
        case "lazy_stack":
            members = [value(member, depth + 1) for member in tree["members"]]
            plain = all(member["kind"] == "non_tensor" for member in tree["members"])
            kind = "NonTensorStack" if plain else "LazyStackedTensorDict"
            return _bracketed(f"{kind}(", [*members, f"stack_dim={tree['stack_dim']}"], ")", depth)
    entries = [f"{json.dumps(key)}: {value(entry, depth + 2)}" for key, entry in tree["entries"]]
    inner = [_bracketed("{", entries, "}", depth + 1), f"batch_size={tree['batch_size']}"]
    if tree.get("device"):
        inner.append(f"device={tree['device']!r}")
    text = _bracketed("TensorDict(", inner, ")", depth)
    if tree["kind"] == "persistent":
        return f"persistent({text})"
    if tree.get("names"):
        text = f"named({text}, {tree['names']})"
    if tree.get("locked"):
        text += ".lock_()"
    if tree["kind"] == "tensorclass":
        text = f"instance_of({json.dumps(tree['class'])}, {text})"
    return f"{text}.consolidate(metadata=True)" if tree.get("consolidated") else text


def _bracketed(opening: str, items: Sequence[str], closing: str, depth: int) -> str:
    line = f"{opening}{', '.join(items)}{closing}"
    if len(line) + 4 * depth < WIDEST and "\n" not in line:
        return line
    inner = "".join(f"{'    ' * (depth + 1)}{item},\n" for item in items)
    return f"{opening}\n{inner}{'    ' * depth}{closing}"


def _tensor(tree: Tree) -> str:
    fill, args = fill_call(tree["fill"])
    text = f"{fill}(torch.{tree['dtype']}, {tree['shape']}, {', '.join(map(repr, args))})"
    if tree["fill"].get("invert"):
        text = f"inverted({text})"
    form = tree.get("form", "plain")
    return text if form == "plain" else _FORMS.get(form, f"{form}({{}})").format(text)
