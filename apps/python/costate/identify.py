"""Identification: parameters of a model, and starts of motions, from recordings."""
from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from ._arrays import Array, ArrayLike, check_type
from ._recordings import Recording, Tracks
from ._unknowns import Unknown, Unknowns
from .errors import BadArgument, Diverged
from .model import Model

_UNDETERMINED = 1e-8  # of the singular values of a Jacobian whose columns have length 1


class Evaluation(NamedTuple):
    """Recordings beside what a model predicts for them."""

    states: List[Array]  # (steps + 1, nx) of each recording, after each control step
    differences: List[Dict[str, Array]]  # by signal (samples, tangent): predicted less measured, in its units
    misfit: float  # root mean square of all differences in units of their noise


class Identification(NamedTuple):
    """The result of `identify`: p unknowns, in the order of `names`."""

    names: List[str]
    values: Array  # (p)
    standard_errors: Array  # (p) for the stated noise; inf where the data do not determine the value
    correlation: Array  # (p, p) of the errors
    # directions in which the unknowns can change without any effect on the recordings: for each, by name, the changes
    # (relative ones with the scale "log"); the largest is 1
    undetermined: List[Dict[str, float]]
    starts: Array  # (n_recordings, nx)
    parameters: Array  # theta (nparam) with the values
    parameter_names: List[str]  # those of theta that were identified
    differences: List[Dict[str, Array]]  # by signal, as in an Evaluation
    misfit: float  # as in an Evaluation: 1 if the model is right and the noise is as stated
    losses: Array  # (iterations + 1) half the sum of squares of weighted residuals and priors
    iterations: int
    stopped: str  # the reason for stopping

    def entries(self, model: Model) -> List[Dict[str, Union[str, float]]]:
        """The section "parameters" of a scene that sets what was identified in the model."""
        at = [model.parameter_names.index(name) for name in self.parameter_names]
        return [{"path": name, "value": float(self.parameters[i])} for name, i in zip(self.parameter_names, at)]

    def __str__(self) -> str:
        width = max(map(len, self.names), default=0)
        lines = [f"{name:{width}}  {value:.6g} +- {error:.2g}"
                 for name, value, error in zip(self.names, self.values, self.standard_errors)]
        for direction in self.undetermined:
            lines.append("undetermined: " + ", ".join(f"{name} {change:+.3g}" for name, change in direction.items()))
        lines.append(f"misfit {self.misfit:.3g} of the noise, {self.iterations} iterations, {self.stopped}")
        return "\n".join(lines)


def identify(model: Model, recordings: Sequence[Recording], unknowns: Sequence[Union[str, Unknown]],
             noise: Mapping[str, ArrayLike], *, substeps: int = 1, iterations: int = 50,
             outliers: float = numpy.inf, threads: int = 0, most_steps: int = 999) -> Identification:
    """The values of `unknowns`, and the starts of `recordings`, that fit the recordings best: least squares of the
    differences of signals, in units of their noise, and of priors, by Levenberg-Marquardt with exact derivatives.

    recordings: motions with their own starts, controls and sample times. Times are multiples of a control step,
        `substeps` time steps of the model.
    unknowns: paths of parameters, or `Unknown` with scale, bounds, prior or a tie. "bodies/*/pseudo_inertia" stands
        for mass, com and inertia by ten numbers, every value of which is a physical body.
    noise: the standard deviation of each signal: a number, or one for each number of its tangent vectors.
    outliers: a recording whose residuals have a root mean square above this times the noise counts as if its loss
        grew linearly from there (Huber), so that a few wrong motions do not decide.
    most_steps: time steps between two samples; more are refused, because the times may be milliseconds.

    Signals are named as the columns of recordings: a joint for its position, "d(joint)" for its velocity,
    "pose(frame)" for the position and quaternion (7) of a body or site, or a sensor. Differences of rotations are
    rotation vectors in axes of the frame. The model keeps its parameters; `model.parameters = found.parameters`
    writes the values into it. Raises Diverged if the first rollouts diverge.
    """
    check_type("model", model, Model, "costate.Model(file or name) loads one")
    tracks = Tracks(model, recordings, noise, substeps, threads, most_steps)
    problem = _Problem(tracks, Unknowns(model, unknowns), float(outliers))
    point, losses, stopped = _levenberg_marquardt(problem, iterations)
    return _report(problem, point, losses, stopped)


