"""Models, and functions of one state."""
from __future__ import annotations

import ctypes
import json
import os
import warnings
import weakref
from pathlib import Path
from typing import Any, Collection, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type, Union

import numpy
import numpy.typing

from ._arrays import Array, ArrayLike, check_wanted, index, integer, numbers
from ._library import LoadOptions, check, library
from .errors import BadFile, ModelWarning

_BODY, _JOINT, _ACTUATOR, _PARAMETER, _WARNING, _SITE, _KEYFRAME, _VARIABLE, _SENSOR = range(9)  # enum costate_kind
_ALL = ("q", "v", "u", "parameters")

_CONTACT = numpy.dtype([("body_a", numpy.int32), ("body_b", numpy.int32), ("point", float, 3),
                        ("normal", float, 3), ("gap", float), ("impulse", float, 3)])  # costate_contact

PathLike = Union[str, "os.PathLike[str]"]


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


class Source(NamedTuple):
    """Where a model comes from: everything that loads it again."""

    text: Optional[bytes]  # the contents of the file; None for the name of an included scene
    name: str  # of the scene, or the path that stands for the text
    format: Optional[str]
    base: Optional[str]
    search: Tuple[str, ...]
    strict: bool
    self_collision: bool
    hull_vertices: Optional[int]
    law: Optional[str]


