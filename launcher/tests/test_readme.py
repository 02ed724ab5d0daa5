# SPDX-License-Identifier: BSD-3-Clause
"""Every command that a README shows is run, and prints what the README says it prints."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tdconf.layout import THIS_CHECKOUT

ROOT = THIS_CHECKOUT.root
# Run by .ci/run itself: this test is a part of the first, and the second is its last part.
RUN_BY_CI = ("./launcher/tdconf test", "./launcher/tdconf run")
_DEADLINE_S = 300
_BLOCK = re.compile(r"^```(console|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Command:
    """A command of a README with the lines that it prints."""

    text: str
    prints: list[str] = field(default_factory=list)


def commands(readme: str) -> list[Command]:
    """Reads what a README shows: a block `bash` is one command, `console` has some after `$ `."""
    found: list[Command] = []
    for kind, block in _BLOCK.findall(readme):
        if kind == "bash":
            found.append(Command(block.rstrip("\n")))
            continue
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Command(line[2:]))
            else:
                found[-1].prints.append(line)
    return found


def pattern(line: str) -> re.Pattern[str]:
    """Turns a printed line into a pattern: `...` is anything, times and widths of columns vary."""
    words = [re.escape(word).replace(r"\.\.\.", ".*") for word in line.split()]
    return re.compile(r"\s+".join(re.sub(r"^\d+\\\.\d$", r"[\\d.]+", word) for word in words))


def test_blocks_are_read_as_commands_with_what_they_print() -> None:
    readme = (
        "text\n```bash\ncat > f <<E\n one\n$ two\nE\n```\n"
        "```console\n$ cat f\n one\n$ true\n```\n```\n$ no\n```\n"
    )
    assert commands(readme) == [
        Command("cat > f <<E\n one\n$ two\nE"),
        Command("cat f", [" one"]),
        Command("true"),
    ]


def test_what_is_to_be_pasted_has_no_prompt() -> None:
    for path in readmes():
        for kind, block in _BLOCK.findall(path.read_text(encoding="utf-8")):
            prompts = ("$ ", "> ") if kind == "bash" else ("> ",)
            assert not any(line.startswith(prompts) for line in block.splitlines()), path


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("reference  1  1  0.4 s", "reference 1 1 12.9 s", True),
        ("reference  1  1  0.4 s", "reference 1 0 12.9 s", False),
        ("results in tdconf-out/...", "results in tdconf-out/2026-11-30", True),
        ("exit 0, as expected", "exit 1, as expected", False),
    ],
)
def test_a_shown_line_matches_but_for_times_and_ellipses(
    shown: str, printed: str, same: bool
) -> None:
    assert bool(pattern(shown).fullmatch(printed)) == same


def readmes() -> list[Path]:
    """Returns the READMEs that show commands."""
    found = [ROOT / "README.md", *sorted(ROOT.glob("[a-z]*/**/README.md"))]
    return [path for path in found if commands(path.read_text(encoding="utf-8"))]


def test_the_first_readme_shows_both_commands() -> None:
    texts = [command.text for command in commands((ROOT / "README.md").read_text())]
    assert texts[:2] == ["./launcher/tdconf run", "./launcher/tdconf test"]


@pytest.mark.parametrize("readme", readmes(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_of_a_readme_print_what_it_shows(readme: Path, tmp_path: Path) -> None:
    for name in ("launcher", "fixtures", "conformance", "ci"):
        (tmp_path / name).symlink_to(ROOT / name)
    for command in commands(readme.read_text(encoding="utf-8")):
        if command.text in RUN_BY_CI:
            continue
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command.text],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_DEADLINE_S,
            check=False,
        )
        said = f"$ {command.text}\n{ended.stdout}{ended.stderr}"
        assert ended.returncode == 0, said
        printed = iter(ended.stdout.replace(f"{ROOT}/", "").splitlines())
        for line in command.prints:
            wanted = pattern(line)
            assert any(wanted.fullmatch(found.strip()) for found in printed), (
                f"no '{line}' in {said}"
            )
