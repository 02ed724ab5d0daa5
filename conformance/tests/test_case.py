# SPDX-License-Identifier: BSD-3-Clause
"""What a case holds is let go at its end, whatever fails; and pipes are found."""

import weakref
from datetime import timedelta
from pathlib import Path

import pytest
import torch.distributed as dist

from tdconf_tensordict_adapter.case import Case
from tdconf_tensordict_adapter.errors import AdapterError
from tdconf_tensordict_adapter.messages import FileStore, Group, Join
from tdconf_tensordict_adapter.pipes import Pipes
from tdconf_tensordict_adapter.tensorclasses import class_of

UNDEFINED = Group("default", "default", [0], "undefined")


class Pipe:
    """Stands for one end of a pipe; may refuse to be closed."""

    def __init__(self, refuses: bool = False) -> None:
        self._refuses = refuses
        self.closed = False

    def close(self) -> None:
        self.closed = True
        if self._refuses:
            raise RuntimeError("it does not close")


def joined(store: Path) -> Case:
    case = Case()
    case.join(Join(0, 1, FileStore("file", str(store)), [UNDEFINED], 1000))
    return case


def test_a_pipe_that_does_not_close_keeps_nothing_else_alive(tmp_path: Path) -> None:
    case = joined(tmp_path / "store")
    pipes = {"first": Pipe(), "bad": Pipe(refuses=True), "last": Pipe()}
    case.pipes._pipes.update(pipes)
    class_of("Point", ["x"])
    folder = case.new_file().parent
    with pytest.raises(RuntimeError, match="it does not close"):
        case.close()
    assert all(pipe.closed for pipe in pipes.values())
    assert not folder.exists()
    assert not dist.is_initialized()
    # The name is free again, which class_of refuses while the case goes on.
    class_of("Point", ["y"])
    joined(tmp_path / "next").close()


def test_a_transcript_that_outlives_its_case_holds_no_group(tmp_path: Path) -> None:
    case = joined(tmp_path / "store")
    group = weakref.ref(case.group("default"))
    outlives = case.transcript
    case.close()
    assert group() is None
    assert outlives.events() == []


@pytest.mark.parametrize("text", ["", "port", "0", "65536", "-1", "80 "])
def test_a_port_that_is_none_is_refused(text: str) -> None:
    store = dist.HashStore()
    store.set("pipe/1/0/1", text)
    with pytest.raises(AdapterError, match="under pipe/1/0/1; allowed is a port"):
        Pipes(0, store, timedelta(seconds=1)).open("p", peer=1, listen=False)


def test_a_name_of_no_pipe_is_refused_with_those_there_are() -> None:
    pipes = Pipes(0, dist.HashStore(), timedelta(seconds=1))
    pipes._pipes.update({"p": Pipe(), "q": Pipe()})
    with pytest.raises(AdapterError, match="no pipe is called 'r'; there are: p, q"):
        pipes.named("r")
