"""A model, and one state of it at a time."""
import ctypes
import os
import warnings
import weakref
from typing import NamedTuple, Optional

import numpy

from ._arrays import address
from ._library import check, library
from .errors import ModelWarning

_BODY, _JOINT, _ACTUATOR, _PARAMETER, _WARNING, _SITE, _KEYFRAME = range(7)  # enum costate_kind
_ALL = ("q", "v", "u", "parameters")

_CONTACT = numpy.dtype([("body_a", numpy.int32), ("body_b", numpy.int32), ("point", float, 3), ("normal", float, 3), ("gap", float),
                        ("impulse", float, 3)])  # costate_contact


class StepGradient(NamedTuple):
    """A gradient by what goes into a step; None where it was not asked for."""

    q: Optional[numpy.ndarray]  # (nv)
    v: Optional[numpy.ndarray]  # (nv)
    u: Optional[numpy.ndarray]  # (nu)
    parameters: Optional[numpy.ndarray]  # (nparam)


class StateGradient(NamedTuple):
    """A gradient by what goes into a step of a whole state; None where it was not asked for."""

    x: Optional[numpy.ndarray]  # (ndx)
    u: Optional[numpy.ndarray]  # (nu)
    parameters: Optional[numpy.ndarray]  # (nparam)


class StepJacobian(NamedTuple):
    """Of (q_next, v_next), in rows, by what goes into a step. Of a whole state ndx stands for 2 nv."""

    by_state: numpy.ndarray  # (2 nv, 2 nv), columns (q, v)
    by_control: numpy.ndarray  # (2 nv, nu)
    by_parameters: Optional[numpy.ndarray]  # (2 nv, nparam)


