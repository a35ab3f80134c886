"""Linearization of a control step, for controllers."""
from __future__ import annotations

from typing import List, Literal, NamedTuple, Optional, Sequence, Union, overload

import numpy
import numpy.typing

from ._arrays import Array, ArrayLike, check_type, integer, numbers
from .errors import BadArgument
from .model import Model


class Transition(NamedTuple):
    """dx_next = A dx + B du, with tangent vectors dx = (dq, dv) of the states before and after a step."""

    A: Array  # (ndx, ndx)
    B: Array  # (ndx, nu)


class OutputTransition(NamedTuple):
    """dx_next = A dx + B du, and dy = C dx + D du for the sensors y at the beginning of the step."""

    A: Array  # (ndx, ndx)
    B: Array  # (ndx, nu)
    C: Array  # (ny, ndx), or the rows of the chosen sensors
    D: Array  # (ny, nu)


@overload
def transition(model: Model, x: ArrayLike, u: ArrayLike, substeps: int = 1,
               joints: Optional[Sequence[str]] = None, sensors: Literal[False] = False) -> Transition: ...


@overload
def transition(model: Model, x: ArrayLike, u: ArrayLike, substeps: int = 1, joints: Optional[Sequence[str]] = None, *,
               sensors: Union[Literal[True], Sequence[str]]) -> OutputTransition: ...


def transition(model: Model, x: ArrayLike, u: ArrayLike, substeps: int = 1, joints: Optional[Sequence[str]] = None,
               sensors: Union[bool, Sequence[str]] = False) -> Union[Transition, OutputTransition]:
    """The Transition of `substeps` time steps from x (nx) under u (nu), in closed form; with `sensors` the
    OutputTransition.

    It replaces mjd_transitionFD of MuJoCo, whose matrices have the same layout for models without activations:
    rows and columns are (dq, dv), and a free joint has dq = (translation in world axes, rotation in body axes).
    Impulses kept by a warm start follow after dv. Sensors are read at the beginning of the control step, in its first
    time step.

    joints: names of all joints with degrees of freedom, in the order in which the rows and columns are wanted,
        such as the order of joints of an mjModel; names without a prefix will do if they are unique. None: the
        order of `model.joints`. Columns of B and D have the order of `model.actuators`.
    sensors: True: all, in the order of `model.sensors`; or the names of those that are wanted, in the order in which
        their rows are wanted, such as that of an mjModel; names without a prefix will do if they are unique."""
    check_type("model", model, Model, "costate.Model(file or name) loads one")
    steps = integer("substeps", substeps)
    if steps < 1:
        raise BadArgument(f"substeps is {steps}, the least is 1")
    state, control = numbers("x", x, (model.nx,)), numbers("u", u, (model.nu,))
    outputs = None if sensors is False else model.observe_jacobian(state, control)
    A, B = numpy.eye(model.ndx), numpy.zeros((model.ndx, model.nu))
    for _ in range(steps):
        J = model.state_step_jacobian(state, control)
        A, B = J.by_state @ A, J.by_state @ B + J.by_control
        state = model.state_step(state, control)
    order = numpy.arange(model.ndx) if joints is None else _order(model, joints)
    A, B = numpy.ascontiguousarray(A[numpy.ix_(order, order)]), B[order]
    if outputs is None:
        return Transition(A, B)
    rows = numpy.arange(model.ny) if sensors is True else _rows(model, sensors)
    return OutputTransition(A, B, numpy.ascontiguousarray(outputs.by_state[numpy.ix_(rows, order)]),
                            outputs.by_control[rows])


def _named(kind: str, given: str, names: Sequence[str]) -> str:
    """The one name that is the given one, with or without its prefix."""
    found = [name for name in names if name == given or name.endswith("/" + given)]
    if len(found) != 1:
        raise BadArgument(f"{kind}: {len(found)} {kind} are named {given!r}; give all of its name")
    return found[0]


def _rows(model: Model, sensors: Union[bool, Sequence[str]]) -> numpy.typing.NDArray[numpy.intp]:
    """Indices into y of these sensors."""
    if isinstance(sensors, (bool, str)):
        raise TypeError(f"sensors must be True, False or a list of names, not {sensors!r}")
    rows: List[int] = []
    for given in sensors:
        y = model.sensor_slice(_named("sensors", given, model.sensors))
        rows.extend(range(y.start, y.stop))
    return numpy.array(rows, numpy.intp)


def _order(model: Model, joints: Sequence[str]) -> numpy.typing.NDArray[numpy.intp]:
    """Indices into a tangent vector of a state: dofs in the order of the joints, for q and for v, then the
    rest."""
    dofs: List[int] = []
    for given in joints:
        v = model.joint_slices(_named("joints", given, model.joints))[1]
        dofs.extend(range(v.start, v.stop))
    if sorted(dofs) != list(range(model.nv)):
        raise BadArgument(f"joints have {len(set(dofs))} different degrees of freedom of {model.nv}; "
                          "name every moving joint once")
    at = numpy.array(dofs, numpy.intp)
    return numpy.concatenate([at, model.nv + at, numpy.arange(2 * model.nv, model.ndx)])
