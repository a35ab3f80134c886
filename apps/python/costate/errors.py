"""Exceptions for the statuses of the library."""
from __future__ import annotations

from typing import Dict, List, Optional, Type


class Error(Exception):
    """Base of all exceptions of the library; `str()` is the sentence of `costate_last_error()`."""

    status: Optional[int] = None


class BadArgument(Error, ValueError):
    """An index out of range, or a number that is not finite or not allowed."""

    status = -1


class BadHandle(Error, ValueError):
    """The model or batch has been closed, or the batch belongs to the process that called fork()."""

    status = -2


class BadFile(Error, ValueError):
    """The file is missing or invalid; the sentence names file, place and remedy."""

    status = -3


class Diverged(Error, ArithmeticError):
    """A result is not finite."""

    status = -4


class NoMemory(Error, MemoryError):
    """The library could not allocate."""

    status = -5


class BadVersion(Error, ImportError):
    """This package and the library are incompatible."""

    status = -6


class Internal(Error, RuntimeError):
    """A fault of the library."""

    status = -7


class Interrupted(Error):
    """A call on a batch was ended between two control steps. Python raises the exception of the signal instead."""

    status = -8


class ModelWarning(UserWarning):
    """A warning about an unsupported element of a file or about its initial state."""


_KINDS: List[Type[Error]] = [
    BadArgument, BadHandle, BadFile, Diverged, NoMemory, BadVersion, Internal, Interrupted
]
BY_STATUS: Dict[Optional[int], Type[Error]] = {kind.status: kind for kind in _KINDS}
