# SPDX-License-Identifier: BSD-3-Clause
"""The bash scripts: what they do on a machine that lacks something."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tdconf.exits import Exit
from tdconf.layout import THIS_CHECKOUT

# What the scripts need of the system itself.
_COREUTILS = ("bash", "cat", "dirname", "env", "grep", "head", "readlink")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder to use as PATH, with the tools of the system and nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in _COREUTILS:
        (folder / name).symlink_to(shutil.which(name) or name)
    return folder


def script(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def run(machine: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env={"PATH": str(machine)}, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def install_deps(tmp_path: Path) -> Path:
    (tmp_path / "ci").mkdir()
    shutil.copy(THIS_CHECKOUT.ci / "install-deps", tmp_path / "ci")
    (tmp_path / "ci" / "packages.txt").write_text("# two\nalpha\nbeta\n")
    return tmp_path / "ci" / "install-deps"


def test_a_machine_with_every_package_is_left_alone(machine: Path, install_deps: Path) -> None:
    script(machine, "dpkg-query", "echo -n installed")
    ended = run(machine, install_deps)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_root_installs_what_is_missing_and_nothing_else(machine: Path, install_deps: Path) -> None:
    script(machine, "dpkg-query", "[[ $4 == alpha ]] && echo -n installed || exit 1")
    script(machine, "id", "echo 0")
    script(machine, "apt-get", f'echo "$@" >> {machine.parent}/calls')
    assert run(machine, install_deps).returncode == 0
    assert (machine.parent / "calls").read_text().splitlines() == [
        "update",
        "install -y --no-install-recommends beta",
    ]


def test_without_the_right_to_install_the_line_to_type_is_printed(
    machine: Path, install_deps: Path
) -> None:
    script(machine, "dpkg-query", "exit 1")
    script(machine, "id", "echo 1000")
    ended = run(machine, install_deps)
    assert ended.returncode == Exit.NO_VERDICT
    assert ended.stderr.rstrip().endswith("type: sudo apt-get install -y alpha beta")


def test_a_failing_apt_get_fails_the_script(machine: Path, install_deps: Path) -> None:
    script(machine, "dpkg-query", "exit 1")
    script(machine, "id", "echo 0")
    script(machine, "apt-get", "exit 100")
    assert run(machine, install_deps).returncode == 100


def test_without_a_python_the_launcher_says_what_it_needs(machine: Path) -> None:
    ended = run(machine, THIS_CHECKOUT.root / "launcher" / "tdconf", "doctor")
    assert ended.returncode == Exit.NO_VERDICT
    assert "needs Python 3.11 or newer" in ended.stderr


def test_the_launcher_passes_over_a_python_that_is_too_old(machine: Path) -> None:
    script(machine, "python3.11", "exit 1")
    script(machine, "python3", '[[ $1 == -c ]] || echo "started with ${*:2}"')
    ended = run(machine, THIS_CHECKOUT.root / "launcher" / "tdconf", "run", "--impl", "a b")
    assert ended.stdout == "started with run --impl a b\n"


@pytest.fixture
def linted(tmp_path: Path) -> Path:
    """A repository with one clean file of each kind and this project's lint."""
    root = tmp_path / "repository"
    (root / "ci").mkdir(parents=True)
    shutil.copy(THIS_CHECKOUT.ci / "lint", root / "ci")
    for name in (".clang-format", "pyproject.toml"):
        shutil.copy(THIS_CHECKOUT.root / name, root)
    (root / "one.cpp").write_text("int one();\n")
    (root / "two.py").write_text("TWO = 2\n")
    subprocess.run(["git", "init", "-q", root], check=True, timeout=60)
    return root


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    tools = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(
        [root / "ci" / "lint"], env=tools, capture_output=True, text=True, timeout=60, check=False
    )


def test_lint_counts_what_it_found_clean(linted: Path) -> None:
    ended = lint(linted)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout == "lint: 1 C++, 1 Python and 1 bash files are clean\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("one.cpp", "int   one();\n"),
        ("two.py", "import os\n"),
        ("two.py", "TWO  =  2\n"),
        ("three", "#!/bin/bash\nrm $1\n"),
    ],
)
def test_lint_fails_on_each_kind_of_flaw(linted: Path, name: str, text: str) -> None:
    (linted / name).write_text(text)
    ended = lint(linted)
    assert ended.returncode == 1
    assert ended.stderr.endswith("lint: failed\n")


def test_lint_does_not_take_a_missing_kind_of_file_for_a_clean_one(linted: Path) -> None:
    (linted / "one.cpp").unlink()
    ended = lint(linted)
    assert ended.returncode == Exit.NO_VERDICT
    assert "found 0 C++, 1 Python and 1 bash files" in ended.stderr


def test_lint_does_not_pass_over_a_missing_tool(machine: Path, linted: Path) -> None:
    ended = run(machine, linted / "ci" / "lint")
    assert ended.returncode == Exit.NO_VERDICT
    assert "clang-format is missing" in ended.stderr
