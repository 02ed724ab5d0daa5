# SPDX-License-Identifier: BSD-3-Clause
"""Evidence for clauses, meetings of implementations, patterns, and cases from standard input."""

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tdconf import ambiguous, coverage, meetings, mixing, registry, typed
from tdconf.described import Case
from tdconf.elements import elements, item_bytes, shown
from tdconf.exits import Exit, TdconfError
from tdconf.layout import Layout
from tdconf.patterns import matches
from tdconf.registry import Clause
from tdconf.story import Told, where_it_stands

from .scripted_cases import EARLY, GATHER, P2P, PIPE, SUBGROUP, TAGS, case, make, step

Line = dict[str, Any]


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("a/*", "a/b", True),
        ("a/*", "a/b/c", False),
        ("a/**", "a/b/c", True),
        ("a/**", "a", True),
        ("**/c", "a/b/c", True),
        ("a/b*d", "a/bcd", True),
        ("a/b", "a/bc", False),
        ("a.b", "axb", False),
    ],
)
def test_patterns_fit_as_the_judge_reads_them(pattern: str, name: str, fits: bool) -> None:
    assert matches(pattern, name) == fits


def clause(name: str, status: str = "tested", level: str = "must", **more: str) -> Clause:
    return Clause(name, level, "it holds", "page", "section", status, **more)


def named(name: str, clauses: Sequence[str], level: str = "must", axis: int = 0) -> Case:
    made = case(f"{name}/axis={axis}", [], clauses=list(clauses), level=level)
    return made | {"id": name}


CASES = [named("p/a", ["c.one"], axis=0), named("p/a", ["c.one"], axis=1)]
CASES += [named("p/b", ["c.one", "c.two"], "compat")]


def test_documents_and_what_they_expand_to_are_counted_by_level() -> None:
    (found,) = coverage.evidence([clause("c.one")], CASES)
    assert found.documents == {"must": 1, "compat": 1}
    assert found.expanded == {"must": 2, "compat": 1}
    row = coverage.table([found]).splitlines()[1].split()
    assert row == ["c.one", "must", "1/2", "-", "1/1", "-", "tested", "page,", "section"]
    assert coverage.closing([found], CASES) == (
        "1 clauses: 1 tested, 0 untested, 0 ambiguous, 0 without evidence; 2 documents, 3 cases"
    )


@pytest.mark.parametrize(
    ("given", "lack"),
    [
        (clause("c.none"), "has no case"),
        (clause("c.none", "untested", reason="needs hardware"), None),
        (clause("c.none", "ambiguous", question="which?"), "has no case"),
        (clause("c.none", level="compat"), None),
        (clause("c.none", "untested", level="advice", reason="a figure"), None),
        (clause("c.two"), None),
    ],
)
def test_a_must_clause_needs_a_case_or_says_why_not(given: Clause, lack: str | None) -> None:
    (found,) = coverage.evidence([given], CASES)
    assert found.lack == lack


def test_open_questions_stand_beside_their_answers() -> None:
    answer = {"type": "returned", "value": {"kind": "int", "int": 6}}
    asked = named("o/x", ["c.open"], "observe") | {"programs": [[step("recv", td="a", src=1)]]}
    record = {"rank": 0, "answers": [answer], "answered": [0], "released": [0]}
    result = {"case": asked["name"], "verdict": "pass", "signature": "", "ranks": [record]}
    question = clause("c.open", "ambiguous", question="which tag?")
    text = ambiguous.report([question], [asked], {"mine": [result], "other": []})
    assert text.splitlines() == [
        "c.open  (page, section)",
        "  says      it holds",
        "  question  which tag?",
        "  o/x/axis=0: what is sent arrives",
        "    mine        rank 0 step 1 recv a: returned 6",
        "    other       no answer",
    ]
    assert ambiguous.report([question], [], {}).endswith("  no case observes it")
    both = ambiguous.report([question], [asked], {"mine": [result], "other": [result]})
    assert both.endswith("\n    other       rank 0 step 1 recv a: returned 6\n    alike")


def told(*answers: Line, rank: int = 0) -> list[Told]:
    """The steps of one rank; the lines of an answer are what it is about."""
    return [
        Told(rank, number + 1, answer, [answer["said"]]) for number, answer in enumerate(answers)
    ]


def raised(exception: str, said: str) -> Line:
    return {"type": "raised", "exception": exception, "category": "value", "said": said}


