"""Outputs of a model that a recording may hold: of the state, of the pose of a frame, or of a sensor."""
from __future__ import annotations

import numpy

from ._arrays import Array, suggestion
from ._products import Products
from ._rotations import Quaternions
from .batch import Batch
from .errors import BadArgument
from .model import Model


def configurations(model: Model) -> Quaternions:
    """The rotations of a whole state (nx)."""
    starts = []
    for joint in range(len(model.joints)):
        q, v = model.joint_slices(joint)
        if q.stop - q.start > v.stop - v.start:
            starts.append((q.stop - 4, v.stop - 3))
    return Quaternions(starts, model.nx)


class Output:
    """A measured output: the position or velocity of a joint, the pose of a frame, or a sensor."""

    def __init__(self, model: Model, name: str) -> None:
        self.name, self.kind = name, "state"
        inner = name[name.find("(") + 1:-1] if name.endswith(")") else ""
        whole = configurations(model)
        if name in model.joints or (name.startswith("d(") and inner in model.joints):
            q, v = model.joint_slices(inner or name)
            self.x = slice(model.nq + v.start, model.nq + v.stop) if inner else q
            self.dx = slice(model.nv + v.start, model.nv + v.stop) if inner else v
            starts = [(a - q.start, b - v.start) for a, b in whole.starts if not inner and q.start <= a < q.stop]
            self.rotations = Quaternions(starts, self.x.stop - self.x.start)
        elif name.startswith("pose(") and inner in model.bodies + model.sites:
            self.kind, self.frame = "pose", inner
            self.rotations = Quaternions([(3, 3)], 7)
        elif name in model.sensors:
            self.kind, self.x = "sensor", model.sensor_slice(name)
            rotated = model.sensor_type(name) == "frame_quaternion"
            self.rotations = Quaternions([(0, 0)] if rotated else [], self.x.stop - self.x.start)
            if rotated:
                raise BadArgument(f"the signal {name!r} is a quaternion; use the pose of its frame")
        else:
            known = [*model.joints, *(f"d({joint})" for joint in model.joints), *model.sensors,
                     *(f"pose({frame})" for frame in model.bodies + model.sites)]
            raise BadArgument(f"there is no signal {name!r}{suggestion(name, known)}")

    def values(self, batch: Batch, x: Array, u: Array) -> Array:
        """(n_env, size)"""
        if self.kind == "state":
            return x[:, self.x]
        if self.kind == "pose":
            return batch.poses(x, batch.frames([self.frame]))[0][:, 0]
        return batch.sensors(x, u)[:, self.x]

    def sensitivities(self, batch: Batch, x: Array, u: Array, slopes: Array, by_y: Products) -> Array:
        """The Jacobian (n_env, tangent, ndx + p) by what the states have the Jacobian slopes (n_env, ndx, ndx + p),
        where the last p columns belong to y with theta's Jacobian by_y."""
        n, rows = batch.n_env, self.rotations.tangent
        if self.kind == "state":
            own: Array = slopes[:, self.dx].copy()
            return own
        by_x, by_theta = numpy.empty((n, rows, batch.ndx)), numpy.empty((n, rows, batch.nparam))
        if self.kind == "sensor":
            J = batch.sensors_jacobian(x, u, parameters=True)
            assert J.by_parameters is not None
            by_x, by_theta = J.by_state[:, self.x], J.by_parameters[:, self.x]
        else:
            for i in range(rows):
                seed = numpy.zeros((n, 1, 6))
                seed[:, 0, i] = 1
                g = batch.poses_vjp(x, batch.frames([self.frame]), seed, each=True)
                assert g.x is not None and g.parameters is not None
                by_x[:, i], by_theta[:, i] = g.x, g.parameters
        by_all: Array = by_x @ slopes
        by_all[:, :, batch.ndx:] += by_y.product(by_theta)
        return by_all
