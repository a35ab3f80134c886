"""Models, and functions of one state."""
from __future__ import annotations

from typing import Optional, Tuple, Union

import numpy

from ._arrays import Array, ArrayLike, index, numbers
from ._library import check, library
from ._loaded_model import Keyframe, Limits, PathLike, Source
from ._model_steps import ObservationGradient, StateGradient, StepFunctions, StepGradient, StepJacobian

__all__ = [
    "Keyframe", "Limits", "Model", "ObservationGradient", "PathLike", "Source", "StateGradient", "StepGradient",
    "StepJacobian"
]


class Model(StepFunctions):
    """The contents of a file, including parameters. Any number of threads may use one model.

    source: the path of a scene (JSON), a URDF, MJCF or SDFormat file, or the name of an included scene.
        `Model.from_string` takes the contents themselves.
    base: "fixed" or "floating" for the root of a URDF, MJCF or SDFormat robot; None: as the file says.
    search: folders to search for meshes and packages, subfolders included.
    strict: unsupported elements of URDF, MJCF and SDFormat files raise BadFile instead of a ModelWarning.
    self_collision: the links of a URDF or SDFormat model collide with each other, except a link and its parent.
    hull_vertices: the largest number of vertices of the hull of a mesh, 4 or more; None: no limit.
    law: of contact, "rigid" or "mujoco"; None: as the scene says.
    decompose: the largest number of convex hulls of a mesh that is not convex; 1: its own hull.

    The options apply to every robot that a scene includes. Raises BadFile if the file is missing or invalid, and
    BadArgument for an option that is not allowed. `warnings` lists unsupported elements of the file and problems
    of its initial state; each is also issued as a ModelWarning.

    Functions take arrays of float64 without a copy, and convert other numbers: lists, integers, float32, strided
    arrays, tensors of the CPU. They return new arrays of float64. A model can be copied, and pickled: then
    the other is read from the same text with the same options. Both have the same parameters at first. As a context
    manager, a model is closed at the end.
    """

    # ---- Whole states -------------------------------------------------------------------------------------------

    def start(self, keyframe: Union[str, int, None] = None) -> Array:
        """The whole initial state x (nx) of the file, or that of a keyframe (its name or index), with no kept
        impulses."""
        if keyframe is None and self._first is not None:
            return self._first.copy()
        from .batch import Batch
        with Batch(self, 1, threads=1) as batch:
            if keyframe is not None:
                batch.reset(keyframe=self.keyframes[index(self.keyframes, keyframe, "keyframe")])
            x: Array = batch.state()[0][0]
        if keyframe is None:
            self._first = x.copy()
        return x

    def state(self, q: ArrayLike, v: ArrayLike, activations: Optional[ArrayLike] = None) -> Array:
        """The whole state x (nx) of q (nq), v (nv) and the activations, in the order of `activations`, with no kept
        impulses. None: the initial activations of the file."""
        own, x = self.nq + self.nv, self.start()
        x[:self.nq], x[self.nq:own] = self._state(q, v)
        if activations is not None:
            x[own:own + len(self.activations)] = numbers("activations", activations, self._act)
        return x

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