def evaluate(model: Model, recordings: Sequence[Recording], noise: Mapping[str, ArrayLike],
             parameters: Optional[ArrayLike] = None, *, substeps: int = 1, threads: int = 0,
             most_steps: int = 999) -> Evaluation:
    """The Evaluation of a model with these parameters (None: its own) on recordings, for example some that were not
    used by `identify`: rolled out from their starts as given."""
    check_type("model", model, Model, "costate.Model(file or name) loads one")
    tracks = Tracks(model, recordings, noise, substeps, threads, most_steps)
    theta = model.parameters if parameters is None else numpy.asarray(parameters, float)
    states, differences = tracks.rollouts(theta, tracks.starts)
    return Evaluation(states, differences, _root_mean_square(tracks.weighted(differences)))


class _Point(NamedTuple):
    y: Array  # (p)
    starts: Array  # (n, nx)
    loss: float


class _Problem:
    """Residuals of recordings, priors of their starts and priors of the unknowns.

    Each recording depends on y and on its own start only: the Jacobian is an arrow. A QR factorization of each
    recording eliminates its start; what remains of all has the size of y."""

    def __init__(self, tracks: Tracks, unknowns: Unknowns, outliers: float) -> None:
        if len(unknowns.y) == 0 and all(not track.noise.any() for track in tracks.tracks):
            raise BadArgument("nothing is unknown: name parameters, or give recordings a start_noise")
        if not outliers > 0:
            raise BadArgument(f"outliers is {outliers:g}, it must be positive")
        self.tracks, self.unknowns, self.outliers = tracks, unknowns, outliers
        self.free = [numpy.flatnonzero(track.noise > 0) for track in tracks.tracks]

    def first(self) -> _Point:
        return self.point(self.unknowns.y, self.tracks.starts)

    def point(self, y: Array, starts: Array) -> _Point:
        theta, _ = self.unknowns.parameters(y)
        if not numpy.isfinite(theta).all():
            return _Point(y, starts, numpy.inf)
        try:
            residuals = self.tracks.weighted(self.tracks.rollouts(theta, starts)[1])
        except BadArgument:
            if y is self.unknowns.y:
                raise
            return _Point(y, starts, numpy.inf)  # not a physical value of a parameter
        prior = (y - self.unknowns.mean) / self.unknowns.std
        loss = sum(self._robust(r)[0] for r in residuals) + prior @ prior
        for i, track in enumerate(self.tracks.tracks):
            d, _ = self._start_prior(i, starts)
            loss += d @ d
        return _Point(y, starts, float(loss) / 2)

    def _robust(self, residuals: Array) -> Tuple[float, float]:
        """(loss, weight of the residuals in the linearized problem)"""
        square, limit = float(residuals @ residuals), self.outliers
        size = numpy.sqrt(square / max(len(residuals), 1))
        if not size > limit:
            return square, 1.0
        return square * float(2 * limit / size - (limit / size)**2), float(numpy.sqrt(limit / size))

    def _start_prior(self, i: int, starts: Array) -> Tuple[Array, Array]:
        """Residuals (free) of a start and their Jacobian by it; zero where nothing is known."""
        free, track, rotations = self.free[i], self.tracks.tracks[i], self.tracks.rotations
        d, jacobian = rotations.difference(track.start[None], starts[i:i + 1])
        weights = 1 / track.noise[free]
        return weights * d[0, free], weights[:, None] * jacobian[0][numpy.ix_(free, free)]

    def linearized(self, point: _Point) -> List[Tuple[Array, Array, Array]]:
        """For each recording the residuals (m) and their Jacobians by its start (m, free) and by y (m, p), with the
        prior of its start."""
        theta, by_y = self.unknowns.parameters(point.y)
        residuals, jacobians = self.tracks.linearized(theta, by_y, point.starts)
        out, ndx = [], self.tracks.model.ndx
        for i, (r, J) in enumerate(zip(residuals, jacobians)):
            weight = self._robust(r)[1]
            d, by_d = self._start_prior(i, point.starts)
            by_x = numpy.concatenate([weight * J[:, self.free[i]], by_d])
            by_unknowns = numpy.concatenate([weight * J[:, ndx:], numpy.zeros((len(d), by_y.shape[1]))])
            out.append((numpy.concatenate([weight * r, d]), by_x, by_unknowns))
        return out

    def prior(self, point: _Point) -> Tuple[Array, Array]:
        """Residuals (p) of the priors and their Jacobian (p, p)."""
        return (point.y - self.unknowns.mean) / self.unknowns.std, numpy.diag(1 / self.unknowns.std)


