# SPDX-License-Identifier: BSD-3-Clause
"""The real adapter, except that sending the value `trigger` kills the rank."""

import os
import signal
import sys
from dataclasses import replace

from tdconf_tensordict_adapter.case import Case
from tdconf_tensordict_adapter.command_line import run
from tdconf_tensordict_adapter.decode import Json
from tdconf_tensordict_adapter.implementation import Implementation
from tdconf_tensordict_adapter.operations import OPERATIONS, send


def send_or_die(case: Case, as_: str | None, td: str, **options: Json) -> Json:
    if td == "trigger":
        os.kill(os.getpid(), signal.SIGKILL)
    return send(case, as_, td, **options)


if __name__ == "__main__":
    operations = OPERATIONS | {"send": replace(OPERATIONS["send"], run=send_or_die)}
    run(sys.argv[1:], Implementation(name="killed_in_send", operations=operations))
