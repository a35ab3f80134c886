"""Python's signal handlers during long calls of the library, such as control-C."""
from __future__ import annotations

import ctypes
import threading
from typing import Any, Generator, List

from ._library import INTERRUPT, Interrupt
from ._library import check as check_status


class Signals:
    """Lets Python's signal handlers run during calls of the library, and raises what they raise.

    The library calls a callback from time to time and ends the call if it returns 1. The callback is `send` of a
    generator that waits inside a try statement. So an exception of a handler, which Python may raise at the very
    first instruction of a callback, is always caught. An object serves one call at a time.

    Handlers run in the main thread only, so calls of other threads ask nothing: a callback in a thread that still
    runs when the interpreter ends would abort the program."""

    def __init__(self) -> None:
        self._caught: List[BaseException] = []
        answers = _answers(self._caught)
        next(answers)  # enters the try statement
        self.interrupt = Interrupt(INTERRUPT(answers.send), None)  # keeps the callback alive

    def asked(self) -> Any:
        """What a call of this thread passes to the library: the costate_interrupt, or None."""
        return ctypes.byref(self.interrupt) if in_main_thread() else None

    def check(self, status: int) -> int:
        """Raises the exception of a handler, or that of a negative status."""
        if self._caught:
            error = self._caught.pop()
            self._caught.clear()
            raise error
        return check_status(status)


def in_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def _answers(caught: List[BaseException]) -> Generator[int, Any, None]:
    """Yields 1 after a handler has raised an exception, which it adds to `caught`, otherwise 0."""
    answer = 0
    while True:
        try:
            while True:
                yield answer
                answer = 0
        except GeneratorExit:
            return
        except BaseException as error:
            # without this frame in its traceback, which would be cleared together with the traceback
            caught.append(error.with_traceback(error.__traceback__ and error.__traceback__.tb_next))
            answer = 1
