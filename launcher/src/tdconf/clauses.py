# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf clauses`: what the evidence for each clause is, and what the text leaves open."""

import argparse
from collections.abc import Sequence

from tdconf import ambiguous, build, coverage, environment, matrix, preparing, registry, run
from tdconf.described import describe
from tdconf.display import closing
from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout, from_here
from tdconf.ready import Ready, get_ready
from tdconf.registry import Clause


def command(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Exit:
    """Prints the evidence for each clause, the matrix of methods and kinds, or open questions."""
    if options.ambiguous and options.matrix:
        raise TdconfError("--ambiguous and --matrix are two questions", Exit.USAGE)
    if options.matrix and options.clause:
        raise TdconfError("--clause does not go with --matrix, which counts all cases", Exit.USAGE)
    if options.ambiguous:
        ready = get_ready(layout, options, arguments)
        return observe(ready, [c for c in chosen(layout, options) if c.status == "ambiguous"])
    if options.impl:
        raise TdconfError("--impl goes with --ambiguous: evidence is counted, not run", Exit.USAGE)
    python = preparing.prepare(layout, options, arguments, environment.LINKED_PACKAGES)
    preparing.build_targets(layout, options, python, build.JUDGE_TARGETS[:1])
    if options.matrix:
        return count_cells(layout)
    return count(layout, chosen(layout, options), with_text=bool(options.clause))


def chosen(layout: Layout, options: argparse.Namespace) -> list[Clause]:
    """Returns the clauses that `--clause` means, in the order of the registry."""
    everything = registry.clauses(layout)
    if not options.clause:
        return everything
    command = "./launcher/tdconf clauses --clause"
    found = [registry.named(everything, pattern, command) for pattern in options.clause]
    wanted = {clause.id for clauses in found for clause in clauses}
    return [clause for clause in everything if clause.id in wanted]


def count(layout: Layout, clauses: Sequence[Clause], *, with_text: bool) -> Exit:
    """Counts the cases of each clause; a must-clause without evidence is a finding."""
    cases = describe(layout, run.Selection([], []))
    evidence = coverage.evidence(clauses, cases)
    print(coverage.table(evidence, with_text=with_text))
    lacking = [entry for entry in evidence if entry.lack is not None]
    for entry in lacking:
        print(f"FOUND: {entry.clause.id} {entry.lack}")
    print(coverage.closing(evidence, cases))
    return Exit.UNEXPECTED if lacking else Exit.AS_EXPECTED


def count_cells(layout: Layout) -> Exit:
    """Counts the cases of each method with each kind; a cell without one is a finding."""
    cases = describe(layout, run.Selection([], []))
    counted = matrix.count(cases)
    print(matrix.table(counted))
    lacking = matrix.empty(counted)
    for method, kind in lacking:
        print(f"FOUND: {method} has no case with {kind}")
    print(matrix.closing(cases, counted))
    return Exit.UNEXPECTED if lacking else Exit.AS_EXPECTED


def observe(ready: Ready, clauses: Sequence[Clause]) -> Exit:
    """Runs the cases that observe `clauses`, and prints each question with its answers."""
    if not clauses:
        raise TdconfError("none of these clauses is ambiguous", Exit.USAGE)
    ids = {clause.id for clause in clauses}
    everything = describe(ready.layout, run.Selection([], ["--level", "observe"]))
    cases = [case for case in everything if ids & set(case["clauses"])]
    if not cases:
        print(ambiguous.report(clauses, [], {}))
        return Exit.AS_EXPECTED
    out = run.results_folder(ready.layout, None)
    selection = run.these([case["name"] for case in cases], out)
    asked = ready.judging(selection, ready.chosen, trace=True)
    outcomes, interrupted = run.judge(ready.layout, asked, out, lambda _: None)
    print(ambiguous.report(clauses, cases, {o.name: o.cases for o in outcomes}))
    code = run.code_of(outcomes, interrupted=interrupted)
    print(closing(code, from_here(out)))
    return code
