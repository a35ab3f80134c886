"""A stand-in for the parts of JAX's interface that costate.jax uses, by numpy and without tracing or compiling. It
holds callers to the written rules of these functions; it shows nothing about JAX itself.

jax.pure_callback: the callback gets arrays and returns what result_shape_dtypes says, in shape and dtype.
jax.custom_vjp: arguments of nondiff_argnums are hashable and come first in bwd; fwd returns (output, residuals);
bwd returns a tuple with one cotangent for each other argument, in its shape and dtype.
jax.vjp: of functions that return what one function with custom_vjp returns, or one entry of it."""
import numpy as np

from . import numpy  # noqa: F401 (jax.numpy)

float0 = np.dtype([("float0", np.void, 0)])


class ShapeDtypeStruct:
    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)


def pure_callback(callback, result_shape_dtypes, *args, vmap_method=None):
    assert vmap_method in (None, "sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized")
    results = callback(*(read_only(np.asarray(a)) for a in args))
    assert isinstance(results, tuple) and len(results) == len(result_shape_dtypes)
    for result, expected in zip(results, result_shape_dtypes):
        if (result.shape, result.dtype) != (expected.shape, expected.dtype):
            raise RuntimeError(f"{result.shape} {result.dtype} in place of {expected.shape} {expected.dtype}")
    return tuple(read_only(result) for result in results)


def read_only(array):
    array = array.view()
    array.flags.writeable = False
    return array


class custom_vjp:  # noqa: N801 (as in JAX)
    tape = None  # within `vjp`: the calls (bwd, static arguments, residuals, arguments, outputs)

    def __init__(self, fun, nondiff_argnums=()):
        self.fun, self.static, self.fwd, self.bwd = fun, nondiff_argnums, None, None

    def defvjp(self, fwd, bwd):
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *args):
        static = [args[i] for i in self.static]
        hash(tuple(static))
        if custom_vjp.tape is None:
            return self.fun(*args)
        tape, custom_vjp.tape = custom_vjp.tape, None
        outputs, residuals = self.fwd(*args)
        custom_vjp.tape = tape
        tape.append((self.bwd, static, residuals, [a for i, a in enumerate(args) if i not in self.static], outputs))
        return outputs


def vjp(fun, *primals):
    primals = [read_only(np.asarray(p)) for p in primals]
    custom_vjp.tape = tape = []
    try:
        returned = fun(*primals)
    finally:
        custom_vjp.tape = None
    ((bwd, static, residuals, arguments, outputs),) = tape

    def pull_back(*bars):
        given = dict(zip(map(id, returned if isinstance(returned, tuple) else (returned,)), bars))
        cotangents = []
        for output in outputs:
            kind = output.dtype if output.dtype.kind == "f" else float0  # integers have no tangents
            cotangents.append(np.asarray(given[id(output)], kind) if id(output) in given and kind != float0 else
                              np.zeros(output.shape, kind))
        results = bwd(*static, residuals, tuple(cotangents))
        assert isinstance(results, tuple) and len(results) == len(arguments)
        for result, argument in zip(results, arguments):
            assert (result.shape, result.dtype) == (argument.shape, argument.dtype), (result.shape, argument.shape)
        by_argument = {id(argument): result for argument, result in zip(arguments, results)}
        return tuple(by_argument[id(primal)] for primal in primals)

    return returned, pull_back
