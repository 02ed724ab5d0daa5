#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Says whether verdicts hold still: repeats a run beside busy processes and compares case by case.

Exit status: 0 all runs agree, 1 some case had two verdicts, 2 wrong usage, 4 a run gave no account.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

TDCONF = Path(__file__).resolve().parents[1] / "launcher" / "tdconf"
# Ends by itself when whoever started it is gone, so that nothing keeps a machine busy for ever.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100_000))\n"

Verdicts = dict[tuple[str, str], tuple[str, bool]]


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keeps `count` processes computing."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def verdicts(folder: Path) -> Verdicts:
    """Reads the verdict of each case of a run, and whether it was expected."""
    found: Verdicts = {}
    for path in sorted(folder.glob("*/results.jsonl")):
        for text in path.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if line["type"] == "case":
                found[line["impl"], line["case"]] = (line["verdict"], line["expected"])
    return found


def differences(runs: Sequence[Verdicts]) -> list[str]:
    """Lists the cases that not all runs judge alike, with how often each verdict was given."""
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for run in runs:
        for case in {case for other in runs for case in other}:
            verdict, is_expected = run.get(case, ("no result", False))
            seen[case][verdict if is_expected else f"unexpected {verdict}"] += 1
    return [
        f"{implementation} {name}: "
        + ", ".join(f"{count} times {verdict}" for verdict, count in counts.most_common())
        for (implementation, name), counts in sorted(seen.items())
        if len(counts) > 1
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="example: ci/steady.py --runs 20 --busy 4 --out /tmp/steady -- --impl reference",
    )
    parser.add_argument("--runs", type=int, default=20, metavar="N")
    parser.add_argument("--busy", type=int, default=4, metavar="N", help="busy processes beside it")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a folder to make")
    parser.add_argument("arguments", nargs="*", help="after --: arguments for tdconf run")
    options = parser.parse_args()
    if options.runs < 2 or options.busy < 0:
        parser.error("--runs is at least 2, --busy at least 0")
    if options.out.exists():
        parser.error(f"--out {options.out}: exists")

    runs: list[Verdicts] = []
    with busy(options.busy):
        for number in range(options.runs):
            out = options.out / f"{number:02}"
            began = time.monotonic()
            command = [str(TDCONF), "run", "--out", str(out), *options.arguments]
            ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            runs.append(verdicts(out))
            print(
                f"run {number + 1} of {options.runs}: exit {ended.returncode}, "
                f"{len(runs[-1])} verdicts, {time.monotonic() - began:.0f} s",
                flush=True,
            )
            if not runs[-1]:
                print(ended.stdout, file=sys.stderr)
                return 4
    found = differences(runs)
    for text in found:
        print(text)
    print(f"{len(runs)} runs: {len(found)} of {len(runs[0])} cases differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
