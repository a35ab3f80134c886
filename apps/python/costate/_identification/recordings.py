"""Recordings of a model, and the derivatives of what they hold by starts and parameters."""
from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy

from .._arrays import Array, ArrayLike, Integers, numbers
from .._outputs import Output, configurations
from .._products import Products
from ..batch import Batch
from ..errors import BadArgument
from ..model import Model
from .instruments import Instruments, Signal

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


class Track:
    """A recording with its numbers checked: which step each sample follows, and what is known of the start."""

    def __init__(self, model: Model, given: Recording, outputs: Dict[str, Output], instruments: Instruments,
                 where: str, step: float, most_steps: int) -> None:
        times = numbers(f"{where}: times", given.times, (None,))
        self.at, self.step = _steps(times, step, model, most_steps, where), step
        self.steps, self.measured = int(self.at[-1]), {}
        for name, values in given.signals.items():
            rows = numpy.asarray(values, float)
            rows = rows[:, None] if rows.ndim == 1 else rows
            rows = numbers(f"{where}: {name}", rows, (len(times), outputs[name].rotations.size))
            self.measured[name] = self._comparable(rows, instruments.delays(name), f"{where}: {name}")
        start = model.start() if given.start is None else given.start
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

    def _comparable(self, rows: Array, delays: Tuple[float, float], where: str) -> Array:
        """The rows without those that show what was before the start; the motion goes on until the last one."""
        if delays == (0.0, 0.0):
            return rows
        early = self.at * self.step < delays[1] - 1e-9 * self.step
        if early.all():
            raise BadArgument(f"{where}: no sample is later than the longest delay of {delays[1]:g} s")
        self.steps = max(self.steps, 1, int(numpy.ceil(self.at[-1] - delays[0] / self.step - 1e-9)))
        return numpy.where(early[:, None], numpy.nan, rows)

    def between(self, delay: float) -> Tuple[Integers, Array]:
        """The step that follows what each sample shows after a delay, and the share of the way from the step
        before."""
        position = numpy.clip(self.at - delay / self.step, 0, self.steps)
        after = numpy.maximum(numpy.ceil(position), 1).astype(numpy.int32)
        return after, position - (after - 1)


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

    def __init__(self, model: Model, given: Sequence[Recording], noise: Mapping[str, ArrayLike],
                 signals: Mapping[str, Signal], substeps: int, threads: int, most_steps: int) -> None:
        if len(given) == 0:
            raise BadArgument("there is no recording")
        names = list(dict.fromkeys(name for recording in given for name in recording.signals))
        self.outputs = {name: Output(model, name) for name in names}
        self.noise = {}
        for name, output in self.outputs.items():
            if name not in noise:
                raise BadArgument(f"noise has no {name!r}: give the standard deviation of this signal")
            deviations = numpy.asarray(noise[name], float)
            if not (deviations > 0).all():
                raise BadArgument(f"noise of {name!r} must be positive")
            self.noise[name] = numpy.broadcast_to(deviations, (output.rotations.tangent,))
        self.instruments = Instruments(signals, self.outputs, [recording.signals for recording in given])
        h = model.parameters[model.parameter_names.index("world/time_step")]
        self.model, self.rotations, self.given = model, configurations(model), list(given)
        self.tracks = [Track(model, recording, self.outputs, self.instruments, f"recording {i}", h * substeps,
                             most_steps) for i, recording in enumerate(given)]
        self.starts = numpy.stack([track.start for track in self.tracks])
        self.simulations = self.linearizations = 0  # passes over all recordings
        order = sorted(range(len(given)), key=lambda i: self.tracks[i].steps)
        self.groups = [order[i:i + _TOGETHER] for i in range(0, len(order), _TOGETHER)]
        self.batches = {len(group): Batch(model, len(group), threads, substeps) for group in self.groups}

    def displaced(self, starts: Array, d: Array) -> Array:
        """Starts (n, nx) displaced by tangent vectors d (n, ndx)."""
        m = self.model
        q = numpy.stack([m.retract(x[:m.nq], each[:m.nv]) for x, each in zip(starts, d)])
        return numpy.concatenate([q, starts[:, m.nq:] + d[:, m.nv:]], 1)

    def rollouts(self, theta: Array, starts: Array,
                 z: Array) -> Tuple[List[Array], List[Dict[str, Array]], List[Dict[str, Array]]]:
        """The states (steps + 1, nx) of each recording; what its instruments with unknowns z show (samples, size) by
        signal; and the differences (samples, tangent) from what was measured, inf after a divergence."""
        self.simulations += 1
        states: List[Array] = [numpy.empty(0)] * len(self.tracks)
        shown: List[Dict[str, Array]] = [{} for _ in self.tracks]
        differences: List[Dict[str, Array]] = [{} for _ in self.tracks]
        for group in self.groups:
            batch, u = self._ready(group, theta)
            rows, completed = batch.rollout(starts[group], u)
            rows = numpy.concatenate([starts[group][None], rows])
            for name, output in self.outputs.items():
                values = self._values(batch, output, rows, u)
                for j, i in enumerate(group):
                    if name in self.tracks[i].measured:
                        shown[i][name] = self._shown(i, name, values[:, j], z)
                        differences[i][name] = output.rotations.difference(self.tracks[i].measured[name],
                                                                           shown[i][name])[0]
            for j, i in enumerate(group):
                states[i] = rows[:self.tracks[i].steps + 1, j]
                if completed[j] < self.tracks[i].steps:
                    differences[i] = {name: numpy.full_like(d, numpy.inf) for name, d in differences[i].items()}
        return states, shown, differences

    def _shown(self, i: int, name: str, values: Array, z: Array) -> Array:
        """Samples of a signal of recording i, whose output after each step is values (steps + 1, size)."""
        instrument, track = self.instruments.of(i, name), self.tracks[i]
        if instrument is None:
            return values[track.at]
        after, share = track.between(instrument.shift(z))
        return instrument.measured(values[after - 1], values[after], share, z)

    def linearized(self, theta: Array, by_y: Array, starts: Array, z: Array) -> Tuple[List[Array], List[Array]]:
        """For each recording the weighted residuals (m) and their Jacobian (m, ndx + p), with columns of its start
        and of y, where by_y (nparam, p) is that of theta; z are the last of y."""
        residuals: List[Array] = [numpy.empty(0)] * len(self.tracks)
        jacobians: List[Array] = [numpy.empty(0)] * len(self.tracks)
        products = Products(by_y)
        self.linearizations += 1
        for group in self.groups:
            batch, u = self._ready(group, theta)
            noise = numpy.stack([self.tracks[i].noise for i in group])
            states, slopes = _sensitivities(batch, starts[group], u, products, noise.max(0) > 0)
            parts: Dict[int, List[Tuple[Array, Array]]] = {i: [] for i in group}
            for output in self.outputs.values():
                self._linearize(output, batch, states, u, slopes, products, group, z, parts)
            for i in group:
                residuals[i], jacobians[i] = (numpy.concatenate(rows) for rows in zip(*parts[i]))
        return residuals, jacobians

    def _linearize(self, output: Output, batch: Batch, states: Array, u: Array, slopes: Array, by_y: Products,
                   group: List[int], z: Array, parts: Dict[int, List[Tuple[Array, Array]]]) -> None:
        """Appends the rows of a signal, for the recordings of the group that have it: step by step, because the
        derivatives of all steps may be large."""
        which = {}
        for j, i in enumerate(group):
            instrument = self.instruments.of(i, output.name)
            if output.name in self.tracks[i].measured:
                track = self.tracks[i]
                after, share = (track.at, numpy.empty(0)) if instrument is None else track.between(
                    instrument.shift(z))
                which[i] = (j, instrument, after, share)
        used = {int(k) for _, _, after, _ in which.values() for k in after}
        used |= {int(k) - 1 for _, instrument, after, _ in which.values() if instrument is not None for k in after}
        past: Tuple[Array, Array] = (numpy.empty(0), numpy.empty(0))
        for k in sorted(used):
            held = u[min(k, len(u) - 1)] if len(u) else numpy.zeros((batch.n_env, batch.nu))
            now = (output.values(batch, states[k], held),
                   output.sensitivities(batch, states[k], held, slopes[k], by_y))
            for i, (j, instrument, after, share) in which.items():
                at = numpy.flatnonzero(after == k).astype(numpy.int32)
                if len(at) == 0:
                    continue
                values, by_all = (numpy.repeat(both[j:j + 1], len(at), 0) for both in now)
                if instrument is not None:
                    before, by_before = (numpy.repeat(both[j:j + 1], len(at), 0) for both in past)
                    values, by_all, by_traits = instrument.linearized(before, values, by_before, by_all, share[at], z,
                                                                      self.tracks[i].step)
                    for kind, columns in instrument.columns.items():
                        first = by_all.shape[2] - len(z)
                        by_all[:, :, first + columns.start:first + columns.stop] += by_traits[kind]
                parts[i].append(self._rows(output, self.tracks[i], at, values, by_all))
            past = now

    def _rows(self, output: Output, track: Track, at: Integers, values: Array,
              by_all: Array) -> Tuple[Array, Array]:
        """Weighted residuals (m) of these samples, without what was not measured, and their Jacobian."""
        d, by_d = output.rotations.difference(track.measured[output.name][at], values)
        seen, weights = numpy.isfinite(d), 1 / self.noise[output.name]
        J = numpy.where(seen[:, :, None], by_d, 0) @ by_all * weights[:, None]
        J[:, :, :len(track.noise)] *= track.noise > 0
        return (weights * d)[seen], J[seen]

    def weighted(self, differences: List[Dict[str, Array]]) -> List[Array]:
        """The weighted residuals (m) of each recording, without what was not measured."""
        out = []
        for one in differences:
            joined = numpy.concatenate([(d / self.noise[name]).ravel() for name, d in one.items()])
            out.append(joined[~numpy.isnan(joined)])
        return out

    def _ready(self, group: List[int], theta: Array) -> Tuple[Batch, Array]:
        """The batch of a group, and the controls (steps, n, nu) of its recordings, zero after their ends; a step where
        none has one."""
        batch = self.batches[len(group)]
        batch.set_parameters(theta)
        steps = max(1, *(self.tracks[i].steps for i in group))
        u = numpy.zeros((steps, len(group), self.model.nu))
        for j, i in enumerate(group):
            used = self.tracks[i].u[:steps]
            u[:len(used), j] = used
        return batch, u

    def _values(self, batch: Batch, output: Output, states: Array, u: Array) -> Array:
        held = numpy.concatenate([u, u[-1:]]) if len(u) else numpy.zeros((1, batch.n_env, batch.nu))
        if output.kind == "state":
            return states[:, :, output.x]
        return numpy.stack([output.values(batch, x, now) for x, now in zip(states, held)])


