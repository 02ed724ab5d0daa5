# SPDX-License-Identifier: BSD-3-Clause
"""The commands that ask, over a runner that follows a script: what is printed, drawn, returned."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tdconf import clauses, doctor, explain, interop
from tdconf.described import Case
from tdconf.exits import Exit, TdconfError
from tdconf.implementations import Implementation
from tdconf.layout import Layout
from tdconf.ready import Ready
from tdconf.story import told_steps

from .scripted_cases import P2P, TAGS

Line = dict[str, Any]
Install = Callable[[dict[str, list[Line]]], None]
MakeCase = Callable[..., Line]

FIRST = P2P | {"name": "p2p/first/x=1", "id": "p2p/first", "clauses": ["send.tags"]}
SECOND = P2P | {"name": "p2p/first/x=2", "id": "p2p/first", "clauses": ["send.tags"]}
OBSERVED = P2P | {"name": "p2p/asked", "id": "p2p/asked", "clauses": [], "level": "observe"}
OTHER = TAGS | {"name": "p2p/other", "id": "p2p/other", "clauses": ["send.leaves"]}
REGISTRY = """
- {id: send.tags, level: must, says: leaf n has the tag init_tag + n, status: tested,
   source: {document: the page, section: init_tag}}
- {id: send.leaves, level: must, says: all leaves travel, status: tested,
   source: {document: the page, section: summary}}
- {id: send.order, level: must, says: which leaf is the next, status: ambiguous,
   question: "insertion or sorted?", source: {document: the page, section: init_tag}}
