"""Models, and functions of one state."""
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
    """Gradient with respect to the inputs of a step; None for inputs that were not requested."""

    q: Optional[numpy.ndarray]  # (nv)
    v: Optional[numpy.ndarray]  # (nv)
    u: Optional[numpy.ndarray]  # (nu)
    parameters: Optional[numpy.ndarray]  # (nparam)


class StateGradient(NamedTuple):
    """Gradient with respect to the inputs of a step of a whole state; None for inputs that were not requested."""

    x: Optional[numpy.ndarray]  # (ndx)
    u: Optional[numpy.ndarray]  # (nu)
    parameters: Optional[numpy.ndarray]  # (nparam)


class StepJacobian(NamedTuple):
    """Jacobian of (q_next, v_next) with respect to the inputs of a step. For whole states, ndx replaces 2 nv."""

    by_state: numpy.ndarray  # (2 nv, 2 nv), columns (q, v)
    by_control: numpy.ndarray  # (2 nv, nu)
    by_parameters: Optional[numpy.ndarray]  # (2 nv, nparam)


class Model:
    """The contents of a file, including parameters. Any number of threads may use one model.

    `source` is the path of a scene (JSON), a URDF or an MJCF file, or the name of an included scene. `warnings` lists
    unsupported elements of the file and problems of its initial state; each is also issued as a ModelWarning.
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
        # size of a whole state x = (q, v, kept), the states of batches; kept is empty without a warm start
        self.nx = check(library.costate_model_nx(handle))
        self.ndx = self.nx - self.nq + self.nv  # size of a tangent vector of x
        self.bodies = self._names(_BODY)
        self.joints = self._names(_JOINT)  # joint i carries body i
        self.actuators = self._names(_ACTUATOR)
        self.parameter_names = self._names(_PARAMETER)  # for example "bodies/ball/mass" or "bodies/ball/com[2]"
        self.sites = self._names(_SITE)  # named frames on bodies
        self.keyframes = self._names(_KEYFRAME)  # named states of the file, for example "robot/home"
        self.warnings = self._names(_WARNING)  # about unsupported elements and the initial state
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
        """The numbers of a joint (its name or index): slices of q and of v."""
        layout = (ctypes.c_int * 4)()
        check(library.costate_model_joint(self._handle, _index(self.joints, joint, "joint"), layout))
        return slice(layout[0], layout[0] + layout[1]), slice(layout[2], layout[2] + layout[3])

    @property
    def parameters(self):
        """theta (nparam), a copy; the setter checks ranges. `parameter_names` has their names."""
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
        """The initial state (q (nq), v (nv)) of the file."""
        q, v = numpy.empty(self.nq), numpy.empty(self.nv)
        check(library.costate_model_initial_state(self._handle, q.ctypes.data, v.ctypes.data))
        return q, v

    def state(self, q, v):
        """The whole state x (nx) of q (nq) and v (nv), with no kept impulses."""
        self._state(q, v)
        return numpy.concatenate([q, v, numpy.zeros(self.nx - self.nq - self.nv)])

    # ---- Configurations ----------------------------------------------------------------------------------------------------------

    def retract(self, q, d):
        """q (nq) displaced by the tangent vector d (nv)."""
        q_next = numpy.empty(self.nq)
        check(library.costate_retract(self._handle, address("q", q, self._q), address("d", d, self._v), q_next.ctypes.data))
        return q_next

    def difference(self, a, b):
        """The shortest d (nv) with retract(a, d) = b; a, b (nq)."""
        d = numpy.empty(self.nv)
        check(library.costate_difference(self._handle, address("a", a, self._q), address("b", b, self._q), d.ctypes.data))
        return d

    def gradient_to_tangent(self, q, ambient):
        """The tangent gradient (nv) at q (nq) of a function of q/|q| with the ambient gradient `ambient` (nq)."""
        tangent = numpy.empty(self.nv)
        check(library.costate_gradient_to_tangent(self._handle, address("q", q, self._q), address("ambient", ambient, self._q),
                                                  tangent.ctypes.data))
        return tangent

    def gradient_to_ambient(self, q, tangent):
        """The ambient gradient (nq) for a tangent gradient (nv), without components along quaternions."""
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
        """Accelerations a (nv) under joint forces tau (nv)."""
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
        """(da_dq, da_dv, da_dtau), each (nv, nv); row i belongs to a_i."""
        J = [numpy.empty((self.nv, self.nv)) for _ in range(3)]
        check(library.costate_forward_dynamics_derivatives(self._handle, *self._state(q, v), address("tau", tau, self._v),
                                                           *(part.ctypes.data for part in J)))
        return tuple(J)

    # ---- A time step with everything the file describes ----------------------------------------------------------------------------
    # It neither uses nor keeps impulses of a warm start; to continue from the last step, use the functions of whole states.

    def step(self, q, v, u):
        """(q_next, v_next) one time step after (q (nq), v (nv)) with controls u (nu)."""
        q_next, v_next = numpy.empty(self.nq), numpy.empty(self.nv)
        check(library.costate_step(self._handle, *self._state(q, v), address("u", u, self._u), q_next.ctypes.data, v_next.ctypes.data))
        return q_next, v_next

    def step_vjp(self, q, v, u, q_next_bar, v_next_bar, wanted=_ALL):
        """Pulls the gradient of a function of (q_next, v_next), q_next_bar and v_next_bar (nv), back through the step.

        `wanted` names the fields of the returned StepGradient to compute."""
        sizes = dict(zip(_ALL, (self.nv, self.nv, self.nu, self.nparam)))
        bars = StepGradient(*(numpy.empty(sizes[name]) if name in wanted else None for name in _ALL))
        check(library.costate_step_vjp(self._handle, *self._state(q, v), address("u", u, self._u),
                                       address("q_next_bar", q_next_bar, self._v), address("v_next_bar", v_next_bar, self._v),
                                       *(None if bar is None else bar.ctypes.data for bar in bars)))
        return bars

    def step_jvp(self, q, v, u, q_dot=None, v_dot=None, u_dot=None, theta_dot=None):
        """The derivative (q_next_dot, v_next_dot), each (nv), along q_dot, v_dot (nv), u_dot (nu), theta_dot (nparam); None: zeros."""
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
        """The whole state x_next (nx) one time step after x (nx) with controls u (nu)."""
        x_next = numpy.empty(self.nx)
        check(library.costate_state_step(self._handle, *self._whole(x, u), x_next.ctypes.data))
        return x_next

    def state_step_vjp(self, x, u, x_next_bar, wanted=("x", "u", "parameters")):
        """Pulls the gradient x_next_bar (ndx) of a function of x_next back through the step from x (nx).

        `wanted` names the fields of the returned StateGradient to compute."""
        sizes = {"x": self.ndx, "u": self.nu, "parameters": self.nparam}
        bars = StateGradient(*(numpy.empty(size) if name in wanted else None for name, size in sizes.items()))
        outputs = (None if bar is None else bar.ctypes.data for bar in bars)
        check(library.costate_state_step_vjp(self._handle, *self._whole(x, u),
                                             address("x_next_bar", x_next_bar, self._dx), *outputs))
        return bars

    def state_step_jvp(self, x, u, x_dot=None, u_dot=None, theta_dot=None):
        """The derivative (ndx) of x_next along x_dot (ndx), u_dot (nu), theta_dot (nparam); None: zeros."""
        along = (("x_dot", x_dot, self._dx), ("u_dot", u_dot, self._u), ("theta_dot", theta_dot, self._theta))
        x_next_dot = numpy.empty(self.ndx)
        directions = (None if dot is None else address(name, dot, shape) for name, dot, shape in along)
        check(library.costate_state_step_jvp(self._handle, *self._whole(x, u), *directions, x_next_dot.ctypes.data))
        return x_next_dot

    def state_step_jacobian(self, x, u, parameters=False):
        """The StepJacobian at the whole state x (nx), in tangent vectors (ndx); by_parameters is None unless `parameters`."""
        J = StepJacobian(numpy.empty((self.ndx, self.ndx)), numpy.empty((self.ndx, self.nu)),
                         numpy.empty((self.ndx, self.nparam)) if parameters else None)
        check(library.costate_state_step_jacobian(self._handle, *self._whole(x, u),
                                                  *(None if part is None else part.ctypes.data for part in J)))
        return J

    def residual(self, x, u):
        """(residual, converged) of the solver of contacts, limits and loops in the step from x (nx): the largest velocity
        error, m/s, and True if the solver has converged."""
        residual = ctypes.c_double()
        left = check(library.costate_state_residual(self._handle, *self._whole(x, u), ctypes.addressof(residual)))
        return residual.value, left == 0

    def contacts(self, q, v, u):
        """The contacts of the step from (q, v, u) without kept impulses: an array with fields body_a, body_b (-1: the
        world), point (3, m, world), normal (3, from b to a), gap (m, negative if they overlap), impulse (3, of the step,
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
    """The index of a name; an index is returned unchanged."""
    if not isinstance(given, str):
        return int(given)
    try:
        return names.index(given)
    except ValueError:
        raise ValueError(f"there is no {what} {given!r}; there are {', '.join(names)}") from None