class Model:
    """The contents of a file, including parameters. Any number of threads may use one model.

    source: the path of a scene (JSON), a URDF or an MJCF file, or the name of an included scene.
        `Model.from_string` takes the contents themselves.
    base: "fixed" or "floating" for the root of a URDF or MJCF robot; None: as the file says.
    search: folders to search for meshes and packages, subfolders included.
    strict: unsupported elements of URDF and MJCF files raise BadFile instead of a ModelWarning.
    self_collision: the links of a URDF collide with each other, except a link and its parent.
    hull_vertices: the largest number of vertices of the hull of a mesh, 4 or more; None: no limit.
    law: of contact, "rigid" or "mujoco"; None: as the scene says.

    The options apply to every robot that a scene includes. Raises BadFile if the file is missing or invalid, and
    BadArgument for an option that is not allowed. `warnings` lists unsupported elements of the file and problems
    of its initial state; each is also issued as a ModelWarning.

    Functions take arrays of float64 without a copy, and convert other numbers: lists, integers, float32, strided
    arrays, tensors of the CPU. They return new arrays of float64. A model can be pickled and copied: the copy is
    read from the same text with the same options, and has the same parameters. As a context manager, it is closed
    at the end.
    """

    def __init__(self, source: PathLike, *, base: Optional[str] = None, search: Sequence[PathLike] = (),
                 strict: bool = False, self_collision: bool = False, hull_vertices: Optional[int] = None,
                 law: Optional[str] = None) -> None:
        name = os.fspath(source)
        if not isinstance(name, str):
            raise TypeError(f"source must be a path or a name, not {type(source).__name__}")
        self._load(Source(_read(name), name, None, base, _folders(search), strict, self_collision, hull_vertices,
                          law), warn=True)

    @classmethod
    def from_string(cls: Type[Model], text: Union[str, bytes, Mapping[str, Any]], format: Optional[str] = None,
                    name: PathLike = "text", *, base: Optional[str] = None, search: Sequence[PathLike] = (),
                    strict: bool = False, self_collision: bool = False,
                    hull_vertices: Optional[int] = None, law: Optional[str] = None) -> Model:
        """A model from the text of a scene, a URDF or an MJCF file, or from a dict that holds the JSON value of a
        scene.

        format: "json", "urdf" or "mjcf"; None: as the text begins. name: the path that stands for the text in
        messages; relative paths in the text start in its folder, and a robot without a name is called as it. Other
        options as for `Model`."""
        if isinstance(text, Mapping):
            if format not in (None, "json"):
                raise ValueError(f"a dict has the format json, not {format}")
            text, format = json.dumps(text), "json"
        if isinstance(text, str):
            text = text.encode()
        model = cls.__new__(cls)
        model._load(Source(bytes(text), os.fspath(name), format, base, _folders(search), strict, self_collision,
                           hull_vertices, law), warn=True)
        return model

    def _load(self, source: Source, warn: bool) -> None:
        folders = [os.fsencode(folder) for folder in source.search]
        options = LoadOptions(
            ctypes.sizeof(LoadOptions), None if source.base is None else source.base.encode(),
            (ctypes.c_char_p * len(folders))(*folders), len(folders), bool(source.strict),
            bool(source.self_collision),
            0 if source.hull_vertices is None else integer("hull_vertices", source.hull_vertices),
            None if source.law is None else source.law.encode())
        handle, name = ctypes.c_void_p(), os.fsencode(source.name)
        if source.text is None:
            status = library.costate_model_load_with(name, ctypes.byref(options), ctypes.byref(handle))
        else:
            status = library.costate_model_parse(source.text, len(source.text),
                                                 None if source.format is None else source.format.encode(), name,
                                                 ctypes.byref(options), ctypes.byref(handle))
        check(status)
        self._handle, self._source = handle, source
        self._finalizer = weakref.finalize(self, library.costate_model_free, handle)
        self.source = source.name
        self.nq = check(library.costate_model_nq(handle))
        self.nv = check(library.costate_model_nv(handle))
        self.nu = check(library.costate_model_nu(handle))
        self.nparam = check(library.costate_model_nparam(handle))
        self.ny = check(library.costate_model_ny(handle))  # numbers of all sensors
        # size of a whole state x = (q, v, kept), the states of batches; kept is empty without a warm start
        self.nx = check(library.costate_model_nx(handle))
        self.ndx = self.nx - self.nq + self.nv  # size of a tangent vector of x
        self.bodies = self._names(_BODY)
        self.joints = self._names(_JOINT)  # joint i carries body i
        self.actuators = self._names(_ACTUATOR)
        self.parameter_names = self._names(_PARAMETER)  # for example "bodies/ball/mass" or "bodies/ball/com[2]"
        self.sites = self._names(_SITE)  # named frames on bodies
        self.sensors = self._names(_SENSOR)  # outputs of the file; `sensor_slice` has their numbers in y
        self.keyframes = self._names(_KEYFRAME)  # named states of the file, for example "robot/home"
        # what the file marks with "optimize" (see costate.Scene), for example "controls/arm/torque1[3]"
        self.variables = self._names(_VARIABLE)
        self.warnings = self._names(_WARNING)  # about unsupported elements and the initial state
        for line in self.warnings if warn else ():
            warnings.warn(line, ModelWarning, stacklevel=3)
        self._q, self._v, self._u = (self.nq,), (self.nv,), (self.nu,)
        self._x, self._dx, self._theta = (self.nx,), (self.ndx,), (self.nparam,)

    def close(self) -> None:
        """Frees the model early; later calls raise BadHandle. Batches of the model go on."""
        self._finalizer()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Tuple[Any, ...]:
        source = self._source
        if source.text is not None:
            source = source._replace(name=os.path.abspath(source.name))
        return _restored, (type(self), source, self.parameters)

    def __repr__(self) -> str:
        state = "" if self._finalizer.alive else ", closed"
        return (f"<costate.Model {self.source!r}: {len(self.bodies)} bodies, nq {self.nq}, nv {self.nv}, "
                f"nu {self.nu}{state}>")

    def _names(self, kind: int) -> List[str]:
        names = []
        for i in range(check(library.costate_model_count(self._handle, kind))):
            length = check(library.costate_model_name(self._handle, kind, i, None, 0))
            buffer = ctypes.create_string_buffer(length + 1)
            check(library.costate_model_name(self._handle, kind, i, buffer, len(buffer)))
            names.append(buffer.value.decode())
        return names

    def joint_slices(self, joint: Union[str, int]) -> Tuple[slice, slice]:
        """The numbers of a joint (its name or index): slices of q and of v."""
        layout = (ctypes.c_int * 4)()
        check(library.costate_model_joint(self._handle, index(self.joints, joint, "joint"), layout))
        return slice(layout[0], layout[0] + layout[1]), slice(layout[2], layout[2] + layout[3])

    def sensor_slice(self, sensor: Union[str, int]) -> slice:
        """The numbers of a sensor (its name or index) in y."""
        layout = (ctypes.c_int * 2)()
        check(library.costate_model_sensor(self._handle, index(self.sensors, sensor, "sensor"), layout, None, 0))
        return slice(layout[0], layout[0] + layout[1])

    def sensor_type(self, sensor: Union[str, int]) -> str:
        """The type of a sensor (its name or index), for example "gyro"."""
        layout, buffer = (ctypes.c_int * 2)(), ctypes.create_string_buffer(64)
        which = index(self.sensors, sensor, "sensor")
        check(library.costate_model_sensor(self._handle, which, layout, buffer, len(buffer)))
        return buffer.value.decode()

    @property
    def parameters(self) -> Array:
        """theta (nparam), a copy; the setter checks ranges. `parameter_names` has their names."""
        theta = numpy.empty(self.nparam)
        check(library.costate_model_get_parameters(self._handle, theta, self.nparam))
        return theta

    @parameters.setter
    def parameters(self, theta: ArrayLike) -> None:
        check(library.costate_model_set_parameters(self._handle, numbers("theta", theta, self._theta),
                                                   self.nparam))

    def set_parameter(self, name: str, value: float) -> None:
        """Sets one parameter by its name. Raises BadArgument if there is no such parameter or the value is not
        allowed."""
        theta = self.parameters
        theta[index(self.parameter_names, name, "parameter")] = value
        self.parameters = theta

    def initial_state(self) -> Tuple[Array, Array]:
        """The initial state (q (nq), v (nv)) of the file."""
        q, v = numpy.empty(self.nq), numpy.empty(self.nv)
        check(library.costate_model_initial_state(self._handle, q, v))
        return q, v

    def state(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The whole state x (nx) of q (nq) and v (nv), with no kept impulses."""
        return numpy.concatenate([*self._state(q, v), numpy.zeros(self.nx - self.nq - self.nv)])

    # ---- Configurations -----------------------------------------------------------------------------------------

    def retract(self, q: ArrayLike, d: ArrayLike) -> Array:
        """q (nq) displaced by the tangent vector d (nv)."""
        q_next = numpy.empty(self.nq)
        check(library.costate_retract(self._handle, numbers("q", q, self._q), numbers("d", d, self._v), q_next))
        return q_next

    def difference(self, a: ArrayLike, b: ArrayLike) -> Array:
        """The shortest d (nv) with retract(a, d) = b; a, b (nq)."""
        d = numpy.empty(self.nv)
        check(library.costate_difference(self._handle, numbers("a", a, self._q), numbers("b", b, self._q), d))
        return d

    def gradient_to_tangent(self, q: ArrayLike, ambient: ArrayLike) -> Array:
        """The tangent gradient (nv) at q (nq) of a function of q/|q| with the ambient gradient `ambient` (nq)."""
        tangent = numpy.empty(self.nv)
        check(library.costate_gradient_to_tangent(self._handle, numbers("q", q, self._q),
                                                  numbers("ambient", ambient, self._q), tangent))
        return tangent

    def gradient_to_ambient(self, q: ArrayLike, tangent: ArrayLike) -> Array:
        """The ambient gradient (nq) for a tangent gradient (nv), without components along quaternions."""
        ambient = numpy.empty(self.nq)
        check(library.costate_gradient_to_ambient(self._handle, numbers("q", q, self._q),
                                                  numbers("tangent", tangent, self._v), ambient))
        return ambient

    def body_pose(self, q: ArrayLike, body: Union[str, int]) -> Tuple[Array, Array]:
        """World position (3), m, and quaternion (4, w x y z, w >= 0) of a body (its name or index)."""
        position, quaternion = numpy.empty(3), numpy.empty(4)
        check(
            library.costate_body_pose(self._handle, numbers("q", q, self._q), index(self.bodies, body, "body"),
                                      position, quaternion))
        return position, quaternion

    # ---- Dynamics without contact, springs, damping and actuators: M(q) a + c(q, v) = tau -----------------------

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
        """Accelerations a (nv) under joint forces tau (nv)."""
        a = numpy.empty(self.nv)
        check(library.costate_forward_dynamics(self._handle, *self._state(q, v), numbers("tau", tau, self._v), a))
        return a

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Joint forces tau (nv) that give accelerations a (nv)."""
        tau = numpy.empty(self.nv)
        check(library.costate_inverse_dynamics(self._handle, *self._state(q, v), numbers("a", a, self._v), tau))
        return tau

    def mass_matrix(self, q: ArrayLike) -> Array:
        """M (nv, nv), armature included."""
        M = numpy.empty((self.nv, self.nv))
        check(library.costate_mass_matrix(self._handle, numbers("q", q, self._q), M))
        return M

    def forward_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike,
                                     tau: ArrayLike) -> Tuple[Array, Array, Array]:
        """(da_dq, da_dv, da_dtau), each (nv, nv); row i belongs to a_i."""
        by_q, by_v, by_tau = (numpy.empty((self.nv, self.nv)) for _ in range(3))
        check(
            library.costate_forward_dynamics_derivatives(self._handle, *self._state(q, v),
                                                         numbers("tau", tau, self._v), by_q, by_v, by_tau))
        return by_q, by_v, by_tau

    # ---- A time step with everything the file describes ---------------------------------------------------------
    # It neither uses nor keeps impulses of a warm start; to continue from the last step, use the functions of
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
        contacts = numpy.empty(check(library.costate_contacts(self._handle, *where, None, 0)), _CONTACT)
        check(library.costate_contacts(self._handle, *where, contacts, len(contacts)))
        return contacts

    def _state(self, q: ArrayLike, v: ArrayLike) -> Tuple[Array, Array]:
        return numbers("q", q, self._q), numbers("v", v, self._v)

    def _whole(self, x: ArrayLike, u: ArrayLike) -> Tuple[Array, Array]:
        return numbers("x", x, self._x), numbers("u", u, self._u)

    def _empty_jacobian(self, n: int, parameters: bool) -> StepJacobian:
        return StepJacobian(numpy.empty((n, n)), numpy.empty((n, self.nu)),
                            numpy.empty((n, self.nparam)) if parameters else None)


def _optional(name: str, given: Optional[ArrayLike], shape: Tuple[int, ...]) -> Optional[Array]:
    return None if given is None else numbers(name, given, shape)


def _folders(search: Sequence[PathLike]) -> Tuple[str, ...]:
    if isinstance(search, (str, os.PathLike)):
        raise TypeError(f"search must be a list of folders, such as [{search!r}]")
    return tuple(os.fspath(folder) for folder in search)


def _read(name: str) -> Optional[bytes]:
    """The contents of a file, or None if there is no such file: then the library looks for a scene of this
    name."""
    if not os.path.isfile(name):
        return None
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise BadFile(f"{name}: cannot be read: {error.strerror}") from None


def _restored(kind: Type[Model], source: Source, parameters: Array) -> Model:
    model = kind.__new__(kind)
    model._load(source, warn=False)
    if not numpy.array_equal(model.parameters, parameters):
        model.parameters = parameters
    return model
