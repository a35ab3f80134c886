"""Recordings of a model, and the derivatives of what they hold by starts and parameters."""
from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy

from ._arrays import Array, ArrayLike, Integers, numbers, suggestion
from .batch import Batch
from .errors import BadArgument
from .model import Model

_FEW = 4  # so many directions cost less by forward products than by Jacobians of steps
_TOGETHER = 16  # recordings of similar length are rolled out together


class Recording(NamedTuple):
    """What was measured in one motion. NaN: not measured."""

    times: ArrayLike  # (n), s after the start
    signals: Mapping[str, ArrayLike]  # (n, size) by name; see `identify`
    start: Optional[ArrayLike] = None  # x (nx) at time 0; None: the initial state of the file
    # (ndx) or a number: how far the start may be from the true one, standard deviations of a tangent vector.
    # 0: it is known; inf: nothing is known
    start_noise: ArrayLike = 0.0
    u: Optional[ArrayLike] = None  # (n_steps, nu), each held for a control step; None if there are no actuators


class Quaternions:
    """The rotations among numbers: where their quaternions and their rotation vectors begin."""

    def __init__(self, starts: Sequence[Tuple[int, int]], size: int) -> None:
        self.starts, self.size = starts, size
        self.tangent = size - len(starts)
        parts = {i for q, _ in starts for i in range(q, q + 4)}
        self.plain = [i for i in range(size) if i not in parts]
        rotated = {i for _, v in starts for i in range(v, v + 3)}
        self.plain_tangent = [i for i in range(self.tangent) if i not in rotated]

    def difference(self, a: Array, b: Array) -> Tuple[Array, Array]:
        """d (n, tangent) with b = a displaced by d, a and b (n, size), and its Jacobian (n, tangent, tangent) by a
        displacement of b: rotations about axes of b."""
        d = numpy.empty((len(b), self.tangent))
        jacobian = numpy.tile(numpy.eye(self.tangent), (len(b), 1, 1))
        d[:, self.plain_tangent] = b[:, self.plain] - a[:, self.plain]
        for q, v in self.starts:
            d[:, v:v + 3], jacobian[:, v:v + 3, v:v + 3] = _rotation(a[:, q:q + 4], b[:, q:q + 4])
        return d, jacobian


