"""Many environments of one model, stepped together by a pool of threads."""
from __future__ import annotations

import ctypes
import weakref
from typing import Any, Callable, Collection, NamedTuple, Optional, Sequence, Tuple

import numpy
import numpy.typing

from . import _batch_runs, _batch_steps
from ._arrays import Array, ArrayLike, Integers, Mask, check_type, check_wanted
from ._arrays import integer, integers, mask, numbers, output, suggestion
from ._batch_runs import Rollout, RunBars, Seed, SensorJacobian
from ._batch_steps import BatchContacts, BatchJacobian, Chosen
from ._library import BatchOptions, check, library
from ._progress import Progress, Reporter
from ._signals import Signals, in_main_thread
from .errors import BadArgument
from .model import Model

_ALL = ("x", "u", "parameters")


class BatchGradient(NamedTuple):
    """Gradient with respect to the inputs of a rollout; None for inputs that were not requested."""

    x: Optional[Array]  # of the states before the rollout: (n_env, ndx), or (n_env, nx) if the batch is ambient
    u: Optional[Array]  # (n_steps, n_env, nu)
    parameters: Optional[Array]  # (nparam), or (n_env, nparam)


class Batch:
    """n_env environments of a model. A control step is `substeps` time steps with the same control.

    A state x has nx numbers: q, v, and the impulses kept by a model with a warm start; its tangent vectors have
    ndx. All results have the same bits for any number of threads and any division into batches. An environment
    diverges if a state would not be finite: it stays in the state at the beginning of that control step, and no
    gradient passes through the step; other environments are not affected.

    threads: number of working threads, the calling one included; 0: one per core.
    own_parameters: each environment may have its own parameters (see `set_parameters`).
    ambient: gradients of states are ambient (nx), for f(q/|q|) if there are quaternions; otherwise tangent (ndx).
    checkpoint_bytes: memory of all threads for states between time steps of a control step; 0: enough for all.
        Less memory takes more time and gives the same bits.

    Arrays are taken and returned as by `Model`. A signal such as control-C ends a call of the main thread within a
    control step: the exception of its handler is raised, the batch's own states are unchanged, and a given `out`
    may be partly written. Calls with `progress` tell this function how many control steps of single environments
    are done, and of how many, at most every 20 ms and once at the end; if it returns False, the call raises
    Interrupted.
    After os.fork(), a batch of several threads raises BadHandle in the child, where a new
    one can be created; a batch of one thread works in both processes. A batch can be pickled and copied: the copy
    has a copy of the model, the same parameters and the same states of its own, but does not remember which have
    diverged. As a context manager, it is closed at the end.
    """

    def __init__(self, model: Model, n_env: int, threads: int = 0, substeps: int = 1, own_parameters: bool = False,
                 ambient: bool = False, checkpoint_bytes: int = 0) -> None:
        options = _options(model, n_env, threads, substeps, own_parameters, ambient, checkpoint_bytes)
        self.bytes = _bytes(model, options)  # its memory, without the workspaces of threads
        handle = ctypes.c_void_p()
        check(library.costate_batch_create(model._handle, ctypes.byref(options), ctypes.byref(handle)))
        self._handle = handle
        self._signals = Signals()
        self._asks = False  # whether the library asks for signals
        self._finalizer = weakref.finalize(self, library.costate_batch_free, handle)
        self.model, self.ambient = model, bool(ambient)
        self.n_env: int = options.n_env
        self.substeps: int = max(options.substeps, 1)
        self.own_parameters = bool(own_parameters)
        self._threads, self._checkpoint_bytes = options.n_threads, checkpoint_bytes
        self._parameters: Optional[Array] = None  # those of set_parameters
        self.nx, self.ndx, self.nu, self.nparam = model.nx, model.ndx, model.nu, model.nparam
        self._x, self._u, self._n = (self.n_env, self.nx), (self.n_env, self.nu), (self.n_env,)
        self._theta = (self.nparam,)

    def close(self) -> None:
        """Frees the batch early; later calls raise BadHandle."""
        self._finalizer()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Tuple[Any, ...]:
        options = (self.n_env, self._threads, self.substeps, self.own_parameters, self.ambient,
                   self._checkpoint_bytes)
        return _restored, (type(self), self.model, options, self._parameters, self.state()[0])

    def __repr__(self) -> str:
        kind, state = ", ambient" if self.ambient else "", "" if self._finalizer.alive else ", closed"
        return (f"<costate.Batch: {self.n_env} of {self.model.source!r}, {self.substeps} time steps "
                f"per control step{kind}{state}>")

    @staticmethod
    def bytes_of(model: Model, n_env: int, threads: int = 0, substeps: int = 1, own_parameters: bool = False,
                 ambient: bool = False, checkpoint_bytes: int = 0) -> int:
        """The memory of such a batch in bytes, without the workspaces of threads."""
        return _bytes(model, _options(model, n_env, threads, substeps, own_parameters, ambient, checkpoint_bytes))

    def set_parameters(self, theta: Optional[ArrayLike]) -> None:
        """Sets theta for all later calls: (nparam) for all environments; (n_env, nparam) with `own_parameters`;
        None: the parameters of the model at the time of each call."""
        if theta is None:
            check(library.costate_batch_set_parameters(self._handle, None, 0))
            self._parameters = None
            return
        shape = self._theta if numpy.ndim(theta) == 1 else (self.n_env, self.nparam)
        given = numbers("theta", theta, shape)
        check(library.costate_batch_set_parameters(self._handle, given, given.size))
        self._parameters = given.copy()

    # ---- States of its own --------------------------------------------------------------------------------------

    def reset(self, envs: Optional[ArrayLike] = None, x: Optional[ArrayLike] = None,
              keyframe: Optional[str] = None, noise: Optional[ArrayLike] = None,
              seeds: Optional[ArrayLike] = None) -> None:
        """Resets environments `envs`: to x (nx) or (n, nx) if given, otherwise to the keyframe, otherwise to the
        initial state of the file.

        envs: indices (n), each at most once, or a mask (n_env) of booleans, of which n are true; None: all.
        noise (ndx) and seeds (n): the state is displaced by a tangent vector whose entry i is noise[i] times a
        number in [-1, 1] that depends only on the environment's seed."""
        which, n = self._which(envs)
        start = None
        if x is not None:
            start = numbers("x", x, (self.nx,) if numpy.ndim(x) == 1 else (n, self.nx))
        check(library.costate_batch_reset(
            self._handle, which, n, None if keyframe is None else keyframe.encode(), start,
            0 if start is None else start.size, None if noise is None else numbers("noise", noise, (self.ndx,)),
            None if seeds is None else integers("seeds", seeds, (n,), numpy.uint64)))

    def _which(self, envs: Optional[ArrayLike]) -> Tuple[Optional[Integers], int]:
        """Indices of environments (None: all) and their number, from indices or a mask."""
        if envs is None:
            return None, self.n_env
        given = numpy.asarray(envs)
        if given.dtype == numpy.bool_:
            given = numpy.flatnonzero(mask("envs", given, self.n_env))
        which: Integers = integers("envs", given, (None,))
        outside = which[(which < 0) | (which >= self.n_env)]
        if outside.size > 0:
            raise BadArgument(f"there is no environment {outside[0]}; there are {self.n_env}, the first is 0")
        return which, len(which)

    def state(self) -> Tuple[Array, Mask]:
        """(x (n_env, nx), diverged (n_env) bool): the batch's own states, and which have diverged since their last
        reset."""
        x, status = numpy.empty(self._x), numpy.empty(self._n, numpy.int32)
        check(library.costate_batch_state(self._handle, x, status))
        return x, status != 0

    def advance(self, u: ArrayLike, out: Optional[Array] = None) -> Tuple[Array, Mask]:
        """Advances the batch's own states by one control step under u (n_env, nu); returns the same as `step`."""
        return self._step(None, u, out)

    def residuals(self) -> Tuple[Array, Integers]:
        """(residual, unconverged) of the solver in the last `advance`, `step` or `rollout`: the largest velocity
        error (n_env), m/s, and the number of time steps without convergence (n_env) int32."""
        residual, unconverged = numpy.empty(self._n), numpy.empty(self._n, numpy.int32)
        check(library.costate_batch_residuals(self._handle, residual, unconverged))
        return residual, unconverged

    # ---- States of the caller -----------------------------------------------------------------------------------

    def step(self, x: ArrayLike, u: ArrayLike, out: Optional[Array] = None) -> Tuple[Array, Mask]:
        """(x_next (n_env, nx), diverged (n_env) bool) after one control step from x (n_env, nx) under u (n_env,
        nu).

        out: an array for x_next, which may be x."""
        return self._step(numbers("x", x, self._x), u, out)

    def _step(self, x: Optional[Array], u: ArrayLike, out: Optional[Array]) -> Tuple[Array, Mask]:
        x_next, status = output("out", out, self._x), numpy.empty(self._n, numpy.int32)
        self._run(library.costate_batch_step, x, numbers("u", u, self._u), x_next, status)
        return x_next, status != 0

    def rollout(self, x: ArrayLike, u: ArrayLike, out: Optional[Array] = None,
                progress: Optional[Progress] = None) -> Tuple[Array, Integers]:
        """(states (n_steps, n_env, nx), completed (n_env) int32): the states after each control step from x
        (n_env, nx) under u (n_steps, n_env, nu), and the number of steps before each environment diverged."""
        controls = numbers("u", u, (None, *self._u))
        states = output("out", out, (len(controls), *self._x))
        completed = numpy.empty(self._n, numpy.int32)
        self._run(library.costate_batch_rollout, len(controls), numbers("x", x, self._x), controls, states,
                  completed, progress=progress)
        return states, completed

    def backward(self, x: ArrayLike, u: ArrayLike, states_bar: ArrayLike, completed: Optional[ArrayLike] = None,
                 wanted: Collection[str] = _ALL, each: bool = False,
                 progress: Optional[Progress] = None) -> BatchGradient:
        """Pulls back the gradient of a function of all states of a rollout.

        x (n_steps, n_env, nx): the states before each control step; u (n_steps, n_env, nu) and `completed` as in
        the rollout; states_bar (n_steps, n_env, nx or ndx): gradients of the states after each step. `wanted`
        names the fields of the returned BatchGradient to compute; the gradient of parameters is summed over
        environments unless `each`."""
        check_wanted(wanted, _ALL)
        width, controls = self.nx if self.ambient else self.ndx, numbers("u", u, (None, *self._u))
        n_steps = len(controls)
        sizes = ((self.n_env, width), (n_steps, *self._u), (self.n_env, self.nparam) if each else (self.nparam,))
        bars = BatchGradient(*(numpy.empty(size) if name in wanted else None for name, size in zip(_ALL, sizes)))
        self._run(library.costate_batch_backward, n_steps, numbers("x", x, (n_steps, *self._x)), controls,
                  None if completed is None else integers("completed", completed, self._n),
                  numbers("states_bar", states_bar, (n_steps, self.n_env, width)), *bars,
                  0 if bars.parameters is None else bars.parameters.size, progress=progress)
        return bars

    def jacobian(self, x: ArrayLike, u: ArrayLike, envs: Optional[ArrayLike] = None, parameters: bool = False,
                 columns: Optional[Chosen] = None, out: Optional[BatchJacobian] = None,
                 progress: Optional[Progress] = None) -> BatchJacobian:
        """The BatchJacobian of one control step from x (n_env, nx) under u (n_env, nu), by all threads.

        Rows and columns are tangent vectors (ndx) of states, also if the batch is ambient. envs: environments to
        compute, as for `reset`. columns: those to compute, by the kinds "x", "u" and "parameters": masks of
        booleans, indices, or names of parameters; all of a kind that is not there. by_parameters is None unless
        `parameters` or `columns` ask for it. out: a BatchJacobian whose arrays are written in place. What is not
        computed keeps its values there, and is zero otherwise."""
        return _batch_steps.jacobian(self, x, u, envs, parameters, columns, out, progress)

    def contacts(self, x: Optional[ArrayLike] = None, u: Optional[ArrayLike] = None) -> BatchContacts:
        """The BatchContacts of the first time step of a control step from x (n_env, nx) under u (n_env, nu); None:
        the batch's own states, and controls of zero. Kept impulses of the states count."""
        return _batch_steps.contacts(self, x, u)

    # ---- Sensors and external wrenches --------------------------------------------------------------------------

    def sensors(self, x: ArrayLike, u: Optional[ArrayLike] = None, wrenches: Optional[ArrayLike] = None) -> Array:
        """y (n_env, ny): the sensors of states x (n_env, nx) under u (n_env, nu) and wrenches (n_env, n_bodies, 6;
        see `Model.observe`), in the first time step of a control step. u may be None if no sensor needs it."""
        return _batch_runs.sensors(self, x, u, wrenches)

    def sensors_vjp(self, x: ArrayLike, y_bar: ArrayLike, u: Optional[ArrayLike] = None,
                    wrenches: Optional[ArrayLike] = None,
                    wanted: Collection[str] = ("x", "u", "wrenches", "parameters"), each: bool = False) -> RunBars:
        """The RunBars of a function of the sensors, from its gradient y_bar (n_env, ny)."""
        return _batch_runs.sensors_vjp(self, x, y_bar, u, wrenches, wanted, each)

    def sensors_jacobian(self, x: ArrayLike, u: Optional[ArrayLike] = None,
                         parameters: bool = False) -> SensorJacobian:
        """The SensorJacobian at states x (n_env, nx) under u (n_env, nu)."""
        return _batch_runs.sensors_jacobian(self, x, u, parameters)

    def run(self, x: ArrayLike, u: ArrayLike, wrenches: Optional[ArrayLike] = None,
            progress: Optional[Progress] = None) -> Rollout:
        """The Rollout from x (n_env, nx) under u (n_steps, n_env, nu) and external wrenches (n_steps, n_env,
        n_bodies, 6), each held for a control step: `rollout` with sensors."""
        return _batch_runs.run(self, x, u, wrenches, progress)

    def run_vjp(self, x: ArrayLike, u: ArrayLike, states_bar: Optional[ArrayLike] = None,
                y_bar: Optional[ArrayLike] = None, seed: Optional[Seed] = None,
                wrenches: Optional[ArrayLike] = None, max_bytes: int = 0,
                wanted: Collection[str] = ("x", "u", "wrenches", "parameters"), each: bool = False,
                progress: Optional[Progress] = None) -> RunBars:
        """The RunBars of a function of the states and sensors of `run`, which is made again: from its gradients
        states_bar (n_steps, n_env, ndx) and y_bar (n_steps, n_env, ny), None for zeros, or from seed(t, states, y)
        -> (states_bar, y_bar), asked from the last control step to the first, with the states after it and the
        sensors at its beginning, so that no array of all states is needed.

        max_bytes: memory for states of all environments; 0: for those before each control step. Less memory takes
        more time and gives the same bits."""
        return _batch_runs.run_vjp(self, x, u, states_bar, y_bar, seed, wrenches, max_bytes, wanted, each,
                                   progress)

    def jvp(self, x: ArrayLike, u: ArrayLike, x_dot: Optional[ArrayLike] = None, u_dot: Optional[ArrayLike] = None,
            theta_dot: Optional[ArrayLike] = None, wrenches: Optional[ArrayLike] = None) -> Tuple[Array, Array]:
        """The derivative (states_dot (n_steps, n_env, ndx), y_dot (n_steps, n_env, ny)) of `run` along x_dot
        (n_env, ndx), u_dot (n_steps, n_env, nu) and theta_dot (nparam); None: zeros. In tangent vectors."""
        return _batch_runs.jvp(self, x, u, x_dot, u_dot, theta_dot, wrenches)

    def hvp(self, x: ArrayLike, u: ArrayLike, states_bar: ArrayLike, x_dot: Optional[ArrayLike] = None,
            u_dot: Optional[ArrayLike] = None, theta_dot: Optional[ArrayLike] = None,
            states_bar_dot: Optional[ArrayLike] = None) -> RunBars:
        """Hessian-vector products: the derivative along (x_dot, u_dot, theta_dot) of the gradient that `backward`
        returns for states_bar (n_steps, n_env, ndx), whose own derivative is states_bar_dot (None: zeros). In
        tangent vectors; `wrenches` of the result is None."""
        return _batch_runs.hvp(self, x, u, states_bar, states_bar_dot, x_dot, u_dot, theta_dot)

    def _run(self, function: Callable[..., int], *arguments: Any, progress: Optional[Progress] = None) -> None:
        """A call that may take long: signals end it if it is of the main thread."""
        if progress is not None:
            self._report(progress, function, *arguments)
            return
        if in_main_thread() is not self._asks:
            check(library.costate_batch_set_interrupt(self._handle, self._signals.asked()))
            self._asks = in_main_thread()
        self._signals.check(function(self._handle, *arguments))

    def _report(self, progress: Progress, function: Callable[..., int], *arguments: Any) -> None:
        """The same with reports."""
        reporter = Reporter(progress)
        check(library.costate_batch_set_progress(self._handle, ctypes.byref(reporter.structure)))
        try:
            self._run(function, *arguments)
        finally:
            check(library.costate_batch_set_progress(self._handle, None))
            reporter.raise_failure()

    # ---- Frames -------------------------------------------------------------------------------------------------

    def frames(self, names: Sequence[str]) -> Integers:
        """Indices (int32) of bodies and sites by their names, for `poses`."""
        known = self.model.bodies + self.model.sites
        for name in names:
            if name not in known:
                raise BadArgument(f"there is no body or site {name!r}{suggestion(name, known)}")
        return numpy.array([known.index(name) for name in names], numpy.int32)

    def poses(self, x: ArrayLike, frames: ArrayLike) -> Tuple[Array, Array]:
        """(poses (n_env, n, 7): origin, m, and quaternion (w >= 0); velocities (n_env, n, 6): of the origin, m/s,
        and angular, rad/s), all in world axes, of frames (n) in states x (n_env, nx)."""
        which: Integers = integers("frames", frames, (None,))
        n = len(which)
        poses, velocities = numpy.empty((self.n_env, n, 7)), numpy.empty((self.n_env, n, 6))
        check(library.costate_batch_poses(self._handle, numbers("x", x, self._x), which, n, poses, velocities))
        return poses, velocities

    def poses_vjp(self, x: ArrayLike, frames: ArrayLike, poses_bar: Optional[ArrayLike] = None,
                  velocities_bar: Optional[ArrayLike] = None, wanted: Collection[str] = ("x", "parameters"),
                  each: bool = False) -> BatchGradient:
        """The BatchGradient (with u = None) of a function of poses and velocities, from its gradients poses_bar
        and velocities_bar; None: zeros.

        poses_bar is (n_env, n, 7) if the batch is ambient, otherwise (n_env, n, 6): origin, and rotation in axes
        of the frame."""
        check_wanted(wanted, ("x", "parameters"))
        which: Integers = integers("frames", frames, (None,))
        n, width = len(which), 7 if self.ambient else 6
        x_bar = numpy.empty((self.n_env, self.nx if self.ambient else self.ndx)) if "x" in wanted else None
        theta_bar = None
        if "parameters" in wanted:
            theta_bar = numpy.empty((self.n_env, self.nparam) if each else self._theta)
        check(library.costate_batch_poses_vjp(
            self._handle, numbers("x", x, self._x), which, n,
            None if poses_bar is None else numbers("poses_bar", poses_bar, (self.n_env, n, width)),
            None if velocities_bar is None else numbers("velocities_bar", velocities_bar, (self.n_env, n, 6)),
            x_bar, theta_bar, 0 if theta_bar is None else theta_bar.size))
        return BatchGradient(x_bar, None, theta_bar)


def _options(model: Model, n_env: int, threads: int, substeps: int, own_parameters: bool, ambient: bool,
             checkpoint_bytes: int) -> BatchOptions:
    check_type("model", model, Model, "costate.Model(file or name) loads one")
    if checkpoint_bytes < 0:
        raise BadArgument(f"checkpoint_bytes is {checkpoint_bytes}, the least is 0")
    return BatchOptions(integer("n_env", n_env), integer("threads", threads), integer("substeps", substeps),
                        bool(own_parameters), bool(ambient), checkpoint_bytes)


def _bytes(model: Model, options: BatchOptions) -> int:
    size = ctypes.c_size_t()
    check(library.costate_batch_bytes(model._handle, ctypes.byref(options), ctypes.byref(size)))
    return int(size.value)


def _restored(kind: Any, model: Model, options: Tuple[Any, ...], parameters: Optional[Array], x: Array) -> Any:
    batch = kind(model, *options)
    if parameters is not None:
        batch.set_parameters(parameters)
    batch.reset(x=x)
    return batch
