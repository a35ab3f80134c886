"""Parameters that are identified, as functions of unbounded or bounded numbers y."""
from __future__ import annotations

import fnmatch
from typing import List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from .._arrays import Array, Integers, suggestion
from ..errors import BadArgument
from ..model import Model
from .instruments import SignalBlock

_INERTIA = "/pseudo_inertia"
_BODY = ("mass", "com[0]", "com[1]", "com[2]", *(f"inertia[{i}]" for i in range(6)))
_FACTOR = ((0, 1), (1, 2), (0, 2))  # entries s12, s23, s13 of the factor L
_MOMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # entries xx yy zz xy xz yz of an inertia


class Unknown(NamedTuple):
    """Parameters to identify: each that the path matches, or all of them together."""

    path: Union[str, Sequence[str]]  # names of parameters, in which * is any run of characters
    scale: str = "linear"  # "log": by the logarithm, for parameters that stay positive
    lower: float = -numpy.inf  # bounds of the value
    upper: float = numpy.inf
    # mean and standard deviation, relative with "log"; of a pseudo_inertia (1, s), relative to the model's body: s
    # for mass and extents, s times the extent for the position of the centre and for shear
    prior: Optional[Tuple[float, float]] = None
    tied: bool = False  # all have one number: they keep their differences, or with "log" their ratios
    start: Optional[float] = None  # value at which the search starts; None: that of the model


class Block:
    """The numbers y of an Unknown: one for each parameter, or one for all if they are tied."""

    def __init__(self, unknown: Unknown, names: List[str], at: Integers, theta: Array) -> None:
        self.log, self.at, self.names = unknown.scale == "log", at, names
        self.groups = numpy.zeros(len(at), int) if unknown.tied else numpy.arange(len(at))
        self.base = theta[at]
        if self.log and not (self.base > 0).all():
            raise BadArgument(f"{names[0]} is {self.base.min():g}; a logarithm needs a positive value: "
                              "set \"start\" and the model's parameter, or use the scale \"linear\"")
        first = [int(numpy.argmax(self.groups == g)) for g in range(len(names))]
        self.origin = self._forward(self.base[first])
        start = self.base[first] if unknown.start is None else numpy.full(len(names), float(unknown.start))
        within = numpy.clip(start, unknown.lower, unknown.upper)
        if not numpy.allclose(within, start, rtol=1e-9, atol=0):
            raise BadArgument(f"{names[0]} starts at {start[0]:g}, outside of its bounds {unknown.lower:g} to "
                              f"{unknown.upper:g}")
        self.y = self._forward(within)  # a value at its bound may be beyond by rounding
        self.lower, self.upper = (self._bound(bound) for bound in (unknown.lower, unknown.upper))
        self.mean, self.std = self.y, numpy.full(len(names), numpy.inf)
        if unknown.prior is not None:
            self.mean = numpy.broadcast_to(self._forward(numpy.array(unknown.prior[0], float)), self.y.shape)
            self.std = numpy.full(len(names), float(unknown.prior[1]))

    def _forward(self, values: Array) -> Array:
        return numpy.log(values) if self.log else numpy.array(values, float)

    def _bound(self, bound: float) -> Array:
        if self.log:
            bound = float(numpy.log(bound)) if bound > 0 else -numpy.inf
        return numpy.full(len(self.names), bound)

    def values(self, y: Array) -> Tuple[Array, Array]:
        """Values of y and their derivatives, both as the report shows them."""
        return (numpy.exp(y), numpy.exp(y)) if self.log else (y.copy(), numpy.ones(len(y)))

    def parameters(self, y: Array) -> Tuple[Array, Array]:
        """The parameters at `at`, and their Jacobian with columns y."""
        change = (y - self.origin)[self.groups]
        with numpy.errstate(over="ignore"):  # a search that goes too far returns
            theta = self.base * numpy.exp(change) if self.log else self.base + change
        jacobian = numpy.zeros((len(self.at), len(y)))
        jacobian[numpy.arange(len(self.at)), self.groups] = theta if self.log else 1
        return theta, jacobian