def _rotation(a: Array, b: Array) -> Tuple[Array, Array]:
    """The rotation vector phi (n, 3) of the quaternion a^-1 b, and the inverse of the right Jacobian there:
    1 + phi x / 2 + (1 - (theta/2) cot(theta/2)) / theta^2 (phi x)^2."""
    w = (a * b).sum(1)
    u = a[:, :1] * b[:, 1:] - b[:, :1] * a[:, 1:] - numpy.cross(a[:, 1:], b[:, 1:])
    u, w = numpy.where(w[:, None] < 0, -u, u), numpy.abs(w)
    sine = numpy.sqrt((u * u).sum(1))
    theta = 2 * numpy.arctan2(sine, w)
    small = theta < 1e-4
    phi = u * numpy.where(small, 2 / w, theta / numpy.where(small, 1, sine))[:, None]
    safe = numpy.where(small, 1, theta)
    factor = numpy.where(small, 1 / 12, (1 - safe / 2 / numpy.tan(safe / 2)) / safe**2)
    cross = numpy.zeros((len(phi), 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        cross[:, i, j], cross[:, j, i] = -phi[:, k], phi[:, k]
    return phi, numpy.eye(3) + cross / 2 + factor[:, None, None] * cross @ cross


def configurations(model: Model) -> Quaternions:
    """The rotations of a whole state (nx)."""
    starts = []
    for joint in range(len(model.joints)):
        q, v = model.joint_slices(joint)
        if q.stop - q.start > v.stop - v.start:
            starts.append((q.stop - 4, v.stop - 3))
    return Quaternions(starts, model.nx)


class Signal:
    """A measured output of a model: of the state, of the pose of a frame, or of a sensor."""

    def __init__(self, model: Model, name: str) -> None:
        self.name, self.kind = name, "state"
        inner = name[name.find("(") + 1:-1] if name.endswith(")") else ""
        whole = configurations(model)
        if name in model.joints or (name.startswith("d(") and inner in model.joints):
            q, v = model.joint_slices(inner or name)
            self.x = slice(model.nq + v.start, model.nq + v.stop) if inner else q
            self.dx = slice(model.nv + v.start, model.nv + v.stop) if inner else v
            starts = [(a - q.start, b - v.start) for a, b in whole.starts if not inner and q.start <= a < q.stop]
            self.rotations = Quaternions(starts, self.x.stop - self.x.start)
        elif name.startswith("pose(") and inner in model.bodies + model.sites:
            self.kind, self.frame = "pose", inner
            self.rotations = Quaternions([(3, 3)], 7)
        elif name in model.sensors:
            self.kind, self.x = "sensor", model.sensor_slice(name)
            rotated = model.sensor_type(name) == "frame_quaternion"
            self.rotations = Quaternions([(0, 0)] if rotated else [], self.x.stop - self.x.start)
            if rotated:
                raise BadArgument(f"the signal {name!r} is a quaternion; use the pose of its frame")
        else:
            known = [*model.joints, *(f"d({joint})" for joint in model.joints), *model.sensors,
                     *(f"pose({frame})" for frame in model.bodies + model.sites)]
            raise BadArgument(f"there is no signal {name!r}{suggestion(name, known)}")

    def values(self, batch: Batch, x: Array, u: Array) -> Array:
        """(n_env, size)"""
        if self.kind == "state":
            return x[:, self.x]
        if self.kind == "pose":
            return batch.poses(x, batch.frames([self.frame]))[0][:, 0]
        return batch.sensors(x, u)[:, self.x]

    def jacobians(self, batch: Batch, x: Array, u: Array) -> Tuple[Array, Array]:
        """By the state (n_env, tangent, ndx) and by parameters (n_env, tangent, nparam)."""
        n, rows = batch.n_env, self.rotations.tangent
        by_x, by_theta = numpy.zeros((n, rows, batch.ndx)), numpy.zeros((n, rows, batch.nparam))
        if self.kind == "state":
            by_x[:, :, self.dx] = numpy.eye(rows)
        elif self.kind == "sensor":
            J = batch.sensors_jacobian(x, u, parameters=True)
            assert J.by_parameters is not None
            by_x, by_theta = J.by_state[:, self.x], J.by_parameters[:, self.x]
        else:
            for i in range(rows):
                seed = numpy.zeros((n, 1, 6))
                seed[:, 0, i] = 1
                g = batch.poses_vjp(x, batch.frames([self.frame]), seed, each=True)
                assert g.x is not None and g.parameters is not None
                by_x[:, i], by_theta[:, i] = g.x, g.parameters
        return by_x, by_theta


class Track:
    """A recording with its numbers checked: which step each sample follows, and what is known of the start."""

    def __init__(self, model: Model, given: Recording, signals: Dict[str, Signal], where: str, step: float,
                 most_steps: int) -> None:
        times = numbers(f"{where}: times", given.times, (None,))
        self.at = _steps(times, step, model, most_steps, where)
        self.steps = int(self.at[-1])
        self.measured = {}
        for name, values in given.signals.items():
            rows = numpy.asarray(values, float)
            rows = rows[:, None] if rows.ndim == 1 else rows
            self.measured[name] = numbers(f"{where}: {name}", rows, (len(times), signals[name].rotations.size))
        start = model.state(*model.initial_state()) if given.start is None else given.start
        self.start = numbers(f"{where}: start", start, (model.nx,)).copy()
        self.noise = numpy.array(numpy.broadcast_to(numpy.asarray(given.start_noise, float), (model.ndx,)))
        if not (self.noise >= 0).all():
            raise BadArgument(f"{where}: start_noise must not be negative: 0 for what is known, inf for what is not")
        if given.u is None and model.nu > 0:
            raise BadArgument(f"{where}: u is missing; the model has {model.nu} actuators")
        self.u = numpy.zeros((self.steps, model.nu)) if given.u is None else numbers(
            f"{where}: u", given.u, (None, model.nu))
        if len(self.u) < self.steps:
            raise BadArgument(f"{where}: u has {len(self.u)} control steps, but its last sample is after "
                              f"{self.steps}")


def _steps(times: Array, step: float, model: Model, most_steps: int, where: str) -> Integers:
    """The number of control steps before each sample."""
    if len(times) == 0 or not numpy.isfinite(times).all() or times[0] < 0 or (numpy.diff(times) <= 0).any():
        raise BadArgument(f"{where}: times must increase from 0 or later, s after the start")
    h = model.parameters[model.parameter_names.index("world/time_step")]
    spacing = float(numpy.diff(times).min() if len(times) > 1 else times[0])
    if spacing / h > most_steps:
        raise BadArgument(f"{where}: samples are {spacing:g} s apart, {spacing / h:.0f} time steps of {h:g} s; times "
                          "are in seconds: divide milliseconds by 1000, or allow more by most_steps")
    at = numpy.rint(times / step)
    wrong = numpy.flatnonzero(numpy.abs(times - at * step) > 0.01 * h)
    if len(wrong) > 0:
        raise BadArgument(f"{where}: the sample at {times[wrong[0]]:g} s lies between control steps of {step:g} s; "
                          "choose a time step of the model, or substeps, that divides the times")
    steps: Integers = at.astype(numpy.int32)
    return steps


class Tracks:
    """Recordings that are rolled out together, in groups of similar length."""

    def __init__(self, model: Model, given: Sequence[Recording], noise: Mapping[str, ArrayLike], substeps: int,
                 threads: int, most_steps: int) -> None:
        if len(given) == 0:
            raise BadArgument("there is no recording")
        names = list(dict.fromkeys(name for recording in given for name in recording.signals))
        self.signals = {name: Signal(model, name) for name in names}
        self.weights = {}
        for name, signal in self.signals.items():
            if name not in noise:
                raise BadArgument(f"noise has no {name!r}: give the standard deviation of this signal")
            deviations = numpy.asarray(noise[name], float)
            if not (deviations > 0).all():
                raise BadArgument(f"noise of {name!r} must be positive")
            self.weights[name] = numpy.broadcast_to(1 / deviations, (signal.rotations.tangent,))
        h = model.parameters[model.parameter_names.index("world/time_step")]
        self.model, self.rotations = model, configurations(model)
        self.tracks = [Track(model, recording, self.signals, f"recording {i}", h * substeps, most_steps)
                       for i, recording in enumerate(given)]
        self.starts = numpy.stack([track.start for track in self.tracks])
        order = sorted(range(len(given)), key=lambda i: self.tracks[i].steps)
        self.groups = [order[i:i + _TOGETHER] for i in range(0, len(order), _TOGETHER)]
        self.batches = {len(group): Batch(model, len(group), threads, substeps) for group in self.groups}

    def displaced(self, starts: Array, d: Array) -> Array:
        """Starts (n, nx) displaced by tangent vectors d (n, ndx)."""
        m = self.model
        q = numpy.stack([m.retract(x[:m.nq], each[:m.nv]) for x, each in zip(starts, d)])
        return numpy.concatenate([q, starts[:, m.nq:] + d[:, m.nv:]], 1)

    def rollouts(self, theta: Array, starts: Array) -> Tuple[List[Array], List[Dict[str, Array]]]:
        """The states (steps + 1, nx) of each recording, and differences of signals (samples, tangent) from what was
        measured; inf after a divergence."""
        states: List[Array] = [numpy.empty(0)] * len(self.tracks)
        differences: List[Dict[str, Array]] = [{} for _ in self.tracks]
        for group in self.groups:
            batch, u = self._ready(group, theta)
            rows, completed = batch.rollout(starts[group], u)
            rows = numpy.concatenate([starts[group][None], rows])
            for name, signal in self.signals.items():
                values = self._values(batch, signal, rows, u)
                for j, i in enumerate(group):
                    self._compare(differences[i], signal, self.tracks[i], values[:, j])
            for j, i in enumerate(group):
                states[i] = rows[:self.tracks[i].steps + 1, j]
                if completed[j] < self.tracks[i].steps:
                    differences[i] = {name: numpy.full_like(d, numpy.inf) for name, d in differences[i].items()}
        return states, differences

    def linearized(self, theta: Array, by_y: Array, starts: Array) -> Tuple[List[Array], List[Array]]:
        """For each recording the weighted residuals (m) and their Jacobian (m, ndx + p), with columns of its start
        and of y, where by_y (nparam, p) is that of theta."""
        residuals: List[Array] = [numpy.empty(0)] * len(self.tracks)
        jacobians: List[Array] = [numpy.empty(0)] * len(self.tracks)
        for group in self.groups:
            batch, u = self._ready(group, theta)
            noise = numpy.stack([self.tracks[i].noise for i in group])
            states, slopes = _sensitivities(batch, starts[group], u, by_y, noise.max(0) > 0)
            parts: List[Tuple[List[Array], List[Array]]] = [([], []) for _ in group]
            for name, signal in self.signals.items():
                for k in sorted({int(k) for i in group if name in self.tracks[i].measured for k in self.tracks[i].at}):
                    self._linearize(signal, batch, k, states[k], u, slopes[k], by_y, group, parts)
            for i, (r, J) in zip(group, parts):
                residuals[i], jacobians[i] = numpy.concatenate(r), numpy.concatenate(J)
        return residuals, jacobians

    def _linearize(self, signal: Signal, batch: Batch, k: int, x: Array, u: Array, slopes: Array, by_y: Array,
                   group: List[int], parts: List[Tuple[List[Array], List[Array]]]) -> None:
        """Appends the rows of a signal at step k, for the recordings of the group that have a sample there."""
        held = u[min(k, len(u) - 1)] if len(u) else numpy.zeros((batch.n_env, batch.nu))
        values = signal.values(batch, x, held)
        by_x, by_theta = signal.jacobians(batch, x, held)
        by_all = by_x @ slopes
        by_all[:, :, batch.ndx:] += by_theta @ by_y
        for j, i in enumerate(group):
            track = self.tracks[i]
            at = numpy.flatnonzero(track.at == k)
            if len(at) == 0 or signal.name not in track.measured:
                continue
            d, by_d = signal.rotations.difference(track.measured[signal.name][at], values[j:j + 1])
            seen, weights = numpy.isfinite(d[0]), self.weights[signal.name]
            parts[j][0].append((weights * d[0])[seen])
            J = numpy.where(seen[:, None], by_d[0], 0) @ by_all[j] * weights[:, None]
            J[:, :batch.ndx] *= track.noise > 0
            parts[j][1].append(J[seen])

    def weighted(self, differences: List[Dict[str, Array]]) -> List[Array]:
        """The weighted residuals (m) of each recording, without what was not measured."""
        out = []
        for one in differences:
            rows = [(self.weights[name] * d).ravel() for name, d in one.items()]
            joined = numpy.concatenate(rows)
            out.append(joined[~numpy.isnan(joined)])
        return out

    def _ready(self, group: List[int], theta: Array) -> Tuple[Batch, Array]:
        """The batch of a group, and the controls (steps, n, nu) of its recordings, zero after their ends."""
        batch = self.batches[len(group)]
        batch.set_parameters(theta)
        steps = max(self.tracks[i].steps for i in group)
        u = numpy.zeros((steps, len(group), self.model.nu))
        for j, i in enumerate(group):
            used = self.tracks[i].u[:steps]
            u[:len(used), j] = used
        return batch, u

    def _values(self, batch: Batch, signal: Signal, states: Array, u: Array) -> Array:
        held = numpy.concatenate([u, u[-1:]]) if len(u) else numpy.zeros((1, batch.n_env, batch.nu))
        if signal.kind == "state":
            return states[:, :, signal.x]
        return numpy.stack([signal.values(batch, x, now) for x, now in zip(states, held)])

    def _compare(self, out: Dict[str, Array], signal: Signal, track: Track, values: Array) -> None:
        if signal.name in track.measured:
            out[signal.name] = signal.rotations.difference(track.measured[signal.name], values[track.at])[0]


def _sensitivities(batch: Batch, x: Array, u: Array, by_y: Array, wanted: Array) -> Tuple[Array, Array]:
    """The states (steps + 1, n, nx) from x, and their derivatives (steps + 1, n, ndx, ndx + p) by the wanted entries
    of the start and by y: by forward products for few directions, otherwise by the Jacobian of every step."""
    n, ndx, p = batch.n_env, batch.ndx, by_y.shape[1]
    slopes = numpy.zeros((len(u) + 1, n, ndx, ndx + p))
    starts = numpy.flatnonzero(wanted)
    slopes[0, :, starts, starts] = 1
    states = numpy.concatenate([x[None], batch.rollout(x, u)[0]])
    if len(starts) + p <= _FEW:
        for i in starts:
            slopes[1:, :, :, i] = batch.jvp(x, u, x_dot=numpy.tile(numpy.eye(ndx)[i], (n, 1)))[0]
        for i in range(p):
            slopes[1:, :, :, ndx + i] = batch.jvp(x, u, theta_dot=by_y[:, i])[0]
        return states, slopes
    used = numpy.flatnonzero(by_y.any(1))
    for k in range(len(u)):
        J = batch.jacobian(states[k], u[k], parameters=p > 0)
        slopes[k + 1] = J.by_state @ slopes[k]
        if J.by_parameters is not None:
            slopes[k + 1, :, :, ndx:] += J.by_parameters[:, :, used] @ by_y[used]
    return states, slopes