SIX, SEVEN = ({"type": "returned", "said": f"returned {number}"} for number in (6, 7))


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (told(SIX), told(SIX), "alike"),
        (told(SIX, SIX), told(SIX, SEVEN), "they differ at rank 0 step 2"),
        (told(SIX, SIX, rank=1), told(SIX, rank=1), "they differ at rank 1 step 2"),
        (told(SIX), told(SIX, SIX), "they differ at rank 0 step 2"),
        (told(SEVEN) + told(SIX, rank=1), told(SIX) + told(SIX), "they differ at rank 0 step 1"),
        (told(raised("KeyError", "no a")), told(raised("KeyError", "a?")), "alike"),
        (told(raised("c10::ValueError", "a")), told(raised("ValueError", "b")), "alike"),
        (told(raised("c10::Error", "a")), told(raised("RuntimeError", "b")), "alike"),
        (
            told(raised("KeyError", "no a")),
            told(raised("ValueError", "no a")),
            "they differ at rank 0 step 1",
        ),
        (told(SIX), told(raised("KeyError", SIX["said"])), "they differ at rank 0 step 1"),
        (told({**SIX, "said": "at 0x7f01"}), told({**SIX, "said": "at 0x7e02"}), "alike"),
    ],
)
def test_answers_are_compared_step_by_step(one: list, other: list, words: str) -> None:
    assert ambiguous.compared([one, other]) == words


AB = ("A", "B")


def test_two_implementations_take_turns_over_the_ranks() -> None:
    assert mixing.assignment(P2P, AB) == "0=A,1=B"
    assert mixing.assignment(P2P, ("B", "A")) == "0=B,1=A"
    assert mixing.assignment(GATHER, AB) == "0=A,1=B,2=A"


def test_ranks_without_steps_do_not_count_as_a_turn() -> None:
    idle = case("idle", P2P["programs"][0], [], P2P["programs"][1])
    assert mixing.assignment(idle, AB) == "0=A,1=B,2=B"


def test_the_probe_keeps_its_rank() -> None:
    probed = GATHER | {"roles": {"1": "probe"}}
    assert mixing.assignment(probed, AB) == "0=A,2=B"


def test_collective_operations_are_put_to_the_test() -> None:
    used = ["consolidated", "scatter", "broadcast", "all_gather", "all_reduce", "reduce"]
    steps = [make("a", {}), *(step(op, td="a") for op in [*reversed(used[1:]), "consolidate"])]
    made = case("x", steps, steps)
    assert mixing.methods(made) == [method for method in mixing.METHODS if method in used]
    assert mixing.why_alone(made) is None


def test_only_cases_in_which_two_can_meet_are_played() -> None:
    ours = {"id": "p2p/x"}
    assert mixing.why_alone(P2P | ours) is None
    assert mixing.why_alone(TAGS | ours) == "a probe plays the other rank"
    assert str(mixing.why_alone(P2P | {"level": "sound"})).startswith("it is sound")
    assert mixing.why_alone(P2P | {"id": "question/of-my-own"}) is None
    observing = P2P | ours | {"level": "observe"}
    assert mixing.why_alone(observing) == "it observes, so that nothing counts"
    alone = case("alone", P2P["programs"][0], [])
    assert mixing.why_alone(alone | ours) == "only one rank has steps"
    silent = case("silent", [make("a", {})], [make("a", {})])
    assert mixing.why_alone(silent | ours) == (
        "no rank sends, receives or takes part in a collective operation"
    )


def test_cases_that_are_left_out_are_counted_by_reason() -> None:
    ours = {"id": "p2p/x"}
    observing = P2P | ours | {"level": "observe"}
    assert meetings.left_out([TAGS | ours, observing, P2P | ours, TAGS | ours]) == [
        "2 of 4 left out: a probe plays the other rank",
        "1 of 4 left out: it observes, so that nothing counts",
    ]


def test_methods_are_the_operations_of_the_implementations() -> None:
    assert mixing.methods(EARLY) == ["isend", "irecv"]
    assert mixing.methods(GATHER) == ["gather_and_stack"]
    both = case("c", [step("send", td="a", dst=1, consolidated=True)], [make("a", {})])
    assert mixing.methods(both) == ["send", "consolidated"]
    assert mixing.methods(PIPE) == ["send", "recv", "pipe"]


def test_cases_whose_ranks_agree_are_one_run() -> None:
    found = mixing.grouped([P2P, GATHER, SUBGROUP], AB)
    assert found == {"0=A,1=B,2=A": ["gather", "subgroup", "p2p"]}