def _levenberg_marquardt(problem: _Problem, iterations: int) -> Tuple[_Point, Array, str]:
    point, damping = problem.first(), 1e-4
    if not numpy.isfinite(point.loss):
        raise Diverged("the first rollouts diverge; start from other values, or use a smaller time step")
    losses, stopped, scales = [point.loss], "most iterations", numpy.zeros(len(point.y))
    while len(losses) <= iterations:
        rows = problem.linearized(point)
        lengths = numpy.sqrt(sum((J * J).sum(0) for _, _, J in rows) + 1 / problem.unknowns.std**2)
        scales = numpy.maximum(scales, lengths)
        for _ in range(12):
            trial, expected = _trial(problem, point, rows, damping, scales)
            if expected <= 1e-12 * point.loss or trial.loss < point.loss:
                break
            damping *= 8
        gained = point.loss - trial.loss
        if gained > 0:
            point, damping = trial, damping * (0.1 if gained > 0.5 * expected else 0.5)
            losses.append(point.loss)
        rounded = point.loss <= 1e-20 * losses[0] and gained < 0.9 * expected
        if rounded or gained <= 1e-10 * losses[-1] or expected <= 1e-12 * losses[-1]:
            stopped = "converged" if rounded or expected <= 1e-6 * losses[-1] else "no step decreases the loss"
            break
    return point, numpy.array(losses), stopped


def _trial(problem: _Problem, point: _Point, rows: List[Tuple[Array, Array, Array]], damping: float,
           scales: Array) -> Tuple[_Point, float]:
    """The point after a damped step within the bounds, and the decrease of the loss that the linearized problem
    expects."""
    p, unknowns = len(point.y), problem.unknowns
    reduced: List[Array] = []
    eliminated: List[Array] = []
    for r, by_x, by_y in rows:
        k = by_x.shape[1]
        lengths = numpy.sqrt(damping * numpy.maximum((by_x * by_x).sum(0), 1e-300))
        table = numpy.zeros((len(r) + k, k + p + 1))
        table[:len(r)] = numpy.concatenate([by_x, by_y, r[:, None]], 1)
        table[len(r):, :k] = numpy.diag(lengths)
        R: Array = numpy.linalg.qr(table)[1]
        eliminated.append(R[:k])
        reduced.append(R[k:, k:])
    r, J = problem.prior(point)
    reduced.append(numpy.concatenate([J, r[:, None]], 1))
    table = numpy.concatenate(reduced)
    dy = _bounded(table[:, :p], table[:, p], numpy.sqrt(damping) * numpy.where(scales > 0, scales, 1),
                  unknowns.lower - point.y, unknowns.upper - point.y)
    d, expected = numpy.zeros((len(rows), problem.tracks.model.ndx)), r @ r - (r + J @ dy) @ (r + J @ dy)
    for i, ((r, by_x, by_y), R) in enumerate(zip(rows, eliminated)):
        k = len(problem.free[i])
        if k > 0:
            d[i, problem.free[i]] = -numpy.linalg.solve(R[:, :k], R[:, k:k + p] @ dy + R[:, k + p])
        after = r + by_x @ d[i, problem.free[i]] + by_y @ dy
        expected += r @ r - after @ after
    trial = problem.point(point.y + dy, problem.tracks.displaced(point.starts, d) if d.any() else point.starts)
    return trial, float(expected) / 2


