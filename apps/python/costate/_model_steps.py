"""Functions of one state that make a time step: its result, its derivatives, sensors and contacts."""
from __future__ import annotations

import ctypes
from typing import Collection, NamedTuple, Optional, Tuple

import numpy
import numpy.typing

from ._arrays import Array, ArrayLike, check_wanted, numbers
from ._library import check, library
from ._loaded_model import LoadedModel

_ALL = ("q", "v", "u", "parameters")

CONTACT = numpy.dtype([("body_a", numpy.int32), ("body_b", numpy.int32), ("point", float, 3),
                        ("normal", float, 3), ("gap", float), ("impulse", float, 3)])  # costate_contact


class StepGradient(NamedTuple):
    """Gradient with respect to the inputs of a step; None for inputs that were not requested."""

    q: Optional[Array]  # (nv)
    v: Optional[Array]  # (nv)
    u: Optional[Array]  # (nu)
    parameters: Optional[Array]  # (nparam)


class StateGradient(NamedTuple):
    """Gradient with respect to the inputs of a step of a whole state; None for inputs that were not requested."""

    x: Optional[Array]  # (ndx)
    u: Optional[Array]  # (nu)
    parameters: Optional[Array]  # (nparam)


class ObservationGradient(NamedTuple):
    """Gradient with respect to the inputs of a step with sensors; None for inputs that were not requested."""

    x: Optional[Array]  # (ndx)
    u: Optional[Array]  # (nu)
    wrenches: Optional[Array]  # (n_bodies, 6)
    parameters: Optional[Array]  # (nparam)


class StepJacobian(NamedTuple):
    """Jacobian of (q_next, v_next) with respect to the inputs of a step. For whole states, ndx replaces 2 nv."""

    by_state: Array  # (2 nv, 2 nv), columns (q, v)
    by_control: Array  # (2 nv, nu)
    by_parameters: Optional[Array]  # (2 nv, nparam)


