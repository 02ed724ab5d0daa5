# SPDX-License-Identifier: BSD-3-Clause
"""A judge that only speaks the protocol, for tests of one adapter at a time."""

import json
import os
import socket
import subprocess
from pathlib import Path

from jsonschema import Draft202012Validator

from tdconf_tensordict_adapter.command_line import run
from tdconf_tensordict_adapter.decode import Json
from tdconf_tensordict_adapter.implementation import Implementation

CONFORMANCE = Path(__file__).resolve().parents[1]
DEADLINE_S = 60
SCHEMA = json.loads((CONFORMANCE / "protocol/tdconf-1.schema.json").read_text())


def validator(definition: str) -> Draft202012Validator:
    """Checks messages against one definition of the published schema."""
    return Draft202012Validator(SCHEMA | {"oneOf": [{"$ref": f"#/$defs/{definition}"}]})


VALIDATORS = {kind: validator(kind) for kind in ("request", "answer", "event")}


class Connection:
    """The judge's end of one control connection; every message must follow the schema."""

    def __init__(self, accepted: socket.socket) -> None:
        accepted.settimeout(DEADLINE_S)
        self._socket = accepted
        self._reader = accepted.makefile("rb")
        self._seq = 0
        self._events: list[Json] = []
        self.seen_types: set[tuple[str, str]] = set()

    def ask(self, kind: str, **fields: Json) -> Json:
        """Sends a request and returns its answer; events that come between are kept."""
        seq = self.post(kind, **fields)
        return self.answer_to(seq)

    def post(self, kind: str, **fields: Json) -> int:
        self._seq += 1
        request = {"seq": self._seq, "type": kind} | fields
        self._record("request", request)
        self.write_line(json.dumps(request).encode())
        return self._seq

    def step(self, op: str, /, as_: str | None = None, **args: Json) -> Json:
        name = {} if as_ is None else {"as": as_}
        return self.ask("step", op=op, args=args, **name)

    def send_raw(self, message: Json) -> Json:
        """Sends a message as it is, schema or not, and returns the answer."""
        self.write_line(json.dumps(message).encode())
        return self.answer_to(message["seq"])

    def answer_to(self, seq: int) -> Json:
        message = self._read()
        while "seq" not in message:
            self._events.append(message)
            message = self._read()
        assert message["seq"] == seq, message
        return message

    def event(self) -> Json:
        """Returns the next unasked message."""
        return self._events.pop(0) if self._events else self._read()

    def write_line(self, line: bytes) -> None:
        self._socket.sendall(line + b"\n")

    def at_end(self) -> bool:
        """Waits until the adapter has closed the connection; False if it says something instead."""
        return self._reader.readline() == b""

    def close(self) -> None:
        self._reader.close()
        self._socket.close()

    def _read(self) -> Json:
        line = self._reader.readline()
        assert line, "the adapter closed the connection"
        message = json.loads(line)
        self._record("answer" if "seq" in message else "event", message)
        return message

    def _record(self, kind: str, message: Json) -> None:
        VALIDATORS[kind].validate(message)
        self.seen_types.add((kind, message["type"]))


class FakeJudge:
    """Listens for adapters."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(DEADLINE_S)
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._connections: list[Connection] = []

    def start(self, program: Path, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [program, "--connect", self.address, *arguments],
            env=os.environ | {"TDCONF_TOKEN": "secret"},
        )

    def fork(self, *arguments: str, implementation: Implementation | None = None) -> int:
        """Starts the tensordict adapter in a copy of this process, which has imported torch."""
        pid = os.fork()
        if pid == 0:
            try:
                self.close()
                os.environ["TDCONF_TOKEN"] = "secret"
                run(["--connect", self.address, *arguments], implementation or Implementation())
            finally:
                os._exit(70)
        return pid

    def accept(self) -> Connection:
        """Waits for the next adapter that dials."""
        connection = Connection(self._listener.accept()[0])
        self._connections.append(connection)
        return connection

    def spawn(self, server: Connection, rank: int) -> tuple[Connection, int]:
        """Has a fork server make one rank; returns its connection and process id."""
        answer = server.ask("spawn", rank=rank, token=f"secret {rank}")
        assert answer["type"] == "spawned", answer
        return self.accept(), answer["pid"]

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        self._listener.close()
