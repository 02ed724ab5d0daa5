# SPDX-License-Identifier: BSD-3-Clause
"""`ci/tidy.py`: which files it chooses, and what it says of them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tdconf.exits import Exit
from tdconf.layout import THIS_CHECKOUT

CLEAN = "int one() { return 1; }\n"
# Asks for what a moved string holds.
FLAWED = """#include <string>
#include <utility>
std::string two(std::string text) {
  std::string other = std::move(text);
  return text + other;
}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with two clean files, and the checks of ours."""
    made = tmp_path / "repository"
    for folder in ("ci", "build/release"):
        (made / folder).mkdir(parents=True)
    shutil.copy(THIS_CHECKOUT.ci / "tidy.py", made / "ci")
    shutil.copy(THIS_CHECKOUT.root / ".clang-tidy", made)
    (made / ".gitignore").write_text("/build/\n")
    (made / "one.cpp").write_text(CLEAN)
    (made / "two.cpp").write_text("int two() { return 2; }\n")
    (made / "two.h").write_text("int two();\n")
    (made / "cmake_pch.hxx").write_text("#include <cstddef>\n")
    flags = f"-std=gnu++20 -Werror -Wunused-macros -Winvalid-pch -include {made}/cmake_pch.hxx"
    entries = [
        {
            "directory": str(made),
            "command": f"c++ {flags} -o x.o -c {name}",
            "file": f"{made}/{name}",
        }
        for name in ("one.cpp", "two.cpp")
    ]
    (made / "build" / "release" / "compile_commands.json").write_text(json.dumps(entries))
    git(made, "init", "-q")
    git(made, "add", ".")
    git(made, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first")
    return made


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, timeout=60)


def tidy(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, root / "ci" / "tidy.py", *words],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_every_file_of_the_build_is_checked(root: Path) -> None:
    ended = tidy(root)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.splitlines()[-1] == "tidy: 2 C++ files are clean"


def test_a_flaw_is_shown_with_the_command_that_repeats_it(root: Path) -> None:
    (root / "two.cpp").write_text(FLAWED)
    ended = tidy(root)
    assert ended.returncode == Exit.UNEXPECTED
    assert "[bugprone-use-after-move" in ended.stdout
    lines = ended.stdout.splitlines()
    assert lines[-1] == "tidy: failed in 1 of 2 C++ files; repeat: ci/tidy.py two.cpp"


def test_names_that_clash_in_a_batch_are_no_flaw(root: Path) -> None:
    (root / "two.cpp").write_text(CLEAN)
    ended = tidy(root)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.splitlines()[-1] == "tidy: 2 C++ files are clean"


@pytest.mark.parametrize(
    ("changed", "count"),
    [((), 0), (("one.cpp",), 1), (("two.h",), 1), (("one.cpp", "two.h"), 2), (("three.cpp",), 0)],
)
def test_changed_takes_what_git_says_and_what_is_named_like_a_changed_header(
    root: Path, changed: tuple[str, ...], count: int
) -> None:
    for name in changed:
        with (root / name).open("a") as file:
            file.write("\n")
    last = f"tidy: {count} C++ files are clean"
    assert tidy(root, "--changed").stdout.splitlines()[-1] == last
    git(root, "add", ".")
    assert tidy(root, "--changed", "HEAD").stdout.splitlines()[-1] == last


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("three.cpp",), "three.cpp: must be a .cpp file that the Release build compiles"),
        (("--changed", "nowhere"), "--changed nowhere: "),
    ],
)
def test_an_argument_that_names_nothing_is_refused(
    root: Path, words: tuple[str, ...], message: str
) -> None:
    ended = tidy(root, *words)
    assert ended.returncode == Exit.USAGE
    assert f"error: {message}" in ended.stderr


def test_a_file_may_rely_on_the_precompiled_header(root: Path) -> None:
    (root / "one.cpp").write_text("std::size_t one() { return 1; }\n")
    ended = tidy(root)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_without_a_build_nothing_is_called_clean(root: Path) -> None:
    database = root / "build" / "release" / "compile_commands.json"
    database.unlink()
    ended = tidy(root)
    assert ended.returncode == Exit.NO_VERDICT
    assert ended.stdout.startswith(f"tidy: what {database} lists is missing; ")


def test_a_build_without_files_is_not_called_clean(root: Path) -> None:
    (root / "build" / "release" / "compile_commands.json").write_text("[]")
    assert tidy(root).returncode == Exit.NO_VERDICT