class StepFunctions(LoadedModel):
    """The base of costate.Model: functions of a time step with everything that the file describes."""

    # ---- Without kept impulses ------------------------------------------------------------------------------------
    # A step neither uses nor keeps impulses of a warm start; to continue from the last step, use the functions of
    # whole states.

    def step(self, q: ArrayLike, v: ArrayLike, u: ArrayLike) -> Tuple[Array, Array]:
        """(q_next, v_next) one time step after (q (nq), v (nv)) with controls u (nu)."""
        q_next, v_next = numpy.empty(self.nq), numpy.empty(self.nv)
        check(library.costate_step(self._handle, *self._state(q, v), numbers("u", u, self._u), q_next, v_next))
        return q_next, v_next

    def step_vjp(self, q: ArrayLike, v: ArrayLike, u: ArrayLike, q_next_bar: ArrayLike, v_next_bar: ArrayLike,
                 wanted: Collection[str] = _ALL) -> StepGradient:
        """Pulls the gradient of a function of (q_next, v_next), q_next_bar and v_next_bar (nv), back through the
        step.

        `wanted` names the fields of the returned StepGradient to compute."""
        check_wanted(wanted, _ALL)
        sizes = dict(zip(_ALL, (self.nv, self.nv, self.nu, self.nparam)))
        bars = StepGradient(*(numpy.empty(sizes[name]) if name in wanted else None for name in _ALL))
        check(library.costate_step_vjp(self._handle, *self._state(q, v), numbers("u", u, self._u),
                                       numbers("q_next_bar", q_next_bar, self._v),
                                       numbers("v_next_bar", v_next_bar, self._v), *bars))
        return bars

    def step_jvp(self, q: ArrayLike, v: ArrayLike, u: ArrayLike, q_dot: Optional[ArrayLike] = None,
                 v_dot: Optional[ArrayLike] = None, u_dot: Optional[ArrayLike] = None,
                 theta_dot: Optional[ArrayLike] = None) -> Tuple[Array, Array]:
        """The derivative (q_next_dot, v_next_dot), each (nv), along q_dot, v_dot (nv), u_dot (nu), theta_dot
        (nparam); None: zeros."""
        q_next_dot, v_next_dot = numpy.empty(self.nv), numpy.empty(self.nv)
        check(
            library.costate_step_jvp(self._handle, *self._state(q, v), numbers("u", u, self._u),
                                     _optional("q_dot", q_dot, self._v), _optional("v_dot", v_dot, self._v),
                                     _optional("u_dot", u_dot, self._u),
                                     _optional("theta_dot", theta_dot, self._theta), q_next_dot, v_next_dot))
        return q_next_dot, v_next_dot

    def step_jacobian(self, q: ArrayLike, v: ArrayLike, u: ArrayLike, parameters: bool = False) -> StepJacobian:
        """The StepJacobian at (q, v, u); by_parameters is None unless `parameters`."""
        J = self._empty_jacobian(2 * self.nv, parameters)
        check(library.costate_step_jacobian(self._handle, *self._state(q, v), numbers("u", u, self._u), *J))
        return J

    def state_step(self, x: ArrayLike, u: ArrayLike) -> Array:
        """The whole state x_next (nx) one time step after x (nx) with controls u (nu)."""
        x_next = numpy.empty(self.nx)
        check(library.costate_state_step(self._handle, *self._whole(x, u), x_next))
        return x_next

    def state_step_vjp(self, x: ArrayLike, u: ArrayLike, x_next_bar: ArrayLike,
                       wanted: Collection[str] = ("x", "u", "parameters")) -> StateGradient:
        """Pulls the gradient x_next_bar (ndx) of a function of x_next back through the step from x (nx).

        `wanted` names the fields of the returned StateGradient to compute."""
        sizes = {"x": self.ndx, "u": self.nu, "parameters": self.nparam}
        check_wanted(wanted, tuple(sizes))
        bars = StateGradient(*(numpy.empty(size) if name in wanted else None for name, size in sizes.items()))
        check(library.costate_state_step_vjp(self._handle, *self._whole(x, u),
                                             numbers("x_next_bar", x_next_bar, self._dx), *bars))
        return bars

    def state_step_jvp(self, x: ArrayLike, u: ArrayLike, x_dot: Optional[ArrayLike] = None,
                       u_dot: Optional[ArrayLike] = None, theta_dot: Optional[ArrayLike] = None) -> Array:
        """The derivative (ndx) of x_next along x_dot (ndx), u_dot (nu), theta_dot (nparam); None: zeros."""
        x_next_dot = numpy.empty(self.ndx)
        check(library.costate_state_step_jvp(self._handle, *self._whole(x, u), _optional("x_dot", x_dot, self._dx),
                                             _optional("u_dot", u_dot, self._u),
                                             _optional("theta_dot", theta_dot, self._theta), x_next_dot))
        return x_next_dot

    def state_step_jacobian(self, x: ArrayLike, u: ArrayLike, parameters: bool = False) -> StepJacobian:
        """The StepJacobian at the whole state x (nx), in tangent vectors (ndx); by_parameters is None unless
        `parameters`."""
        J = self._empty_jacobian(self.ndx, parameters)
        check(library.costate_state_step_jacobian(self._handle, *self._whole(x, u), *J))
        return J

    # ---- A time step with external wrenches and sensors ---------------------------------------------------------
    # wrenches (n_bodies, 6): the force at the centre of mass of each body, N, and a torque, N m, in world axes;
    # None: none. Sensors y (ny) read the state x (nx), the control u (nu), and accelerations and forces of the step.

    def observe(self, x: ArrayLike, u: ArrayLike, wrenches: Optional[ArrayLike] = None) -> Tuple[Array, Array]:
        """(x_next (nx), y (ny)): the state after a time step, and the sensors at its beginning."""
        x_next, y = numpy.empty(self.nx), numpy.empty(self.ny)
        check(library.costate_observe(self._handle, *self._whole(x, u), self._wrenches(wrenches), x_next, y))
        return x_next, y

    def observe_vjp(self, x: ArrayLike, u: ArrayLike, x_next_bar: Optional[ArrayLike] = None,
                    y_bar: Optional[ArrayLike] = None, wrenches: Optional[ArrayLike] = None,
                    wanted: Collection[str] = ("x", "u", "wrenches", "parameters")) -> ObservationGradient:
        """Pulls the gradients x_next_bar (ndx) and y_bar (ny) of a function of x_next and y back; None: zeros.

        `wanted` names the fields of the returned ObservationGradient to compute."""
        shapes = {"x": self._dx, "u": self._u, "wrenches": (len(self.bodies), 6), "parameters": self._theta}
        check_wanted(wanted, tuple(shapes))
        bars = ObservationGradient(*(numpy.empty(shape) if name in wanted else None
                                     for name, shape in shapes.items()))
        check(library.costate_observe_vjp(self._handle, *self._whole(x, u), self._wrenches(wrenches),
                                          _optional("x_next_bar", x_next_bar, self._dx),
                                          _optional("y_bar", y_bar, (self.ny,)), *bars))
        return bars

    def observe_jvp(self, x: ArrayLike, u: ArrayLike, x_dot: Optional[ArrayLike] = None,
                    u_dot: Optional[ArrayLike] = None, wrenches_dot: Optional[ArrayLike] = None,
                    theta_dot: Optional[ArrayLike] = None,
                    wrenches: Optional[ArrayLike] = None) -> Tuple[Array, Array]:
        """The derivative (x_next_dot (ndx), y_dot (ny)) along x_dot (ndx), u_dot (nu), wrenches_dot (n_bodies, 6)
        and theta_dot (nparam); None: zeros."""
        x_next_dot, y_dot = numpy.empty(self.ndx), numpy.empty(self.ny)
        check(library.costate_observe_jvp(self._handle, *self._whole(x, u), self._wrenches(wrenches),
                                          _optional("x_dot", x_dot, self._dx), _optional("u_dot", u_dot, self._u),
                                          self._wrenches(wrenches_dot),
                                          _optional("theta_dot", theta_dot, self._theta), x_next_dot, y_dot))
        return x_next_dot, y_dot

    def observe_jacobian(self, x: ArrayLike, u: ArrayLike, parameters: bool = False) -> StepJacobian:
        """The Jacobian of y: by_state (ny, ndx) and by_control (ny, nu), which are C and D of the linearized
        system, and by_parameters (ny, nparam), None unless `parameters`."""
        J = StepJacobian(numpy.empty((self.ny, self.ndx)), numpy.empty((self.ny, self.nu)),
                         numpy.empty((self.ny, self.nparam)) if parameters else None)
        check(library.costate_observe_jacobian(self._handle, *self._whole(x, u), *J))
        return J

    def _wrenches(self, given: Optional[ArrayLike]) -> Optional[Array]:
        return _optional("wrenches", given, (len(self.bodies), 6))

    def residual(self, x: ArrayLike, u: ArrayLike) -> Tuple[float, bool]:
        """(residual, converged) of the solver of contacts, limits and loops in the step from x (nx): the largest
        velocity error, m/s, and True if the solver has converged."""
        residual = ctypes.c_double()
        left = check(library.costate_state_residual(self._handle, *self._whole(x, u), ctypes.byref(residual)))
        return residual.value, left == 0

    def contacts(self, q: ArrayLike, v: ArrayLike, u: ArrayLike) -> numpy.typing.NDArray[numpy.void]:
        """The contacts of the step from (q, v, u) without kept impulses: an array with fields body_a, body_b (-1:
        the world), point (3, m, world), normal (3, from b to a), gap (m, negative if they overlap), impulse (3, of
        the step, on a, N s)."""
        where = (*self._state(q, v), numbers("u", u, self._u))
        contacts = numpy.empty(check(library.costate_contacts(self._handle, *where, None, 0)), CONTACT)
        check(library.costate_contacts(self._handle, *where, contacts, len(contacts)))
        return contacts

    def _empty_jacobian(self, n: int, parameters: bool) -> StepJacobian:
        return StepJacobian(numpy.empty((n, n)), numpy.empty((n, self.nu)),
                            numpy.empty((n, self.nparam)) if parameters else None)


def _optional(name: str, given: Optional[ArrayLike], shape: Tuple[int, ...]) -> Optional[Array]:
    return None if given is None else numbers(name, given, shape)
