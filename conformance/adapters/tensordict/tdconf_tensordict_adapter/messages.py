# SPDX-License-Identifier: BSD-3-Clause
"""The requests of the protocol as types."""

from dataclasses import dataclass
from typing import Literal

from .decode import Json, ProtocolError, check_type, decode_fields

PROTOCOL_VERSION = 1
MAX_WORLD_SIZE = 1024
MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class Hello:
    protocol: int


@dataclass(frozen=True)
class FileStore:
    kind: Literal["file"]
    path: str


@dataclass(frozen=True)
class Group:
    name: str
    kind: Literal["default", "subgroup", "standalone"]
    ranks: list[int]
    backend: str


@dataclass(frozen=True)
class Join:
    rank: int
    world_size: int
    store: FileStore
    groups: list[Group]
    timeout_ms: int

    def __post_init__(self) -> None:
        check_range(range(1, MAX_WORLD_SIZE + 1), self.world_size, "join.world_size")
        check_range(range(self.world_size), self.rank, "join.rank")
        check_range(range(1, MAX_TIMEOUT_MS + 1), self.timeout_ms, "join.timeout_ms")


@dataclass(frozen=True)
class Step:
    op: str
    args: dict
    as_: str | None = None


@dataclass(frozen=True)
class Spawn:
    rank: int
    token: str


@dataclass(frozen=True)
class Ping:
    pass


@dataclass(frozen=True)
class Stacks:
    pass


@dataclass(frozen=True)
class EndCase:
    pass


@dataclass(frozen=True)
class Reset:
    pass


@dataclass(frozen=True)
class Bye:
    pass


Request = Hello | Join | Step | Spawn | Ping | Stacks | EndCase | Reset | Bye

REQUEST_TYPES: dict[str, type] = {
    "hello": Hello,
    "join": Join,
    "step": Step,
    "spawn": Spawn,
    "ping": Ping,
    "stacks": Stacks,
    "end_case": EndCase,
    "reset": Reset,
    "bye": Bye,
}


def check_range(allowed: range, number: int, where: str) -> None:
    if number not in allowed:
        raise ProtocolError(f"{where}: expected {allowed[0]} to {allowed[-1]}, got {number}")


def decode_seq(message: Json) -> int:
    """Reads the `seq` that the answer repeats.

    Errors  ProtocolError: the message is no object with an integer `seq`.
    """
    check_type(dict, message, "request")
    check_type(int, message.get("seq"), "request.seq")
    return message["seq"]


def decode_request(message: dict[str, Json]) -> Request:
    """Decodes what stands beside `seq`.

    Errors  ProtocolError: unknown type, unknown or missing field, wrong type of a field, a number
            of `join` that is out of its range.
    """
    body = {name: value for name, value in message.items() if name not in ("seq", "type")}
    kind = message.get("type")
    check_type(str, kind, "request.type")
    if kind not in REQUEST_TYPES:
        raise ProtocolError(f"request.type: got {kind!r}, allowed: {', '.join(REQUEST_TYPES)}")
    return decode_fields(REQUEST_TYPES[kind], body, kind)
