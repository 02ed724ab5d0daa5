# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf explain`: what a case or a clause says, and what implementations do about it."""

import argparse
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tdconf import display, registry, run, script_cpp, script_python, story, svg, written
from tdconf.described import Case, describe
from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout, from_here
from tdconf.likeness import likely_clauses
from tdconf.patterns import matches, near
from tdconf.programs import messages_text, side_by_side
from tdconf.ready import Ready, get_ready
from tdconf.registry import Clause
from tdconf.results import Line
from tdconf.run import Selection

COMMAND = "./launcher/tdconf explain"
# Ten seconds are long for somebody who waits for the answer; see `--timeout-scale`.
TIMEOUT_SCALE = 0.3
_WIDEST = 160
_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True)
class Question:
    """What is to be explained: cases, or clauses by them, and where drawings and scripts go."""

    cases: Sequence[Case]
    files: Sequence[Path]
    registry: Sequence[Clause]
    #: The cases of the specification, where some case names no clause.
    known: Sequence[Case]
    #: The clauses that were asked for, rather than cases.
    clauses: Sequence[Clause]
    every: bool
    svg: Path | None
    script: Path | None

    @property
    def chosen(self) -> Sequence[Case]:
        return self.cases if self.every else self.cases[:1]


def command(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Exit:
    """Prints what a case or a clause says, and what each implementation does."""
    target = str(options.target)
    if target.endswith(_ENDINGS) and not Path(target).is_file():
        raise TdconfError(f"{target}: is no file", Exit.USAGE)
    ready = get_ready(layout, options, arguments)
    question = _question(layout, options, target)
    drawings = _drawings(question, ready.chosen)
    written.check([*drawings.values(), *_scripts(question)], question.script)
    for clause in question.clauses:
        print(_clause(clause))
    if not question.cases:
        print("\nno case is evidence for it")
        return Exit.AS_EXPECTED
    found, code = _play(ready, question)
    for case in question.chosen:
        print(f"\n{_case(case, question)}")
        for name in ready.chosen:
            print(f"\n--- {name}\n")
            result = found.get((name, case["name"]))
            if result is None:
                print("no result")
                continue
            print(story.tell(case, result, steps=not question.clauses))
            if (drawing := drawings.get((case["name"], name))) is not None:
                _draw(case, result, drawing)
    _write_scripts(layout, question)
    if more := len(question.cases) - len(question.chosen):
        print(f"\n{more} more cases; --all explains each")
    print(f"\nevery deadline was multiplied by {ready.timeout_scale:g} (--timeout-scale)")
    return code


def _question(layout: Layout, options: argparse.Namespace, target: str) -> Question:
    known = registry.clauses(layout)
    files = [Path(target)] if target.endswith(_ENDINGS) else []
    is_clause = not files and "/" not in target
    clauses = registry.named(known, target, COMMAND) if is_clause else []
    cases = describe(layout, Selection(files, []))
    # Who names clauses asks for no others, and need not wait until all cases are described.
    names_all = all(case["clauses"] for case in cases)
    specified = [] if names_all else describe(layout, Selection([], []))
    if is_clause:
        ids = {clause.id for clause in clauses}
        cases = [case for case in cases if ids & set(case["clauses"])]
        cases.sort(key=lambda case: _simplicity(case, clauses))
    elif not files:
        cases = _named(cases, target)
    return Question(
        cases, files, known, specified, clauses, options.all, options.svg, options.script
    )


def _simplicity(
    case: Case, clauses: Sequence[Clause]
) -> tuple[bool, bool, bool, bool, int, int, str]:
    """Puts first what shows a clause best.

    That is evidence of its own level, the example of the page, ranks that have others to talk to,
    a case that is no choice among many, and little in it.
    """
    levels = {clause.level for clause in clauses if clause.id in case["clauses"]}
    steps = sum(len(program) for program in case["programs"])
    return (
        case["level"] not in levels,
        "example" not in case["id"] and "example" not in Path(case["file"]).name,
        case["world"] < 2,
        bool(case["axes"]),
        steps,
        case["world"],
        case["name"],
    )


def _named(cases: Sequence[Case], target: str) -> list[Case]:
    exact = [case for case in cases if target in (case["name"], case["id"])]
    found = exact or [case for case in cases if matches(target, case["name"])]
    if not found:
        names = {case["name"]: case["id"] for case in cases}
        known = names if "=" in target else set(names.values())
        raise TdconfError(
            f"{target}: no case has this name; ./launcher/tdconf list prints all"
            f"{near(target, known, 'cases', below=names, command=COMMAND)}",
            Exit.USAGE,
        )
    return found


def _play(ready: Ready, question: Question) -> tuple[dict[tuple[str, str], Line], Exit]:
    """Runs the chosen cases with traces; returns the results by implementation and case."""
    out = run.results_folder(ready.layout, None)
    selection = run.these([case["name"] for case in question.chosen], out, question.files)
    asked = ready.judging(selection, ready.chosen, trace=True)
    if len(question.chosen) == 1:
        asked = replace(asked, jobs=1, at_once=len(ready.chosen))
    outcomes, interrupted = run.judge(ready.layout, asked, out, lambda _: None)
    display.say(f"results in {from_here(out)}")
    found = {(result["impl"], result["case"]): result for o in outcomes for result in o.cases}
    return found, run.code_of(outcomes, interrupted=interrupted)


def _clause(clause: Clause) -> str:
    lines = [f"{clause.id}  ({clause.level}; {clause.source}; {clause.status})", f"  {clause.says}"]
    if clause.question:
        lines.append(f"  question: {clause.question}")
    if clause.reason:
        lines.append(f"  reason: {clause.reason}")
    return "\n".join(lines)


def _case(case: Case, question: Question) -> str:
    lines = [f"{case['name']}  ({case['level']})", f"  {case['says']}"]
    if case["notes"]:
        lines.append(f"  note: {case['notes']}")
    if case["broken_by"]:
        lines.append(f"  finds: {case['broken_by']}")
    known = {clause.id: clause for clause in question.registry}
    names = case["clauses"]
    if not names:
        names = likely_clauses(case, question.known)
        found = "the cases that are most like it name these:" if names else "no case is like it."
        lines += ["", f"It names no clause; {found}"]
    for name in [] if question.clauses else names:
        lines += [f"\n{_clause(known[name])}" if name in known else f"\n{name}"]
    width = min(_WIDEST, shutil.get_terminal_size((120, 24)).columns)
    lines += ["", side_by_side(case, width)]
    if wire := messages_text(case):
        lines += ["", "on the wire", *(f"  {line}" for line in wire)]
    return "\n".join(lines)


def _drawings(question: Question, names: Sequence[str]) -> dict[tuple[str, str], Path]:
    """Names the file of each drawing, by case and implementation."""
    path = question.svg
    if path is None:
        return {}
    pairs = [(case, name) for case in question.chosen for name in names]
    if len(pairs) == 1:
        return {(case["name"], name): path for case, name in pairs}
    found = {}
    for case, name in pairs:
        parts = [path.stem, *([_file_name(case)] if question.every else []), name]
        file = f"{'-'.join(parts)}{path.suffix or '.svg'}"
        found[case["name"], name] = path.with_name(file)
    return found


def _draw(case: Case, result: Line, path: Path) -> None:
    title = f"{case['name']}, {result['impl']}: {result['verdict']}"
    drawn = svg.draw(story.rows(case, result), case["world"], title)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawn, encoding="utf-8")
    print(f"\ndrawn in {from_here(path)}")


def _scripts(question: Question) -> list[Path]:
    """Names what is written into the folder of scripts."""
    if question.script is None:
        return []
    names = [f"{_file_name(case)}{end}" for case in question.chosen for end in (".py", ".cpp")]
    return [question.script / name for name in (*names, "CMakeLists.txt")]


def _write_scripts(layout: Layout, question: Question) -> None:
    if question.script is None:
        return
    question.script.mkdir(parents=True, exist_ok=True)
    for case in question.chosen:
        name = _file_name(case)
        for write in (script_python.write, script_cpp.write):
            print(f"\n{write(layout, case, question.script, name)}")


def _file_name(case: Case) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "-", case["name"])
