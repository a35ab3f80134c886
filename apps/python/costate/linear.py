"""Linearization of a control step, for controllers."""
from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence

import numpy
import numpy.typing

from ._arrays import Array, ArrayLike, check_type, integer, numbers
from .errors import BadArgument
from .model import Model


class Transition(NamedTuple):
    """dx_next = A dx + B du, with tangent vectors dx = (dq, dv) of the states before and after a step."""

    A: Array  # (ndx, ndx)
    B: Array  # (ndx, nu)


def transition(model: Model, x: ArrayLike, u: ArrayLike, substeps: int = 1,
               joints: Optional[Sequence[str]] = None) -> Transition:
    """The Transition of `substeps` time steps from x (nx) under u (nu), in closed form.

    It replaces mjd_transitionFD of MuJoCo, whose matrices have the same layout for models without activations:
    rows and columns are (dq, dv), and a free joint has dq = (translation in world axes, rotation in body axes).
    Impulses kept by a warm start follow after dv.

    joints: names of all joints with degrees of freedom, in the order in which the rows and columns are wanted,
        such as the order of joints of an mjModel; names without a prefix will do if they are unique. None: the
        order of `model.joints`. Columns of B have the order of `model.actuators`."""
    check_type("model", model, Model, "costate.Model(file or name) loads one")
    steps = integer("substeps", substeps)
    if steps < 1:
        raise BadArgument(f"substeps is {steps}, the least is 1")
    state, control = numbers("x", x, (model.nx,)), numbers("u", u, (model.nu,))
    A, B = numpy.eye(model.ndx), numpy.zeros((model.ndx, model.nu))
    for _ in range(steps):
        J = model.state_step_jacobian(state, control)
        A, B = J.by_state @ A, J.by_state @ B + J.by_control
        state = model.state_step(state, control)
    if joints is None:
        return Transition(A, B)
    order = _order(model, joints)
    return Transition(numpy.ascontiguousarray(A[numpy.ix_(order, order)]), B[order])


def _order(model: Model, joints: Sequence[str]) -> numpy.typing.NDArray[numpy.intp]:
    """Indices into a tangent vector of a state: dofs in the order of the joints, for q and for v, then the
    rest."""
    dofs: List[int] = []
    for given in joints:
        found = [name for name in model.joints if name == given or name.endswith("/" + given)]
        if len(found) != 1:
            raise BadArgument(f"joints: {len(found)} joints are named {given!r}; give all of its name")
        v = model.joint_slices(found[0])[1]
        dofs.extend(range(v.start, v.stop))
    if sorted(dofs) != list(range(model.nv)):
        raise BadArgument(f"joints have {len(set(dofs))} different degrees of freedom of {model.nv}; "
                          "name every moving joint once")
    at = numpy.array(dofs, numpy.intp)
    return numpy.concatenate([at, model.nv + at, numpy.arange(2 * model.nv, model.ndx)])
