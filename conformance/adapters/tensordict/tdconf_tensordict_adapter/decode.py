# SPDX-License-Identifier: BSD-3-Clause
"""Strict decoding of JSON into dataclasses: every field known, none missing, no coercion."""

import dataclasses
import types
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
# Anything that JSON can express.
Json = Any


class ProtocolError(Exception):
    """A message does not follow the protocol."""


def wire_name(field_name: str) -> str:
    """Names that Python reserves carry a trailing underscore: `as_` is `as` on the wire."""
    return field_name.rstrip("_")


def decode(kind: object, value: Json, where: str) -> Json:
    """Converts one JSON value to `kind`.

    Errors  ProtocolError: another type, an unknown or a missing field; the message says where.
    """
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return decode_fields(kind, value, where)
    origin = get_origin(kind)
    if origin is Literal:
        if value not in get_args(kind):
            allowed = ", ".join(map(repr, get_args(kind)))
            raise ProtocolError(f"{where}: got {value!r}, allowed: {allowed}")
        return value
    if origin is list:
        check_type(list, value, where)
        (member,) = get_args(kind)
        return [decode(member, item, f"{where}[{i}]") for i, item in enumerate(value)]
    if origin is tuple:
        check_type(list, value, where)
        members = get_args(kind)
        if len(value) != len(members):
            raise ProtocolError(f"{where}: expected {len(members)} items, got {len(value)}")
        return tuple(
            decode(member, item, f"{where}[{i}]")
            for i, (member, item) in enumerate(zip(members, value, strict=True))
        )
    if origin in (types.UnionType, Union):
        return decode_union(get_args(kind), value, where)
    check_type(kind, value, where)
    return value


def decode_fields(kind: type[T], value: Json, where: str) -> T:
    """Decodes an object into the dataclass `kind`; fields with a default may be absent."""
    check_type(dict, value, where)
    hints = get_type_hints(kind)
    fields = {wire_name(field.name): field for field in dataclasses.fields(kind)}
    if unknown := sorted(value.keys() - fields.keys()):
        raise ProtocolError(f"{where}: unknown field {unknown[0]!r}, allowed: {', '.join(fields)}")
    decoded = {}
    for name, field in fields.items():
        if name in value:
            decoded[field.name] = decode(hints[field.name], value[name], f"{where}.{name}")
        elif field.default is dataclasses.MISSING:
            raise ProtocolError(f"{where}: field {name!r} is missing")
    return kind(**decoded)


def decode_union(kinds: tuple[object, ...], value: Json, where: str) -> Json:
    """Decodes the member whose literal `kind` matches, or else the first that accepts the value."""
    if isinstance(value, dict) and "kind" in value:
        by_name = {kind_name(kind): kind for kind in kinds if dataclasses.is_dataclass(kind)}
        name = value["kind"]
        if not isinstance(name, str) or name not in by_name:
            raise ProtocolError(f"{where}.kind: got {name!r}, allowed: {', '.join(by_name)}")
        return decode(by_name[name], value, where)
    if value is None and types.NoneType in kinds:
        return None
    problems = []
    for kind in kinds:
        try:
            return decode(kind, value, where)
        except ProtocolError as problem:
            problems.append(str(problem))
    raise ProtocolError("; or ".join(problems))


def kind_name(kind: type) -> str:
    (name,) = get_args(get_type_hints(kind)["kind"])
    return name


def check_type(kind: type, value: Json, where: str) -> None:
    # A bool is an int to Python, and 1.0 equals 1; on the wire they are different things.
    if type(value) is not kind:
        raise ProtocolError(f"{where}: expected {kind.__name__}, got {type(value).__name__}")
