# SPDX-License-Identifier: BSD-3-Clause
"""What a command that asks needs: who can play, and how a run of them is put together."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tdconf import build, preparing, processes
from tdconf.implementations import DEFAULT_NAMES, Implementation, known, needed_packages
from tdconf.layout import Layout
from tdconf.run import Options, Selection


@dataclass(frozen=True)
class Ready:
    """A checkout that can judge the implementations `chosen`."""

    layout: Layout
    python: Path
    everything: Mapping[str, Implementation]
    chosen: Sequence[str]
    timeout_scale: float
    jobs: int
    #: The Python that `--python` names.
    named: Path | None

    def judging(
        self,
        selection: Selection,
        names: Sequence[str],
        *,
        assign: str | None = None,
        trace: bool = False,
    ) -> Options:
        """Returns a run of `selection` that judges `names`.

        Known differences are those of the implementation, which a mixed run and a user's own case
        have none of.
        """
        typed = argparse.Namespace(
            files=selection.files,
            assign=assign,
            timeout_scale=self.timeout_scale,
            python=self.named,
        )
        return Options(
            selection=selection,
            judged=[self.everything[name] for name in names],
            players=list(self.everything.values()),
            assign=assign,
            expectations="none" if selection.files or assign is not None else None,
            repeat=preparing.repeat(self.layout, typed),
            jobs=self.jobs,
            out=None,
            python=self.python,
            timeout_scale=self.timeout_scale,
            fail_fast=False,
            verbose=False,
            trace=trace,
        )


def get_ready(layout: Layout, options: argparse.Namespace, arguments: Sequence[str]) -> Ready:
    """Sets up and builds what it takes to judge those that `--impl` names."""
    named = options.impl or DEFAULT_NAMES
    # Read once before anything is installed: a typing error should not cost minutes.
    _, chosen = known(layout, preparing.judged_python(layout, options), named)
    python = preparing.prepare(layout, options, arguments, needed_packages(chosen))
    everything, chosen = known(layout, python, named)
    preparing.build_targets(layout, options, python, build.JUDGE_TARGETS)
    jobs = options.jobs or int(processes.cores())
    scale, given = options.timeout_scale, options.python
    return Ready(layout, python, everything, chosen, scale, jobs, given)
