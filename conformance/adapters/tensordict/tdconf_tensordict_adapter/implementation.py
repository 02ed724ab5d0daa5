# SPDX-License-Identifier: BSD-3-Clause
"""What `hello` says: who is judged and what is claimed."""

import os
import platform
from dataclasses import dataclass, field

import tensordict

from .decode import Json, ProtocolError
from .messages import PROTOCOL_VERSION, Hello
from .operations import OPERATIONS, Operation
from .trees import FORMS, KINDS

GROUPS = ["default", "subgroup", "standalone"]
BACKENDS = ["gloo", "cpu:gloo", "undefined"]


@dataclass(frozen=True)
class Implementation:
    """The implementation under test; a wrong one replaces some operations."""

    name: str = "tensordict"
    version: str = tensordict.__version__
    operations: dict[str, Operation] = field(default_factory=lambda: OPERATIONS)

    def capabilities(self) -> list[str]:
        leaves = [form for form in FORMS if form != "plain"]
        return [
            *(f"op:{name}" for name in self.operations),
            *(f"kind:{name}" for name in KINDS),
            *(f"leaf:{name}" for name in leaves),
            *(f"group:{name}" for name in GROUPS),
            *(f"backend:{name}" for name in BACKENDS),
            "transcript",
            "fork",
        ]

    def answer_hello(self, hello: Hello, token: str) -> dict[str, Json]:
        if hello.protocol != PROTOCOL_VERSION:
            raise ProtocolError(
                f"hello.protocol: got {hello.protocol}, allowed: {PROTOCOL_VERSION}"
            )
        return {
            "type": "hello",
            "protocol": PROTOCOL_VERSION,
            "token": token,
            "name": self.name,
            "version": self.version,
            "language": f"Python {platform.python_version()}",
            "pid": os.getpid(),
            "capabilities": self.capabilities(),
        }
