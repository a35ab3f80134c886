"""Differentiable steps, rollouts and poses for JAX: `jax.custom_vjp` over `jax.pure_callback`, on the CPU.

States are arrays x (n_env, nx). Their gradients are ambient, as those of any array: a quaternion q in x means q/|q|,
so the gradient has no component along q. The `Batch` must be created with ambient=True. It computes in float64;
results have the type of x, which is float32 unless `jax_enable_x64` is set. Functions may be compiled by `jax.jit`
and differentiated by `jax.grad` and `jax.vjp`; `jax.vmap` calls them one after the other, and `jax.jvp` is not
defined, as for every `custom_vjp`. Needs JAX 0.4.34 or newer.
"""
from __future__ import annotations

import functools
import threading
from typing import Any, Callable, Sequence, Tuple
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy

from ._arrays import Array, ArrayLike
from .batch import _ALL, Batch

__all__ = ["step", "rollout", "poses"]


def step(batch: Batch, x: Any, u: Any, parameters: Any = None) -> Tuple[Any, Any]:
    """(x_next (n_env, nx), diverged (n_env) bool) after one control step from x (n_env, nx) under u (n_env, nu);
    parameters as for `rollout`. No gradient passes through the step of a diverged environment."""
    states, completed = rollout(batch, x, jnp.asarray(u)[None], parameters)
    return states[0], completed < 1


def rollout(batch: Batch, x: Any, u: Any, parameters: Any = None) -> Tuple[Any, Any]:
    """(states (n_steps, n_env, nx), completed (n_env) int32): the states after each control step from x (n_env,
    nx) under u (n_steps, n_env, nu), and the number of steps before each environment diverged.

    parameters: theta (nparam), or (n_env, nparam) if the batch has own_parameters; None: those of the batch now,
    which are constants of a compiled function."""
    _check_ambient(batch)
    own, theta = _own(batch, parameters)
    states, completed = _rollout(batch, own, jnp.asarray(x), jnp.asarray(u), theta)
    return states, completed


def poses(batch: Batch, x: Any, frames: Sequence[int]) -> Tuple[Any, Any]:
    """(poses (n_env, n, 7): origin, m, and quaternion (w >= 0); velocities (n_env, n, 6): of the origin, m/s, and
    angular, rad/s), all in world axes, of frames (n) in states x (n_env, nx). `batch.frames(names)` has the
    indices of frames."""
    _check_ambient(batch)
    which = tuple(int(i) for i in frames)
    where, velocities = _poses(batch, _own(batch)[0], which, jnp.asarray(x))
    return where, velocities


class _Parameters:
    """Constant parameters: an argument that JAX can hash."""

    def __init__(self, theta: Array) -> None:
        self.theta = theta.copy()


# ---- Rollouts ---------------------------------------------------------------------------------------------------


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _rollout(batch: Batch, own: _Parameters, x: Any, u: Any, theta: Any) -> Any:
    def run(x: Any, u: Any, theta: Any) -> Tuple[Array, Any]:
        with _Set(batch, own, theta):
            states, completed = batch.rollout(_array(x), _array(u))
        return states.astype(x.dtype), completed

    shapes = _like((u.shape[0], *x.shape), x), jax.ShapeDtypeStruct((batch.n_env,), numpy.int32)
    return _call(run, shapes, x, u, theta)


def _rollout_forward(batch: Batch, own: _Parameters, x: Any, u: Any, theta: Any) -> Any:
    states, completed = _rollout(batch, own, x, u, theta)
    return (states, completed), (x, u, theta, states, completed)


def _rollout_backward(batch: Batch, own: _Parameters, kept: Any, bars: Any) -> Any:
    x, u, theta, states, completed = kept

    def run(x: Any, u: Any, theta: Any, states: Any, completed: Any, states_bar: Any) -> Tuple[Array, ...]:
        starts = numpy.concatenate([_array(x)[None], _array(states)[:-1]])
        with _Set(batch, own, theta):
            back = batch.backward(starts, _array(u), _array(states_bar), numpy.asarray(completed),
                                  ("x", "u") if theta.size == 0 else _ALL, each=theta.ndim == 2)
        return tuple(numpy.zeros(given.shape, given.dtype) if bar is None else bar.astype(given.dtype)
                     for bar, given in zip(back, (x, u, theta)))

    return _call(run, tuple(_like(given.shape, given) for given in (x, u, theta)), x, u, theta, states, completed,
                 bars[0])


_rollout.defvjp(_rollout_forward, _rollout_backward)

# ---- Poses ------------------------------------------------------------------------------------------------------


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _poses(batch: Batch, own: _Parameters, frames: Tuple[int, ...], x: Any) -> Any:
    def run(x: Any) -> Tuple[Array, ...]:
        with _Set(batch, own):
            return tuple(part.astype(x.dtype) for part in batch.poses(_array(x), frames))

    return _call(run, tuple(_like((batch.n_env, len(frames), width), x) for width in (7, 6)), x)


def _poses_forward(batch: Batch, own: _Parameters, frames: Tuple[int, ...], x: Any) -> Any:
    return _poses(batch, own, frames, x), x


def _poses_backward(batch: Batch, own: _Parameters, frames: Tuple[int, ...], x: Any, bars: Any) -> Any:
    def run(x: Any, poses_bar: Any, velocities_bar: Any) -> Tuple[Array, ...]:
        with _Set(batch, own):
            back = batch.poses_vjp(_array(x), frames, _array(poses_bar), _array(velocities_bar), ("x",))
        assert back.x is not None
        return (back.x.astype(x.dtype),)

    return _call(run, (_like(x.shape, x),), x, *bars)


_poses.defvjp(_poses_forward, _poses_backward)

# ---- Between JAX and the library --------------------------------------------------------------------------------

_locks: WeakKeyDictionary[Batch, threading.RLock] = WeakKeyDictionary()  # JAX may call from several threads


class _Set:
    """Sets the parameters of a batch for one call, and then those that it had."""

    def __init__(self, batch: Batch, own: _Parameters, theta: Any = None) -> None:
        self._batch = batch
        self._theta = own.theta if theta is None or theta.size == 0 else _array(theta)

    def __enter__(self) -> None:
        self._lock = _locks.setdefault(self._batch, threading.RLock())
        self._lock.acquire()
        self._before = self._batch._parameters
        self._batch.set_parameters(self._theta)

    def __exit__(self, *_: object) -> None:
        self._batch.set_parameters(self._before)
        self._lock.release()


def _own(batch: Batch, parameters: Any = None) -> Tuple[_Parameters, Any]:
    """The parameters of the batch, which keep their float64, and theta for the derivatives, which may be empty."""
    own = _Parameters(batch.model.parameters if batch._parameters is None else batch._parameters)
    return own, jnp.asarray(numpy.zeros(0) if parameters is None else parameters)


def _call(run: Callable[..., Any], shapes: Any, *arguments: Any) -> Any:
    return jax.pure_callback(run, shapes, *arguments, vmap_method="sequential")


def _like(shape: Tuple[int, ...], given: Any) -> Any:
    return jax.ShapeDtypeStruct(shape, given.dtype)


def _array(values: ArrayLike) -> Array:
    return numpy.asarray(values, dtype=numpy.float64)


def _check_ambient(batch: Batch) -> None:
    if not batch.ambient:
        raise ValueError("gradients of arrays are ambient: create the batch with ambient=True")
