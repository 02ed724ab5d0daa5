# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf interop`: two implementations share the ranks of every case, both ways round."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from tdconf import meetings, mixing, preparing, registry, results, run
from tdconf.described import Case, describe
from tdconf.display import closing
from tdconf.exits import Exit, TdconfError, worst
from tdconf.layout import Layout, from_here
from tdconf.ready import Ready, get_ready


def command(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Exit:
    """Prints what differed, and the matrix of methods by ways to share the ranks."""
    if options.impl is not None and len(options.impl) != 2:
        raise TdconfError(
            f"interop takes two implementations: --impl A --impl B, got {len(options.impl)}",
            Exit.USAGE,
        )
    selected = preparing.selection(options)
    ready = get_ready(layout, options, arguments)
    described = describe(layout, selected)
    cases = [case for case in described if mixing.why_alone(case) is None]
    left_out = "\n".join(meetings.left_out(described))
    if not cases:
        raise TdconfError(
            f"no selected case lets two implementations meet\n{left_out}".rstrip(), Exit.USAGE
        )
    out = run.results_folder(layout, options.out)
    met, codes = meet(ready, options.files, cases, out)
    for line in meetings.differing(met):
        print(line)
    print(meetings.matrix(met))
    if left_out:
        print(left_out)
    if len(met) < 2 * len(cases):
        codes.append(Exit.NO_VERDICT)
    code = worst([*codes, *(meeting.code for meeting in met)])
    print(closing(code, from_here(out)))
    return code


def meet(
    ready: Ready, files: Sequence[Path], cases: Sequence[Case], out: Path
) -> tuple[list[meetings.Meeting], list[Exit]]:
    """Plays `cases` with both ways to share the ranks; says too what went wrong beside them."""
    expected = [ready.everything[name].expectations for name in ready.chosen]
    listed = [] if files else [entry for path in expected for entry in registry.listed(path)]
    by_name = {case["name"]: case for case in cases}
    met: list[meetings.Meeting] = []
    codes: list[Exit] = []
    for pair in (list(ready.chosen), list(reversed(ready.chosen))):
        for assign, names in mixing.grouped(cases, pair).items():
            folder = out / assign.replace("=", "-").replace(",", "_")
            folder.mkdir()
            asked = ready.judging(run.these(names, folder, files), pair[:1], assign=assign)
            outcomes, interrupted = run.judge(ready.layout, asked, folder, lambda _: None)
            for outcome in outcomes:
                met += [meetings.meet(by_name[r["case"]], r, listed) for r in outcome.cases]
                codes += _beside_cases(outcome)
            if interrupted:
                return met, [*codes, Exit.INTERRUPTED]
    return met, codes


def _beside_cases(outcome: results.Outcome) -> list[Exit]:
    """Returns how a run ended where its cases do not say it themselves."""
    of_cases = (Exit.AS_EXPECTED, Exit.UNEXPECTED, Exit.NO_VERDICT)
    if outcome.problems or outcome.code not in of_cases:
        return [outcome.code]
    return []