def _sensitivities(batch: Batch, x: Array, u: Array, by_y: Products, wanted: Array) -> Tuple[Array, Array]:
    """The states (steps + 1, n, nx) from x, and their derivatives (steps + 1, n, ndx, ndx + p) by the wanted entries
    of the start and by y: by forward products for few directions, otherwise by the Jacobian of every step."""
    n, ndx = batch.n_env, batch.ndx
    slopes = numpy.zeros((len(u) + 1, n, ndx, ndx + by_y.p))
    starts = numpy.flatnonzero(wanted)
    slopes[0, :, starts, starts] = 1
    states = numpy.concatenate([x[None], batch.rollout(x, u)[0]])
    if len(starts) + len(by_y.moving) <= _FEW:
        for i in starts:
            slopes[1:, :, :, i] = batch.jvp(x, u, x_dot=numpy.tile(numpy.eye(ndx)[i], (n, 1)))[0]
        for i in by_y.moving:
            slopes[1:, :, :, ndx + i] = batch.jvp(x, u, theta_dot=by_y.by_y[:, i])[0]
        return states, slopes
    for k in range(len(u)):
        J = batch.jacobian(states[k], u[k], parameters=len(by_y.moving) > 0)
        slopes[k + 1] = J.by_state @ slopes[k]
        if J.by_parameters is not None:
            slopes[k + 1, :, :, ndx:] += by_y.product(J.by_parameters)
    return states, slopes
