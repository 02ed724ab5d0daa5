# SPDX-License-Identifier: BSD-3-Clause
"""An adapter without an implementation, which behaves on `send` as its first word says."""

import argparse
import contextlib
import json
import os
import queue
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
# Those that claim to report what they did.
REPORTING = ("reports", "reports_a_wait", "reports_nothing", "reports_nonsense")
# Those of which rank 1, told to send, waits until rank 0 is told to take a snapshot.
MEETING = ("meets", "meets_unseen")


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


class Script:
    """What one rank does."""

    def __init__(self, connection: Connection, behaviour: str, rank: int) -> None:
        self.connection = connection
        self.behaviour = behaviour
        self.rank = rank
        self.in_progress: int | None = None
        self.pings = 0
        self.meeting_point = ""
        self.transcript: list[Message] = []

    def run_step(self, request: Message) -> None:
        self.in_progress = request["seq"]
        op = request["op"]
        if op == "send":
            self.note_send(request)
            self.send(request)
        elif op in ("make", "snapshot"):
            if op == "snapshot" and self.behaviour in MEETING:
                open(self.meeting_point, "w").close()
            returned(self.connection, request, {"kind": "snapshot", "snapshot": EMPTY_SNAPSHOT})
        elif op == "recv" or self.behaviour == "knows_everything":
            returned(self.connection, request, {"kind": "none"})
        else:
            self.connection.answer(request, "unsupported", what=f"op:{op}")
        self.in_progress = None

    def send(self, request: Message) -> None:
        """What rank 1 does when it is told to send; the other ranks always return."""
        connection, behaviour = self.connection, self.behaviour
        returning = ("honest", "dies_after_the_case", "reports_unasked", *REPORTING)
        if self.rank != 1 or (behaviour in returning and behaviour != "reports_a_wait"):
            returned(connection, request, {"kind": "none"})
        elif behaviour in MEETING:
            # Opening waits for the other end.
            open(self.meeting_point).close()
            returned(connection, request, {"kind": "int", "int": self.pings})
        elif behaviour == "kills_itself":
            os.kill(os.getpid(), signal.SIGKILL)
        elif behaviour == "kills_its_server":
            os.kill(os.getppid(), signal.SIGKILL)
        elif behaviour == "exits":
            os._exit(3)
        elif behaviour == "exits_with_0":
            os._exit(0)
        elif behaviour == "stops":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif behaviour in ("sleeps", "reports_a_wait"):
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

    def note_send(self, request: Message) -> None:
        is_waiting = self.rank == 1 and self.behaviour == "reports_a_wait"
        peer = 7 if self.behaviour == "reports_nonsense" else 1 - self.rank
        self.transcript.append({
            "event": "send", "group": "default", "peer": peer, "tag": 3, "dtype": "int8",
            "shape": [2], "bytes": 2, "sha256": "0" * 64, "done": not is_waiting,
            "step": request["seq"],
        })  # fmt: skip

    def answer_at_once(self, request: Message) -> None:
        """Everything but steps, also while a step is in progress."""
        kind = request["type"]
        if kind == "join":
            self.meet_at(request["store"]["path"] + ".meeting")
            self.connection.answer(request, "joined")
        elif kind == "ping":
            self.pings += 1
            unseen = self.behaviour == "meets_unseen"
            self.connection.answer(request, "pong", step=None if unseen else self.in_progress)
        elif kind == "stacks":
            text = f"rank {self.rank} stands here"
            self.connection.answer(request, "stacks", text=text, **self.report())
        elif kind == "end_case":
            leftovers = {"values": 1, "works": 0}
            self.connection.answer(request, "ended", leftovers=leftovers, **self.report())
            if self.behaviour == "dies_after_the_case" and self.rank == 1:
                os.kill(os.getpid(), signal.SIGKILL)
        else:
            self.connection.answer(request, "done")

    def meet_at(self, path: str) -> None:
        self.meeting_point = path
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path)

    def report(self) -> Message:
        if self.behaviour in REPORTING and self.behaviour != "reports_nothing":
            return {"transcript": self.transcript}
        return {"transcript": []} if self.behaviour == "reports_unasked" else {}


def hello(
    connection: Connection, request: Message, token: str, capabilities: list[str], language: str
) -> None:
    connection.answer(
        request, "hello", protocol=1, token=token, name="scripted", version="1", language=language,
        pid=os.getpid(), capabilities=capabilities,
    )  # fmt: skip


def play(address: str, rank: int, token: str, behaviour: str) -> None:
    connection = Connection(address)
    claims = [f"op:{op}" for op in OPERATIONS]
    claims += ["kind:tensordict", "group:default", "backend:gloo"]
    if behaviour == "lacks_send":
        claims.remove("op:send")
    if behaviour in REPORTING:
        claims.append("transcript")
    script = Script(connection, behaviour, rank)
    steps: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def work() -> None:
        while True:
            script.run_step(steps.get())

    threading.Thread(target=work, daemon=True).start()
    for request in connection.requests():
        kind = request["type"]
        if kind == "hello":
            said = "wrong" if behaviour == "wrong_token" else token
            language = "C++" if behaviour == "is_native" else "Python 3"
            hello(connection, request, said, claims, language)
        elif kind == "step":
            steps.put(request)
        else:
            script.answer_at_once(request)
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
                hello(connection, request, token, ["fork"], "Python 3")
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