class Model:
    """What a file describes, its parameters included. Any number of threads may use one model.

    `source` is the path of a scene (JSON), a URDF or an MJCF file, or the name of a scene that is shipped. What the file
    asks for and has no counterpart is in `warnings`, a line each, and is warned of with `warnings.warn` as ModelWarning.
    """

    def __init__(self, source):
        handle = ctypes.c_void_p()
        check(library.costate_model_load(os.fsencode(source), ctypes.byref(handle)))
        self._handle = handle
        self.close = weakref.finalize(self, library.costate_model_free, handle)  # frees it early; later calls raise BadHandle
        self.source = os.fspath(source)
        self.nq = check(library.costate_model_nq(handle))
        self.nv = check(library.costate_model_nv(handle))
        self.nu = check(library.costate_model_nu(handle))
        self.nparam = check(library.costate_model_nparam(handle))
        # of a whole state x = (q, v, kept), in which batches take and give states; kept is empty without a warm start
        self.nx = check(library.costate_model_nx(handle))
        self.ndx = self.nx - self.nq + self.nv  # of a tangent vector of x, whatever is kept
        self.bodies = self._names(_BODY)
        self.joints = self._names(_JOINT)  # joint i carries body i
        self.actuators = self._names(_ACTUATOR)
        self.parameter_names = self._names(_PARAMETER)  # such as "bodies/ball/mass" or "bodies/ball/com[2]"
        self.sites = self._names(_SITE)  # points with axes that bodies carry
        self.keyframes = self._names(_KEYFRAME)  # states that the file gives names, such as "robot/home"
        self.warnings = self._names(_WARNING)  # what has no counterpart, and what is odd about the start
        for line in self.warnings:
            warnings.warn(line, ModelWarning, stacklevel=2)
        self._q, self._v, self._u = (self.nq,), (self.nv,), (self.nu,)
        self._x, self._dx, self._theta = (self.nx,), (self.ndx,), (self.nparam,)

    def __repr__(self):
        return f"<costate.Model {self.source!r}: nq {self.nq}, nv {self.nv}, nu {self.nu}>"

    def _names(self, kind):
        names = []
        for index in range(check(library.costate_model_count(self._handle, kind))):
            buffer = ctypes.create_string_buffer(1 + check(library.costate_model_name(self._handle, kind, index, None, 0)))
            check(library.costate_model_name(self._handle, kind, index, buffer, len(buffer)))
            names.append(buffer.value.decode())
        return names

    def joint_slices(self, joint):
        """Where a joint (its name or index) has its numbers: slices of q and of v."""
        layout = (ctypes.c_int * 4)()
        check(library.costate_model_joint(self._handle, _index(self.joints, joint, "joint"), layout))
        return slice(layout[0], layout[0] + layout[1]), slice(layout[2], layout[2] + layout[3])

    @property
    def parameters(self):
        """theta (nparam), a copy; setting it checks that all are in range. `parameter_names` says what they are."""
        theta = numpy.empty(self.nparam)
        check(library.costate_model_get_parameters(self._handle, theta.ctypes.data, self.nparam))
        return theta

    @parameters.setter
    def parameters(self, theta):
        check(library.costate_model_set_parameters(self._handle, address("theta", theta, (self.nparam,)), self.nparam))

    def set_parameter(self, name, value):
        """Sets one parameter by its name."""
        theta = self.parameters
        theta[_index(self.parameter_names, name, "parameter")] = value
        self.parameters = theta

    def initial_state(self):
        """(q (nq), v (nv)) where the file starts."""
        q, v = numpy.empty(self.nq), numpy.empty(self.nv)
        check(library.costate_model_initial_state(self._handle, q.ctypes.data, v.ctypes.data))
        return q, v

    def state(self, q, v):
        """The whole state x (nx) of q (nq) and v (nv), with no kept impulses."""
        self._state(q, v)
        return numpy.concatenate([q, v, numpy.zeros(self.nx - self.nq - self.nv)])

    # ---- Configurations ----------------------------------------------------------------------------------------------------------

    def retract(self, q, d):
        """q (nq) moved by the tangent vector d (nv)."""
        q_next = numpy.empty(self.nq)
        check(library.costate_retract(self._handle, address("q", q, self._q), address("d", d, self._v), q_next.ctypes.data))
        return q_next

    def difference(self, a, b):
        """The shortest d (nv) for which retract(a, d) is b; a, b (nq)."""
        d = numpy.empty(self.nv)
        check(library.costate_difference(self._handle, address("a", a, self._q), address("b", b, self._q), d.ctypes.data))
        return d

    def gradient_to_tangent(self, q, ambient):
        """The tangent gradient (nv) at q (nq) of a function of q/|q| whose gradient by the numbers of q is `ambient` (nq)."""
        tangent = numpy.empty(self.nv)
        check(library.costate_gradient_to_tangent(self._handle, address("q", q, self._q), address("ambient", ambient, self._q),
                                                  tangent.ctypes.data))
        return tangent

    def gradient_to_ambient(self, q, tangent):
        """The inverse: from `tangent` (nv) the gradient (nq) by the numbers of q, without a part along quaternions."""
        ambient = numpy.empty(self.nq)
        check(library.costate_gradient_to_ambient(self._handle, address("q", q, self._q), address("tangent", tangent, self._v),
                                                  ambient.ctypes.data))
        return ambient

    def body_pose(self, q, body):
        """World position (3), m, and quaternion (4, w x y z, w >= 0) of a body (its name or index)."""
        position, quaternion = numpy.empty(3), numpy.empty(4)
        check(library.costate_body_pose(self._handle, address("q", q, self._q), _index(self.bodies, body, "body"),
                                        position.ctypes.data, quaternion.ctypes.data))
        return position, quaternion

    # ---- Dynamics without contact, springs, damping and actuators: M(q) a + c(q, v) = tau ------------------------------------------

    def forward_dynamics(self, q, v, tau):
        """Accelerations a (nv) by joint forces tau (nv)."""
        a = numpy.empty(self.nv)
        check(library.costate_forward_dynamics(self._handle, *self._state(q, v), address("tau", tau, self._v), a.ctypes.data))
        return a

    def inverse_dynamics(self, q, v, a):
        """Joint forces tau (nv) that give accelerations a (nv)."""
        tau = numpy.empty(self.nv)
        check(library.costate_inverse_dynamics(self._handle, *self._state(q, v), address("a", a, self._v), tau.ctypes.data))
        return tau

    def mass_matrix(self, q):
        """M (nv, nv), armature included."""
        M = numpy.empty((self.nv, self.nv))
        check(library.costate_mass_matrix(self._handle, address("q", q, self._q), M.ctypes.data))
        return M

    def forward_dynamics_derivatives(self, q, v, tau):
        """(da_dq, da_dv, da_dtau), each (nv, nv), row i that of a_i."""
        J = [numpy.empty((self.nv, self.nv)) for _ in range(3)]
        check(library.costate_forward_dynamics_derivatives(self._handle, *self._state(q, v), address("tau", tau, self._v),
                                                           *(part.ctypes.data for part in J)))
        return tuple(J)

    # ---- A time step, with everything the file describes ---------------------------------------------------------------------------
    # It starts from no kept impulses and keeps none. With a warm start, steps that go on from the last are those of whole
    # states, below.

    def step(self, q, v, u):
        """(q_next, v_next) a time step after (q (nq), v (nv)) under controls u (nu)."""
        q_next, v_next = numpy.empty(self.nq), numpy.empty(self.nv)
        check(library.costate_step(self._handle, *self._state(q, v), address("u", u, self._u), q_next.ctypes.data, v_next.ctypes.data))
        return q_next, v_next

    def step_vjp(self, q, v, u, q_next_bar, v_next_bar, wanted=_ALL):
        """The gradient of a function of (q_next, v_next) pulled back through the step, from its gradients q_next_bar, v_next_bar (nv).

        `wanted` names fields of the StepGradient that is returned."""
        sizes = dict(zip(_ALL, (self.nv, self.nv, self.nu, self.nparam)))
        bars = StepGradient(*(numpy.empty(sizes[name]) if name in wanted else None for name in _ALL))
        check(library.costate_step_vjp(self._handle, *self._state(q, v), address("u", u, self._u),
                                       address("q_next_bar", q_next_bar, self._v), address("v_next_bar", v_next_bar, self._v),
                                       *(None if bar is None else bar.ctypes.data for bar in bars)))
        return bars

    def step_jvp(self, q, v, u, q_dot=None, v_dot=None, u_dot=None, theta_dot=None):
        """The change (q_next_dot, v_next_dot), each (nv), along q_dot, v_dot (nv), u_dot (nu), theta_dot (nparam); None means zeros."""
        along = (("q_dot", q_dot, self._v), ("v_dot", v_dot, self._v), ("u_dot", u_dot, self._u),
                 ("theta_dot", theta_dot, self._theta))
        q_next_dot, v_next_dot = numpy.empty(self.nv), numpy.empty(self.nv)
        check(library.costate_step_jvp(self._handle, *self._state(q, v), address("u", u, self._u),
                                       *(None if dot is None else address(name, dot, shape) for name, dot, shape in along),
                                       q_next_dot.ctypes.data, v_next_dot.ctypes.data))
        return q_next_dot, v_next_dot

    def step_jacobian(self, q, v, u, parameters=False):
        """The StepJacobian at (q, v, u); by_parameters is None unless `parameters`."""
        rows = 2 * self.nv
        J = StepJacobian(numpy.empty((rows, rows)), numpy.empty((rows, self.nu)),
                         numpy.empty((rows, self.nparam)) if parameters else None)
        check(library.costate_step_jacobian(self._handle, *self._state(q, v), address("u", u, self._u),
                                            *(None if part is None else part.ctypes.data for part in J)))
        return J

    def state_step(self, x, u):
        """The whole state x_next (nx) a time step after x (nx) under controls u (nu)."""
        x_next = numpy.empty(self.nx)
        check(library.costate_state_step(self._handle, *self._whole(x, u), x_next.ctypes.data))
        return x_next

    def state_step_vjp(self, x, u, x_next_bar, wanted=("x", "u", "parameters")):
        """The gradient of a function of x_next pulled back through the step from x (nx), from its gradient x_next_bar (ndx).

        `wanted` names fields of the StateGradient that is returned."""
        sizes = {"x": self.ndx, "u": self.nu, "parameters": self.nparam}
        bars = StateGradient(*(numpy.empty(size) if name in wanted else None for name, size in sizes.items()))
        outputs = (None if bar is None else bar.ctypes.data for bar in bars)
        check(library.costate_state_step_vjp(self._handle, *self._whole(x, u),
                                             address("x_next_bar", x_next_bar, self._dx), *outputs))
        return bars

    def state_step_jvp(self, x, u, x_dot=None, u_dot=None, theta_dot=None):
        """The change (ndx) of x_next along x_dot (ndx), u_dot (nu), theta_dot (nparam); None means zeros."""
        along = (("x_dot", x_dot, self._dx), ("u_dot", u_dot, self._u), ("theta_dot", theta_dot, self._theta))
        x_next_dot = numpy.empty(self.ndx)
        directions = (None if dot is None else address(name, dot, shape) for name, dot, shape in along)
        check(library.costate_state_step_jvp(self._handle, *self._whole(x, u), *directions, x_next_dot.ctypes.data))
        return x_next_dot

    def state_step_jacobian(self, x, u, parameters=False):
        """The StepJacobian at the whole state x (nx), with rows and columns of tangent vectors (ndx); by_parameters is
        None unless `parameters`."""
        J = StepJacobian(numpy.empty((self.ndx, self.ndx)), numpy.empty((self.ndx, self.nu)),
                         numpy.empty((self.ndx, self.nparam)) if parameters else None)
        check(library.costate_state_step_jacobian(self._handle, *self._whole(x, u),
                                                  *(None if part is None else part.ctypes.data for part in J)))
        return J

    def residual(self, x, u):
        """(residual, converged): how far the solver of contacts, limits and loops is from a solution when it ends the step
        from x (nx), as the largest error of a velocity, m/s; and whether that counts as solved."""
        residual = ctypes.c_double()
        left = check(library.costate_state_residual(self._handle, *self._whole(x, u), ctypes.addressof(residual)))
        return residual.value, left == 0

    def contacts(self, q, v, u):
        """The contacts of the step from (q, v, u) with no kept impulses: an array with fields body_a, body_b (-1 the
        world), point (3, m, world), normal (3, from b to a), gap (m, below 0 where they overlap), impulse (3, of the step,
        on a, N s)."""
        where = (*self._state(q, v), address("u", u, self._u))
        contacts = numpy.empty(check(library.costate_contacts(self._handle, *where, None, 0)), _CONTACT)
        check(library.costate_contacts(self._handle, *where, contacts.ctypes.data, len(contacts)))
        return contacts

    def _state(self, q, v):
        return address("q", q, self._q), address("v", v, self._v)

    def _whole(self, x, u):
        return address("x", x, self._x), address("u", u, self._u)


def _index(names, given, what):
    """The index of a name; an index stays what it is."""
    if not isinstance(given, str):
        return int(given)
    try:
        return names.index(given)
    except ValueError:
        raise ValueError(f"there is no {what} {given!r}; there are {', '.join(names)}") from None