class InertiaBlock(Block):
    """Mass, centre of mass and inertia of a body by ten unbounded numbers, every point of which is a physical body:
    alpha, d (3), s (3), t (3) with m = e^(2 alpha), c = t, S = m L L^T, I = trace(S) 1 - S, where L is upper
    triangular with diagonal e^d and s12, s23, s13 above it (Rucker, Wensing, RA-L 2022, sec. III)."""

    def __init__(self, unknown: Unknown, path: str, at: Integers, theta: Array) -> None:
        self.at, self.names = at, [f"{path}[{i}]" for i in range(10)]
        m, c, I = theta[at[0]], theta[at[1:4]], numpy.zeros((3, 3))
        for (i, j), moment in zip(_MOMENTS, theta[at[4:]]):
            I[i, j] = I[j, i] = moment
        try:  # L L^T = A with L upper triangular is the Cholesky factorization in reverse order
            L = numpy.linalg.cholesky(((numpy.trace(I) / 2 * numpy.eye(3) - I) / m)[::-1, ::-1])[::-1, ::-1]
        except numpy.linalg.LinAlgError:
            raise BadArgument(f"{path}: the body is flat, thin or not physical; give it extent in all directions, "
                              "or identify mass, com and inertia by their own paths") from None
        self.y = numpy.array([numpy.log(m) / 2, *numpy.log(numpy.diag(L)), *(L[i, j] for i, j in _FACTOR), *c])
        self.mean, self.std = self.y, numpy.full(10, numpy.inf)
        self.lower, self.upper = numpy.full(10, -numpy.inf), numpy.full(10, numpy.inf)
        if unknown._replace(path="", prior=None) != Unknown(""):
            raise BadArgument(f"{path} has no scale, bounds, tie or start; every point of its ten numbers is a body")
        if unknown.prior is not None:
            if unknown.prior[0] != 1:
                raise BadArgument(f"the prior of {path} is {unknown.prior}; its mean is the model's body: give (1, s)")
            extent = numpy.sqrt(numpy.trace(L @ L.T))
            self.std = float(unknown.prior[1]) * numpy.array([0.5, *[1] * 3, *[extent] * 6])

    def values(self, y: Array) -> Tuple[Array, Array]:
        return y.copy(), numpy.ones(10)

    def parameters(self, y: Array) -> Tuple[Array, Array]:
        m, L = numpy.exp(2 * y[0]), numpy.diag(numpy.exp(y[1:4]))
        for (i, j), s in zip(_FACTOR, y[4:7]):
            L[i, j] = s
        S = m * L @ L.T
        theta, jacobian = numpy.array([m, *y[7:], *_moments(S)]), numpy.zeros((10, 10))
        jacobian[0, 0], jacobian[1:4, 7:], jacobian[4:, 0] = 2 * m, numpy.eye(3), 2 * _moments(S)
        for column, (i, j) in enumerate(((0, 0), (1, 1), (2, 2)) + _FACTOR, 1):
            dL = numpy.zeros((3, 3))
            dL[i, j] = L[i, i] if i == j else 1
            jacobian[4:, column] = _moments(m * (dL @ L.T + L @ dL.T))
        return theta, jacobian


def _moments(S: Array) -> Array:
    """The six numbers of trace(S) 1 - S."""
    I = numpy.trace(S) * numpy.eye(3) - S
    return numpy.array([I[i, j] for i, j in _MOMENTS])


class Unknowns:
    """All numbers y (p) that are identified, first those of the model, then those of signals, with names, bounds and
    priors."""

    def __init__(self, model: Model, given: Sequence[Union[str, Unknown]],
                 of_signals: Sequence[SignalBlock] = ()) -> None:
        self.theta = model.parameters
        self.blocks: List[Union[Block, SignalBlock]] = []
        for entry in [given] if isinstance(given, (str, Unknown)) else given:
            unknown = Unknown(entry) if isinstance(entry, str) else entry
            if unknown.scale not in ("linear", "log"):
                raise BadArgument(f"scale is {unknown.scale!r}, it may be linear or log")
            self.blocks += _blocks(model.parameter_names, unknown, self.theta)
        self.blocks += of_signals
        self.names = [name for block in self.blocks for name in block.names]
        used = [int(i) for block in self.blocks for i in block.at]
        for i in used:
            if used.count(i) > 1:
                raise BadArgument(f"{model.parameter_names[i]} is in two unknowns; name it once")
        sizes = numpy.cumsum([0] + [len(block.names) for block in self.blocks])
        self.slices = [slice(a, b) for a, b in zip(sizes[:-1], sizes[1:])]
        self.y, self.lower, self.upper, self.mean, self.std = (
            numpy.concatenate([getattr(block, name) for block in self.blocks] or [numpy.empty(0)])
            for name in ("y", "lower", "upper", "mean", "std"))

    def parameters(self, y: Array) -> Tuple[Array, Array]:
        """theta (nparam) and its Jacobian (nparam, p)."""
        theta, jacobian = self.theta.copy(), numpy.zeros((len(self.theta), len(y)))
        for block, part in zip(self.blocks, self.slices):
            theta[block.at], jacobian[block.at, part] = block.parameters(y[part])
        return theta, jacobian

    def values(self, y: Array) -> Tuple[Array, Array]:
        """Values (p) as reported, and their derivatives by y."""
        pairs = [block.values(y[part]) for block, part in zip(self.blocks, self.slices)]
        values, slopes = (numpy.concatenate([pair[i] for pair in pairs] or [numpy.empty(0)]) for i in (0, 1))
        return values, slopes


def _blocks(known: List[str], unknown: Unknown, theta: Array) -> List[Block]:
    paths = [unknown.path] if isinstance(unknown.path, str) else list(unknown.path)
    if len(paths) == 1 and paths[0].endswith(_INERTIA):
        stem = paths[0][:-len(_INERTIA)]
        bodies = [name[:-len("/mass")] for name in _matching(known, stem + "/mass")]
        return [InertiaBlock(unknown, body + _INERTIA, numpy.array([known.index(f"{body}/{part}") for part in _BODY],
                                                          numpy.int32), theta) for body in bodies]
    names = list(dict.fromkeys(name for path in paths for name in _matching(known, path)))
    at = numpy.array([known.index(name) for name in names], numpy.int32)
    return [Block(unknown, [", ".join(paths)] if unknown.tied else names, at, theta)]


def _matching(known: List[str], path: str) -> List[str]:
    pattern = path.replace("[", "[[]")  # brackets are part of names
    found = [name for name in known if fnmatch.fnmatchcase(name, pattern)]
    if not found:
        raise BadArgument(f"there is no parameter {path!r}{suggestion(path, known)}")
    return found