def met(
    of: Case, shared: str, verdict: str = "pass", listed: Sequence[str] = ()
) -> meetings.Meeting:
    assign = {str(rank): name for rank, name in enumerate(shared.split())}
    result: dict[str, Any] = {"assign": assign, "verdict": verdict, "signature": "differs"}
    return meetings.meet(of, result | {"repeat": "repeat me"}, listed)


def test_the_matrix_counts_methods_by_the_way_to_share_the_ranks() -> None:
    found = [met(P2P, "A B"), met(P2P, "B A", "fail"), met(EARLY, "A B"), met(EARLY, "B A")]
    found.append(met(GATHER, "B A B", "fail", ["gather"]))
    rows = [line.split() for line in meetings.matrix(found).splitlines()]
    assert rows == [
        ["method", "A", "B", "B", "A", "B", "A", "B"],
        ["send", "1/1", "0/1", "-"],
        ["isend", "1/1", "1/1", "-"],
        ["recv", "1/1", "0/1", "-"],
        ["irecv", "1/1", "1/1", "-"],
        ["gather_and_stack", "-", "-", "0/1", "(1", "listed)"],
        ["all", "2/2", "1/2", "0/1", "(1", "listed)"],
    ]


def test_what_differs_is_named_with_the_command_that_repeats_it() -> None:
    found = [met(P2P, "A B"), met(P2P, "B A", "fail"), met(GATHER, "A B A", "fail", ["gather"])]
    assert meetings.differing(found) == [
        "fail: p2p  (B A)",
        "  fail: differs",
        "  repeat: repeat me",
        "listed: gather  (A B A)",
        "  fail: differs",
    ]


@pytest.mark.parametrize(
    ("verdict", "listed", "code"),
    [
        ("pass", [], Exit.AS_EXPECTED),
        ("fail", ["p2p"], Exit.AS_EXPECTED),
        ("pass", ["p2p"], Exit.AS_EXPECTED),
        ("fail", ["other"], Exit.UNEXPECTED),
        ("hang", [], Exit.UNEXPECTED),
        ("crash", [], Exit.UNEXPECTED),
        ("unsupported", [], Exit.NO_VERDICT),
        ("error", [], Exit.NO_VERDICT),
    ],
)
def test_a_meeting_counts_as_in_a_run(verdict: str, listed: list[str], code: Exit) -> None:
    assert met(P2P, "A B", verdict, listed).code == code


def test_the_registry_is_read_with_its_sources(layout: Layout) -> None:
    (layout.fixtures / "clauses.yaml").write_text(
        "- {id: send.tags, level: must, says: s, status: ambiguous, question: q,\n"
        "   source: {document: d, section: e}}\n"
    )
    (found,) = registry.clauses(layout)
    assert found == Clause("send.tags", "must", "s", "d", "e", "ambiguous", None, "q")
    assert found.source == "d, e"
    assert registry.named([found], "send.*", "ask") == [found]
    with pytest.raises(TdconfError, match=r"recv\.\*: no clause has this id"):
        registry.named([found], "recv.*", "ask")


@pytest.mark.parametrize(
    ("level", "document", "words"),
    [
        ("compat", "wire of 0.15.3", "no page says this; tensordict 0.15.3 does it"),
        ("sound", "no page", "no page says this; no user accepts otherwise"),
    ],
)
def test_a_clause_that_no_page_has_says_so(level: str, document: str, words: str) -> None:
    assert Clause("c", level, "it holds", document, "peers", "tested").source == words


def test_clauses_show_their_text_under_their_rows() -> None:
    asked = [clause("c.one"), clause("c.two", "ambiguous", question="which?", reason="unclear")]
    lines = coverage.table(coverage.evidence(asked, CASES), with_text=True).splitlines()
    assert [line.split("  ")[0] for line in lines[:2]] == ["clause", "c.one"]
    assert lines[2] == "  says      it holds"
    assert lines[3].startswith("c.two ")
    assert lines[4:] == ["  says      it holds", "  reason    unclear", "  question  which?"]


def test_a_case_from_standard_input_is_kept_under_a_name_of_its_own(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout.root.mkdir(exist_ok=True)
    monkeypatch.chdir(layout.root)
    kept = []
    for text in (b"id: a\n", b"id: b\n", b"id: a\n"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        kept.append(typed.keep(layout))
        assert (layout.root / kept[-1]).read_bytes() == text
    assert kept[0] == kept[2] != kept[1]
    assert kept[0].parent == Path("tdconf-out/asked")


def test_nothing_on_standard_input_is_no_case(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" \n")))
    with pytest.raises(TdconfError, match="standard input is empty"):
        typed.keep(layout)


