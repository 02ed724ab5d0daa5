# SPDX-License-Identifier: BSD-3-Clause
"""What is timed: the part of one rank in one operation."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

Clock = Callable[[], float]


class Operation(ABC):
    """The part of one rank in an operation that is timed again and again.

    What it needs is made when it is made.
    """

    @abstractmethod
    def run(self) -> None:
        """Does the operation once, together with all other ranks."""

    @abstractmethod
    def refill(self) -> None:
        """Gives what this rank sends its values, and what it receives others."""

    @abstractmethod
    def check(self) -> None:
        """Checks what the last run() after refill() brought; nothing where nothing arrives.

        Errors  ValueError: an element is not what the formula says.
        """


class Injected(Operation):
    """Makes an operation slower by a fraction of the time that it took."""

    def __init__(
        self, operation: Operation, fraction: float, clock: Clock = time.perf_counter
    ) -> None:
        self._operation = operation
        self._fraction = fraction
        self._clock = clock

    def run(self) -> None:
        start = self._clock()
        self._operation.run()
        end = self._clock()
        until = end + (end - start) * self._fraction
        while self._clock() < until:
            pass

    def refill(self) -> None:
        self._operation.refill()

    def check(self) -> None:
        self._operation.check()
