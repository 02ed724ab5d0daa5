# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf bench plot`: what a result shows, as pictures."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tdconf.bench import lines
from tdconf.bench.catalogue import COLLECTIVES, OPERATIONS, Benchmark, size
from tdconf.bench.columns import FLOOR, NAMES
from tdconf.bench.lines import Line
from tdconf.bench.needed import package
from tdconf.bench.result import Result
from tdconf.exits import Exit, TdconfError

_PER_LEAF = "send"
_CONSOLIDATED = ("send_consolidating", "send_consolidated")
_DOTS_PER_INCH = 110
_PANEL_INCHES = (5.0, 3.8)


def pictures(result: Result) -> dict[str, bytes]:
    """Draws what there are samples for; returns PNG files by name."""
    times = lines.medians(result)
    drawn = {
        "consolidated_by_leaf_size": _by_leaf_size(times),
        "cost_by_leaves": _along(times, "leaves", OPERATIONS),
        "cost_by_world": _along(times, "world", COLLECTIVES),
        "ratio_to_floor": _ratios(times),
    }
    return {name: _png(figure) for name, figure in drawn.items() if figure is not None}


def write(result: Result, folder: Path) -> list[Path]:
    """Writes the pictures into a folder, and returns their paths."""
    made = pictures(result)
    if not made:
        raise TdconfError(
            "this result has nothing to draw: no line with two points, no column beside the floor",
            Exit.USAGE,
        )
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png" for name in made]
    for path in paths:
        path.write_bytes(made[path.stem])
    return paths


Times = dict[tuple[str, Benchmark], float]
Axes = Any
Figure = Any


def _by_leaf_size(times: Times) -> Figure | None:
    """Draws consolidated against per leaf, a panel for each number of leaves and column."""
    panels = []
    for leaves in sorted({one.leaves for _, one in times}, reverse=True):
        at = Benchmark(_PER_LEAF, leaves=leaves)
        found = lines.along(times, "bytes", at, (_PER_LEAF, *_CONSOLIDATED))
        for column in NAMES:
            of_column = [line for line in found if line.column == column]
            if len(of_column) > 1:
                panels.append((f"{column}, {leaves} leaves", of_column))

    def finish(axes: Axes, shown: Sequence[Line]) -> None:
        axes.set_xlabel("bytes per leaf")
        by_operation = {line.operation: line.points for line in shown}
        per_leaf, consolidating = (by_operation.get(n, ()) for n in (_PER_LEAF, _CONSOLIDATED[0]))
        if (x := lines.crossover(per_leaf, consolidating)) is not None:
            axes.axvline(x, color="black", linestyle=":", linewidth=1)
            axes.annotate(f"equal at {size(round(x))}", (x, axes.get_ylim()[0]), rotation=90)

    return _panels(panels, finish)


def _along(times: Times, axis: str, operations: Sequence[str]) -> Figure | None:
    found = lines.along(times, axis, Benchmark(operations[0]), operations)
    by_column = [(column, [line for line in found if line.column == column]) for column in NAMES]
    label = {"leaves": "leaves of 1 KiB", "world": "ranks, 1000 leaves of 1 KiB"}[axis]
    return _panels(
        [(column, of_column) for column, of_column in by_column if of_column],
        lambda axes, _: axes.set_xlabel(label),
    )


def _panels(
    panels: Sequence[tuple[str, Sequence[Line]]],
    finish: Callable[[Axes, Sequence[Line]], None],
) -> Figure | None:
    """Draws a panel for each title and its lines, on logarithmic scales, all of one height."""
    if not panels:
        return None
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    figure, grid = _figure(across, down)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for axes, (title, shown) in zip(grid, panels, strict=False):
        axes.set_title(title)
        axes.set_xscale("log", base=2 if shown[0].points[-1][0] <= 64 else 10)
        axes.set_yscale("log")
        axes.set_ylabel("us per operation")
        axes.grid(visible=True, alpha=0.3)
        for line in shown:
            x, seconds = zip(*line.points, strict=True)
            axes.plot(x, [s * 1e6 for s in seconds], marker="o", label=line.operation)
        axes.legend(fontsize="x-small")
        finish(axes, shown)
    return figure


def _ratios(times: Times) -> Figure | None:
    """Draws for each benchmark how many times as long as the floor each other column takes."""
    benchmarks = [one for column, one in times if column == FLOOR]
    others = [name for name in NAMES if name != FLOOR and any(c == name for c, _ in times)]
    if not benchmarks or not others:
        return None
    figure, (axes,) = _figure(1, 1, inches=(9.0, 1.5 + 0.2 * len(benchmarks)))
    for name in others:
        shown = [i for i, one in enumerate(benchmarks) if (name, one) in times]
        ratios = [times[name, benchmarks[i]] / times[FLOOR, benchmarks[i]] for i in shown]
        axes.plot(ratios, shown, marker="o", linestyle="none", label=name)
    axes.set_yticks(range(len(benchmarks)))
    axes.set_yticklabels([f"{one.operation}  {one.shape}" for one in benchmarks], fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel("time, as a multiple of the floor")
    axes.grid(visible=True, axis="x", which="both", alpha=0.3)
    axes.legend()
    return figure


def _figure(
    across: int, down: int, inches: tuple[float, float] | None = None
) -> tuple[Figure, list[Axes]]:
    width, height = inches or (_PANEL_INCHES[0] * across, _PANEL_INCHES[1] * down)
    # Without pyplot nothing looks for a display.
    figure = package("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(down, across, squeeze=False).flat)


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_DOTS_PER_INCH)
    return file.getvalue()
