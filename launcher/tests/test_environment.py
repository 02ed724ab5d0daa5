# SPDX-License-Identifier: BSD-3-Clause
"""Setting up: once, whole, and again as soon as something it rests on has changed."""

import shutil
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from tdconf import environment
from tdconf.environment import (
    check_named,
    exclusive,
    is_stamped,
    pinned_versions,
    prepare_venv,
)
from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout


def wheel(folder: Path, version: str) -> None:
    """Writes a wheel of the package `demo`, which pip installs without a network."""
    info = f"demo-{version}.dist-info"
    with zipfile.ZipFile(folder / f"demo-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr("demo.py", "")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: demo\nVersion: {version}\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


def require(layout: Layout, version: str) -> None:
    (layout.ci / "requirements.txt").write_text(
        f"--no-index\n--find-links {layout.ci}\ndemo=={version}\n"
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """A checkout that was set up once; tests work on copies of it."""
    made = Layout(tmp_path_factory.mktemp("installed"))
    made.ci.mkdir()
    wheel(made.ci, "1.0")
    wheel(made.ci, "2.0")
    (made.ci / "constraints.txt").touch()
    require(made, "1.0")
    prepare_venv(made, lambda _: None)
    return made


@pytest.fixture
def checkout(installed: Layout, tmp_path: Path) -> Layout:
    shutil.copytree(installed.root, tmp_path / "checkout", symlinks=True)
    return Layout(tmp_path / "checkout")


def test_a_second_preparation_finds_the_first_and_does_nothing(checkout: Layout) -> None:
    said: list[str] = []
    assert prepare_venv(checkout, said.append) == checkout.venv_python
    assert said == []


def test_what_is_pinned_is_what_is_installed(checkout: Layout) -> None:
    python = environment.installed_versions(checkout.venv_python, ["demo", "absent"])
    assert python == (sys.version.split()[0], {"demo": "1.0", "absent": None})


def test_other_requirements_are_installed_over_the_old_ones(checkout: Layout) -> None:
    require(checkout, "2.0")
    assert not is_stamped(checkout)
    prepare_venv(checkout, lambda _: None)
    assert is_stamped(checkout)
    _, found = environment.installed_versions(checkout.venv_python, ["demo"])
    assert found == {"demo": "2.0"}


def test_other_constraints_count_as_other_requirements(checkout: Layout) -> None:
    (checkout.ci / "constraints.txt").write_text("something==1.0\n")
    assert not is_stamped(checkout)


def test_an_interrupted_installation_is_thrown_away(checkout: Layout) -> None:
    (checkout.venv / "tdconf-installing").touch()
    (checkout.venv / "half-written").touch()
    assert not is_stamped(checkout)
    prepare_venv(checkout, lambda _: None)
    assert is_stamped(checkout)
    assert not (checkout.venv / "half-written").exists()


def test_an_environment_without_its_python_is_not_whole(checkout: Layout) -> None:
    checkout.venv_python.unlink()
    assert not is_stamped(checkout)


def test_a_damaged_stamp_is_no_stamp(checkout: Layout) -> None:
    (checkout.venv / "tdconf-stamp.json").write_text('{"requirements": "')
    assert not is_stamped(checkout)


def test_a_failing_installation_says_where_to_look_and_leaves_no_stamp(checkout: Layout) -> None:
    require(checkout, "3.0")
    with pytest.raises(TdconfError, match=r"pip\.log") as raised:
        prepare_venv(checkout, lambda _: None)
    assert raised.value.code == Exit.NO_VERDICT
    assert "No matching distribution" in (checkout.logs / "pip.log").read_text()
    assert not is_stamped(checkout)


def test_pip_is_not_believed_without_looking(
    checkout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(checkout, "2.0")
    monkeypatch.setattr(environment, "installed_versions", lambda *_: ("3.11", {"demo": "1.0"}))
    with pytest.raises(TdconfError, match=r"demo 1\.0 instead of 2\.0"):
        prepare_venv(checkout, lambda _: None)
    assert not is_stamped(checkout)


def test_a_second_launcher_waits_for_the_first_to_set_up(layout: Layout) -> None:
    order: list[str] = []
    waits = threading.Event()

    def second() -> None:
        with exclusive(layout, "setup", lambda _: waits.set()):
            order.append("second")

    thread = threading.Thread(target=second)
    with exclusive(layout, "setup", order.append):
        thread.start()
        assert waits.wait(30)
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]


def test_versions_are_read_from_pinned_lines_only(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(
        "# torch==0\n-c constraints.txt\n\ntorch==2.15.0\nPyYAML==6.0.4  # fixtures\n"
    )
    assert pinned_versions(tmp_path / "requirements.txt") == {"torch": "2.15.0", "PyYAML": "6.0.4"}


def test_a_named_python_must_have_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(TdconfError, match="has no absent-package and no another-one; type: "):
        check_named(Path(sys.executable), ["pytest", "absent-package", "another-one"])


def test_a_named_python_keeps_the_path_that_makes_it_a_virtual_environment(
    checkout: Layout,
) -> None:
    assert check_named(checkout.venv_python, ["demo"]) == checkout.venv_python


@pytest.mark.parametrize("name", ["/bin/true", "/nonexistent/python"])
def test_a_named_program_that_is_no_python_is_wrong_usage(name: str) -> None:
    with pytest.raises(TdconfError, match="is not a Python that runs") as raised:
        check_named(Path(name), ["torch"])
    assert raised.value.code == Exit.USAGE
