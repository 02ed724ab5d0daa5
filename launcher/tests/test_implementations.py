# SPDX-License-Identifier: BSD-3-Clause
"""What `--impl` and `--assign` accept, and what becomes of it."""

from pathlib import Path

import pytest

from tdconf.exits import Exit, TdconfError
from tdconf.implementations import (
    adapter_environment,
    known,
    needed_packages,
    parse,
    parse_assignment,
)
from tdconf.layout import Layout

PYTHON = Path("/opt/some python/bin/python")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("tensordict", ("tensordict", None)),
        ("mine=exec:./adapter --fast", ("mine", "./adapter --fast")),
        ("mine=fork:python -m mine", ("mine", "fork:python -m mine")),
        ("mine-2=exec:env A=b:c ./adapter", ("mine-2", "env A=b:c ./adapter")),
    ],
)
def test_an_implementation_is_a_name_or_a_name_and_a_start(
    text: str, read: tuple[str, str | None]
) -> None:
    assert parse(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=exec:x",
        "a b",
        "mine=",
        "mine=x",
        "mine=exec:",
        "mine=exec: ",
        "mine=ssh:x",
        "a/b=exec:x",
        "..=exec:x",
        ".",
        "a.b=exec:x",
        "-a=exec:x",
        "\u00e9=exec:x",
        "mine\n=exec:x",
        "mine=exec:./adapter 'open",
        'mine=fork:./adapter "open',
        "mine=exec:./adapter \\",
        "mine=exec:''",
    ],
)
def test_anything_else_is_refused_as_wrong_usage(text: str) -> None:
    with pytest.raises(TdconfError) as raised:
        parse(text)
    assert raised.value.code == Exit.USAGE


def test_an_own_implementation_plays_beside_the_built_in_ones(layout: Layout) -> None:
    everything, chosen = known(layout, PYTHON, ["mine=exec:./adapter", "reference"])
    assert chosen == ["mine", "reference"]
    assert set(everything) == {"mine", "reference", "tensordict", "probe"}
    assert everything["mine"].command == "./adapter"
    assert everything["mine"].given == "mine=exec:./adapter"


def test_the_python_of_the_judged_environment_starts_the_adapter_of_tensordict(
    layout: Layout,
) -> None:
    everything, _ = known(layout, PYTHON, ["tensordict"])
    command = "fork:'/opt/some python/bin/python' -m tdconf_tensordict_adapter"
    assert everything["tensordict"].command == command


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (["nobody"], "nobody is no implementation; there are probe, reference, tensordict"),
        (["probe"], "the probe only plays ranks for others"),
        (["reference", "reference"], "reference is named twice"),
        (["reference=exec:x"], "the name reference is taken"),
    ],
)
def test_a_name_without_one_meaning_is_refused(
    layout: Layout, named: list[str], message: str
) -> None:
    with pytest.raises(TdconfError, match=message):
        known(layout, PYTHON, named)


def test_only_what_plays_needs_its_package() -> None:
    assert needed_packages(["reference"]) == ("torch", "libucx-cu13")
    assert needed_packages(["mine", "tensordict"]) == ("torch", "libucx-cu13", "tensordict")


def test_an_assignment_names_a_player_per_rank() -> None:
    assert parse_assignment("0=reference, 2=tensordict") == {0: "reference", 2: "tensordict"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "0=",
        "a=reference",
        "-1=reference",
        "0=a,0=b",
        "0=a,",
        "\u0663=reference",
        "2147483648=reference",
        f"{'9' * 5000}=reference",
    ],
)
def test_an_assignment_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(TdconfError, match="--assign") as raised:
        parse_assignment(text)
    assert raised.value.code == Exit.USAGE


def test_the_adapters_inherit_the_pythonpath_of_the_user(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = str(layout.conformance / "adapters" / "tensordict")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert adapter_environment(layout)["PYTHONPATH"] == ours
    monkeypatch.setenv("PYTHONPATH", "/my/fork")
    assert adapter_environment(layout)["PYTHONPATH"] == f"{ours}:/my/fork"
