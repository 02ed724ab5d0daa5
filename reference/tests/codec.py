# SPDX-License-Identifier: BSD-3-Clause
"""Talks to codec_server.cpp, which describes the requests."""

import os
import pickle
import struct
import subprocess
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
BUILT_SERVER = REPOSITORY / "build/release/reference/tests/tdref_codec_server"


class CodecError(Exception):
    """The codec refused a request."""

    def __init__(self, text: str) -> None:
        self.type, _, self.message = text.partition(": ")
        super().__init__(text)


class Codec:
    """One server, which lives until it is closed."""

    def __init__(self, server: str | Path) -> None:
        self.process = subprocess.Popen([server], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, request: str, body: bytes) -> bytes:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(request.encode() + struct.pack("<Q", len(body)) + body)
        stdin.flush()
        status = stdout.read(1)
        assert status, f"the codec server died with status {self.process.wait(timeout=30)}"
        (size,) = struct.unpack("<Q", stdout.read(8))
        text = stdout.read(size)
        if status != b"k":
            raise CodecError(text.decode(errors="replace"))
        return text

    def write(self, request: str, path: Path, td: object) -> Any:  # noqa: ANN401
        """Lets the codec write `td`, and returns what it says that it wrote."""
        return pickle.loads(self.ask(request, _path(path) + pickle.dumps(td)))

    def read(self, request: str, path: Path) -> Any:  # noqa: ANN401
        return pickle.loads(self.ask(request, _path(path)))

    def peak_of_reading(self, request: str, path: Path) -> int:
        """Returns how many bytes of memory the codec took beyond those that it had, at most.

        Errors of the codec are the caller's.
        """
        process = Path(f"/proc/{self.process.pid}")
        (process / "clear_refs").write_text("5")
        before = _status_bytes(process, "VmRSS")
        try:
            self.ask(request, _path(path))
        finally:
            self.peak = _status_bytes(process, "VmHWM") - before
        return self.peak

    def close(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(timeout=30)


def _path(path: Path) -> bytes:
    name = os.fsencode(path)
    return struct.pack("<Q", len(name)) + name


def _status_bytes(process: Path, field: str) -> int:
    lines = (process / "status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024
