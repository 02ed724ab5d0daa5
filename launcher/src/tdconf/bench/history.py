# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf bench history`: one row a run, as Apache Otava reads it, and what that finds."""

import csv
import json
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from tdconf.bench import lines
from tdconf.bench.result import Result
from tdconf.display import say
from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout, from_here
from tdconf.processes import ending_with_us

_TEST = "tdconf"
_FACTS = ["time", "commit"]
_DEADLINE_S = 300.0


def append(layout: Layout, found: Result, file: Path, commit: str | None) -> Exit:
    """Appends the medians of a result to `file`, and prints what Otava says where it is there."""
    row = {
        "time": _time(found),
        "commit": commit or _head(layout),
        **{
            f"{column}/{one.name}": f"{seconds * 1e6:.3f}"
            for (column, one), seconds in lines.medians(found).items()
        },
    }
    _append(file, row)
    config = file.with_suffix(".otava.yaml")
    _write_config(config, file, [name for name in row if name not in _FACTS])
    print(f"{file}: one row more, of {row['commit']}")
    otava = _otava(layout)
    if otava is None:
        say(
            "no Apache Otava, so no change points; type: python3 -m venv .venv-otava && "
            ".venv-otava/bin/pip install -r ci/requirements-otava.txt"
        )
    else:
        _print_changes(otava, config)
    return Exit.AS_EXPECTED


def _time(found: Result) -> str:
    """Returns when the result was measured, with the offset from UTC."""
    text = str(found.context.get("date", ""))
    try:
        return datetime.fromisoformat(text).astimezone(UTC).isoformat()
    except ValueError as problem:
        raise TdconfError(f'"date" of the result is no time: {text}', Exit.USAGE) from problem


def _head(layout: Layout) -> str:
    try:
        answer = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=layout.root,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return answer.stdout.strip()


def _append(file: Path, row: Mapping[str, str]) -> None:
    if file.exists():
        with file.open(newline="", encoding="utf-8") as old:
            head = next(csv.reader(old), [])
        if set(head) != set(row):
            new, gone = sorted(set(row) - set(head)), sorted(set(head) - set(row))
            raise TdconfError(
                f"{file}: has other benchmarks than the result: {_some(new)} only in the result, "
                f"{_some(gone)} only in the history; begin another file",
                Exit.USAGE,
            )
    else:
        head = list(row)
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", newline="", encoding="utf-8") as made:
            csv.writer(made).writerow(head)
    with file.open("a", newline="", encoding="utf-8") as grown:
        csv.DictWriter(grown, head).writerow(row)


def _some(names: list[str]) -> str:
    if not names:
        return "nothing"
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _write_config(path: Path, file: Path, metrics: list[str]) -> None:
    """Tells Otava what the columns are; JSON is YAML too."""
    test = {
        "type": "csv",
        "file": str(file.resolve()),
        "time_column": "time",
        "attributes": ["commit"],
        "metrics": {name: {"column": name, "direction": -1} for name in metrics},
    }
    path.write_text(json.dumps({"tests": {_TEST: test}}, indent=1) + "\n", encoding="utf-8")


def _otava(layout: Layout) -> str | None:
    own = layout.root / ".venv-otava" / "bin" / "otava"
    return str(own) if own.exists() else shutil.which("otava")


def _print_changes(otava: str, config: Path) -> None:
    command = [otava, "analyze", "--config-file", str(config), _TEST, "--output", "json"]
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_DEADLINE_S,
            check=False,
            preexec_fn=ending_with_us(),
        )
        groups = json.loads(ended.stdout)[_TEST]
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError) as problem:
        raise TdconfError(f"{' '.join(command)}: gave no change points: {problem}") from problem
    for group in groups:
        for change in group["changes"]:
            print(
                f"since {group['attributes'].get('commit')}: {change['metric']} "
                f"{float(change['forward_change_percent']):+.0f} %"
            )
    print(f"{from_here(config)}: {sum(len(g['changes']) for g in groups)} change points")
