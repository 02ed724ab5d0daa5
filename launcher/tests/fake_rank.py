# SPDX-License-Identifier: BSD-3-Clause
"""A rank that times nothing: it answers with times from a formula, as the plan beside it says.

The plan is a JSON file. `seconds` by operation (1 ms unless given); `noise`, the scale of a factor
that is at least 1 and heavy-tailed; `counts` by operation; `void`, an operation that is answered
without a time; `dies`, one at which rank 1 kills itself after it `says` something; `fails`, one
that every rank answers with an error.
"""

import argparse
import json
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

_COUNTS = {"messages": 2, "wire_bytes": 1000, "copied_bytes": 500, "allocations": 3}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--world", type=int, required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--inject", action="append", default=[])
    options = parser.parse_args()
    plan = json.loads(Path(f"{__file__}.json").read_text(encoding="utf-8"))
    (options.store / f"pid-{options.rank}").write_text(str(os.getpid()), encoding="ascii")
    inject = dict(text.split("=") for text in options.inject)
    # Every start of the processes has other noise, and the same each time the test runs.
    noise = random.Random("/".join(options.store.parts[-3:]))
    _say({"ready": True, "column": plan["column"], "pid": os.getpid(), "versions": {"tdconf": "1"}})
    for line in sys.stdin:
        request = json.loads(line)
        with (options.store / f"asked-{options.rank}").open("a", encoding="utf-8") as asked:
            asked.write(line)
        operation = request["operation"]
        if operation == plan.get("dies") and options.rank == 1:
            print(plan.get("says", ""), file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        if operation == plan.get("fails"):
            _say({"error": f"cannot {operation}"})
            return 1
        entry = _entry(request, options.world)
        if request.get("count"):
            entry |= {"real_time": 0.0} | _COUNTS | plan.get("counts", {}).get(operation, {})
        else:
            factor = 1 + plan.get("noise", 0.0) * noise.expovariate(1.0) ** 2
            slower = 1 + float(inject.get(operation, 0.0))
            seconds = plan.get("seconds", {}).get(operation, 0.001) * factor * slower
            entry["real_time"] = 0.0 if operation == plan.get("void") else seconds * 1e6
        _say({"context": {"date": "2026-11-30T12:00:00+00:00"}, "benchmarks": [entry]})
    return 0


def _entry(request: dict[str, Any], world: int) -> dict[str, Any]:
    shape = "/".join(f"{key}:{request[key]}" for key in ("leaves", "bytes", "depth", "dtype"))
    return {
        "name": f"{request['operation']}/{shape}/world:{world}",
        "run_type": "iteration",
        "iterations": request.get("iterations", 1),
        "cpu_time": 1.0,
        "time_unit": "us",
    }


def _say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    sys.exit(main())
