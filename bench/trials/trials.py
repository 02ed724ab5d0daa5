# SPDX-License-Identifier: BSD-3-Clause
"""Tries `tdconf bench compare` on itself: how often it finds a slowdown, how often it cries wolf.

Each trial compares a build with itself. In some, one operation of B is slowed down by a fraction of
its time; which one changes from trial to trial. The table says what was found.

    bench/trials/trials.py --build build/release --slower 0 --slower 0.10 --slower 0.05
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_OPERATIONS = (
    "send",
    "send_pseudo_rand",
    "isend",
    "send_consolidated",
    "send_consolidating",
    "init_remote",
    "broadcast",
    "all_gather",
    "all_reduce",
    "all_reduce_buckets",
    "gather_and_stack",
)
_DEADLINE_S = 900


@dataclass(frozen=True)
class Outcome:
    """What one comparison said: the operations it accused, and how long it took."""

    injected: str | None
    accused: frozenset[str]
    status: int
    seconds: float

    @property
    def is_right(self) -> bool:
        wanted = frozenset() if self.injected is None else frozenset({self.injected})
        return self.accused == wanted and self.status == (5 if wanted else 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=_ROOT / "build" / "release")
    parser.add_argument("--trials", type=int, default=20, metavar="N", help="of each kind")
    parser.add_argument(
        "--slower",
        type=float,
        action="append",
        metavar="FRACTION",
        help="a kind of trial; 0 compares equal builds; default: 0, 0.10 and 0.05",
    )
    options, passed_on = parser.parse_known_args()
    rows = []
    for fraction in options.slower or (0.0, 0.10, 0.05):
        outcomes = []
        for number in range(options.trials):
            operation = _OPERATIONS[number % len(_OPERATIONS)] if fraction else None
            outcomes.append(_try(options.build, operation, fraction, passed_on))
            print(f"{fraction:.0%} {number + 1}: {_line(outcomes[-1])}", flush=True)
        rows.append(_row(fraction, outcomes))
    print("slower  right     missed  others accused  median time")
    print("\n".join(rows))
    return 0


def _try(build: Path, operation: str | None, fraction: float, passed_on: list[str]) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [str(_ROOT / "launcher" / "tdconf"), "bench", "compare", str(build), str(build)]
        command += ["--out", str(out), *passed_on]
        if operation is not None:
            command += ["--inject", f"{operation}={fraction}"]
        started = time.monotonic()
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=_DEADLINE_S, check=False
        )
        seconds = time.monotonic() - started
        if ended.returncode not in (0, 5):
            sys.exit(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stderr}")
        changes = json.loads((out / "compare.json").read_text(encoding="utf-8"))["changes"]
    accused = {
        one["name"].partition("/")[0]
        for one in changes
        if one["risen"] or one["change"]["verdict"] == "slower"
    }
    return Outcome(operation, frozenset(accused), ended.returncode, seconds)


def _line(outcome: Outcome) -> str:
    said = ", ".join(sorted(outcome.accused)) or "nothing"
    word = "right" if outcome.is_right else "WRONG"
    return f"{word}: slowed down {outcome.injected or 'nothing'}, accused {said}"


def _row(fraction: float, outcomes: list[Outcome]) -> str:
    right = sum(one.is_right for one in outcomes)
    missed = sum(one.injected is not None and one.injected not in one.accused for one in outcomes)
    others = sum(bool(one.accused - {one.injected}) for one in outcomes)
    times = sorted(one.seconds for one in outcomes)
    return (
        f"{fraction:<6.0%}  {right:>2} of {len(outcomes):<2}  {missed:<6}  {others:<14}  "
        f"{times[len(times) // 2]:.0f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
