"""Least squares of recordings by Levenberg-Marquardt with bounds."""
from __future__ import annotations

from typing import List, NamedTuple, Tuple

import numpy

from .._arrays import Array
from ..errors import BadArgument, Diverged
from .recordings import Tracks
from .unknowns import Unknowns


class Point(NamedTuple):
    y: Array  # (p)
    starts: Array  # (n, nx)
    loss: float  # half the sum of squares of weighted residuals and priors


class Problem:
    """Residuals of recordings, priors of their starts and priors of the unknowns.

    Each recording depends on y and on its own start only: the Jacobian is an arrow. A QR factorization of each
    recording by its start, once for all dampings, leaves rows that depend on y only; of all recordings together they
    reduce to a triangle of the size of y."""

    def __init__(self, tracks: Tracks, unknowns: Unknowns, outliers: float) -> None:
        if len(unknowns.y) == 0 and all(not track.noise.any() for track in tracks.tracks):
            raise BadArgument("nothing is unknown: name parameters, give recordings a start_noise, or signals an "
                              "unknown offset, gain or delay")
        if not outliers > 0:
            raise BadArgument(f"outliers is {outliers:g}, it must be positive")
        self.tracks, self.unknowns, self.outliers = tracks, unknowns, outliers
        self.free = [numpy.flatnonzero(track.noise > 0) for track in tracks.tracks]

    def of_signals(self, y: Array) -> Array:
        """The unknowns of signals among y."""
        return y[len(y) - len(self.tracks.instruments.start):]

    def first(self) -> Point:
        return self.point(self.unknowns.y, self.tracks.starts)

    def point(self, y: Array, starts: Array) -> Point:
        theta, _ = self.unknowns.parameters(y)
        if not numpy.isfinite(theta).all():
            return Point(y, starts, numpy.inf)
        try:
            residuals = self.tracks.weighted(self.tracks.rollouts(theta, starts, self.of_signals(y))[2])
        except BadArgument:
            if y is self.unknowns.y:
                raise
            return Point(y, starts, numpy.inf)  # not a physical value of a parameter
        prior = (y - self.unknowns.mean) / self.unknowns.std
        loss = sum(self._robust(r)[0] for r in residuals) + prior @ prior
        for i, track in enumerate(self.tracks.tracks):
            d, _ = self._start_prior(i, starts)
            loss += d @ d
        return Point(y, starts, float(loss) / 2)

    def _robust(self, residuals: Array) -> Tuple[float, float]:
        """(loss, weight of the residuals in the linearized problem)"""
        with numpy.errstate(over="ignore"):  # of a motion that goes too far
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

    def linearized(self, point: Point) -> List[Tuple[Array, Array, Array]]:
        """For each recording the residuals (m) and their Jacobians by its start (m, free) and by y (m, p), with the
        prior of its start."""
        theta, by_y = self.unknowns.parameters(point.y)
        residuals, jacobians = self.tracks.linearized(theta, by_y, point.starts, self.of_signals(point.y))
        out, ndx = [], self.tracks.model.ndx
        for i, (r, J) in enumerate(zip(residuals, jacobians)):
            weight = self._robust(r)[1]
            d, by_d = self._start_prior(i, point.starts)
            by_x = numpy.concatenate([weight * J[:, self.free[i]], by_d])
            by_unknowns = numpy.concatenate([weight * J[:, ndx:], numpy.zeros((len(d), by_y.shape[1]))])
            out.append((numpy.concatenate([weight * r, d]), by_x, by_unknowns))
        return out

    def prior(self, point: Point) -> Tuple[Array, Array]:
        """Residuals (p) of the priors and their Jacobian (p, p)."""
        return (point.y - self.unknowns.mean) / self.unknowns.std, numpy.diag(1 / self.unknowns.std)


class _Factors(NamedTuple):
    """The linearized problem, in which dw = (dy, 1) and the change of start i is d_i: the sum over recordings of
    |R d + C dw|^2, and |rest dw|^2. Orthogonal transformations bring it to this form once for all dampings."""

    starts: List[Tuple[Array, Array]]  # R (free, free), C (free, p + 1)
    rest: Array  # (rows, p + 1), with the prior


def _factors(rows: List[Tuple[Array, Array, Array]], prior: Tuple[Array, Array]) -> _Factors:
    width = len(prior[0]) + 1
    starts, waiting = [], [numpy.concatenate([prior[1], prior[0][:, None]], 1)]
    for r, by_x, by_y in rows:
        B = numpy.concatenate([by_y, r[:, None]], 1)
        Q, R = numpy.linalg.qr(by_x)
        C = Q.T @ B
        starts.append((R, C))
        waiting.append(B - Q @ C)
        if sum(map(len, waiting)) > 2000 + 4 * width:
            waiting = [_triangle(waiting)]
    return _Factors(starts, _triangle(waiting))


def _triangle(blocks: List[Array]) -> Array:
    """A matrix with the same norms of its products as the rows of all blocks together."""
    table = numpy.concatenate(blocks)
    return numpy.asarray(numpy.linalg.qr(table, "r")) if len(table) > table.shape[1] else table


def levenberg_marquardt(problem: Problem, iterations: int) -> Tuple[Point, Array, str]:
    point, damping = problem.first(), 1e-4
    if not numpy.isfinite(point.loss):
        raise Diverged("the first rollouts diverge; start from other values, or use a smaller time step")
    losses, stopped, scales = [point.loss], "most iterations", numpy.zeros(len(point.y))
    while len(losses) <= iterations:
        rows = problem.linearized(point)
        lengths = numpy.sqrt(sum((J * J).sum(0) for _, _, J in rows) + 1 / problem.unknowns.std**2)
        scales, factors = numpy.maximum(scales, lengths), _factors(rows, problem.prior(point))
        for _ in range(12):
            trial, expected = _trial(problem, point, factors, damping, scales)
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


def _trial(problem: Problem, point: Point, factors: _Factors, damping: float, scales: Array) -> Tuple[Point, float]:
    """The point after a damped step within the bounds, and the decrease of the loss that the linearized problem
    expects."""
    p, unknowns = len(point.y), problem.unknowns
    eliminated, table = [], [factors.rest]
    for R, C in factors.starts:
        k = len(R)
        lengths = numpy.sqrt(damping * numpy.maximum((R * R).sum(0), 1e-300))
        Q, damped = numpy.linalg.qr(numpy.concatenate([R, numpy.diag(lengths)]), "complete")
        both = Q[:k].T @ C
        eliminated.append((damped[:k], both[:k]))
        table.append(both[k:])
    small = _triangle(table)
    dy = _bounded(small[:, :p], small[:, p], numpy.sqrt(damping) * numpy.where(scales > 0, scales, 1),
                  unknowns.lower - point.y, unknowns.upper - point.y)
    now, dw = numpy.zeros(p + 1), numpy.concatenate([dy, [1.0]])
    now[p] = 1
    d = numpy.zeros((len(factors.starts), problem.tracks.model.ndx))
    expected = _decrease(factors.rest @ now, factors.rest @ dw)
    for i, ((R, C), (upper, both)) in enumerate(zip(factors.starts, eliminated)):
        change: Array = -numpy.linalg.solve(upper, both @ dw) if len(R) > 0 else numpy.zeros(0)
        d[i, problem.free[i]] = change
        expected += _decrease(C @ now, R @ change + C @ dw)
    trial = problem.point(point.y + dy, problem.tracks.displaced(point.starts, d) if d.any() else point.starts)
    return trial, expected / 2


def _decrease(before: Array, after: Array) -> float:
    return float(before @ before - after @ after)


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
