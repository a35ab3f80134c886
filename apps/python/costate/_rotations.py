"""Numbers among which are rotations: displacements, differences and interpolation, with their derivatives.

A quaternion (w x y z) is displaced by a rotation vector in axes of its own frame; Jr is the right Jacobian of the
exponential map (Sola, Deray, Atchuthan, "A micro Lie theory", 2018, eq. 143, 144)."""
from __future__ import annotations

from typing import Sequence, Tuple

import numpy

from ._arrays import Array


class Quaternions:
    """The rotations among numbers: where their quaternions and their rotation vectors begin."""

    def __init__(self, starts: Sequence[Tuple[int, int]], size: int) -> None:
        self.starts, self.size = starts, size
        self.tangent = size - len(starts)
        parts = {i for q, _ in starts for i in range(q, q + 4)}
        self.plain = [i for i in range(size) if i not in parts]
        rotated = {i for _, v in starts for i in range(v, v + 3)}
        self.plain_tangent = [i for i in range(self.tangent) if i not in rotated]

    def difference(self, a: Array, b: Array) -> Tuple[Array, Array]:
        """d (n, tangent) with b = a displaced by d, a and b (n, size), and its Jacobian (n, tangent, tangent) by a
        displacement of b: rotations about axes of b. That by a displacement of a is minus the transpose."""
        d = numpy.empty((len(b), self.tangent))
        jacobian = numpy.tile(numpy.eye(self.tangent), (len(b), 1, 1))
        d[:, self.plain_tangent] = b[:, self.plain] - a[:, self.plain]
        for q, v in self.starts:
            d[:, v:v + 3] = _rotation_vector(a[:, q:q + 4], b[:, q:q + 4])
            jacobian[:, v:v + 3, v:v + 3] = _inverse_right_jacobian(d[:, v:v + 3])
        return d, jacobian

    def displaced(self, a: Array, d: Array) -> Tuple[Array, Array, Array]:
        """a (n, size) displaced by d (n, tangent), and its Jacobians (n, tangent, tangent) by a displacement of a
        and by d."""
        b, by_a = a.copy(), numpy.tile(numpy.eye(self.tangent), (len(a), 1, 1))
        by_d = by_a.copy()
        b[:, self.plain] += d[:, self.plain_tangent]
        for q, v in self.starts:
            phi = d[:, v:v + 3]
            b[:, q:q + 4] = _product(a[:, q:q + 4], _exponential(phi))
            by_d[:, v:v + 3, v:v + 3] = numpy.linalg.inv(_inverse_right_jacobian(phi))
            # R(phi)^T = Jr Jl^-1, where Jl^-1 is the transpose of Jr^-1
            by_a[:, v:v + 3, v:v + 3] = by_d[:, v:v + 3, v:v + 3] @ _inverse_right_jacobian(phi).transpose(0, 2, 1)
        return b, by_a, by_d

    def between(self, a: Array, b: Array, share: Array) -> Tuple[Array, Array, Array, Array]:
        """The point (n, size) that lies a share (n) of the way from a to b on the shortest path; its Jacobians (n,
        tangent, tangent) by displacements of a and of b, and its derivative (n, tangent) by the share."""
        d, J = self.difference(a, b)
        c, by_a, by_d = self.displaced(a, share[:, None] * d)
        part = share[:, None, None] * by_d
        return c, by_a - part @ J.transpose(0, 2, 1), part @ J, (by_d @ d[:, :, None])[:, :, 0]


def _product(a: Array, b: Array) -> Array:
    """The quaternions a b (n, 4)."""
    w = a[:, 0] * b[:, 0] - (a[:, 1:] * b[:, 1:]).sum(1)
    v = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + numpy.cross(a[:, 1:], b[:, 1:])
    return numpy.concatenate([w[:, None], v], 1)


def _exponential(phi: Array) -> Array:
    """The quaternions (n, 4) of rotation vectors (n, 3)."""
    half = numpy.sqrt((phi * phi).sum(1)) / 2
    return numpy.concatenate([numpy.cos(half)[:, None], numpy.sinc(half / numpy.pi)[:, None] / 2 * phi], 1)


def _rotation_vector(a: Array, b: Array) -> Array:
    """The rotation vectors (n, 3) of the quaternions a^-1 b."""
    w = (a * b).sum(1)
    u = a[:, :1] * b[:, 1:] - b[:, :1] * a[:, 1:] - numpy.cross(a[:, 1:], b[:, 1:])
    u, w = numpy.where(w[:, None] < 0, -u, u), numpy.abs(w)
    sine = numpy.sqrt((u * u).sum(1))
    theta = 2 * numpy.arctan2(sine, w)
    small = theta < 1e-4
    phi: Array = u * numpy.where(small, 2 / w, theta / numpy.where(small, 1, sine))[:, None]
    return phi


def _inverse_right_jacobian(phi: Array) -> Array:
    """Jr^-1 (n, 3, 3) = 1 + phi x / 2 + (1 - (theta/2) cot(theta/2)) / theta^2 (phi x)^2."""
    theta = numpy.sqrt((phi * phi).sum(1))
    small = theta < 1e-4
    safe = numpy.where(small, 1, theta)
    factor = numpy.where(small, 1 / 12, (1 - safe / 2 / numpy.tan(safe / 2)) / safe**2)
    cross = numpy.zeros((len(phi), 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        cross[:, i, j], cross[:, j, i] = -phi[:, k], phi[:, k]
    jacobian: Array = numpy.eye(3) + cross / 2 + factor[:, None, None] * cross @ cross
    return jacobian
