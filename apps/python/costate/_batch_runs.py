"""Sensors of batches; rollouts with external wrenches and sensors, backwards within a budget of bytes, and along
directions."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Collection, NamedTuple, Optional, Tuple

import numpy

from ._arrays import Array, ArrayLike, Integers, Mask, check_wanted, numbers
from ._library import SEED, Run, RunGradient, check, library
from ._progress import Progress

if TYPE_CHECKING:
    from .batch import Batch

# From the control step t, the states (n_env, nx) after it and the sensors (n_env, ny) at its beginning to the
# gradients by both: states_bar (n_env, ndx), and y_bar (n_env, ny); None: zeros.
Seed = Callable[[int, Array, Array], Tuple[Optional[ArrayLike], Optional[ArrayLike]]]

_ALL = ("x", "u", "wrenches", "parameters")


class Rollout(NamedTuple):
    """States and sensors of a rollout."""

    states: Array  # (n_steps, n_env, nx) after each control step
    sensors: Array  # (n_steps, n_env, ny) at the beginning of each control step
    completed: Integers  # (n_env) control steps before an environment diverged


class RunBars(NamedTuple):
    """Gradient with respect to the inputs of a rollout or of its sensors; None for inputs that were not requested."""

    x: Optional[Array]  # (n_env, ndx), or (n_env, nx) if the batch is ambient
    u: Optional[Array]  # (n_steps, n_env, nu); of sensors (n_env, nu)
    wrenches: Optional[Array]  # (n_steps, n_env, n_bodies, 6); of sensors (n_env, n_bodies, 6)
    parameters: Optional[Array]  # (nparam), or (n_env, nparam)


class SensorJacobian(NamedTuple):
    """Jacobians of sensors in tangent vectors: C and D of the linearized system."""

    by_state: Array  # (n_env, ny, ndx)
    by_control: Array  # (n_env, ny, nu)
    by_parameters: Optional[Array]  # (n_env, ny, nparam)
    diverged: Mask  # (n_env): their Jacobians are zero


def sensors(batch: Batch, x: ArrayLike, u: Optional[ArrayLike], wrenches: Optional[ArrayLike]) -> Array:
    y = numpy.empty((batch.n_env, batch.model.ny))
    batch._run(library.costate_batch_sensors, *_inputs(batch, x, u, wrenches), y, None)
    return y


def sensors_vjp(batch: Batch, x: ArrayLike, y_bar: ArrayLike, u: Optional[ArrayLike],
                wrenches: Optional[ArrayLike], wanted: Collection[str], each: bool) -> RunBars:
    bars = _bars(batch, (), wanted, each)
    theta = bars.parameters
    batch._run(library.costate_batch_sensors_vjp, *_inputs(batch, x, u, wrenches),
               numbers("y_bar", y_bar, (batch.n_env, batch.model.ny)), *bars, 0 if theta is None else theta.size)
    return bars


def sensors_jacobian(batch: Batch, x: ArrayLike, u: Optional[ArrayLike], parameters: bool) -> SensorJacobian:
    n, ny, status = batch.n_env, batch.model.ny, numpy.empty(batch.n_env, numpy.int32)
    by_x, by_u = numpy.empty((n, ny, batch.ndx)), numpy.empty((n, ny, batch.nu))
    by_theta = numpy.empty((n, ny, batch.nparam)) if parameters else None
    x, u, _ = _inputs(batch, x, u, None)
    batch._run(library.costate_batch_sensors_jacobian, x, u, None, by_x, by_u, by_theta, status)
    return SensorJacobian(by_x, by_u, by_theta, status != 0)


def run(batch: Batch, x: ArrayLike, u: ArrayLike, wrenches: Optional[ArrayLike],
        progress: Optional[Progress]) -> Rollout:
    given, n_steps, kept = _run(batch, x, u, wrenches)
    out = Rollout(numpy.empty((n_steps, batch.n_env, batch.nx)), numpy.empty((n_steps, batch.n_env, batch.model.ny)),
                  numpy.empty(batch.n_env, numpy.int32))
    given.states, given.y = out.states.ctypes.data, out.sensors.ctypes.data
    given.completed = out.completed.ctypes.data
    batch._run(library.costate_batch_run, ctypes.byref(given), progress=progress)
    del kept
    return out


def run_vjp(batch: Batch, x: ArrayLike, u: ArrayLike, states_bar: Optional[ArrayLike], y_bar: Optional[ArrayLike],
            seed: Optional[Seed], wrenches: Optional[ArrayLike], max_bytes: int, wanted: Collection[str],
            each: bool, progress: Optional[Progress]) -> RunBars:
    given, n_steps, kept = _run(batch, x, u, wrenches)
    n, ny, width = batch.n_env, batch.model.ny, batch.nx if batch.ambient else batch.ndx
    if max_bytes < 0:
        raise ValueError(f"max_bytes is {max_bytes}, the least is 0")
    bars = _bars(batch, (n_steps,), wanted, each)
    gradient = RunGradient(ctypes.sizeof(RunGradient), max_bytes)
    for name, bar, shape in (("states_bar", states_bar, (n_steps, n, width)), ("y_bar", y_bar, (n_steps, n, ny))):
        if bar is not None:
            if seed is not None:
                raise TypeError(f"seed gives the gradients; {name} must be None")
            array = numbers(name, bar, shape)
            kept.append(array)
            setattr(gradient, name, array.ctypes.data)
    for field, wanted_bar in zip(("x_bar", "u_bar", "wrenches_bar", "theta_bar"), bars):
        if wanted_bar is not None:
            setattr(gradient, field, wanted_bar.ctypes.data)
    gradient.theta_size = 0 if bars.parameters is None else bars.parameters.size
    failure = []

    def ask(_: Any, t: int, states: Any, y: Any, into_states: Any, into_y: Any) -> int:
        try:
            assert seed is not None
            given_bars = seed(t, _view(states, (n, batch.nx)), _view(y, (n, ny)))
            for name, bar, into, size in zip(("states_bar", "y_bar"), given_bars, (into_states, into_y), (width, ny)):
                if bar is not None:
                    _view(into, (n, size))[:] = numbers(name, bar, (n, size))
            return 0
        except BaseException as error:  # passed on after the call, which ends
            failure.append(error)
            return 1

    callback = SEED(ask)
    if seed is not None:
        gradient.seed = callback
    try:
        batch._run(library.costate_batch_run_vjp, ctypes.byref(given), ctypes.byref(gradient), progress=progress)
    except Exception:
        if failure:
            raise failure[0] from None
        raise
    return bars


def jvp(batch: Batch, x: ArrayLike, u: ArrayLike, x_dot: Optional[ArrayLike], u_dot: Optional[ArrayLike],
        theta_dot: Optional[ArrayLike], wrenches: Optional[ArrayLike]) -> Tuple[Array, Array]:
    given, n_steps, kept = _run(batch, x, u, wrenches)
    states_dot = numpy.empty((n_steps, batch.n_env, batch.ndx))
    y_dot = numpy.empty((n_steps, batch.n_env, batch.model.ny))
    batch._run(library.costate_batch_jvp, ctypes.byref(given), *_direction(batch, n_steps, x_dot, u_dot, theta_dot),
               states_dot, y_dot)
    del kept
    return states_dot, y_dot


def hvp(batch: Batch, x: ArrayLike, u: ArrayLike, states_bar: ArrayLike, states_bar_dot: Optional[ArrayLike],
        x_dot: Optional[ArrayLike], u_dot: Optional[ArrayLike], theta_dot: Optional[ArrayLike]) -> RunBars:
    given, n_steps, kept = _run(batch, x, u, None)
    shape = (n_steps, batch.n_env, batch.ndx)
    by_x, by_u, by_theta = numpy.empty(shape[1:]), numpy.empty((n_steps, batch.n_env, batch.nu)), numpy.empty(
        batch.nparam)
    batch._run(library.costate_batch_hvp, ctypes.byref(given), *_direction(batch, n_steps, x_dot, u_dot, theta_dot),
               numbers("states_bar", states_bar, shape),
               None if states_bar_dot is None else numbers("states_bar_dot", states_bar_dot, shape), by_x, by_u,
               by_theta, by_theta.size)
    del kept
    return RunBars(by_x, by_u, None, by_theta)


def _inputs(batch: Batch, x: ArrayLike, u: Optional[ArrayLike],
            wrenches: Optional[ArrayLike]) -> Tuple[Array, Optional[Array], Optional[Array]]:
    return (numbers("x", x, batch._x), None if u is None else numbers("u", u, batch._u), None if wrenches is None else
            numbers("wrenches", wrenches, (batch.n_env, len(batch.model.bodies), 6)))


def _run(batch: Batch, x: ArrayLike, u: ArrayLike, wrenches: Optional[ArrayLike]) -> Tuple[Run, int, Any]:
    """The structure, the number of steps, and the arrays to keep alive."""
    n_steps = numpy.shape(u)[0] if numpy.ndim(u) == 3 else 0
    kept = [numbers("x", x, batch._x), numbers("u", u, (n_steps, batch.n_env, batch.nu))]
    given = Run(ctypes.sizeof(Run), n_steps, kept[0].ctypes.data, kept[1].ctypes.data)
    if wrenches is not None:
        kept.append(numbers("wrenches", wrenches, (n_steps, batch.n_env, len(batch.model.bodies), 6)))
        given.wrenches = kept[2].ctypes.data
    return given, n_steps, kept


def _bars(batch: Batch, steps: Tuple[int, ...], wanted: Collection[str], each: bool) -> RunBars:
    check_wanted(wanted, _ALL)
    n = batch.n_env
    shapes = ((n, batch.nx if batch.ambient else batch.ndx), (*steps, n, batch.nu),
              (*steps, n, len(batch.model.bodies), 6), (n, batch.nparam) if each else (batch.nparam,))
    return RunBars(*(numpy.empty(shape) if name in wanted else None for name, shape in zip(_ALL, shapes)))


def _direction(batch: Batch, n_steps: int, x_dot: Optional[ArrayLike], u_dot: Optional[ArrayLike],
               theta_dot: Optional[ArrayLike]) -> Any:
    shapes = (batch.n_env, batch.ndx), (n_steps, batch.n_env, batch.nu), (batch.nparam,)
    return [None if given is None else numbers(name, given, shape)
            for name, given, shape in zip(("x_dot", "u_dot", "theta_dot"), (x_dot, u_dot, theta_dot), shapes)]


def _view(pointer: Any, shape: Tuple[int, int]) -> Array:
    if shape[1] == 0:
        return numpy.empty(shape)
    return numpy.ctypeslib.as_array(pointer, shape)
