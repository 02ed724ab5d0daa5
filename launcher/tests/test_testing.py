# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf test`: a part passes when it ends well and says what it ran."""

import sys
from pathlib import Path

import pytest

from tdconf import testing
from tdconf.exits import Exit, TdconfError
from tdconf.layout import THIS_CHECKOUT, Layout
from tdconf.testing import Part, judge, parts, run_parts

PYTHON = Path(sys.executable)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("lint", "lint: 90 C++, 30 Python and 4 bash files are clean"),
        ("tidy", "tidy: 90 C++ files are clean"),
        ("tidy", "tidy: failed in 2 of 90 C++ files; repeat: ci/tidy.py one.cpp two.cpp"),
        ("cpp", "100% tests passed, 0 tests failed out of 250"),
        ("cpp", "99% tests passed, 1 tests failed out of 250"),
        ("python", "42 passed in 2.99s"),
        ("python", "===== 1 failed, 93 passed, 1 warning in 24.52s ====="),
        ("python", "===== 93 passed in 124.52s (0:02:04) ====="),
        ("conformance", "tdconf: exit 0, everything as expected; results in tdconf-out/x"),
    ],
)
def test_the_closing_line_of_each_program_is_known(name: str, line: str) -> None:
    assert parts(THIS_CHECKOUT, PYTHON)[name].closing.match(line)


def test_a_runs_progress_is_not_its_closing_line() -> None:
    closing = parts(THIS_CHECKOUT, PYTHON)["conformance"].closing
    assert not closing.match("tdconf: reference 3 of 40, tensordict 0 of 0")


def test_the_progress_of_tidy_is_not_its_closing_line() -> None:
    assert not parts(THIS_CHECKOUT, PYTHON)["tidy"].closing.match("tidy: 10 of 90 C++ files")


@pytest.mark.parametrize("name", testing.PART_NAMES)
def test_a_part_without_a_closing_line_has_not_run(name: str) -> None:
    outcome = judge(name, 0, "", 1.0)
    assert outcome.code == Exit.NO_VERDICT
    assert outcome.line == f"{name}: FAILED (0) in 1 s: no closing line"


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("lint", 1, Exit.UNEXPECTED),
        ("lint", 4, Exit.NO_VERDICT),
        ("tidy", 1, Exit.UNEXPECTED),
        ("tidy", 4, Exit.NO_VERDICT),
        ("cpp", 8, Exit.UNEXPECTED),
        ("python", 5, Exit.UNEXPECTED),
        ("python", -11, Exit.UNEXPECTED),
        ("conformance", 3, Exit.OUT_OF_DATE),
        ("conformance", 70, Exit.INTERNAL),
    ],
)
def test_a_part_that_ends_badly_fails(name: str, status: int, code: Exit) -> None:
    assert judge(name, status, "the closing line", 1.0).code == code


def test_every_part_runs_and_the_worst_decides(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    script = "import sys; print('lint: mend it'); sys.exit(1)"
    failing = Part("lint", (sys.executable, "-c", script), testing.re.compile("lint: "))
    passing = Part("cpp", (sys.executable, "-c", "print('9 ran')"), testing.re.compile("9"))
    made = {"lint": failing, "cpp": passing}
    monkeypatch.setattr(testing, "parts", lambda _layout, _python: made)
    assert run_parts(layout, PYTHON, ["lint", "cpp"], []) == Exit.UNEXPECTED
    lines = capfd.readouterr().out.splitlines()
    assert lines[-2].startswith("lint: FAILED (1) in ")
    assert lines[-1].endswith(" s: 9 ran")


def test_further_arguments_go_to_one_part_only(layout: Layout) -> None:
    with pytest.raises(TdconfError, match="add --only PART") as raised:
        run_parts(layout, PYTHON, ["cpp", "python"], ["-k", "x"])
    assert raised.value.code == Exit.USAGE
