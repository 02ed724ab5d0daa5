# SPDX-License-Identifier: BSD-3-Clause
"""Building: configured once per Python, silent when nothing changed, loud when it fails."""

import subprocess
import sys
from pathlib import Path

import pytest

from tdconf.build import JUDGE_TARGETS, build, cached_python, check_built
from tdconf.exits import Exit, TdconfError
from tdconf.layout import THIS_CHECKOUT, Layout
from tdconf.processes import cores

PYTHON = Path("/opt/env/bin/python")

# Notes how it was called; configuring leaves what CMake leaves; building prints what ninja prints.
_CMAKE = """#!/bin/bash
echo "$@" >> {calls}
if [[ $1 == --preset ]]; then
  mkdir -p {build}
  echo "TDCONF_PYTHON:FILEPATH=${{3#-DTDCONF_PYTHON=}}" > {build}/CMakeCache.txt
  touch {build}/build.ninja
else
  {building}
fi
"""


@pytest.fixture
def cmake(layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts a stand-in for CMake on PATH; returns the file with its calls."""
    folder = tmp_path / "bin"
    folder.mkdir()
    calls = tmp_path / "calls"
    script = _CMAKE.format(
        calls=calls,
        build=layout.build,
        building=f'cat {tmp_path}/says; exit "$(cat {tmp_path}/status)"',
    )
    (folder / "cmake").write_text(script)
    (folder / "cmake").chmod(0o755)
    (tmp_path / "says").write_text("ninja: no work to do.\n")
    (tmp_path / "status").write_text("0")
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return calls


CONFIGURE = f"--preset release -DTDCONF_PYTHON={PYTHON}"
BUILD = f"--build --preset release --parallel {cores()} --target one two"


def test_the_first_build_configures_and_the_second_does_not(layout: Layout, cmake: Path) -> None:
    said: list[str] = []
    build(layout, PYTHON, ["one", "two"], said.append)
    assert cmake.read_text().splitlines() == [CONFIGURE, BUILD]
    said.clear()
    build(layout, PYTHON, ["one", "two"], said.append)
    assert cmake.read_text().splitlines() == [CONFIGURE, BUILD, BUILD]
    assert said == []


def test_another_python_is_configured_anew(layout: Layout, cmake: Path) -> None:
    build(layout, Path("/usr/bin/python3"), ["one", "two"], lambda _: None)
    build(layout, PYTHON, ["one", "two"], lambda _: None)
    assert cmake.read_text().splitlines()[2:] == [CONFIGURE, BUILD]
    assert cached_python(layout) == str(PYTHON)


def test_a_configuration_that_broke_off_is_done_again(layout: Layout, cmake: Path) -> None:
    build(layout, PYTHON, ["one", "two"], lambda _: None)
    (layout.build / "build.ninja").unlink()
    build(layout, PYTHON, ["one", "two"], lambda _: None)
    assert cmake.read_text().splitlines()[2:] == [CONFIGURE, BUILD]


def test_progress_is_said_about_ten_times(layout: Layout, cmake: Path) -> None:
    steps = "".join(f"[{step}/200] Building CXX object\n" for step in range(1, 201))
    (cmake.parent / "says").write_text(steps)
    said: list[str] = []
    build(layout, PYTHON, ["one"], said.append)
    assert said[-1] == "building: 200 of 200 steps"
    assert 10 <= len([line for line in said if line.startswith("building")]) <= 12


def test_a_failing_build_shows_the_compiler_the_command_and_the_log(
    layout: Layout, cmake: Path
) -> None:
    (cmake.parent / "says").write_text("one.cpp:1: error: no\n")
    (cmake.parent / "status").write_text("1")
    with pytest.raises(TdconfError) as raised:
        build(layout, PYTHON, ["one"], lambda _: None)
    message = str(raised.value)
    assert "one.cpp:1: error: no" in message
    assert f"cmake --build --preset release --parallel {cores()} --target one" in message
    assert str(layout.logs / "build.log") in message


@pytest.fixture
def built(layout: Layout) -> Layout:
    """A build tree with every program that judges, for `PYTHON`."""
    for program in (layout.runner, layout.adapter("reference"), layout.adapter("probe")):
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch()
    (layout.build / "CMakeCache.txt").write_text(f"TDCONF_PYTHON:FILEPATH={PYTHON}\n")
    return layout


def test_without_building_what_is_there_is_good_enough(built: Layout) -> None:
    check_built(built, PYTHON, JUDGE_TARGETS)


@pytest.mark.parametrize("missing", JUDGE_TARGETS)
def test_without_building_what_was_never_built_is_named(built: Layout, missing: str) -> None:
    (program,) = built.build.glob(f"**/{missing}")
    program.unlink()
    with pytest.raises(TdconfError, match=f"{missing} was never built") as raised:
        check_built(built, PYTHON, JUDGE_TARGETS)
    assert raised.value.code == Exit.NO_VERDICT


def test_without_building_the_torch_of_another_python_is_not_judged(built: Layout) -> None:
    other = Path("/usr/bin/python3")
    with pytest.raises(TdconfError, match=f"was built for {PYTHON}, not for {other}") as raised:
        check_built(built, other, JUDGE_TARGETS)
    assert raised.value.code == Exit.NO_VERDICT


@pytest.fixture
def without_ucx(tmp_path: Path) -> Path:
    """A Python that has what this one has, but for UCX."""
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/bash\nif [[ $* == *libucx* ]]; then exit 1; fi\nexec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    return python


def configure(folder: Path, python: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = ["cmake", "-S", THIS_CHECKOUT.root, "-B", folder, "-G", "Ninja"]
    command += [f"-DTDCONF_PYTHON={python}", *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_who_wants_no_pipes_needs_no_ucx(tmp_path: Path, without_ucx: Path) -> None:
    ended = configure(tmp_path / "build", without_ucx, "-DTDREF_WITH_UCX=OFF")
    assert ended.returncode == 0, ended.stderr
    steps = (tmp_path / "build" / "build.ninja").read_text()
    assert "libucp" not in steps
    assert "src/pipe/" not in steps
    assert "no_pipes.cpp" in steps
    dry = ["ninja", "-C", tmp_path / "build", "-n", "tdref", *JUDGE_TARGETS]
    assert subprocess.run(dry, capture_output=True, timeout=120, check=False).returncode == 0


def test_who_wants_pipes_is_told_what_they_need(tmp_path: Path, without_ucx: Path) -> None:
    ended = configure(tmp_path / "build", without_ucx)
    assert ended.returncode == 1
    assert "has no libucx-cu13" in ended.stderr
