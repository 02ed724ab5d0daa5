# SPDX-License-Identifier: BSD-3-Clause
"""Progress of a measurement: how many requests each lane has answered."""

from collections import Counter

from tdconf import display


class Steps:
    """Shows the requests that each lane has answered, of `each` that there will be."""

    def __init__(self, each: int) -> None:
        self._each = each
        self._done: Counter[str] = Counter()
        self._progress = display.progress()

    def __enter__(self) -> "Steps":
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.close()

    def step(self, lane: str) -> None:
        self._done[lane] += 1
        self._progress.update(lane, self._done[lane], self._each)
