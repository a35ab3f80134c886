"""Checks of arrays whose addresses are passed to the library."""
import numpy


def address(name, array, shape, dtype=numpy.float64):
    """The address of `array`, which must be C-contiguous, of this shape and type."""
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"{name} must be a numpy array of {dtype.__name__} and shape {shape}, not {type(array).__name__}")
    if array.dtype != dtype:
        raise TypeError(f"{name} must be of {dtype.__name__}, not {array.dtype}: "
                        f"numpy.asarray({name}, dtype=numpy.{dtype.__name__}) converts it")
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, not {array.shape}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} must be C-contiguous: numpy.ascontiguousarray({name}) copies it")
    return array.ctypes.data


def output(name, array, shape):
    """The output `array` (a new one if None) and its address."""
    if array is None:
        array = numpy.empty(shape)
        return array, array.ctypes.data
    where = address(name, array, shape)
    if not array.flags.writeable:
        raise ValueError(f"{name} is an output but read-only; pass a writable array")
    return array, where
