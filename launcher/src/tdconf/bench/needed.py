# SPDX-License-Identifier: BSD-3-Clause
"""Packages that only benchmarks need: imported where they are used, named where missing."""

import importlib
import sys
from typing import Any

from tdconf.exits import TdconfError

_PACKAGES = {"yaml": "PyYAML"}


def package(module: str) -> Any:  # noqa: ANN401
    """Imports `module`, or says how to get the package that it belongs to."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        top = module.partition(".")[0]
        if problem.name != top:
            raise
        name = _PACKAGES.get(top, top)
        raise TdconfError(
            f"{sys.executable} has no {name}; without --python the launcher installs it, or type: "
            f"{sys.executable} -m pip install {name}"
        ) from problem
