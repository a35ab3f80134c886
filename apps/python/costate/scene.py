"""The objective of a scene, as a function of its variables, and its minimization."""
from __future__ import annotations

import ctypes
import json
import os
from ctypes import byref
from typing import Any, Callable, Mapping, NamedTuple, Optional, Tuple, Union

import numpy

from ._arrays import Array, ArrayLike, integer, numbers
from ._cost import CalledCost, OwnCost
from ._library import Cost, OptimizeOptions, OptimizeResult, SceneRun, check, library
from ._progress import Progress, Reporter
from ._signals import Signals, in_main_thread
from .errors import BadArgument
from .model import Model, PathLike


class Optimization(NamedTuple):
    """The result of `Scene.optimize`."""

    y: Array  # (n) the best variables found
    loss: float  # at y
    initial_loss: float
    losses: Array  # (iterations + 1) the best loss so far, at the start and after each iteration; of stages their own
    iterations: int
    loss_evaluations: int
    gradient_evaluations: int
    seconds: float
    stopped: str  # the reason for stopping
    restart_losses: Array  # (restarts) at the end of each run, infinite if it diverged or did not begin


class Feedback(NamedTuple):
    """The law u = controls[t] + gains[t] @ d around a rollout, where d (ndx) is the difference of the state from
    states[t] in the tangent space (`Model.difference` for configurations, then that of the velocities). The cost from
    step t on under this law is that of the rollout + cost_gradients[t] @ d + d @ cost_hessians[t] @ d / 2."""

    states: Array  # (steps + 1, nx)
    controls: Array  # (steps, nu)
    gains: Array  # (steps, n_free, ndx) of the optimized controls, in the order of the actuators
    cost_gradients: Array  # (steps + 1, ndx)
    cost_hessians: Array  # (steps + 1, ndx, ndx); empty if a file leaves them out


def read_controller(file: PathLike) -> Feedback:
    """The law of a controller.json, which `costate optimize --method ilqr --out` writes."""
    with open(os.fspath(file), encoding="utf-8") as opened:
        content = json.load(opened)
    try:
        return Feedback(*(numpy.array(content[key], dtype=float) for key in Feedback._fields))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is not a controller.json of costate optimize") from error


