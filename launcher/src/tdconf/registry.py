# SPDX-License-Identifier: BSD-3-Clause
"""The clauses: one per documented sentence, and what is listed as differing from them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout
from tdconf.patterns import matches, near

# What these documents of the registry mean, which are no pages.
_NO_PAGES = {
    "wire of 0.15.3": "no page says this; tensordict 0.15.3 does it",
    "no page": "no page says this; no user accepts otherwise",
}


@dataclass(frozen=True)
class Clause:
    """A sentence of the documentation in our words, and how it is tested."""

    id: str
    level: str
    says: str
    document: str
    section: str
    status: str
    reason: str | None = None
    question: str | None = None

    @property
    def source(self) -> str:
        """Says where the sentence stands, or why it holds where no page has it."""
        return _NO_PAGES.get(self.document, f"{self.document}, {self.section}")

    @property
    def text(self) -> list[str]:
        """Writes what it says, with its reason and its question, a line each."""
        entries = {"says": self.says, "reason": self.reason, "question": self.question}
        return [f"  {name:<9} {text.strip()}" for name, text in entries.items() if text]


def clauses(layout: Layout) -> list[Clause]:
    """Reads the registry, in its order."""
    return [
        Clause(
            entry["id"],
            entry["level"],
            entry["says"],
            str(entry["source"]["document"]),
            str(entry["source"]["section"]),
            entry["status"],
            entry.get("reason"),
            entry.get("question"),
        )
        for entry in _read(layout.fixtures / "clauses.yaml")
    ]


def named(everything: list[Clause], pattern: str, command: str) -> list[Clause]:
    """Returns the clauses whose id fits `pattern`, in which components stand between dots.

    `command` is what takes the pattern, for the error that says what to type.
    """
    found = [clause for clause in everything if matches(pattern, clause.id, ".")]
    if not found:
        ids = [clause.id for clause in everything]
        meant = near(pattern, ids, "clauses", below=ids, command=command, separator=".")
        raise TdconfError(
            f"{pattern}: no clause has this id; ./launcher/tdconf clauses prints all{meant}",
            Exit.USAGE,
        )
    return found


def listed(path: Path | None) -> list[str]:
    """Returns the patterns of the cases that are known to differ, from a file of expectations."""
    return [] if path is None else [entry["match"] for entry in _read(path)]


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        import yaml
    except ImportError as problem:
        raise TdconfError(
            f"{path.name} needs PyYAML in the Python that runs the launcher; without --python, "
            "tdconf uses its own environment, which has it"
        ) from problem
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8")) or []
    except yaml.YAMLError as problem:
        raise TdconfError(f"{path}: {problem}", Exit.USAGE) from problem
