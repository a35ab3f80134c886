"""An independent account of what costate should return: rigid bodies in numpy and complex arithmetic, without
spatial vectors and without a line of costate.

Derivatives are complex steps: f'(x) = Im f(x + i e)/e with e = 1e-30, without subtraction and therefore exact to
round-off. Nothing here may conjugate or take an absolute value."""
import numpy

STEP = 1e-30
GRAVITY = numpy.array([0, 0, -9.81])


def derivative(f, x):
    """df/dx for f from (n) to (m) or a number: (m, n) or (n)."""
    x = numpy.asarray(x, float)
    columns = [numpy.imag(f(x + 1j * STEP * unit)) / STEP for unit in numpy.eye(x.size).reshape(x.size, *x.shape)]
    return numpy.stack(columns, -1)


def dot(a, b):
    """Sum of a b, without the conjugate of numpy.vdot."""
    return numpy.sum(numpy.asarray(a) * numpy.asarray(b))


def length(a):
    return numpy.sqrt(dot(a, a))


def cross(a):
    """The matrix of b -> a x b."""
    return numpy.array([[0 * a[0], -a[2], a[1]], [a[2], 0 * a[0], -a[0]], [-a[1], a[0], 0 * a[0]]])


def turn(axis, angle):
    """Rotation about a unit axis (Rodrigues)."""
    K = cross(numpy.asarray(axis))
    return numpy.eye(3) + numpy.sin(angle) * K + (1 - numpy.cos(angle)) * (K @ K)


def turn_by(d):
    """Rotation by a rotation vector; a power series in |d|^2, so that zero is no special case."""
    K, s, term_a, term_b, a, b = cross(d), dot(d, d), 1, 0.5, 0, 0
    for k in range(1, 30):
        a, b = a + term_a, b + term_b
        term_a, term_b = -term_a * s / (2 * k * (2 * k + 1)), -term_b * s / ((2 * k + 1) * (2 * k + 2))
    return numpy.eye(3) + a * K + b * (K @ K)


def matrix_of(quaternion):
    """Rotation of q/|q|, w x y z."""
    w, u = quaternion[0], quaternion[1:]
    return numpy.eye(3) + 2 * (w * cross(u) + cross(u) @ cross(u)) / dot(quaternion, quaternion)


