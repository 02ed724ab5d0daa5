# SPDX-License-Identifier: BSD-3-Clause
"""The doctor: whatever is missing is named, with what to do, and stands in the way of a verdict."""

import sys
from pathlib import Path

import pytest

from tdconf import doctor
from tdconf.doctor import Fact, examine, report
from tdconf.exits import Exit
from tdconf.layout import Layout


@pytest.fixture
def only_these_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing but the tools that a test writes into the folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def tool(folder: Path, name: str, says: str, status: int = 0) -> None:
    path = folder / name
    # Bash's own words only: there is no other tool on this PATH.
    path.write_text(f"#!/bin/bash\necho '{says}'\nexit {status}\n")
    path.chmod(0o755)


def named(facts: list[Fact]) -> dict[str, Fact]:
    return {fact.name: fact for fact in facts}


def test_a_debian_package_that_is_not_installed_is_missing(
    layout: Layout, only_these_tools: Path
) -> None:
    tool(only_these_tools, "dpkg-query", "alpha-dev installed 1.2-3", status=1)
    facts = named(examine(layout, None))
    assert facts["package alpha-dev"].found == "1.2-3"
    assert facts["package beta-dev"] == Fact("package beta-dev", None, "ci/install-deps")


def test_a_removed_package_whose_settings_are_left_is_missing(
    layout: Layout, only_these_tools: Path
) -> None:
    tool(only_these_tools, "dpkg-query", "alpha-dev config-files 1.2-3")
    assert named(examine(layout, None))["package alpha-dev"].found is None


def test_a_tool_is_found_with_its_version_or_not_at_all(
    layout: Layout, only_these_tools: Path
) -> None:
    tool(only_these_tools, "cmake", "cmake version 3.25.1")
    tool(only_these_tools, "g++", "does not start", status=1)
    facts = named(examine(layout, None))
    assert facts["cmake"].found == "3.25.1"
    assert facts["g++"].found is None
    assert facts["ninja"].found is None


def test_an_environment_that_was_never_set_up_is_missing(layout: Layout) -> None:
    assert named(examine(layout, None))["environment"].found is None


def test_the_users_environment_is_asked_for_what_is_judged(layout: Layout) -> None:
    facts = named(examine(layout, Path(sys.executable)))
    assert facts["torch"].found is not None
    assert facts["tensordict"].found is not None
    assert "pytest" not in facts


def test_a_program_that_is_no_python_is_a_missing_environment(layout: Layout) -> None:
    fact = named(examine(layout, Path("/bin/true")))["environment"]
    assert fact.found is None
    assert "/bin/true is not a Python that runs" in fact.remedy


def test_programs_that_were_not_built_are_missing(layout: Layout) -> None:
    facts = named(examine(layout, None))
    for name in ("runner", "adapter reference", "adapter probe", "built for"):
        assert facts[name].found is None


def test_one_thing_missing_is_no_full_verdict() -> None:
    text, code = report([Fact("cmake", "3.25.1"), Fact("ninja", None, "ci/install-deps")])
    assert code == Exit.NO_VERDICT
    assert text.splitlines() == [
        "cmake  3.25.1",
        "ninja  MISSING: ci/install-deps",
        "missing: ninja",
    ]


def test_nothing_missing_is_well() -> None:
    text, code = report([Fact("cmake", "3.25.1")])
    assert (text.splitlines()[-1], code) == ("nothing is missing", Exit.AS_EXPECTED)


def test_results_carry_the_versions_of_what_was_judged(layout: Layout) -> None:
    facts = doctor.record(layout, Path(sys.executable))
    assert {"system", "cores", "g++", "python", "torch", "tensordict"} <= set(facts)