class Scene:
    """A file with controls and an objective: the loss of its rollout as a function of variables y (n).

        scene = costate.Scene("throw")
        result = scene.optimize()
        states, controls = scene.rollout(result.y)
        costate.view(scene.model, states, controls)

    y holds what the file marks with "optimize": controls, at knots or at every step, then parameters, or their
    logarithms, then entries of the tangent of the initial state; `variables` has their names. All else has the
    values of the file, and of `model.parameters`.

    The loss of a file with a "batch" is the mean over its random environments, on all cores, with the same bits on any
    number of them; `rollout` and `feedback` are those of the one rollout without randomness.

    source: a `Model`, a path or a name, or a dict with the contents of a file; options as of `Model`.
    cost: a function that is added to the objective of the file, of the states (steps + 1, nx) and controls (steps, nu)
        of a rollout. It returns (value, gradient by the states, gradient by the controls): the first gradient is
        tangent (steps + 1, ndx), or ambient (steps + 1, nx), where a quaternion q means q/|q|; None stands for zeros.
        `costate.torch.cost` makes one of a function of tensors. `loss`, `gradient`, `loss_and_gradient` and `optimize`
        have it; `feedback` and controllers refuse it.

    Several threads may use one scene, if they may call its cost. Control-C ends `loss`, `gradient` and `rollout` within
    a time step, `optimize` after an iteration. The first three tell `progress(done, total)` how many time steps are done,
    forward and backward, of all environments of a "batch", at most every 20 ms and at the end. If it returns False, the
    call ends and raises Interrupted.
    """

    def __init__(self, source: Union[Model, PathLike, Mapping[str, Any]], cost: Optional[OwnCost] = None,
                 **options: Any) -> None:
        if cost is not None and not callable(cost):
            raise TypeError(f"cost must be a function of states and controls, not {type(cost).__name__}")
        if isinstance(source, Model):
            if options:
                raise TypeError(f"{', '.join(options)}: give options to the model")
            self.model = source
        elif isinstance(source, Mapping):
            self.model = Model.from_string(source, **options)
        else:
            self.model = Model(source, **options)
        self.cost = cost
        self.variables = self.model.variables
        self.steps = check(library.costate_scene_steps(self.model._handle))  # time steps of the rollout

    def __repr__(self) -> str:
        return f"<costate.Scene {self.model.source!r}: {self.steps} steps, {len(self.variables)} variables>"

    @property
    def start(self) -> Array:
        """The variables (n) of the file, within their bounds."""
        y = numpy.empty(len(self.variables))
        check(library.costate_scene_variables(self.model._handle, y, None, None))
        return y

    @property
    def bounds(self) -> Tuple[Array, Array]:
        """The lowest and highest values (n) of the variables, which may be infinite."""
        lower, upper = numpy.empty((2, len(self.variables)))
        check(library.costate_scene_variables(self.model._handle, None, lower, upper))
        return lower, upper

    def loss(self, y: ArrayLike, progress: Optional[Progress] = None) -> float:
        """The loss at y (n). Raises Diverged if a state of the rollout or the own cost is not finite, and what the own
        cost raises."""
        loss = ctypes.c_double()
        self._evaluate(y, progress, self.cost, loss=ctypes.pointer(loss))
        return loss.value

    def gradient(self, y: ArrayLike, progress: Optional[Progress] = None) -> Array:
        """The gradient (n) of the loss at y (n)."""
        return self.loss_and_gradient(y, progress)[1]

    def loss_and_gradient(self, y: ArrayLike, progress: Optional[Progress] = None) -> Tuple[float, Array]:
        """The loss at y (n) and its gradient (n), as scipy.optimize.minimize takes them with jac=True."""
        loss, gradient = ctypes.c_double(), numpy.empty(len(self.variables))
        self._evaluate(y, progress, self.cost, loss=ctypes.pointer(loss), gradient=gradient.ctypes.data)
        return loss.value, gradient

    def rollout(self, y: ArrayLike, progress: Optional[Progress] = None) -> Tuple[Array, Array]:
        """(states (steps + 1, nx), controls (steps, nu)) of the rollout at y (n)."""
        states, controls = numpy.empty((self.steps + 1, self.model.nx)), numpy.empty((self.steps, self.model.nu))
        self._evaluate(y, progress, None, states=states.ctypes.data, controls=controls.ctypes.data)
        return states, controls

    def feedback(self, y: ArrayLike) -> Feedback:
        """The feedback law around the rollout at y (n) for the objective of the file, for example that of
        `optimize("ilqr")`. Raises BadArgument unless
        the variables are per-step controls alone, and Diverged if there is no such law."""
        self._refuse_cost("a feedback law")
        at, n = self._y(y), len(self.variables)
        m, free = self.model, n // self.steps
        states, controls = self.rollout(at)
        law = Feedback(states, controls, numpy.empty((self.steps, free, m.ndx)),
                       numpy.empty((self.steps + 1, m.ndx)), numpy.empty((self.steps + 1, m.ndx, m.ndx)))
        check(library.costate_scene_feedback(m._handle, at, *law[2:]))
        return law

    def optimize(self, method: Optional[str] = None, iterations: Optional[int] = None,
                 max_loss_evaluations: Optional[int] = None,
                 learning_rate: Optional[float] = None,
                 progress: Optional[Callable[[int, int, float], Any]] = None,
                 restarts: int = 1, threads: Optional[int] = None, seed: Optional[int] = None,
                 sigma: Optional[float] = None) -> Optimization:
        """Minimizes the loss from the variables of the file; None: what the file says, but "lbfgs" with an own cost,
        for which only it, "adam", "momentum" and "gradient_descent" are possible.

        method: "lbfgs", "gauss_newton", "ilqr", "multiple_shooting", "receding_horizon", "adam", "momentum" or
        "gradient_descent". progress(iteration, iterations, loss) is told the best loss so far, at the start and after
        each iteration; if it returns False, the run ends with the best variables so far.

        restarts: runs of which the best counts, each with all iterations: the first from the variables of the
        file, the others from random ones around these, drawn with `seed`, of standard deviation `sigma` of a
        variable's range, or 1 if it has none. `threads` share them (None: one for each core), with the same
        result.

        Raises BadArgument if it cannot minimize this objective over these variables, and Diverged if the first
        rollout diverges."""
        signals, y, result = Signals(), numpy.empty(len(self.variables)), OptimizeResult()
        losses = numpy.empty(_LOSSES)
        of_restarts = numpy.empty(_positive("restarts", restarts))
        if method is None and self.cost is not None:
            method = "lbfgs"
        options = OptimizeOptions(ctypes.sizeof(OptimizeOptions), None if method is None else method.encode(),
                                  _positive("iterations", iterations),
                                  _positive("max_loss_evaluations", max_loss_evaluations),
                                  0.0 if learning_rate is None else float(learning_rate),
                                  losses.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), len(losses),
                                  ctypes.pointer(signals.interrupt) if in_main_thread() else None)
        options.restarts, options.threads = len(of_restarts), _positive("threads", threads)
        options.seed, options.sigma = _positive("seed", seed), 0.0 if sigma is None else float(sigma)
        options.restart_losses = of_restarts.ctypes.data_as(ctypes.POINTER(ctypes.c_double))

        reporter = None
        if progress is not None:
            tell = progress
            reporter = Reporter(lambda done, total: tell(done, total, float(losses[min(done, _LOSSES - 1)])))
            options.progress = ctypes.pointer(reporter.structure)

        def minimize(cost: Optional[Cost]) -> int:
            options.cost = None if cost is None else ctypes.pointer(cost)
            status = int(library.costate_scene_optimize(self.model._handle, byref(options), y, byref(result)))
            if reporter is not None:
                reporter.raise_failure()
            return status
        self._call(signals, self.cost, minimize)
        return Optimization(y, result.final_loss, result.initial_loss, losses[:result.iterations + 1].copy(),
                            result.iterations, result.loss_evaluations, result.gradient_evaluations,
                            result.seconds, result.stopped.decode(), of_restarts)

    def _refuse_cost(self, what: str) -> None:
        if self.cost is not None:
            raise BadArgument(f"{what} needs second derivatives, which an own cost does not have: use a scene without")

    def _y(self, y: ArrayLike) -> Array:
        return numbers("y", y, (len(self.variables),))

    def _evaluate(self, y: ArrayLike, progress: Optional[Progress], cost: Optional[OwnCost], **outputs: Any) -> None:
        """Writes the outputs, fields of costate_scene_run."""
        at, signals = self._y(y), Signals()
        run = SceneRun(ctypes.sizeof(SceneRun), at.ctypes.data, **outputs)
        if in_main_thread():
            run.interrupt = ctypes.pointer(signals.interrupt)
        reporter = None if progress is None else Reporter(progress)
        if reporter is not None:
            run.progress = ctypes.pointer(reporter.structure)

        def evaluate(structure: Optional[Cost]) -> int:
            if structure is not None:
                run.cost = ctypes.pointer(structure)
            status = int(library.costate_scene_evaluate(self.model._handle, byref(run)))
            if reporter is not None:
                reporter.raise_failure()
            return status
        self._call(signals, cost, evaluate)

    def _call(self, signals: Signals, cost: Optional[OwnCost], call: Callable[[Optional[Cost]], int]) -> None:
        """A call of the library with an own cost, or none."""
        if cost is None:
            signals.check(call(None))
            return
        called = CalledCost(self.model, self.steps, cost)
        status = call(called.structure)
        called.raise_failure()
        signals.check(status)


_LOSSES = 100_000  # more iterations are not recorded


def _positive(name: str, given: Optional[int]) -> int:
    """The number for the library, in which 0 means what the file says."""
    if given is None:
        return 0
    value = integer(name, given)
    if value < 1:
        raise ValueError(f"{name} is {value}, the least is 1")
    return value