class Robot:
    """The bodies of one or several models of a scene, as dicts, in the order of the scene.

    A configuration is a list with an entry for each body: a number, a rotation matrix (spherical), a pair of
    position and rotation matrix (free), or None (fixed). `start` makes one from q, `moved` displaces it by a
    tangent vector."""

    def __init__(self, bodies):
        self.bodies, self.columns, n = bodies, [], 0
        names = [b["name"] for b in bodies]
        self.parents = [names.index(b["parent"]) if "parent" in b else -1 for b in bodies]
        for b in bodies:
            size = {"fixed": 0, "spherical": 3, "free": 6}.get(b["joint"]["type"], 1)
            self.columns.append(slice(n, n + size))
            n += size
        self.nv = n

    def _each(self):
        for i, b in enumerate(self.bodies):
            yield i, b, b["joint"], self.parents[i], self.columns[i]

    def start(self, q):
        out, q = [], list(q)
        for _, _, joint, _, _ in self._each():
            take = {"fixed": 0, "spherical": 4, "free": 7}.get(joint["type"], 1)
            x, q = numpy.array(q[:take]), q[take:]
            kind = joint["type"]
            out.append({"fixed": lambda: None, "spherical": lambda: matrix_of(x),
                        "free": lambda: (x[:3], matrix_of(x[3:]))}.get(kind, lambda: x[0])())
        return out

    def moved(self, configuration, d):
        out = []
        for (_, _, joint, _, c), x in zip(self._each(), configuration):
            kind = joint["type"]
            if kind == "fixed":
                out.append(None)
            elif kind == "spherical":
                out.append(x @ turn_by(d[c]))
            elif kind == "free":
                out.append((x[0] + d[c][:3], x[1] @ turn_by(d[c][3:])))
            else:
                out.append(x + d[c][0])
        return out

    def difference(self, a, b):
        """Tangent vector from a to b, valid to first order about b = a: all that a derivative needs."""
        out = []
        for (_, _, joint, _, _), x, y in zip(self._each(), a, b):
            kind = joint["type"]
            if kind == "fixed":
                continue
            if kind in ("spherical", "free"):
                if kind == "free":
                    out.extend(y[0] - x[0])
                    x, y = x[1], y[1]
                E = x.T @ y
                out.extend([(E[2, 1] - E[1, 2]) / 2, (E[0, 2] - E[2, 0]) / 2, (E[1, 0] - E[0, 1]) / 2])
            else:
                out.append(y - x)
        return numpy.array(out)

    def poses(self, configuration):
        """[(origin, rotation)] of the bodies, and the Jacobians (6, nv) of their (velocity of the origin, angular
        velocity), world axes."""
        poses, jacobians = [], []
        for i, _, joint, parent, c in self._each():
            p, R = poses[parent] if parent >= 0 else (numpy.zeros(3), numpy.eye(3))
            J = jacobians[parent].copy() if parent >= 0 else numpy.zeros((6, self.nv), complex)
            arm = R @ numpy.asarray(joint.get("position", [0, 0, 0]))
            R = R @ matrix_of(numpy.asarray(joint.get("quaternion", [1, 0, 0, 0])))
            x, kind = configuration[i], joint["type"]
            if kind == "prismatic":
                arm = arm + R @ numpy.asarray(joint["axis"]) * x
            J[:3] -= cross(arm) @ J[3:]
            p = p + arm
            if kind == "free":
                p, R = p + R @ x[0], R @ x[1]
                J[:3, c][:, :3], J[3:, c][:, 3:] = numpy.eye(3), R
            elif kind == "spherical":
                R = R @ x
                J[3:, c] = R
            elif kind == "prismatic":
                J[:3, c] = (R @ numpy.asarray(joint["axis"]))[:, None]
            elif kind != "fixed":
                R = R @ turn(joint["axis"], x)
                J[3:, c] = (R @ numpy.asarray(joint["axis"]))[:, None]
            poses.append((p, R))
            jacobians.append(J)
        return poses, jacobians

    def dynamics(self, configuration, v, gravity=GRAVITY):
        """(M, c): mass matrix and bias force, M a + c = tau."""
        poses, jacobians = self.poses(configuration)
        M, bias, drift = numpy.zeros((self.nv, self.nv), complex), numpy.zeros(self.nv, complex), []
        for i, b, joint, parent, c in self._each():
            (p, R), J = poses[i], jacobians[i]
            # accelerations with the joints' own accelerations zero
            p0, a0, w0, alpha0 = drift[parent] if parent >= 0 else (numpy.zeros(3),) * 4
            own, slides = J[3:, c] @ v[c], joint["type"] == "prismatic"
            arm, a, alpha = p - p0, 0 * p, alpha0 + numpy.cross(w0, own)
            if joint["type"] != "free":
                a = a0 + numpy.cross(alpha0, arm) + numpy.cross(w0, numpy.cross(w0, arm))
            if slides:
                a = a + 2 * numpy.cross(w0, J[:3, c] @ v[c])
            w = J[3:] @ v
            drift.append((p, a, w, alpha))
            m, com = b["mass"], R @ numpy.asarray(b.get("com", [0, 0, 0]))
            I = R @ inertia_of(b) @ R.T
            Jc = J[:3] - cross(com) @ J[3:]
            ac = a + numpy.cross(alpha, com) + numpy.cross(w, numpy.cross(w, com)) - gravity
            M += m * Jc.T @ Jc + J[3:].T @ I @ J[3:]
            bias += m * Jc.T @ ac + J[3:].T @ (I @ alpha + numpy.cross(w, I @ w))
            for j in range(c.start, c.stop):
                M[j, j] += joint.get("armature", 0)
        return M, bias

    def damping(self):
        return numpy.concatenate([numpy.full(c.stop - c.start, joint.get("damping", 0))
                                  for _, _, joint, _, c in self._each()])


def inertia_of(body):
    i = body["inertia"]
    return numpy.array([[i[0], i[3], i[4]], [i[3], i[1], i[5]], [i[4], i[5], i[2]]])


def free_velocity(robot, configuration, v, tau, h, gravity=GRAVITY):
    """(M + h B, velocity after a step without constraints)."""
    M, c = robot.dynamics(configuration, v, gravity)
    B = robot.damping()
    M = M + h * numpy.diag(B)
    return M, v + h * numpy.linalg.solve(M, tau - c - B * v)


def held(M, v, J, bias=0, compliance=1e-6):
    """(velocity, impulses) where the rows J must have the velocity -bias: J v+ + bias + compliance lambda = 0."""
    K = numpy.linalg.solve(M, J.T)
    impulse = -numpy.linalg.solve(J @ K + compliance * numpy.eye(len(J)), J @ v + bias)
    return v + K @ impulse, impulse


def point_rows(pose, jacobian, point):
    """Jacobian (3, nv) of the velocity of a world point of a body."""
    return jacobian[:3] - cross(point - pose[0]) @ jacobian[3:]


def jacobian_by_state(robot, step, q, v):
    """Derivative of (q+, v+) by (q, v) of step(configuration, v) -> (configuration, v), in tangent vectors."""
    at, n = robot.start(q), robot.nv
    after = step(at, numpy.asarray(v, complex))[0]
    after = [tuple(numpy.real(part) for part in x) if isinstance(x, tuple) else x if x is None else numpy.real(x)
             for x in after]

    def tangent(d):
        configuration, v_next = step(robot.moved(at, d[:n]), v + d[n:])
        return numpy.concatenate([robot.difference(after, configuration), v_next])

    return derivative(tangent, numpy.zeros(2 * n))
