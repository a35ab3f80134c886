"""What a file holds: loading, names, parameters and the initial state of a model."""
from __future__ import annotations

import ctypes
import json
import os
import warnings
import weakref
from pathlib import Path
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type, TypeVar, Union

import numpy

from ._arrays import Array, ArrayLike, index, integer, numbers
from ._library import LoadOptions, check, library
from .errors import BadFile, ModelWarning

(_BODY, _JOINT, _ACTUATOR, _PARAMETER, _WARNING, _SITE, _KEYFRAME, _VARIABLE, _SENSOR,
 _ACTIVATION) = range(10)  # enum costate_kind

PathLike = Union[str, "os.PathLike[str]"]
_Kind = TypeVar("_Kind", bound="LoadedModel")


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
    decompose: int


class Keyframe(NamedTuple):
    """A named state of a file, with its control."""

    q: Array  # (nq)
    v: Array  # (nv)
    u: Array  # (nu): 0 where the keyframe names no control


class Limits(NamedTuple):
    """The least and the greatest values of actuators, infinite where there are none."""

    control: Array  # (nu, 2)
    force: Array  # (nu, 2), before the gear


class LoadedModel:
    """The base of costate.Model: everything that needs no state."""

    def __init__(self, source: PathLike, *, base: Optional[str] = None, search: Sequence[PathLike] = (),
                 strict: bool = False, self_collision: bool = False, hull_vertices: Optional[int] = None,
                 law: Optional[str] = None, decompose: int = 1) -> None:
        name = os.fspath(source)
        if not isinstance(name, str):
            raise TypeError(f"source must be a path or a name, not {type(source).__name__}")
        self._load(Source(_read(name), name, None, base, _folders(search), strict, self_collision, hull_vertices,
                          law, decompose), warn=True)

    @classmethod
    def from_string(cls: Type[_Kind], text: Union[str, bytes, Mapping[str, Any]], format: Optional[str] = None,
                    name: PathLike = "text", *, base: Optional[str] = None, search: Sequence[PathLike] = (),
                    strict: bool = False, self_collision: bool = False,
                    hull_vertices: Optional[int] = None, law: Optional[str] = None,
                    decompose: int = 1) -> _Kind:
        """A model from the text of a scene, a URDF, MJCF or SDFormat file, or from a dict that holds the JSON value of a
        scene.

        format: "json", "urdf", "mjcf" or "sdf"; None: as the text begins. name: the path that stands for the text in
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
                           hull_vertices, law, decompose), warn=True)
        return model

    def _load(self, source: Source, warn: bool) -> None:
        folders = [os.fsencode(folder) for folder in source.search]
        options = LoadOptions(
            ctypes.sizeof(LoadOptions), None if source.base is None else source.base.encode(),
            (ctypes.c_char_p * len(folders))(*folders), len(folders), bool(source.strict),
            bool(source.self_collision),
            0 if source.hull_vertices is None else integer("hull_vertices", source.hull_vertices),
            None if source.law is None else source.law.encode(), integer("decompose", source.decompose))
        handle, name = ctypes.c_void_p(), os.fsencode(source.name)
        if source.text is None:
            status = library.costate_model_load_with(name, ctypes.byref(options), ctypes.byref(handle))
        else:
            status = library.costate_model_parse(source.text, len(source.text),
                                                 None if source.format is None else source.format.encode(), name,
                                                 ctypes.byref(options), ctypes.byref(handle))
        check(status)
        self._describe(handle, source)
        for line in self.warnings if warn else ():
            warnings.warn(line, ModelWarning, stacklevel=3)

    def _describe(self, handle: ctypes.c_void_p, source: Source) -> None:
        """Takes a handle, and reads sizes and names."""
        self._handle, self._source = handle, source
        self._finalizer = weakref.finalize(self, library.costate_model_free, handle)
        self.source = source.name
        self.nq = check(library.costate_model_nq(handle))
        self.nv = check(library.costate_model_nv(handle))
        self.nu = check(library.costate_model_nu(handle))
        self.nparam = check(library.costate_model_nparam(handle))
        self.ny = check(library.costate_model_ny(handle))  # numbers of all sensors
        # size of a whole state x = (q, v, activations, kept), the states of batches; kept is empty without a warm start
        self.nx = check(library.costate_model_nx(handle))
        self.ndx = self.nx - self.nq + self.nv  # size of a tangent vector of x
        self.bodies = self._names(_BODY)
        self.joints = self._names(_JOINT)  # joint i carries body i
        self.actuators = self._names(_ACTUATOR)
        self.parameter_names = self._names(_PARAMETER)  # for example "bodies/ball/mass" or "bodies/ball/com[2]"
        self.activations = self._names(_ACTIVATION)  # the actuators that have one, in the order of a state
        self.sites = self._names(_SITE)  # named frames on bodies
        self.sensors = self._names(_SENSOR)  # outputs of the file; `sensor_slice` has their numbers in y
        self.keyframes = self._names(_KEYFRAME)  # named states of the file, for example "robot/home"
        # what the file marks with "optimize" (see costate.Scene), for example "controls/arm/torque1[3]"
        self.variables = self._names(_VARIABLE)
        self.warnings = self._names(_WARNING)  # about unsupported elements and the initial state
        self._q, self._v, self._u, self._act = (self.nq,), (self.nv,), (self.nu,), (len(self.activations),)
        self._x, self._dx, self._theta = (self.nx,), (self.ndx,), (self.nparam,)
        self._first: Optional[Array] = None  # the initial state x (nx), when it has been asked for

    def close(self) -> None:
        """Frees the model early; later calls raise BadHandle. Batches of the model go on."""
        self._finalizer()

    def __enter__(self: _Kind) -> _Kind:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def copy(self: _Kind) -> _Kind:
        """A model with parameters of its own, at first those of this one; nothing is read again."""
        handle, other = ctypes.c_void_p(), type(self).__new__(type(self))
        check(library.costate_model_copy(self._handle, ctypes.byref(handle)))
        other._describe(handle, self._source)
        return other

    def __copy__(self: _Kind) -> _Kind:
        return self.copy()

    def __deepcopy__(self: _Kind, _: Any) -> _Kind:
        return self.copy()

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

    def keyframe(self, keyframe: Union[str, int]) -> Keyframe:
        """The state and the control of a keyframe (its name or index). Joints that it does not name are in the
        initial state of the file. `start` has its activations, too."""
        which = index(self.keyframes, keyframe, "keyframe")
        out = Keyframe(numpy.empty(self.nq), numpy.empty(self.nv), numpy.empty(self.nu))
        check(library.costate_model_keyframe(self._handle, which, *out))
        return out

    @property
    def time_step(self) -> float:
        """The time step, s; "world/time_step" of the parameters."""
        h = ctypes.c_double()
        check(library.costate_model_time_step(self._handle, ctypes.byref(h)))
        return h.value

    @property
    def parents(self) -> List[Optional[str]]:
        """The body that carries each of `bodies`; None: the world."""
        return self._carriers(_BODY, len(self.bodies))

    @property
    def site_bodies(self) -> List[Optional[str]]:
        """The body of each of `sites`."""
        return self._carriers(_SITE, len(self.sites))

    def _carriers(self, kind: int, n: int) -> List[Optional[str]]:
        carriers: List[Optional[str]] = []
        parent = ctypes.c_int()
        for i in range(n):
            check(library.costate_model_parent(self._handle, kind, i, ctypes.byref(parent)))
            carriers.append(None if parent.value < 0 else self.bodies[parent.value])
        return carriers

    @property
    def actuator_limits(self) -> Limits:
        """The `Limits` of controls and forces of the actuators, as the parameters are now."""
        limits = numpy.empty((self.nu, 4))
        for i in range(self.nu):
            check(library.costate_model_limits(self._handle, _ACTUATOR, i, limits[i]))
        return Limits(limits[:, :2].copy(), limits[:, 2:].copy())

    @property
    def joint_limits(self) -> Array:
        """(n_joints, 2): least and greatest positions of joints with one dof, rad or m, and angles of spherical
        joints, infinite where there are none, as the parameters are now."""
        limits = numpy.empty((len(self.joints), 2))
        for i in range(len(self.joints)):
            check(library.costate_model_limits(self._handle, _JOINT, i, limits[i]))
        return limits

    def _state(self, q: ArrayLike, v: ArrayLike) -> Tuple[Array, Array]:
        return numbers("q", q, self._q), numbers("v", v, self._v)

    def _whole(self, x: ArrayLike, u: ArrayLike) -> Tuple[Array, Array]:
        return numbers("x", x, self._x), numbers("u", u, self._u)


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


def _restored(kind: Type[_Kind], source: Source, parameters: Array) -> _Kind:
    model = kind.__new__(kind)
    model._load(source, warn=False)
    if not numpy.array_equal(model.parameters, parameters):
        model.parameters = parameters
    return model
