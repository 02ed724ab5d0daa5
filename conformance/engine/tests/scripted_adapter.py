# SPDX-License-Identifier: BSD-3-Clause
"""An adapter without an implementation, which behaves on `send` as its first word says."""

import argparse
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator

Message = dict[str, object]

EMPTY_SNAPSHOT: Message = {
    "kind": "tensordict", "class": "TensorDict", "locked": False, "names": None, "device": None,
    "batch_size": [], "entries": [], "consolidated": None,
}  # fmt: skip
OPERATIONS = ("make", "snapshot", "send", "recv")


class Connection:
    def __init__(self, address: str) -> None:
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)))
        self._lines = self.socket.makefile("r")

    def requests(self) -> Iterator[Message]:
        for line in self._lines:
            yield json.loads(line)

    def write(self, text: str) -> None:
        self.socket.sendall(text.encode())

    def answer(self, request: Message, kind: str, **fields: object) -> None:
        self.write(json.dumps({"seq": request["seq"], "type": kind} | fields) + "\n")


def returned(connection: Connection, request: Message, value: Message) -> None:
    connection.answer(request, "returned", value=value)


def send(connection: Connection, request: Message, behaviour: str, rank: int) -> None:
    """What rank 1 does when it is told to send; the other ranks always return."""
    if rank != 1 or behaviour in ("honest", "dies_after_the_case"):
        returned(connection, request, {"kind": "none"})
    elif behaviour == "kills_itself":
        os.kill(os.getpid(), signal.SIGKILL)
    elif behaviour == "exits":
        os._exit(3)
    elif behaviour == "exits_with_0":
        os._exit(0)
    elif behaviour == "stops":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif behaviour == "sleeps":
        threading.Event().wait()
    elif behaviour == "raises":
        connection.answer(request, "raised", category="value", exception="E", message="m")
    elif behaviour == "wrong_seq":
        returned(connection, {"seq": 999}, {"kind": "none"})
    elif behaviour == "answers_twice":
        returned(connection, request, {"kind": "none"})
        returned(connection, request, {"kind": "none"})
    elif behaviour == "writes_garbage":
        connection.write("this is not JSON\n")
    elif behaviour == "closes":
        connection.socket.shutdown(socket.SHUT_RDWR)
    elif behaviour == "gives_up":
        connection.answer(request, "error", message="cannot")
    else:
        connection.answer(request, "unsupported", what="op:send")


def step(connection: Connection, request: Message, behaviour: str, rank: int) -> None:
    op = request["op"]
    if op == "send":
        send(connection, request, behaviour, rank)
    elif op in ("make", "snapshot"):
        returned(connection, request, {"kind": "snapshot", "snapshot": EMPTY_SNAPSHOT})
    elif op == "recv" or behaviour == "knows_everything":
        returned(connection, request, {"kind": "none"})
    else:
        connection.answer(request, "unsupported", what=f"op:{op}")


def hello(connection: Connection, request: Message, token: str, capabilities: list[str]) -> None:
    connection.answer(
        request, "hello", protocol=1, token=token, name="scripted", version="1", language="Python",
        pid=os.getpid(), capabilities=capabilities,
    )  # fmt: skip


def play(address: str, rank: int, token: str, behaviour: str) -> None:
    connection = Connection(address)
    claims = [f"op:{op}" for op in OPERATIONS]
    claims += ["kind:tensordict", "group:default", "backend:gloo"]
    if behaviour == "lacks_send":
        claims.remove("op:send")
    steps: list[Message] = []
    wake = threading.Condition()

    def work() -> None:
        while True:
            with wake:
                wake.wait_for(lambda: steps)
                request = steps.pop(0)
            step(connection, request, behaviour, rank)

    threading.Thread(target=work, daemon=True).start()
    for request in connection.requests():
        kind = request["type"]
        if kind == "hello":
            hello(connection, request, "wrong" if behaviour == "wrong_token" else token, claims)
        elif kind == "step":
            with wake:
                steps.append(request)
                wake.notify()
        elif kind == "join":
            connection.answer(request, "joined")
        elif kind == "stacks":
            connection.answer(request, "stacks", text=f"rank {rank} stands here")
        elif kind == "end_case":
            connection.answer(request, "ended", leftovers={"values": 1, "works": 0})
            if behaviour == "dies_after_the_case" and rank == 1:
                os.kill(os.getpid(), signal.SIGKILL)
        else:
            connection.answer(request, "done")
            if kind == "bye":
                break
    if behaviour == "closes":
        threading.Event().wait()
    os._exit(0)


def serve(address: str, token: str, behaviour: str) -> None:
    connection = Connection(address)
    inbox = connection.socket
    pending = b""
    while True:
        readable, _, _ = select.select([inbox], [], [], 0.01)
        if readable:
            chunk = inbox.recv(65536)
            if not chunk:
                os._exit(0)
            pending += chunk
        while b"\n" in pending:
            line, pending = pending.split(b"\n", 1)
            request = json.loads(line)
            if request["type"] == "hello":
                hello(connection, request, token, ["fork"])
                continue
            pid = os.fork()
            if pid == 0:
                play(address, request["rank"], request["token"], behaviour)
            connection.answer(request, "spawned", pid=pid)
        report_exits(connection)


def report_exits(connection: Connection) -> None:
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return
    if pid == 0:
        return
    code = os.waitstatus_to_exitcode(status)
    how = {"status": code, "signal": None} if code >= 0 else {"status": None, "signal": -code}
    connection.write(json.dumps({"type": "exited", "pid": pid} | how) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("behaviour")
    parser.add_argument("--connect", required=True)
    parser.add_argument("--rank", type=int)
    parser.add_argument("--serve", action="store_true")
    arguments = parser.parse_args()
    print(f"this is rank {arguments.rank}", flush=True)
    token = os.environ["TDCONF_TOKEN"]
    if arguments.behaviour == "does_not_start":
        sys.exit("no such library")
    if arguments.serve:
        serve(arguments.connect, token, arguments.behaviour)
    else:
        play(arguments.connect, arguments.rank, token, arguments.behaviour)


if __name__ == "__main__":
    main()
