"""Identification: parameters of a model, starts of motions, and offsets, gains and delays of signals, from
recordings."""
from __future__ import annotations

from types import MappingProxyType
from typing import Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from ._arrays import Array, ArrayLike, Mask, check_type
from ._identification.instruments import Signal
from ._identification.least_squares import Point, Problem, levenberg_marquardt
from ._identification.recordings import Recording, Tracks
from ._identification.results import Evaluation, Identification, evaluated
from ._identification.unknowns import Unknown, Unknowns
from .errors import BadArgument
from .model import Model

_UNDETERMINED = 1e-8  # of the singular values of a Jacobian whose columns have length 1


def identify(model: Model, recordings: Sequence[Recording], unknowns: Sequence[Union[str, Unknown]],
             noise: Mapping[str, ArrayLike], *, signals: Mapping[str, Signal] = MappingProxyType({}),
             substeps: int = 1, iterations: int = 50, outliers: float = numpy.inf, threads: int = 0,
             most_steps: int = 999) -> Identification:
    """The values of `unknowns`, and the starts of `recordings`, that fit the recordings best: least squares of the
    differences of signals, in units of their noise, and of priors, by Levenberg-Marquardt with exact derivatives.

    recordings: motions with their own starts, controls and sample times. Times are multiples of a control step,
        `substeps` time steps of the model.
    unknowns: paths of parameters, or `Unknown` with scale, bounds, prior or a tie. "bodies/*/pseudo_inertia" stands
        for mass, com and inertia by ten numbers, every value of which is a physical body.
    noise: the standard deviation of each signal: a number, or one for each number of its tangent vectors.
    signals: by name, how they are measured (costate.Signal): with an offset, a gain and a delay, known or unknown.
    outliers: a recording whose residuals have a root mean square above this times the noise counts as if its loss
        grew linearly from there (Huber), so that a few wrong motions do not decide.
    most_steps: time steps between two samples; more are refused, because the times may be milliseconds.

    Signals are named as the columns of recordings: a joint for its position, "d(joint)" for its velocity,
    "pose(frame)" for the position and quaternion (7) of a body or site, or a sensor. Differences of rotations are
    rotation vectors in axes of the frame. The model keeps its parameters; `model.parameters = found.parameters`
    writes the values into it. Standard errors are those of the linearized problem for the stated noise, so they
    hold where the model is right and no value is at a bound. Raises Diverged if the first rollouts diverge.
    """
    check_type("model", model, Model, "costate.Model(file or name) loads one")
    tracks = Tracks(model, recordings, noise, signals, substeps, threads, most_steps)
    problem = Problem(tracks, Unknowns(model, unknowns, tracks.instruments.blocks), float(outliers))
    point, losses, stopped = levenberg_marquardt(problem, iterations)
    return _report(problem, point, losses, stopped)


def evaluate(model: Model, recordings: Sequence[Recording], noise: Mapping[str, ArrayLike],
             parameters: Optional[ArrayLike] = None, *, signals: Mapping[str, Signal] = MappingProxyType({}),
             substeps: int = 1, threads: int = 0, most_steps: int = 999) -> Evaluation:
    """The Evaluation of a model with these parameters (None: its own) on recordings, for example some that were not
    used by `identify`: rolled out from their starts as given. signals: those of an Identification, or others whose
    offsets, gains and delays are known."""
    check_type("model", model, Model, "costate.Model(file or name) loads one")
    tracks = Tracks(model, recordings, noise, {name: s for name, s in signals.items() if any(
        name in recording.signals for recording in recordings)}, substeps, threads, most_steps)
    if tracks.instruments.blocks:
        raise BadArgument(f"{tracks.instruments.blocks[0].names[0]} is unknown: `identify` finds it, and its result "
                          "has signals for this call")
    theta = model.parameters if parameters is None else numpy.asarray(parameters, float)
    return evaluated(tracks, theta, tracks.starts, numpy.empty(0))


def _report(problem: Problem, point: Point, losses: Array, stopped: str) -> Identification:
    unknowns, tracks = problem.unknowns, problem.tracks
    p, rows = len(point.y), []
    for r, by_x, by_y in problem.linearized(point):
        U, s, _ = numpy.linalg.svd(by_x, full_matrices=False)
        U = U[:, s > 1e-12 * s.max(initial=0)]
        rows.append(numpy.concatenate([by_y, U @ (U.T @ by_y)]))  # with and without what starts can explain
    lengths = numpy.sqrt(sum((both[:len(both) // 2]**2).sum(0) for both in rows))
    scale = _scale(lengths, unknowns.upper - unknowns.lower)
    data = numpy.concatenate([(both[:len(both) // 2] - both[len(both) // 2:]) / scale for both in rows])
    data = numpy.linalg.qr(data)[1]
    undetermined = [_named(direction / scale, unknowns.names) for direction in _null(data)]
    covariance, open_ = _covariance(numpy.concatenate([data, problem.prior(point)[1] / scale]), scale)
    values, slopes = unknowns.values(point.y)
    deviations = numpy.sqrt(numpy.diag(covariance))
    safe = numpy.where(deviations > 0, deviations, 1)
    theta, by_y = unknowns.parameters(point.y)
    names = [tracks.model.parameter_names[i] for i in numpy.flatnonzero(by_y.any(1))]
    first, lower, upper = (unknowns.values(y)[0] for y in (unknowns.y, unknowns.lower, unknowns.upper))
    z = problem.of_signals(point.y)
    return Identification(
        unknowns.names, values, numpy.where(open_, numpy.inf, numpy.abs(slopes) * deviations),
        covariance / numpy.outer(safe, safe), undetermined, point.starts, theta, names, tracks.instruments.found(z),
        evaluated(tracks, theta, point.starts, z), first, lower, upper, losses, len(losses) - 1, stopped,
        tracks.simulations, tracks.linearizations)


def _scale(lengths: Array, widths: Array) -> Array:
    """The lengths of the Jacobian's columns, which make them comparable. A column that is only rounding, because it
    does not show over the whole width between bounds, counts by this width."""
    bounded = numpy.isfinite(widths) & (widths > 0)
    width = numpy.where(bounded, widths, 1)
    seen = numpy.where(bounded, lengths * width > _UNDETERMINED, lengths > 0)
    scale: Array = numpy.where(seen, lengths, 1 / width)
    return scale


def _null(J: Array) -> Array:
    """Orthonormal directions (n, p) along which J is zero to rounding."""
    _, s, V = numpy.linalg.svd(J, full_matrices=True)
    small = numpy.concatenate([s, numpy.zeros(len(V) - len(s))]) <= _UNDETERMINED
    return numpy.asarray(V[small])


def _covariance(J: Array, scale: Array) -> Tuple[Array, Mask]:
    """Of the unknowns, from the Jacobian J by scaled ones, and which of them take part in a direction without
    effect."""
    null = _null(J)
    inverse = numpy.linalg.pinv(J, _UNDETERMINED / max(1, len(scale)))
    return inverse @ inverse.T / numpy.outer(scale, scale), (numpy.abs(null) > 1e-6).any(0)


def _named(direction: Array, names: List[str]) -> Dict[str, float]:
    sizes = numpy.abs(direction)
    largest = direction[numpy.argmax(sizes > (1 - 1e-6) * sizes.max())]  # the first of equals
    return {name: float(change) for name, change in zip(names, direction / largest) if abs(change) > 1e-6}