def _bounded(J: Array, r: Array, damping: Array, lower: Array, upper: Array) -> Array:
    """The y within bounds that minimizes |J y + r|^2 + |damping y|^2: unknowns that would leave are held at their
    bound one after the other."""
    y, free = numpy.zeros(J.shape[1]), numpy.ones(J.shape[1], bool)
    while free.any():
        table = numpy.concatenate([J[:, free], numpy.diag(damping[free])])
        target = numpy.concatenate([-r - J[:, ~free] @ y[~free], numpy.zeros(int(free.sum()))])
        y[free] = numpy.linalg.lstsq(table, target, rcond=None)[0]
        beyond = numpy.maximum(lower - y, y - upper)
        worst = int(numpy.argmax(beyond))
        if not beyond[worst] > 0:
            break
        y[worst], free[worst] = min(max(y[worst], lower[worst]), upper[worst]), False
        y = numpy.clip(y, lower, upper) if not free.any() else y
    return y


def _report(problem: _Problem, point: _Point, losses: Array, stopped: str) -> Identification:
    unknowns, tracks = problem.unknowns, problem.tracks
    p, rows = len(point.y), []
    for r, by_x, by_y in problem.linearized(point):
        U, s, _ = numpy.linalg.svd(by_x, full_matrices=False)
        U = U[:, s > 1e-12 * s.max(initial=0)]
        rows.append(numpy.concatenate([by_y, U @ (U.T @ by_y)]))  # with and without what starts can explain
    lengths = numpy.sqrt(sum((both[:len(both) // 2]**2).sum(0) for both in rows))
    scale = numpy.where(lengths > 0, lengths, 1)
    data = numpy.concatenate([(both[:len(both) // 2] - both[len(both) // 2:]) / scale for both in rows])
    data = numpy.linalg.qr(data)[1]
    undetermined = [_named(direction / scale, unknowns.names) for direction in _null(data)]
    covariance, open_ = _covariance(numpy.concatenate([data, problem.prior(point)[1] / scale]), scale)
    values, slopes = unknowns.values(point.y)
    deviations = numpy.sqrt(numpy.diag(covariance))
    safe = numpy.where(deviations > 0, deviations, 1)
    theta, by_y = unknowns.parameters(point.y)
    names = [tracks.model.parameter_names[i] for i in numpy.flatnonzero(by_y.any(1))]
    differences = tracks.rollouts(theta, point.starts)[1]
    return Identification(
        unknowns.names, values, numpy.where(open_, numpy.inf, numpy.abs(slopes) * deviations),
        covariance / numpy.outer(safe, safe), undetermined, point.starts, theta, names, differences,
        _root_mean_square(tracks.weighted(differences)), losses, len(losses) - 1, stopped)


def _null(J: Array) -> Array:
    """Orthonormal directions (n, p) along which J is zero to rounding."""
    _, s, V = numpy.linalg.svd(J, full_matrices=True)
    small = numpy.concatenate([s, numpy.zeros(len(V) - len(s))]) <= _UNDETERMINED
    return numpy.asarray(V[small])


def _covariance(J: Array, scale: Array) -> Tuple[Array, numpy.typing.NDArray[numpy.bool_]]:
    """Of the unknowns, from the Jacobian J by scaled ones, and which of them take part in a direction without
    effect."""
    null = _null(J)
    inverse = numpy.linalg.pinv(J, _UNDETERMINED / max(1, len(scale)))
    return inverse @ inverse.T / numpy.outer(scale, scale), (numpy.abs(null) > 1e-6).any(0)


def _named(direction: Array, names: List[str]) -> Dict[str, float]:
    largest = direction[numpy.argmax(numpy.abs(direction))]
    return {name: float(change) for name, change in zip(names, direction / largest) if abs(change) > 1e-6}


def _root_mean_square(residuals: List[Array]) -> float:
    joined = numpy.concatenate(residuals)
    return float(numpy.sqrt(numpy.mean(joined**2))) if len(joined) else 0.0
