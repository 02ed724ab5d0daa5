# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison says of each benchmark, in words, in a table and as an exit code."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from tdconf.bench import judgement
from tdconf.bench.catalogue import Benchmark
from tdconf.bench.judgement import Change, Evidence
from tdconf.bench.samples import COUNTERS
from tdconf.display import columns
from tdconf.exits import Exit, worst

Counts = Mapping[str, int] | None

_HEAD = ("column", "operation", "shape", "change", "threshold", "p", "verdict")


@dataclass(frozen=True)
class Finding:
    """One benchmark of one column: its change, or why there is none; and what it counts more of."""

    column: str
    benchmark: Benchmark
    change: Change | None
    lacking: str | None
    risen: Sequence[str]

    @property
    def code(self) -> Exit:
        codes = [Exit.AS_EXPECTED]
        if self.risen or (self.change is not None and self.change.verdict == "slower"):
            codes.append(Exit.SLOWER)
        if self.change is None:
            codes.append(Exit.NO_VERDICT)
        return worst(codes)

    @property
    def title(self) -> str:
        return f"{self.column} {self.benchmark.operation} ({self.benchmark.shape})"

    def record(self) -> dict[str, object]:
        """Returns the finding as a file has it."""
        return {
            "column": self.column,
            "name": self.benchmark.name,
            "change": None if self.change is None else asdict(self.change),
            "lacking": self.lacking,
            "risen": list(self.risen),
        }


def weighed(
    evidence: Mapping[tuple[str, Benchmark], tuple[Evidence | str, Sequence[str]]],
) -> list[Finding]:
    """Judges all benchmarks together; in place of evidence may stand why there is none."""
    keys = {f"{column} {one.name}": (column, one) for column, one in evidence}
    changes = judgement.judge(
        {
            name: found
            for name, key in keys.items()
            if isinstance(found := evidence[key][0], Evidence)
        }
    )
    return [
        Finding(
            column,
            one,
            changes.get(name),
            None if name in changes else str(evidence[column, one][0]),
            evidence[column, one][1],
        )
        for name, (column, one) in keys.items()
    ]


def counts_risen(before: Sequence[Counts], after: Counts) -> list[str]:
    """Names what one operation counts more of than in any run of before."""
    known = [counts for counts in before if counts is not None]
    if not known or after is None:
        return []
    most = {name: max(counts.get(name, 0) for counts in known) for name in COUNTERS}
    return [
        f"{name} {most[name]} -> {after[name]}"
        for name in COUNTERS
        if after.get(name, 0) > most[name]
    ]


def text(findings: Sequence[Finding]) -> str:
    """Lays out a line for each benchmark, then names what changed."""
    rows = [list(_HEAD), *(_cells(finding) for finding in findings)]
    return "\n".join([columns(rows), *(line for finding in findings for line in _lines(finding))])


def _cells(finding: Finding) -> list[str]:
    head = [finding.column, finding.benchmark.operation, finding.benchmark.shape]
    change = finding.change
    if change is None:
        return [*head, "-", "-", "-", "no verdict"]
    verdict = "counts more" if finding.risen and change.verdict != "slower" else change.verdict
    return [*head, _percent(change.shift), f"{change.threshold:.1%}", f"{change.p:.1g}", verdict]


def _percent(shift: float) -> str:
    return f"{shift:+.1%}"


def _lines(finding: Finding) -> list[str]:
    lines = []
    change = finding.change
    if change is None:
        lines.append(f"no verdict: {finding.title}: {finding.lacking}")
    elif change.verdict != "same":
        lines.append(
            f"{change.verdict}: {finding.title}: {_percent(change.shift)}, more than "
            f"{change.threshold:.1%} either way; p = {change.p:.1g}"
        )
    lines += [f"counts more: {finding.title}: {what}" for what in finding.risen]
    return lines


def code_of(findings: Sequence[Finding]) -> Exit:
    """Returns the exit code of a comparison; one of nothing is no verdict."""
    return worst(finding.code for finding in findings)
