"""Conversion and checks of what is passed to the library: arrays, integers, names."""
from __future__ import annotations

import difflib
import operator
from typing import Any, Collection, Optional, Sequence, Tuple, Type, Union

import numpy
import numpy.typing

from .errors import BadArgument

Array = numpy.typing.NDArray[numpy.float64]
Integers = numpy.typing.NDArray[numpy.int32]
Mask = numpy.typing.NDArray[numpy.bool_]
ArrayLike = numpy.typing.ArrayLike  # also every object with __dlpack__ in the memory of the CPU, such as tensors
Shape = Tuple[Optional[int], ...]  # None: any number

_LARGEST_INT = 2**31 - 1


def numbers(name: str, given: ArrayLike, shape: Shape) -> Array:
    """`given` as a C-contiguous array of float64 and this shape. Only what is not such an array already is copied:
    lists, integers, float32, strided arrays, tensors of the CPU."""
    array: Array = given if type(given) is numpy.ndarray else _foreign(name, given)
    if array.dtype != numpy.float64:
        if array.dtype.kind not in "iuf":
            raise TypeError(f"{name} must hold numbers, not {array.dtype}")
        array = array.astype(numpy.float64)
    if array.shape != shape:
        _check_shape(name, array, shape)
    return array if array.flags.c_contiguous else numpy.ascontiguousarray(array)


def integers(name: str, given: ArrayLike, shape: Shape, dtype: Any = numpy.int32) -> Any:
    """`given`, whole numbers in the range of dtype, as a C-contiguous array of dtype and this shape."""
    array = numpy.asarray(given)
    if array.size == 0:
        array = array.astype(dtype)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, not {array.dtype}")
    _check_shape(name, array, shape)
    limits = numpy.iinfo(dtype)
    if array.size > 0 and (array.min() < limits.min or array.max() > limits.max):
        raise BadArgument(f"{name} has numbers beyond those of {numpy.dtype(dtype)}")
    return numpy.ascontiguousarray(array, dtype)


def mask(name: str, given: ArrayLike, n: int) -> Mask:
    """`given` as an array of n booleans."""
    array = numpy.asarray(given)
    if array.dtype != numpy.bool_:
        raise TypeError(f"{name} must hold booleans, not {array.dtype}")
    _check_shape(name, array, (n,))
    return numpy.ascontiguousarray(array)


def output(name: str, array: Optional[Array], shape: Tuple[int, ...]) -> Array:
    """The array for results: `array`, into which the library writes in place, or a new one if it is None."""
    if array is None:
        return numpy.empty(shape)
    if not isinstance(array, numpy.ndarray) or array.dtype != numpy.float64:
        raise TypeError(f"{name} is an output and must be a numpy array of float64")
    _check_shape(name, array, shape)
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise ValueError(f"{name} is an output and must be C-contiguous and writable")
    return array


def integer(name: str, given: Any) -> int:
    """`given`, an integer of any type, in the range of the library's integers."""
    if isinstance(given, (bool, numpy.bool_)):
        raise TypeError(f"{name} must be an integer, not {given}")
    try:
        value = operator.index(given)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {given!r}") from None
    if abs(value) > _LARGEST_INT:
        raise BadArgument(f"{name} is {value}, the largest possible is {_LARGEST_INT}")
    return value


def index(names: Sequence[str], given: Union[str, int], what: str) -> int:
    """The index of a name, or a valid index itself."""
    if isinstance(given, str):
        if given not in names:
            raise BadArgument(f"there is no {what} {given!r}{suggestion(given, names)}")
        return names.index(given)
    value = integer(what, given)
    if not 0 <= value < len(names):
        there = f"there are {len(names)}, the first is 0" if names else "there are none"
        raise BadArgument(f"there is no {what} {value}; {there}")
    return value


def suggestion(name: str, names: Collection[str]) -> str:
    """The names that an unknown name may mean, as the end of a sentence: all if they are few, otherwise the
    nearest."""
    if len(names) <= 8:
        return f"; there are {', '.join(names)}" if names else "; there are none"
    last = name.rsplit("/", 1)[-1]
    same_end = [known for known in names if known.rsplit("/", 1)[-1] == last]
    near = difflib.get_close_matches(name, same_end or names, 1, 0)
    return f"; the nearest is {near[0]}" if near else ""


def check_wanted(wanted: Collection[str], known: Sequence[str]) -> None:
    """Refuses names of gradients that are not known."""
    if isinstance(wanted, str):
        raise TypeError(f"wanted must be a list of names, such as {(wanted,)}, not the text {wanted!r}")
    for name in wanted:
        if name not in known:
            raise ValueError(f"wanted has {name!r}; possible are {', '.join(known)}")


def check_type(name: str, given: Any, kind: Type[Any], remedy: str) -> None:
    if not isinstance(given, kind):
        raise TypeError(f"{name} must be a costate.{kind.__name__}, not {type(given).__name__}: {remedy}")


def _foreign(name: str, given: Any) -> Any:
    try:
        if not isinstance(given, numpy.ndarray) and hasattr(given, "__dlpack__"):
            try:
                return numpy.from_dlpack(given)
            except (BufferError, RuntimeError, TypeError, ValueError):
                pass  # numpy does not exchange this type or device; the next line says why
        return numpy.asarray(given)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(f"{name} is a {type(given).__name__} that numpy cannot convert: {error}") from None


def _check_shape(name: str, array: Any, shape: Shape) -> None:
    if array.ndim != len(shape) or any(want is not None and want != n for want, n in zip(shape, array.shape)):
        sizes = ", ".join("n" if n is None else str(n) for n in shape)
        shown = f"({sizes},)" if len(shape) == 1 else f"({sizes})"
        raise ValueError(f"{name} must have shape {shown}, not {array.shape}")
