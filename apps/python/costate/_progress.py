"""Functions of the caller that are told how far a long call of the library is."""
from __future__ import annotations

from typing import Any, Callable, List

from ._library import REPORT
from ._library import Progress as Structure

# From what is done and all that there is to do; False ends the call.
Progress = Callable[[int, int], Any]


class Reporter:
    """Passes reports of the library on, during one call."""

    def __init__(self, tell: Progress) -> None:
        if not callable(tell):
            raise TypeError(f"progress must be a function of what is done and of all, not {type(tell).__name__}")
        failures: List[BaseException] = []

        def report(_: Any, done: int, total: int) -> int:
            try:
                return int(tell(done, total) is False)
            except BaseException as error:  # raised after the call, which ends
                failures.append(error)
                return 1

        self._failures = failures
        self.structure = Structure(REPORT(report), None)  # keeps the callback alive

    def raise_failure(self) -> None:
        """Raises what the function of the caller has raised."""
        if self._failures:
            raise self._failures.pop()
