"""Exceptions for the statuses of the library."""


class Error(Exception):
    """Base of all exceptions of the library; `str()` is the sentence of `costate_last_error()`."""

    status = None


class BadArgument(Error, ValueError):
    """An index out of range, or a number that is not finite or not allowed."""

    status = -1


class BadHandle(Error, ValueError):
    """The model or batch has been closed."""

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


class ModelWarning(UserWarning):
    """A warning about an unsupported element of a file or about its initial state."""


BY_STATUS = {kind.status: kind for kind in (BadArgument, BadHandle, BadFile, Diverged, NoMemory, BadVersion, Internal)}
