# SPDX-License-Identifier: BSD-3-Clause
"""Real ranks and the values that tests give them."""

from pathlib import Path

from tdconf_tensordict_adapter.decode import Json

from .fake_judge import Connection, FakeJudge

DEFAULT = {"name": "default", "kind": "default", "ranks": [0, 1], "backend": "gloo"}


class World:
    """The ranks, mostly two, forked for one test, each by the server that plays it."""

    def __init__(self, judge: FakeJudge, servers: tuple[Connection, ...], folder: Path) -> None:
        self._servers = servers
        self.folder = folder
        self._joins = 0
        spawned = [judge.spawn(server, rank) for rank, server in enumerate(servers)]
        self.ranks = [connection for connection, _ in spawned]
        self.pids = [pid for _, pid in spawned]

    def join(self, groups: list[Json] | None = None, timeout_ms: int = 20_000) -> list[Json]:
        self._joins += 1
        store = {"kind": "file", "path": str(self.folder / f"store{self._joins}")}
        fields = {
            "world_size": len(self.ranks),
            "store": store,
            "groups": [DEFAULT] if groups is None else groups,
            "timeout_ms": timeout_ms,
        }
        return self.both("join", [{"rank": rank} | fields for rank in range(len(self.ranks))])

    def both(self, kind: str, fields: list[Json]) -> list[Json]:
        """Asks every rank before waiting for any."""
        asked = [rank.post(kind, **own) for rank, own in zip(self.ranks, fields, strict=True)]
        return [rank.answer_to(seq) for rank, seq in zip(self.ranks, asked, strict=True)]

    def steps(self, *steps: Json) -> list[Json]:
        return self.both("step", list(steps))

    def make(self, name: str, *trees: Json) -> list[Json]:
        """Makes one value a rank and returns the snapshots."""
        steps = [{"op": "make", "args": {"name": name, "tree": tree}} for tree in trees]
        answers = self.both("step", steps)
        assert {answer["type"] for answer in answers} == {"returned"}, answers
        return [answer["value"]["snapshot"] for answer in answers]

    def snapshot(self, rank: int, name: str) -> Json:
        return self.ranks[rank].step("snapshot", td=name)["value"]["snapshot"]

    def close(self) -> None:
        """Ends both ranks in good order; nothing happens the second time."""
        ranks, self.ranks = self.ranks, []
        if not ranks:
            return
        for rank in ranks:
            assert rank.ask("bye")["type"] == "done"
        ended = {}
        for server in self._servers:
            event = server.event()
            ended[event["pid"]] = (event["status"], event["signal"])
        assert ended == dict.fromkeys(self.pids, (0, None))


def leaf(dtype: str, shape: list[int], fill: Json, form: str = "plain") -> Json:
    return {"kind": "tensor", "dtype": dtype, "shape": shape, "fill": fill, "form": form}


def ramp(start: int) -> Json:
    return {"ramp": {"start": start, "step": 1}}


def tensordict(entries: list[Json], batch_size: tuple[int, ...] = (2,), **more: Json) -> Json:
    return {
        "kind": "tensordict",
        "batch_size": list(batch_size),
        "names": None,
        "device": None,
        "entries": entries,
        "consolidated": False,
        "locked": False,
    } | more
