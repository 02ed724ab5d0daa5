# SPDX-License-Identifier: BSD-3-Clause
"""Where the parts of a checkout lie."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The paths of one checkout."""

    root: Path

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def venv_python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def build(self) -> Path:
        return self.root / "build" / "release"

    @property
    def logs(self) -> Path:
        return self.root / "build" / "logs"

    @property
    def ci(self) -> Path:
        return self.root / "ci"

    @property
    def conformance(self) -> Path:
        return self.root / "conformance"

    @property
    def expectations(self) -> Path:
        return self.conformance / "expectations"

    @property
    def bench(self) -> Path:
        return self.root / "bench"

    @property
    def fixtures(self) -> Path:
        return self.root / "fixtures"

    @property
    def output(self) -> Path:
        return self.root / "tdconf-out"

    @property
    def runner(self) -> Path:
        return self.build / "conformance" / "runner" / "tdconf_runner"

    def adapter(self, name: str) -> Path:
        """Returns the program of a C++ adapter."""
        return self.build / "conformance" / "adapters" / f"tdconf_adapter_{name}"

    def built(self, target: str) -> Path:
        """Returns the program or the library that a target of the build makes."""
        files = {
            "tdconf_runner": self.runner,
            "tdconf_bench_counting": self.build / "bench" / "libtdconf_bench_counting.so",
        }
        if target.startswith("tdconf_bench_"):
            return files.get(target, self.build / "bench" / target)
        return files.get(target) or self.adapter(target.removeprefix("tdconf_adapter_"))


def from_here(path: Path) -> Path:
    """Returns `path` as it is called from the current folder, where it lies below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


THIS_CHECKOUT = Layout(Path(__file__).resolve().parents[3])