@pytest.mark.parametrize(
    ("dtype", "data", "values"),
    [
        ("int16", "0100ffff", "1 -1"),
        ("uint64", "ffffffffffffffff", "18446744073709551615"),
        ("bool", "0001", "False True"),
        ("float64", "9a9999999999b93f", "0.1"),
        # The fields of each: 0.1, the largest, its neighbour; the smallest, zeros, infinity, NaN.
        ("float32", "cdcccc3d ffff7f7f feff7f7f", "0.1 3.4028235e+38 3.4028233e+38"),
        ("float32", "01000000 00000080 000080ff 0000c07f", "1e-45 -0.0 -inf nan"),
        ("float16", "662e ff7b fe7b 003c 0100 007c", "0.1 65500.0 65470.0 1.0 6e-08 inf"),
        ("bfloat16", "cd3d 803f 813f c0ff", "0.1 1.0 1.01 nan"),
        ("float8_e4m3fn", "38 39 b8 7e 7f 01", "1.0 1.1 -1.0 450.0 nan 0.002"),
        ("float8_e5m2", "3c 3d 7b 7c 7d 01", "1.0 1.2 60000.0 inf nan 2e-05"),
        ("complex64", "0000803f000000c0", "(1.0-2.0j)"),
        ("complex32", "003c0040", "(1.0+2.0j)"),
    ],
)
def test_elements_are_written_with_the_digits_that_their_dtype_needs(
    dtype: str, data: str, values: str
) -> None:
    assert elements(dtype, bytes.fromhex(data)) == values.split()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_what_is_written_of_an_element_gives_the_same_element(dtype: str) -> None:
    """Every element there is, read back by torch."""
    torch = pytest.importorskip("torch")
    size = item_bytes(dtype)
    data = b"".join(bits.to_bytes(size, "little") for bits in range(256**size))
    texts = elements(dtype, data)
    given = torch.frombuffer(bytearray(data), dtype=getattr(torch, dtype))
    read = torch.tensor([float(text) for text in texts], dtype=torch.float64).to(given.dtype)
    same = given.view(torch.uint8) == read.view(torch.uint8)
    either_is_nan = given.to(torch.float64).isnan() & read.to(torch.float64).isnan()
    assert (same.reshape(-1, size).all(dim=1) | either_is_nan).all()


def test_a_leaf_shows_its_first_elements() -> None:
    leaf = {"dtype": "int16", "shape": [3], "bytes": "010002000300"}
    assert shown(leaf, 3) == "int16[3] [1, 2, 3]"
    assert shown(leaf, 2) == "int16[3] [1, 2, ...]"
    rows = {"offsets": [0, 1, 3], "lengths": None, "ragged_idx": 1}
    assert shown(leaf | {"shape": [2, -1], "rows": rows}, 3) == (
        "int16[2, -1] rows at [0, 1, 3] [1, 2, 3]"
    )
    assert shown({"dtype": "int16", "shape": [3], "sha256": "ab" * 32}, 2) == (
        "int16[3] sha256 abababababab..."
    )


def test_of_the_stacks_the_innermost_of_the_first_thread_are_shown() -> None:
    python = "thread Main\n" + "".join(f"  File {n}\n" for n in range(20)) + "thread B\n  File b\n"
    python += "py-spy:\nProcess 7: python\nThread 7 (idle)\n    run (rank.py:9)\n"
    assert where_it_stands(python) == [f"  File {n}" for n in range(8, 20)]
    native = "thread 1 main\n" + "".join(f"  #{n} f\n" for n in range(20)) + "gdb: slow\n"
    assert where_it_stands(native) == [f"  #{n} f" for n in range(12)]


def test_what_a_debugger_saw_counts_where_the_adapter_said_nothing() -> None:
    seen = "Process 7: python\nThread 7 (idle)\n    wait (spy.py:3)\n    run (rank.py:9)\n"
    assert where_it_stands(f"py-spy:\n{seen}") == ["    wait (spy.py:3)", "    run (rank.py:9)"]
    assert where_it_stands("gdb:\nThread 1 (LWP 7)\n#0 wait ()\n") == ["#0 wait ()"]
    assert where_it_stands("") == []
