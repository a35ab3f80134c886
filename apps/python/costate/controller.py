"""Receding-horizon control of a scene from measured states."""
from __future__ import annotations

import ctypes
import weakref
from ctypes import byref, c_void_p
from typing import NamedTuple, Optional

import numpy

from ._arrays import Array, ArrayLike, check_type, integer, numbers
from ._library import Plan as _Plan
from ._library import check, library
from .errors import BadArgument
from .scene import Scene


class Plan(NamedTuple):
    """A motion that a controller has planned, and the law around it: u = controls[k] + gains[k] @ d for the optimized
    controls, where d (ndx) is the difference of the state from states[k] in the tangent space."""

    time: float  # of the first state, s
    states: Array  # (horizon + 1, nx)
    controls: Array  # (horizon, nu), each held for a time step
    gains: Array  # (horizon, n_free, ndx) of the optimized controls, in the order of the actuators
    cost: float  # of the objective over these steps
    iterations: int  # that reduced the cost
    seconds: float  # taken


class Controller:
    """Plans the controls of a scene from measured states, by iLQR through contact, each time from its last plan.

        controller = costate.Controller(scene, horizon=40)
        plan = controller.plan(x, t)      # at the rate of planning
        u = controller.control(x, t)      # at the rate of the plant: the plan with its feedback gains

    scene: a `Scene` whose variables are per-step controls alone, without a warm start. The objective counts from the
        time of a plan on, its final terms at the plan's end. After the end of the scene's rollout, terms that count
        until then go on; references and controls that are not optimized keep their last values.
    horizon: time steps of a plan; None: "horizon" of the file's "optimize".

    The controller has the parameters that the model has when it is made. Raises BadArgument if the scene does not
    suit. Calls of several threads run one after the other.
    """

    def __init__(self, scene: Scene, horizon: Optional[int] = None) -> None:
        check_type("scene", scene, Scene, "costate.Scene(file or name) loads one")
        scene._refuse_cost("a controller")
        steps = 0 if horizon is None else integer("horizon", horizon)
        if horizon is not None and steps < 1:
            raise BadArgument(f"horizon is {steps}, the least is 1")
        handle = c_void_p()
        self.scene = scene
        self.horizon = check(library.costate_controller_create(scene.model._handle, steps, byref(handle)))
        self._handle = handle
        self._finalizer = weakref.finalize(self, library.costate_controller_free, handle)
        self._free = len(scene.variables) // scene.steps

    def __repr__(self) -> str:
        return f"<costate.Controller of {self.scene.model.source!r}: {self.horizon} steps>"

    def close(self) -> None:
        """Frees the controller early; later calls raise BadHandle."""
        self._finalizer()

    def plan(self, x: ArrayLike, t: float, iterations: int = 1, seconds: Optional[float] = None) -> Plan:
        """Plans from the measured state x (nx) at the time t, s, with at most so many iterations of iLQR. seconds: the
        longest time, after which no further trial of an iteration starts; None: no limit. The first rollout and its
        derivatives are always made. Raises Diverged if this rollout diverges; the last plan then stays."""
        m, n = self.scene.model, self.horizon
        most = integer("iterations", iterations)
        if most < 1:
            raise BadArgument(f"iterations is {most}, the least is 1")
        limit = 0.0 if seconds is None else float(seconds)
        if seconds is not None and not limit > 0:
            raise BadArgument(f"seconds is {limit}, it must be above 0")
        states, controls = numpy.empty((n + 1, m.nx)), numpy.empty((n, m.nu))
        gains = numpy.empty((n, self._free, m.ndx))
        made = _Plan(ctypes.sizeof(_Plan), most, limit, 0.0, states.ctypes.data, controls.ctypes.data,
                     gains.ctypes.data)
        check(library.costate_controller_plan(self._handle, float(t), numbers("x", x, (m.nx,)), byref(made)))
        return Plan(float(t), states, controls, gains, made.cost, made.iterations, made.seconds)

    def control(self, x: ArrayLike, t: float) -> Array:
        """The control (nu) in the measured state x (nx) at the time t, s, by the last plan: its control and its
        feedback around its states, which are interpolated in time, within the limits. After the plan's end, its last
        control, gain and state act. Raises BadArgument before the first plan."""
        u = numpy.empty(self.scene.model.nu)
        check(library.costate_controller_control(self._handle, float(t), numbers("x", x, (self.scene.model.nx,)), u))
        return u
