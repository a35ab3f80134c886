"""Many environments of one model, stepped together by a pool of threads."""
import ctypes
import os
import weakref
from typing import NamedTuple, Optional

import numpy

from ._arrays import address, output
from ._library import BatchOptions, check, library

_ALL = ("x", "u", "parameters")


class BatchGradient(NamedTuple):
    """Gradient with respect to the inputs of a rollout; None for inputs that were not requested."""

    x: Optional[numpy.ndarray]  # of the states before the rollout: (n_env, nx) if the batch is ambient, otherwise (n_env, ndx)
    u: Optional[numpy.ndarray]  # (n_steps, n_env, nu)
    parameters: Optional[numpy.ndarray]  # (nparam), or (n_env, nparam)


class Batch:
    """n_env environments of a model. A control step is `substeps` time steps with the same control.

    A state x has nx numbers: q, v, and the impulses kept by a model with a warm start; its tangent vectors have ndx. All
    results have the same bits for any number of threads and any division into batches. An environment diverges if a state
    would not be finite: it stays in the state at the beginning of that control step, and no gradient passes through the
    step; other environments are not affected.

    threads: number of working threads, the calling one included; 0: one per core.
    own_parameters: each environment may have its own parameters (see `set_parameters`).
    ambient: gradients of states are ambient (nx), for f(q/|q|) if there are quaternions; otherwise tangent (ndx).
    checkpoint_bytes: memory of all threads for states between time steps of a control step; 0: enough for all. Less memory
        takes more time and gives the same bits.
    """

    def __init__(self, model, n_env, threads=0, substeps=1, own_parameters=False, ambient=False, checkpoint_bytes=0):
        options = BatchOptions(n_env, threads, substeps, own_parameters, ambient, checkpoint_bytes)
        self.bytes = _bytes(model, options)  # its memory, without the workspaces of threads
        handle = ctypes.c_void_p()
        check(library.costate_batch_create(model._handle, ctypes.byref(options), ctypes.byref(handle)))
        self._handle = handle
        self.close = weakref.finalize(self, library.costate_batch_free, handle)  # frees it early; later calls raise BadHandle
        self.model, self.n_env, self.substeps, self.ambient = model, n_env, substeps, ambient
        self.nx, self.ndx, self.nu, self.nparam = model.nx, model.ndx, model.nu, model.nparam
        self._x, self._u, self._n = (n_env, self.nx), (n_env, self.nu), (n_env,)

    def __repr__(self):
        return f"<costate.Batch: {self.n_env} of {self.model.source!r}>"

    @staticmethod
    def bytes_of(model, n_env, threads=0, substeps=1, own_parameters=False, ambient=False, checkpoint_bytes=0):
        """The memory of such a batch in bytes, without the workspaces of threads."""
        return _bytes(model, BatchOptions(n_env, threads, substeps, own_parameters, ambient, checkpoint_bytes))

    def set_parameters(self, theta):
        """Sets theta for all later calls: (nparam) for all environments; (n_env, nparam) with `own_parameters`; None: the parameters of
        the model at the time of each call."""
        if theta is None:
            check(library.costate_batch_set_parameters(self._handle, None, 0))
            return
        shape = (self.nparam,) if numpy.ndim(theta) == 1 else (self.n_env, self.nparam)
        check(library.costate_batch_set_parameters(self._handle, address("theta", theta, shape), theta.size))

    # ---- States of its own -----------------------------------------------------------------------------------------------------------

    def reset(self, envs=None, x=None, keyframe=None, noise=None, seeds=None):
        """Resets environments `envs` (int32; None: all): to x (nx) or (len(envs), nx) if given, otherwise to the keyframe, otherwise to
        the initial state of the file.

        noise (ndx) and seeds (uint64, len(envs)): the state is displaced by a tangent vector whose entry i is noise[i] times a number in
        [-1, 1] that depends only on the environment's seed."""
        n = self.n_env if envs is None else len(envs)
        where = None if envs is None else address("envs", envs, (n,), numpy.int32)
        shape = (self.nx,) if x is not None and numpy.ndim(x) == 1 else (n, self.nx)
        check(library.costate_batch_reset(
            self._handle, where, n, None if keyframe is None else keyframe.encode(), None if x is None else address("x", x, shape),
            0 if x is None else x.size, None if noise is None else address("noise", noise, (self.ndx,)),
            None if seeds is None else address("seeds", seeds, (n,), numpy.uint64)))

    def state(self):
        """(x (n_env, nx), diverged (n_env) bool): the batch's own states, and which have diverged since their last reset."""
        x, status = numpy.empty(self._x), numpy.empty(self._n, numpy.int32)
        check(library.costate_batch_state(self._handle, x.ctypes.data, status.ctypes.data))
        return x, status != 0

    def advance(self, u, out=None):
        """Advances the batch's own states by one control step under u (n_env, nu); returns the same as `step`."""
        return self._step(None, u, out)

    def residuals(self):
        """(residual, unconverged) of the solver in the last `advance`, `step` or `rollout`: the largest velocity error
        (n_env), m/s, and the number of time steps without convergence (n_env) int32."""
        residual, unconverged = numpy.empty(self._n), numpy.empty(self._n, numpy.int32)
        check(library.costate_batch_residuals(self._handle, residual.ctypes.data, unconverged.ctypes.data))
        return residual, unconverged

    # ---- States of the caller ----------------------------------------------------------------------------------------------------------

    def step(self, x, u, out=None):
        """(x_next (n_env, nx), diverged (n_env) bool) after one control step from x (n_env, nx) under u (n_env, nu).

        out: an array for x_next, which may be x."""
        return self._step(address("x", x, self._x), u, out)

    def _step(self, x, u, out):
        x_next, where = output("out", out, self._x)
        status = numpy.empty(self._n, numpy.int32)
        check(library.costate_batch_step(self._handle, x, address("u", u, self._u), where, status.ctypes.data))
        return x_next, status != 0

    def rollout(self, x, u, out=None):
        """(states (n_steps, n_env, nx), completed (n_env) int32): the states after each control step from x (n_env, nx) under u (n_steps,
        n_env, nu), and the number of steps before each environment diverged."""
        n_steps = len(u)
        states, where = output("out", out, (n_steps, *self._x))
        completed = numpy.empty(self._n, numpy.int32)
        check(library.costate_batch_rollout(self._handle, n_steps, address("x", x, self._x), address("u", u, (n_steps, *self._u)), where,
                                            completed.ctypes.data))
        return states, completed

    def backward(self, x, u, states_bar, completed=None, wanted=_ALL, each=False):
        """Pulls back the gradient of a function of all states of a rollout.

        x (n_steps, n_env, nx): the states before each control step; u (n_steps, n_env, nu) and `completed` as in the rollout; states_bar
        (n_steps, n_env, nx or ndx): gradients of the states after each step. `wanted` names the fields of the returned BatchGradient to
        compute; the gradient of parameters is summed over environments unless `each`."""
        n_steps, width = len(u), self.nx if self.ambient else self.ndx
        sizes = ((self.n_env, width), (n_steps, *self._u), (self.n_env, self.nparam) if each else (self.nparam,))
        bars = BatchGradient(*(numpy.empty(size) if name in wanted else None for name, size in zip(_ALL, sizes)))
        check(library.costate_batch_backward(
            self._handle, n_steps, address("x", x, (n_steps, *self._x)), address("u", u, (n_steps, *self._u)),
            None if completed is None else address("completed", completed, self._n, numpy.int32),
            address("states_bar", states_bar, (n_steps, self.n_env, width)), *(None if bar is None else bar.ctypes.data for bar in bars),
            0 if bars.parameters is None else bars.parameters.size))
        return bars

    # ---- Frames ------------------------------------------------------------------------------------------------------------------------

    def frames(self, names):
        """Indices (int32) of bodies and sites by their names, for `poses`."""
        known = self.model.bodies + self.model.sites
        missing = [name for name in names if name not in known]
        if missing:
            raise ValueError(f"there is no body or site {missing[0]!r}; there are {', '.join(known)}")
        return numpy.array([known.index(name) for name in names], numpy.int32)

    def poses(self, x, frames):
        """(poses (n_env, n, 7): origin, m, and quaternion (w >= 0); velocities (n_env, n, 6): of the origin, m/s, and angular, rad/s), all
        in world axes, of frames (n) in states x (n_env, nx)."""
        n = len(frames)
        poses, velocities = numpy.empty((self.n_env, n, 7)), numpy.empty((self.n_env, n, 6))
        check(library.costate_batch_poses(self._handle, address("x", x, self._x), address("frames", frames, (n,), numpy.int32), n,
                                          poses.ctypes.data, velocities.ctypes.data))
        return poses, velocities

    def poses_vjp(self, x, frames, poses_bar=None, velocities_bar=None, wanted=("x", "parameters"), each=False):
        """The BatchGradient (with u = None) of a function of poses and velocities, from its gradients poses_bar and velocities_bar; None:
        zeros.

        poses_bar is (n_env, n, 7) if the batch is ambient, otherwise (n_env, n, 6): origin, and rotation in axes of the frame."""
        n, width = len(frames), 7 if self.ambient else 6
        x_bar = numpy.empty((self.n_env, self.nx if self.ambient else self.ndx)) if "x" in wanted else None
        theta_bar = numpy.empty((self.n_env, self.nparam) if each else (self.nparam,)) if "parameters" in wanted else None
        check(library.costate_batch_poses_vjp(
            self._handle, address("x", x, self._x), address("frames", frames, (n,), numpy.int32), n,
            None if poses_bar is None else address("poses_bar", poses_bar, (self.n_env, n, width)),
            None if velocities_bar is None else address("velocities_bar", velocities_bar, (self.n_env, n, 6)),
            None if x_bar is None else x_bar.ctypes.data, None if theta_bar is None else theta_bar.ctypes.data,
            0 if theta_bar is None else theta_bar.size))
        return BatchGradient(x_bar, None, theta_bar)


def _bytes(model, options):
    size = ctypes.c_size_t()
    check(library.costate_batch_bytes(model._handle, ctypes.byref(options), ctypes.byref(size)))
    return size.value
