#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-tidy, with the checks of .clang-tidy, over the C++ files of the Release build.

Files that are compiled alike are checked in batches, as one source that includes them all: most of
the time goes into headers, which a batch reads once. Names that clash keep files apart, and a batch
that does not compile all the same is halved, down to single files, compiled as the build does.

Exit status: 0 clean, 1 something to mend, 2 wrong usage, 4 clang-tidy or the build is missing.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATABASE = ROOT / "build" / "release" / "compile_commands.json"
# What g++ alone understands, and -Werror: .clang-tidy says which warnings count.
NOT_FOR_CLANG = re.compile(r" -Winvalid-pch| -Werror\b| -o .*")
# What a precompiled header holds is slow to read, and few files rely on it.
PREFIX_HEADER = re.compile(r" -include \S+/cmake_pch\.hxx")
BATCH = 30
NAMELESS = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
DEFINITION = re.compile(
    r"^(?![A-Z_]+\()\w[^({=;\n]*?\b(\w+)(?:\[\w*\])?(?: final)?(?:[({]| [={:])", re.MULTILINE
)
CANNOT_COMPILE = "[clang-diagnostic-error"
DEADLINE_S = 1200.0

Commands = dict[str, str]


class UsageError(Exception):
    """An argument that names nothing."""


def compile_commands() -> Commands:
    """Returns the command that compiles each file of ours, without the file itself."""
    entries = json.loads(DATABASE.read_text(encoding="utf-8")) if DATABASE.exists() else []
    paths = [(Path(entry["file"]), entry["command"]) for entry in entries]
    return {
        str(path.relative_to(ROOT)): NOT_FOR_CLANG.sub("", command)
        for path, command in sorted(paths)
        if path.is_relative_to(ROOT) and path.suffix == ".cpp" and path.exists()
    }


def chosen(options: argparse.Namespace, known: Commands) -> list[str]:
    """Returns the files of `known` that the command line chooses."""
    if options.changed:
        return changed_since(options.changed, known)
    files = sorted({os.path.relpath(file, ROOT) for file in options.files})
    for file in files:
        if file not in known:
            raise UsageError(f"{file}: must be a .cpp file that the Release build compiles")
    return files or list(known)


def changed_since(base: str, known: Commands) -> list[str]:
    """Returns the files that differ from `base`, and those named like a header that does."""
    names: list[str] = []
    for words in (["diff", "--name-only", base], ["ls-files", "--others", "--exclude-standard"]):
        ended = subprocess.run(["git", *words, "--"], cwd=ROOT, capture_output=True, text=True)
        if ended.returncode != 0:
            raise UsageError(f"--changed {base}: {ended.stderr.strip()}")
        names += ended.stdout.splitlines()
    headers = {Path(name).stem for name in names if name.endswith(".h")}
    return [file for file in known if file in names or Path(file).stem in headers]


def own_names(file: str) -> set[str]:
    """Returns the names that `file` keeps to itself, as far as its layout shows them."""
    text = (ROOT / file).read_text(encoding="utf-8")
    own = "\n".join(NAMELESS.findall(text))
    return set(DEFINITION.findall(own)) | set(re.findall(r"^int (main)\(", text, re.MULTILINE))


def batches(known: Commands, files: Sequence[str]) -> list[list[str]]:
    """Splits `files` into lists of files that are compiled alike and share no name of their own."""
    found: list[tuple[str, set[str], list[str]]] = []
    for file in files:
        names = own_names(file)
        for command, taken, batch in found:
            if command == known[file] and len(batch) < BATCH and taken.isdisjoint(names):
                batch.append(file)
                taken |= names
                break
        else:
            found.append((known[file], names, [file]))
    return sorted((batch for _, _, batch in found), key=len, reverse=True)


def tidy(tool: str, command: str, files: Sequence[str]) -> str:
    """Returns what `tool` finds in `files`, nothing if they are clean."""
    with tempfile.TemporaryDirectory() as folder:
        words = [tool, "--quiet", "-p", folder, f"--config-file={ROOT / '.clang-tidy'}"]
        # Neither what lies in .venv, nor what the build makes.
        words.append(f"--header-filter=^{re.escape(str(ROOT))}/[a-z]")
        words.append(f"--exclude-header-filter=^{re.escape(str(DATABASE.parent))}/")
        source = ROOT / files[0]
        if len(files) > 1:
            source = Path(folder) / "batch.cpp"
            source.write_text("".join(f'#include "{ROOT / file}"\n' for file in files))
            words.append("--checks=-bugprone-suspicious-include")
            command = PREFIX_HEADER.sub("", command)
        command += f" -Wno-ignored-gch -c {source}"
        entry = {"directory": folder, "file": str(source), "command": command}
        (Path(folder) / "compile_commands.json").write_text(json.dumps([entry]))
        ended = subprocess.run([*words, source], capture_output=True, text=True, timeout=DEADLINE_S)
    return (ended.stdout or ended.stderr) if ended.returncode else ""


def check(tool: str, known: Commands, files: Sequence[str]) -> list[str]:
    """Prints what `tool` finds in `files`, and returns those in which it found something."""
    failed, clean, todo = [], 0, batches(known, files)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        while todo:
            runs = {pool.submit(tidy, tool, known[batch[0]], batch): batch for batch in todo}
            todo = []
            try:
                for run in as_completed(runs):
                    batch, found = runs[run], run.result()
                    if not found:
                        clean += len(batch)
                        print(f"tidy: {clean} of {len(files)} C++ files", flush=True)
                    elif CANNOT_COMPILE in found and len(batch) > 1:
                        todo += [batch[::2], batch[1::2]]
                    else:
                        failed += [file for file in batch if f"{ROOT / file}:" in found] or batch
                        print(found, flush=True)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    return sorted(failed)


def main() -> int:
    parser = argparse.ArgumentParser(description="clang-tidy over our own C++; default: all files")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--changed", nargs="?", const="HEAD", metavar="BASE", help="default: HEAD")
    which.add_argument("files", nargs="*", default=[], metavar="FILE", help="only these files")
    options = parser.parse_args()

    beside = [str(ROOT / ".venv" / "bin"), str(Path(sys.executable).parent)]
    tool = shutil.which("clang-tidy", path=os.pathsep.join(beside))
    known = compile_commands()
    if tool is None or not known:
        missing = f"what {DATABASE} lists" if tool else "clang-tidy"
        print(f"tidy: {missing} is missing; ./launcher/tdconf run sets everything up")
        return 4
    try:
        files = chosen(options, known)
    except UsageError as error:
        parser.error(str(error))
    failed = check(tool, known, files)
    if failed:
        print(f"tidy: failed in {len(failed)} of {len(files)} C++ files; repeat: ", end="")
        print("ci/tidy.py", *failed)
        return 1
    print(f"tidy: {len(files)} C++ files are clean")
    return 0


if __name__ == "__main__":
    sys.exit(main())
