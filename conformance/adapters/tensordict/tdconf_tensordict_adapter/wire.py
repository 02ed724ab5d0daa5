# SPDX-License-Identifier: BSD-3-Clause
"""The control connection: one JSON object per line in each direction."""

import json
import socket
import threading

from .decode import Json, ProtocolError, check_type

MAX_MESSAGE_BYTES = 8 << 20
# How deep the lists and objects of a message may nest: whatever walks one recurses.
MAX_NESTING = 64
CHUNK_BYTES = 1 << 16
DIAL_DEADLINE_S = 10


class Channel:
    """Reads and writes messages; any thread may write."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = bytearray()
        self._write_lock = threading.Lock()

    @classmethod
    def dial(cls, host: str, port: int) -> "Channel":
        """Errors  OSError: nobody listens there."""
        connection = socket.create_connection((host, port), timeout=DIAL_DEADLINE_S)
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(connection)

    def fileno(self) -> int:
        return self._connection.fileno()

    def read(self) -> dict[str, Json] | None:
        """Returns the next message, or None once the connection has ended.

        Errors  ProtocolError: the line is too long, is no JSON object or nests too deep.
        """
        while not self.has_buffered_line():
            if len(self._buffer) > MAX_MESSAGE_BYTES:
                raise ProtocolError(f"a message is longer than {MAX_MESSAGE_BYTES} bytes")
            try:
                chunk = self._connection.recv(CHUNK_BYTES)
            except ConnectionError:
                return None
            if not chunk:
                return None
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return parse(line)

    def has_buffered_line(self) -> bool:
        """Tells whether read() returns without waiting."""
        return b"\n" in self._buffer

    def write(self, message: dict[str, Json]) -> None:
        """Sends one message; a lost connection is noticed by read().

        Errors  ProtocolError: the message is too long.
        """
        line = json.dumps(message, allow_nan=False).encode() + b"\n"
        if len(line) > MAX_MESSAGE_BYTES:
            raise ProtocolError(f"an answer of {len(line)} bytes exceeds {MAX_MESSAGE_BYTES}")
        with self._write_lock:
            try:
                self._connection.sendall(line)
            except ConnectionError:
                return

    def close(self) -> None:
        self._connection.close()


def parse(line: bytes | bytearray) -> dict[str, Json]:
    too_deep = f"a line nests deeper than {MAX_NESTING} levels"
    try:
        message = json.loads(line, parse_constant=refuse_constant)
    except RecursionError as problem:
        raise ProtocolError(too_deep) from problem
    except ValueError as problem:
        raise ProtocolError(f"a line is no JSON: {problem}") from problem
    if not nests_within_limit(message):
        raise ProtocolError(too_deep)
    check_type(dict, message, "request")
    return message


def nests_within_limit(message: Json) -> bool:
    level = containers([message])
    for _ in range(MAX_NESTING):
        level = [inner for outer in level for inner in containers(outer)]
    return not level


def containers(value: dict[str, Json] | list[Json]) -> list[dict[str, Json] | list[Json]]:
    members = value.values() if isinstance(value, dict) else value
    return [member for member in members if isinstance(member, dict | list)]


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