"""


def sent(event: str, peer: int, tag: int, *, done: bool = True) -> Line:
    line = {"event": event, "group": "default", "peer": peer, "tag": tag, "dtype": "int64"}
    return line | {"shape": [2], "bytes": 16, "sha256": None, "done": done, "step": 2}


def record(rank: int, transcript: Sequence[Line], *answers: Line, waiting: int = 0) -> Line:
    released = [*range(len(answers) + waiting)]
    return {
        "rank": rank,
        "transcript": list(transcript),
        "answers": list(answers),
        "released": released,
        "answered": released[: len(answers)],
    }


@pytest.fixture
def ready(layout: Layout, monkeypatch: pytest.MonkeyPatch, scripted_runner: Install) -> Ready:
    """A checkout with three cases, two implementations and nothing to set up."""
    scripted_runner({})
    (layout.fixtures / "clauses.yaml").write_text(REGISTRY)
    described = "".join(json.dumps(case) + "\n" for case in (FIRST, SECOND, OBSERVED, OTHER))
    (layout.runner.parent / "described.jsonl").write_text(described)
    monkeypatch.setattr(doctor, "record", lambda _layout, _python: {})
    everything = {name: Implementation(name, name, name, None) for name in ("one", "two")}
    made = Ready(layout, Path(sys.executable), everything, ["one"], 0.3, 1, None)
    for command in (explain, interop, clauses):
        monkeypatch.setattr(command, "get_ready", lambda *_: made)
    return made


def plan(scripted_runner: Install, *cases: Line, name: str = "one", status: int = 0) -> None:
    scripted_runner({name: [{"cases": list(cases), "exit": status}]})


def ask(ready: Ready, target: str, **more: object) -> Exit:
    plain = {"target": target, "all": False, "svg": None, "script": None, "impl": None}
    return explain.command(ready.layout, argparse.Namespace(**(plain | more)), [])


def played(case: MakeCase, of: Case, **changes: object) -> Line:
    ranks = [record(0, [sent("send", 1, 5)]), record(1, [sent("recv", 0, 5)])]
    return case(of["name"], **({"ranks": ranks} | changes))


def test_a_case_is_shown_with_clauses_programs_diagram_and_verdict(
    ready: Ready,
    scripted_runner: Install,
    case: MakeCase,
    capfd: pytest.CaptureFixture[str],
) -> None:
    plan(scripted_runner, played(case, FIRST))
    assert ask(ready, "p2p/first/x=1") == Exit.AS_EXPECTED
    shown = capfd.readouterr().out
    for words in (
        "p2p/first/x=1  (must)\n  what is sent arrives",
        "send.tags  (must; the page, init_tag; tested)\n  leaf n has the tag init_tag + n",
        "recv(dst, src=0, init_tag=5)",
        "=> equals src@0",
        "--- one",
        "●── tag 5 ───▶●",
        "PASS, as expected",
        "every deadline was multiplied by 0.3",
    ):
        assert words in shown


def test_the_runner_is_asked_for_the_chosen_case_with_its_trace(
    ready: Ready, scripted_runner: Install, case: MakeCase
) -> None:
    plan(scripted_runner, played(case, FIRST))
    ask(ready, "p2p/first")
    results = ready.layout.output / "latest" / "one" / "job-0" / "results.jsonl"
    argv = json.loads(results.read_text().splitlines()[0])["argv"]
    assert "--trace" in argv
    assert argv[argv.index("--timeout-scale") + 1] == "0.3"
    listed = argv[argv.index("--run") + 1]
    assert Path(listed.removeprefix("@")).read_text() == "p2p/first/x=1\n"


def test_an_id_means_all_its_cases_and_shows_the_first(
    ready: Ready, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    plan(scripted_runner, played(case, FIRST), played(case, SECOND))
    ask(ready, "p2p/first")
    shown = capfd.readouterr().out
    assert "x=2" not in shown
    assert "1 more cases; --all explains each" in shown
    ask(ready, "p2p/first", all=True)
    assert "p2p/first/x=2  (must)" in capfd.readouterr().out


def test_a_clause_is_shown_with_its_first_case_without_the_steps(
    ready: Ready, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    plan(scripted_runner, played(case, FIRST))
    assert ask(ready, "send.tags") == Exit.AS_EXPECTED
    shown = capfd.readouterr().out
    assert shown.startswith("send.tags  (must; the page, init_tag; tested)\n")
    assert "●── tag 5 ───▶●" in shown
    assert "recv(dst, src=0, init_tag=5)" in shown
    assert "rank 1 step 2" not in shown
    assert shown.count("leaf n has the tag init_tag + n") == 1


def test_a_clause_is_shown_by_its_simplest_case(
    ready: Ready, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    idle = {"programs": [*P2P["programs"], []], "world": 3}
    short = {"programs": [P2P["programs"][0], P2P["programs"][1][:2]]}
    of_this = {"id": "p2p/x", "clauses": ["send.tags"]}
    simplest = P2P | of_this | short | {"name": "p2p/x/c"}
    described = [
        P2P | of_this | idle | {"name": "p2p/x/a"},
        P2P | of_this | {"name": "p2p/x/b"},
        simplest | {"name": "p2p/x/d"},
        simplest,
        simplest | {"name": "p2p/x/a", "level": "compat"},
    ]
    text = "".join(json.dumps(made) + "\n" for made in described)
    (ready.layout.runner.parent / "described.jsonl").write_text(text)
    plan(scripted_runner, played(case, simplest))
    ask(ready, "send.tags")
    shown = capfd.readouterr().out
    assert "\np2p/x/c  (must)\n" in shown
    assert "4 more cases" in shown


@pytest.mark.parametrize(
    ("other", "changes"),
    [
        ({}, {"id": "p2p/example"}),
        ({}, {"file": "fixtures/p2p/examples.yaml"}),
        ({"world": 1, "programs": P2P["programs"][:1]}, {}),
        ({"axes": {"tag": "0"}, "programs": [[], []]}, {}),
    ],
    ids=["example", "file_of_examples", "ranks", "axes"],
)
def test_examples_several_ranks_and_no_axes_show_a_clause_best(
    ready: Ready,
    scripted_runner: Install,
    case: MakeCase,
    capfd: pytest.CaptureFixture[str],
    other: Line,
    changes: Line,
) -> None:
    named = P2P | {"id": "p2p/x", "clauses": ["send.tags"]}
    best = named | {"name": "p2p/x/last"} | changes
    described = [named | {"name": "p2p/x/first"} | other, best]
    text = "".join(json.dumps(made) + "\n" for made in described)
    (ready.layout.runner.parent / "described.jsonl").write_text(text)
    plan(scripted_runner, played(case, best))
    ask(ready, "send.tags")
    assert "\np2p/x/last  (must)\n" in capfd.readouterr().out


def test_a_clause_without_cases_shows_its_question(
    ready: Ready, capfd: pytest.CaptureFixture[str]
) -> None:
    assert ask(ready, "send.order") == Exit.AS_EXPECTED
    shown = capfd.readouterr().out
    assert "question: insertion or sorted?" in shown
    assert "no case is evidence for it" in shown


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("p2p/none", "no case has this name"),
        ("p2p/frist", "this name.*\nnear it: p2p/first: ./launcher/tdconf explain p2p/first$"),
        ("p2p/first/x=3", "\nnear it: p2p/first/x=2, p2p/first/x=1: .*explain p2p/first/x=2$"),
        ("p2p/", r"this name.*\np2p/\*\* has 4 cases: ./launcher/tdconf explain 'p2p/\*\*'$"),
        ("none", "no clause has this id"),
        ("send.tag", "this id.*\nnear it: send.tags.*: ./launcher/tdconf explain send.tags$"),
        ("send", r"this id.*\nsend\.\*\* has 3 clauses: ./launcher/tdconf explain 'send\.\*\*'$"),
    ],
)
def test_what_is_not_there_is_wrong_usage(ready: Ready, target: str, message: str) -> None:
    with pytest.raises(TdconfError, match=message) as raised:
        ask(ready, target)
    assert raised.value.code == Exit.USAGE


def test_a_hang_shows_open_ends_the_sentence_and_where_ranks_stand(
    ready: Ready, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    made = {"type": "returned", "value": {"kind": "none"}}
    ranks = [
        record(0, [], made, made),
        record(1, [sent("recv", 0, 6, done=False)], made, waiting=1),
    ]
    hang = played(
        case,
        FIRST,
        ranks=ranks,
        verdict="hang",
        expected=False,
        findings=[{"text": "no answer within 3000 ms"}],
        hang={"sentence": "rank 1 waits for tag 6 from rank 0, which finished", "ranks": []},
        stacks={"1": "thread main\n  #0 wait\n  #1 recv\n"},
    )
    plan(scripted_runner, hang, status=1)
    assert ask(ready, "p2p/first/x=1") == Exit.UNEXPECTED
    shown = capfd.readouterr().out
    for words in (
        "?─ tag 6 ▶○",
        "no send is known, pending",
        "rank 1 step 2 recv dst: no answer",
        "HANG, not expected",
        "rank 1 waits for tag 6 from rank 0, which finished",
        "rank 1 stands at\n      #0 wait\n      #1 recv",
    ):
        assert words in shown


def test_nothing_counts_where_a_case_observes(
    ready: Ready, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    plan(scripted_runner, played(case, OBSERVED, verdict="hang", expected=True))
    assert ask(ready, "p2p/asked") == Exit.AS_EXPECTED
    shown = capfd.readouterr().out
    assert "HANG (observe: nothing counts)\n" in shown
    assert "It names no clause; the cases that are most like it name these:\n" in shown


def test_steps_are_told_rank_by_rank() -> None:
    returned = {"type": "returned", "value": {"kind": "none"}}
    ranks = [record(0, [], returned, returned), record(1, [], returned, waiting=1)]
    ranks[0]["answered"], ranks[1]["answered"] = [3, 4], [0]
    told = [line for step in told_steps(FIRST, {"ranks": ranks}) for line in step.lines]
    assert told == [
        "rank 0 step 1 make src: returned None",
        "rank 0 step 2 send src: returned None",
        "rank 1 step 1 make dst: returned None",
        "rank 1 step 2 recv dst: no answer",
    ]


def test_that_nothing_reached_c10d_is_said_where_it_is_known(
    ready: Ready, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    plan(scripted_runner, played(case, FIRST, ranks=[record(0, []), record(1, [])]))
    ask(ready, "p2p/first/x=1")
    assert "--- one\n\n(nothing reached c10d)\n" in capfd.readouterr().out
    silent = [record(rank, []) | {"transcript": None} for rank in (0, 1)]
    plan(scripted_runner, played(case, FIRST, ranks=silent))
    ask(ready, "p2p/first/x=1")
    shown = capfd.readouterr().out
    assert "--- one\n\n(rank 0, 1: no transcript came)\n" in shown


def test_a_drawing_holds_the_rows_of_the_diagram(
    ready: Ready, scripted_runner: Install, case: MakeCase, tmp_path: Path
) -> None:
    plan(scripted_runner, played(case, FIRST))
    ask(ready, "p2p/first/x=1", svg=tmp_path / "drawn" / "case.svg")
    root = ElementTree.fromstring((tmp_path / "drawn" / "case.svg").read_text())
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "tag 5" in texts


def test_scripts_are_written_and_how_to_run_them_is_said(
    ready: Ready,
    scripted_runner: Install,
    case: MakeCase,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    plan(scripted_runner, played(case, FIRST))
    ask(ready, "p2p/first/x=1", script=tmp_path / "scripts")
    names = {path.name for path in (tmp_path / "scripts").iterdir()}
    assert names == {"p2p-first-x-1.py", "p2p-first-x-1.cpp", "CMakeLists.txt"}
    said = f"\n{ready.layout.venv_python} {tmp_path}/scripts/p2p-first-x-1.py\n"
    assert said in capfd.readouterr().out


@pytest.mark.parametrize("name", ["p2p-first-x-1.py", "p2p-first-x-1.cpp", "CMakeLists.txt"])
def test_a_file_of_the_user_is_never_overwritten_by_a_script(
    ready: Ready, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("mine\n")
    with pytest.raises(TdconfError, match=f"{name}: exists, and was not written by") as raised:
        ask(ready, "p2p/first/x=1", script=tmp_path)
    assert raised.value.code == Exit.USAGE
    assert (tmp_path / name).read_text() == "mine\n"
    assert [path.name for path in tmp_path.glob("*.*")] == [name], "nothing else is written"
    assert not ready.layout.output.exists(), "nothing is played"


@pytest.mark.parametrize("theirs", ["", '<svg xmlns="http://www.w3.org/2000/svg"/>\n'])
def test_a_file_of_the_user_is_never_overwritten_by_a_drawing(
    ready: Ready, tmp_path: Path, theirs: str
) -> None:
    (tmp_path / "a-one.svg").write_text(theirs)
    pair = Ready(**(vars(ready) | {"chosen": ["one", "two"]}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explain, "get_ready", lambda *_: pair)
        with pytest.raises(TdconfError, match=r"a-one\.svg: exists") as raised:
            ask(ready, "p2p/first/x=1", svg=tmp_path / "a.svg")
    assert raised.value.code == Exit.USAGE
    assert (tmp_path / "a-one.svg").read_text() == theirs


def test_what_was_written_before_is_written_again(
    ready: Ready, scripted_runner: Install, case: MakeCase, tmp_path: Path
) -> None:
    for _ in range(2):
        plan(scripted_runner, played(case, FIRST))
        places = {"script": tmp_path / "scripts", "svg": tmp_path / "a.svg"}
        assert ask(ready, "p2p/first/x=1", **places) == Exit.AS_EXPECTED
    for path in [tmp_path / "a.svg", *(tmp_path / "scripts").iterdir()]:
        assert "Written by tdconf explain" in path.read_text().splitlines()[0]


def test_scripts_go_into_a_folder(ready: Ready, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TdconfError, match="file: is no folder"):
        ask(ready, "p2p/first/x=1", script=tmp_path / "file")


def test_two_implementations_meet_both_ways(
    ready: Ready, scripted_runner: Install, case: MakeCase, capfd: pytest.CaptureFixture[str]
) -> None:
    pair = Ready(**(vars(ready) | {"chosen": ["one", "two"]}))
    cases = [case["name"] for case in (FIRST, SECOND)]
    plans = {
        name: [
            {
                "cases": [
                    case(
                        other,
                        assign={"0": name, "1": partner},
                        verdict="fail" if (other, name) == (cases[1], "two") else "pass",
                    )
                    for other in cases
                ]
            }
        ]
        for name, partner in (("one", "two"), ("two", "one"))
    }
    scripted_runner(plans)
    options = argparse.Namespace(files=[], impl=["one", "two"], out=None, shard=None)
    options = argparse.Namespace(
        **vars(options), run=None, skip=None, clause=None, level=None, axis=None
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interop, "get_ready", lambda *_: pair)
        assert interop.command(ready.layout, options, []) == Exit.UNEXPECTED
    shown = capfd.readouterr().out
    assert "fail: p2p/first/x=2  (two one)" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["send", "2/2", "1/2"] in rows
    assert ["recv", "2/2", "1/2"] in rows
    assert "1 of 4 left out: a probe plays the other rank\n" in shown


def test_the_table_of_clauses_ends_with_findings(
    ready: Ready, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(clauses.preparing, "prepare", lambda *_: Path(sys.executable))
    monkeypatch.setattr(clauses.preparing, "build_targets", lambda *_: None)
    options = argparse.Namespace(clause=None, ambiguous=False, matrix=False, impl=None)
    described = ready.layout.runner.parent / "described.jsonl"
    asked = OBSERVED | {"clauses": ["send.order"]}
    described.write_text("".join(f"{json.dumps(case)}\n" for case in (FIRST, OTHER, asked)))
    assert clauses.command(ready.layout, options, []) == Exit.AS_EXPECTED
    described.write_text(json.dumps(FIRST) + "\n")
    assert clauses.command(ready.layout, options, []) == Exit.UNEXPECTED
    found = capfd.readouterr().out
    assert "FOUND: send.leaves has no case\nFOUND: send.order has no case\n" in found
    options.clause = ["send.tags"]
    assert clauses.command(ready.layout, options, []) == Exit.AS_EXPECTED
    assert "\n  says      leaf n has the tag init_tag + n\n" in capfd.readouterr().out
