# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf bench`: from what was typed to what runs, compares, draws or keeps."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from tdconf import display, preparing
from tdconf.bench import (
    catalogue,
    columns,
    compare,
    compare_results,
    findings,
    history,
    plot,
    result,
    run,
    targets,
)
from tdconf.bench.arguments import (
    COMPARE_REPETITIONS,
    QUICK_REPETITIONS,
    RUN_REPETITIONS,
    SLOW_REPETITIONS,
)
from tdconf.bench.session import Lane
from tdconf.environment import JUDGED_PACKAGES, LINKED_PACKAGES
from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout, from_here
from tdconf.run import results_folder


def command(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Exit:
    """Does what follows `bench`."""
    return _ACTIONS[options.action](layout, options, arguments)


def _run(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Exit:
    names = [name for name in columns.NAMES if name in (options.column or columns.NAMES)]
    needed = JUDGED_PACKAGES if columns.TENSORDICT in names else LINKED_PACKAGES
    python = preparing.prepare(layout, options, arguments, needed)
    wanted = targets.read(layout.bench / "targets.yaml")
    everything = list(wanted) if options.quick else catalogue.catalogue(wanted)
    chosen = catalogue.select(everything, options.operation, options.world)
    built = [target for name in names for target in columns.TARGETS[name]]
    preparing.build_targets(layout, options, python, built)
    default = QUICK_REPETITIONS if options.quick else RUN_REPETITIONS
    repetitions = options.repetitions or default
    return run.run(
        run.Options(
            benchmarks=chosen,
            targets=wanted,
            lanes=[
                Lane(name, columns.program(layout, python, name), {"column": name})
                for name in names
            ],
            repetitions=repetitions,
            slow_repetitions=min(repetitions, SLOW_REPETITIONS),
            out=_out(layout, options),
            check_targets=options.check_targets,
        )
    )


def _compare(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Exit:
    for path in (options.base, options.new):
        if not path.exists():
            raise TdconfError(f"{path}: no such file or folder", Exit.USAGE)
    judged = [name for name in columns.NAMES if name in (options.column or [columns.REFERENCE])]
    results = [_is_result(path) for path in (options.base, options.new)]
    if any(results) and not all(results):
        raise TdconfError(
            f"{options.base} and {options.new}: one is a result and one a build; "
            "compare two of one kind",
            Exit.USAGE,
        )
    preparing.prepare(layout, options, arguments, LINKED_PACKAGES)
    if all(results):
        return _of_results(options, judged)
    return _of_builds(layout, options, judged)


def _is_result(path: Path) -> bool:
    return path.is_file() or (path / result.FILE).is_file()


def _of_results(options: argparse.Namespace, judged: Sequence[str]) -> Exit:
    for name in ("repetitions", "inject", "out"):
        if getattr(options, name) is not None:
            raise TdconfError(
                f"--{name} is for two builds; {options.base} and {options.new} are results",
                Exit.USAGE,
            )
    base, new = result.read(options.base), result.read(options.new)
    usual = [one for one in base.benchmarks if one in catalogue.compared()]
    everything = base.benchmarks if options.operation or options.world else usual
    chosen = catalogue.select(everything or base.benchmarks, options.operation, options.world)
    found = compare_results.compare(base, new, judged, chosen)
    print(findings.text(found))
    code = findings.code_of(found)
    print(f"tdconf: exit {int(code)}, {code.meaning}")
    return code


def _of_builds(layout: Layout, options: argparse.Namespace, judged: Sequence[str]) -> Exit:
    if columns.TENSORDICT in judged:
        raise TdconfError(
            "--column tensordict: is in no build; compare two results of bench run instead",
            Exit.USAGE,
        )
    everything = catalogue.compared()
    if options.world is not None or any("/" in text for text in options.operation or ()):
        everything = catalogue.catalogue(targets.read(layout.bench / "targets.yaml"))
    asked = compare.Options(
        base=options.base,
        new=options.new,
        columns=judged,
        benchmarks=catalogue.select(everything, options.operation, options.world),
        repetitions=options.repetitions or COMPARE_REPETITIONS,
        inject=options.inject or (),
    )
    compare.check(asked)
    out = _out(layout, options)
    found = compare.compare(asked, out)
    print(findings.text(found))
    code = findings.code_of(found)
    print(display.closing(code, from_here(out)))
    return code


def _out(layout: Layout, options: argparse.Namespace) -> Path:
    wanted = None if options.out is None else Path(os.path.abspath(options.out))
    return results_folder(layout, wanted, "bench")


def _history(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Exit:
    found = result.read(options.result)
    return history.append(layout, found, options.append, options.commit)


def _plot(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Exit:
    found = result.read(options.result)
    preparing.prepare(layout, options, arguments, LINKED_PACKAGES)
    beside = options.result if options.result.is_dir() else options.result.parent
    for path in plot.write(found, options.out or beside):
        print(path)
    return Exit.AS_EXPECTED


_ACTIONS = {"run": _run, "compare": _compare, "history": _history, "plot": _plot}
