# SPDX-License-Identifier: BSD-3-Clause
"""An adapter without an implementation: it moves nothing, and has one fault on one rank.

The values of its cases are all zeros, so that it need not know the formats of dtypes.
Every process appends its id to the file that TDCONF_TEST_PIDS names.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from math import prod

OPERATIONS = ("make", "snapshot", "wait", "send", "recv")
# A step is faulty when it is about the value of this name.
TRIGGER = "trigger"
ITEM_BYTES = {"uint8": 1, "int32": 4}


def is_triggered(request: dict) -> bool:
    return request["type"] == "step" and request["args"].get("td") == TRIGGER


def note_pid(pid: int) -> None:
    with open(os.environ["TDCONF_TEST_PIDS"], "a") as file:
        file.write(f"{pid}\n")


def snapshot(tree: dict) -> dict:
    if tree["kind"] == "tensor":
        about = {"requires_grad": False, "class": "Tensor", "device": "cpu", "layout": "strided"}
        data = "00" * prod(tree["shape"]) * ITEM_BYTES[tree["dtype"]]
        tensor = {key: tree[key] for key in ("kind", "dtype", "shape")}
        return tensor | about | {"token": "1", "bytes": data}
    kept = {key: tree[key] for key in ("kind", "batch_size", "names", "device")}
    entries = [[key, snapshot(entry)] for key, entry in tree["entries"]]
    return kept | {"class": "TensorDict", "locked": False, "entries": entries}


class Scripted:
    """Answers each request at once, or does what its fault says."""

    def __init__(self, fault: str, rank: int) -> None:
        self.fault = fault
        self.rank = rank
        self.step: int | None = None
        self.values: dict[str, dict] = {}

    def answer(self, request: dict) -> dict | None:
        kind = request["type"]
        if kind == "hello":
            return self.hello()
        if kind == "step":
            return self.run_step(request)
        answers = {
            "join": {"type": "joined"},
            "ping": {"type": "pong", "step": self.step},
            "stacks": {"type": "stacks", "text": f"rank {self.rank} waits in a script"},
            "end_case": {"type": "ended", "leftovers": {"values": 0, "works": 0}},
        }
        return answers.get(kind, {"type": "done"})

    def hello(self) -> dict:
        kinds = ["kind:tensordict", "group:default", "backend:gloo"]
        return {
            "type": "hello",
            "protocol": 1,
            "token": os.environ["TDCONF_TOKEN"],
            "name": "scripted",
            "version": "1",
            "language": "Python",
            "pid": os.getpid(),
            "capabilities": [f"op:{op}" for op in OPERATIONS] + kinds,
        }

    def run_step(self, request: dict) -> dict | None:
        op, args = request["op"], request["args"]
        if op not in OPERATIONS:
            if self.fault == "accepts_unknown_op":
                return returned({"kind": "none"})
            return {"type": "unsupported", "what": f"op:{op}"}
        if is_triggered(request) and self.fault in STEP_FAULTS:
            self.step = request["seq"]
            return STEP_FAULTS[self.fault]()
        if op == "make":
            self.values[args["name"]] = snapshot(args["tree"]) | {"consolidated": None}
        if op in ("make", "snapshot"):
            made = self.values[args["name" if op == "make" else "td"]]
            return returned({"kind": "snapshot", "snapshot": made})
        return returned({"kind": "none"})


def returned(value: dict) -> dict:
    return {"type": "returned", "value": value}


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stop_self() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def never_answer() -> None:
    """Leaves a process of its own behind as well: whoever ends this one must end both."""
    note_pid(subprocess.Popen(["sleep", "1000"]).pid)


# None: the step is never answered.
STEP_FAULTS = {
    "killed_in_step": kill_self,
    "stopped_in_step": stop_self,
    "never_answers": never_answer,
    "exits_in_step": lambda: os._exit(0),
    "refuses_what_it_claims": lambda: {"type": "unsupported", "what": "op:send"},
    "answers_error": lambda: {"type": "error", "message": "the script says so"},
    "raises": lambda: {
        "type": "raised",
        "category": "value",
        "exception": "ValueError",
        "message": "the script says so",
    },
    "returns_int": lambda: returned({"kind": "int", "int": 5}),
    "has_unknown_field": lambda: returned({"kind": "none"}) | {"extra": 1},
    "has_unknown_type": lambda: {"type": "succeeded"},
}


def encode(fault: str, request: dict, answer: dict) -> bytes:
    """Writes an answer as a line; two faults are about the line itself."""
    seq = request["seq"]
    if is_triggered(request) and fault == "repeats_old_seq":
        seq -= 1
    if is_triggered(request) and fault == "writes_garbage":
        return b"Segmentation fault? No: garbage.\n"
    return json.dumps({"seq": seq} | answer).encode() + b"\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", required=True)
    parser.add_argument("--fault-rank", type=int, default=0)
    parser.add_argument("--connect", required=True)
    parser.add_argument("--rank", type=int, required=True)
    options = parser.parse_args()
    note_pid(os.getpid())
    fault = options.fault if options.rank == options.fault_rank else "none"
    if fault == "never_connects":
        time.sleep(1000)
    if fault == "exits_before_hello":
        sys.exit(3)
    host, _, port = options.connect.rpartition(":")
    connection = socket.create_connection((host, int(port)))
    scripted = Scripted(fault, options.rank)
    for line in connection.makefile("rb"):
        request = json.loads(line)
        answer = scripted.answer(request)
        if answer is not None:
            connection.sendall(encode(fault, request, answer))
        if request["type"] == "bye":
            if fault == "dies_after_bye":
                os.abort()
            return


if __name__ == "__main__":
    main()
