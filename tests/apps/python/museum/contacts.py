"""Sliding, sticking, rolling, leaving the ground."""
import json

import numpy

from .reference import Robot, derivative, free_velocity, held, jacobian_by_state, length, point_rows
from .smooth import G, LIBRARY
from .table import ball, case, parameter, rollout_gradient, scene

COMPLIANCE = 1e-6


@case("google-deepmind/mujoco#1517", "A box that leaves the ground",
      "The Jacobian of an MJX step was NaN while a box left the ground.",
      "A box on the ground, moving up, and the same box standing still. Leaving, its Jacobian is "
      "that of free flight; standing, the truth holds its four corners in numpy.")
def leaving():
    h, half = 0.002, numpy.array([0.1, 0.075, 0.05])
    box = {"name": "box", "joint": {"type": "free"}, "mass": 1, "inertia": [0.0027, 0.0042, 0.0052, 0, 0, 0],
           "shapes": [{"type": "box", "half_extents": list(half)}]}
    m, robot = scene([box], ground=True, time_step=h), Robot([box])
    q, one, zero = numpy.array([0, 0, 0.05, 1.0, 0, 0, 0]), numpy.eye(6), numpy.zeros((6, 6))
    up = m.step_jacobian(q, [0, 0, 0.3, 0, 0, 0], []).by_state
    corners = [half * [a, b, -1] for a in (-1, 1) for b in (-1, 1)]

    def stand(x, v):
        (pose,), (J,) = robot.poses(x)
        M, w = free_velocity(robot, x, v, 0, h)
        rows, bias = [], []
        for corner in corners:
            p = pose[0] + pose[1] @ corner
            rows.append(point_rows(pose, J, numpy.array([p[0], p[1], p[2] / 2])))
            bias.append(numpy.array([0, 0, p[2] / h]))
        w, impulse = held(M, w, numpy.vstack(rows), numpy.concatenate(bias))
        assert impulse[2::3].real.min() > 0
        return robot.moved(x, h * w), w

    still = m.step_jacobian(q, numpy.zeros(6), []).by_state
    return [("leaving", up, numpy.block([[one, h * one], [zero, one]])),
            ("standing", still, jacobian_by_state(robot, stand, q, numpy.zeros(6)))]


def sliding_ball(robot, mass, inertia, h, friction, surface):
    """A step of a sphere that slides, with one contact: surface(centre) = (normal, gap, point)."""
    def step(x, v):
        (pose,), (J,) = robot.poses(x)
        n, gap, point = surface(pose[0])
        rows = point_rows(pose, J, point)
        M, w = free_velocity(robot, x, v, 0, h)
        normal = -(n @ rows @ w + gap / h) / (1 / mass + COMPLIANCE)
        slip = rows @ w - n * (n @ rows @ w)  # parallel to the slip after the step: the ball is isotropic
        assert normal.real > 0
        impulse = normal * (n - friction * slip / length(slip))
        w = w + numpy.linalg.solve(M, rows.T @ impulse)
        return robot.moved(x, h * w), w
    return step


@case("newton-physics/newton#2133", "Contact that is left out when gradients are on",
      "In release 1.0.0 rigid collisions were skipped if gradients were requested; earlier releases "
      "had differentiated them, as the reporter says.",
      "A ball that slides and spins on the ground: its Jacobian by all coordinates and velocities, "
      "and by the friction; the truth is Coulomb's law by hand, in complex numbers.")
def sliding():
    h, r, mu, body = 0.005, 0.1, 0.4, ball(radius=0.1, mass=0.8, friction=0.4)
    m, robot = scene([body], ground=True, time_step=h), Robot([body])
    q, v = numpy.array([0, 0, r, 0.8, 0.6, 0, 0]), numpy.array([1.5, -0.7, -0.02, 3.0, -2.0, 1.0])

    def ground(c):
        gap = c[2] - r
        return numpy.array([0, 0, 1]), gap, numpy.array([c[0], c[1], gap / 2])

    def velocity(friction):
        return sliding_ball(robot, 0.8, body["inertia"][0], h, friction[0], ground)(robot.start(q), v)[1]

    J = m.step_jacobian(q, v, [], parameters=True)
    by_friction = J.by_parameters[6:, parameter(m, "shapes/r/ball/friction")]
    step = sliding_ball(robot, 0.8, body["inertia"][0], h, mu, ground)
    return [("by the state", J.by_state, jacobian_by_state(robot, step, q, v)),
            ("by friction", by_friction, derivative(velocity, [mu])[:, 0])]


@case("newton-physics/newton#2164", "A normal that turns",
      "This mended the case before: points and distance of contacts now have gradients by the poses "
      "of the bodies, while the direction of the normal stays constant, as the pull request says.",
      "A ball that slides without friction over a fixed ball: its Jacobian needs the derivative of "
      "the normal; the truth is n = (p - c)/|p - c| in complex numbers.", pull=True)
def turning_normal():
    h, r, big, body = 0.005, 0.1, 0.5, ball(radius=0.1, mass=0.8, condim=1)
    m = scene([body], time_step=h,
              shapes=[{"name": "hill", "type": "sphere", "radius": big, "condim": 1}])
    robot, n = Robot([body]), numpy.array([0.36, 0.48, 0.8])
    q, v = numpy.append((r + big) * n, [1.0, 0, 0, 0]), numpy.array([0.9, -0.6, -0.06, 0.5, 0.4, 0.3])

    def hill(c):
        n = c / length(c)
        gap = length(c) - r - big
        return n, gap, n * (big + gap / 2)

    step = sliding_ball(robot, 0.8, body["inertia"][0], h, 0, hill)
    return [("Jacobian", m.step_jacobian(q, v, []).by_state, jacobian_by_state(robot, step, q, v))]


@case("keenon/nimblephysics#4", "Friction where the normal is exactly z",
      "The basis of the two directions of friction was discontinuous at the normal (0, 0, 1), with "
      "very large gradients nearby.",
      "A ball that slides with friction over the very top of a fixed ball, where a change of "
      "position turns the normal; the truth is Coulomb's law without a basis, in complex numbers.")
def on_the_top():
    h, r, big, mu, body = 0.005, 0.1, 0.5, 0.4, ball(radius=0.1, mass=0.8, friction=0.4)
    m = scene([body], shapes=[{"name": "hill", "type": "sphere", "radius": big}], time_step=h)
    robot = Robot([body])
    q, v = numpy.array([0, 0, r + big, 1.0, 0, 0, 0]), numpy.array([0.9, -0.6, -0.02, 0.5, 0.4, 0.3])

    def hill(c):
        n = c / length(c)
        gap = length(c) - r - big
        return n, gap, n * (big + gap / 2)

    step = sliding_ball(robot, 0.8, body["inertia"][0], h, mu, hill)
    return [("Jacobian", m.step_jacobian(q, v, []).by_state, jacobian_by_state(robot, step, q, v))]


@case("google/brax#540", "The mass of a rolling ball",
      "The gradient of a ball's final state by its mass was inconsistent between three pipelines.",
      "A ball of given inertia starts at 1 m/s without spin. While it slides, its mass does not "
      "matter and friction takes g t from the speed; when it rolls, v = v0/(1 + I/(m r²)). "
      "Gradients by mass, friction and inertia, by hand.")
def rolling():
    h, r, mass, v0, mu, I = 0.002, 0.2, 1.0, 1.0, 0.3, 0.016
    body = {**ball(radius=r, mass=mass, friction=mu)}
    m = scene([body], ground=True, time_step=h, contact={"compliance": 0})
    rows, bar = [], numpy.eye(12)[6]
    names = ["bodies/r/ball/mass", "shapes/r/ball/friction", "bodies/r/ball/inertia[1]"]
    i = [parameter(m, name) for name in names]
    x = m.state([0, 0, r, 1, 0, 0, 0], [v0, 0, 0, 0, 0, 0])
    a = I / (mass * r**2)
    rolled = v0 / (1 + a)**2
    for steps, truth in ((20, [0, -G * h * 20, 0]), (150, [rolled * a / mass, 0, -rolled / (mass * r**2)])):
        got = rollout_gradient(m, x, numpy.zeros((steps, 0)), bar)[2]
        rows.append((f"after {steps} steps", got[i], numpy.array(truth)))
    return rows


@case("Genesis-Embodied-AI/genesis-world#3087", "Genesis audit: impratio",
      "The reverse of contact ignored impratio, the ratio of the stiffness of friction to that of "
      "the normal direction.",
      "A ball pressed 0.4 mm into the ground by MuJoCo's law with impratio 10, sticking: a step's "
      "Jacobian; the truth is the law as MuJoCo's documentation states it.", pull=True)
def impratio():
    h, r, mass, ratio = 0.002, 0.1, 0.8, 10.0
    body = ball(radius=r, mass=mass)
    m = scene([body], ground=True, time_step=h, contact={"law": "mujoco", "impratio": ratio})
    robot = Robot([body])
    q, v = numpy.array([0, 0, r - 0.0004, 0.8, 0.6, 0, 0]), numpy.array([0.01, -0.02, -0.05, 0.1, -0.05, 0.2])
    t, zeta, least, most, width = 0.02, 1.0, 0.9, 0.95, 0.001

    def step(x, v):
        (pose,), (J,) = robot.poses(x)
        gap = pose[0][2] - r
        rows = point_rows(pose, J, numpy.array([pose[0][0], pose[0][1], gap / 2]))
        share = -gap / width
        assert share.real < 0.5
        d = least + (most - least) * 0.5 * (share / 0.5)**2
        b, k = 2 / (most * t), 1 / (most * t * zeta)**2
        M, w = free_velocity(robot, x, v, 0, h)
        bias = (h * b - 1) * (rows @ v) + numpy.array([0, 0, h * k * d * gap])
        R = numpy.array([1 / ratio, 1 / ratio, 1]) / mass * (1 - d) / d
        K = numpy.linalg.solve(M, rows.T)
        impulse = -numpy.linalg.solve(rows @ K + numpy.diag(R), rows @ w + bias)
        assert numpy.hypot(*impulse[:2].real) < impulse[2].real
        w = w + K @ impulse
        return robot.moved(x, h * w), w

    return [("Jacobian", m.step_jacobian(q, v, []).by_state, jacobian_by_state(robot, step, q, v))]


def one_joint_each(bodies):
    """Bodies for Robot: those with several joints become a chain with bodies without mass."""
    out = []
    for b in bodies:
        joints = b["joints"] if "joints" in b else [b["joint"]]
        for i, joint in enumerate(joints):
            last, parent = i == len(joints) - 1, out[-1]["name"] if i else b.get("parent")
            axis = numpy.asarray(joint.get("axis", [0, 0, 1.0]))
            link = {"name": b["name"] if last else f"{b['name']}.{i}", "mass": 0, "inertia": [0] * 6,
                    "joint": {**joint, "axis": axis / numpy.linalg.norm(axis)}}
            out.append({**link, **({k: b[k] for k in ("mass", "inertia", "com") if k in b} if last else {}),
                        **({"parent": parent} if parent else {})})
    return out


@case("google/brax#171", "A humanoid in random states",
      "Of 4096 states of a humanoid from random rollouts, two had NaN in the gradient of the next "
      "observation by the action; states from the start of an episode had none.",
      "The included humanoid in 40 random crouches with both feet on the ground, sticking: the next "
      "velocities by all 17 actions; the truth is its mass matrix and the rows of both feet in "
      "numpy.")
def humanoid():
    file, h = json.loads((LIBRARY / "models/humanoid.json").read_text()), 0.005
    m = scene(file["bodies"], {"actuators": file["actuators"]}, ground=True, time_step=h)
    bodies = one_joint_each(file["bodies"])
    robot, random = Robot(bodies), numpy.random.default_rng(171)
    names = [b["joint"]["name"] for b in bodies]
    assert [name.split("/")[1] for name in m.joints] == names
    select = numpy.zeros((robot.nv, m.nu))
    for k, a in enumerate(file["actuators"]):
        select[robot.columns[names.index(a["joint"])], k] = a["gear"]
    stiffness = numpy.concatenate([numpy.full(c.stop - c.start, b["joint"].get("stiffness", 0))
                                   for b, c in zip(bodies, robot.columns)])
    feet = [(i, s) for i, b in enumerate(bodies) for own in file["bodies"] if own["name"] == b["name"]
            for s in own.get("shapes", []) if b["name"].endswith("shin") and s["type"] == "sphere"]
    got, truth = [], []
    for _ in range(2000):
        if len(got) == 40:
            break
        q, v, u = numpy.zeros(m.nq), 0.3 * random.normal(size=m.nv), 0.2 * random.uniform(-1, 1, m.nu)
        q[3:7] = [1, 0, 0, 0]
        share = {name: random.uniform(0.3, 0.7) for name in names}
        share["abdomen_x"] = 0.5  # the rest is mirrored: both feet have the same height
        for b, c in zip(bodies[1:], robot.columns[1:]):
            low, high = b["joint"]["limits"]
            q[c.start + 1] = low + (high - low) * share[b["joint"]["name"].replace("left", "right")]
        v[2] -= 1
        poses, J = robot.poses(robot.start(q))
        q[2] -= min((poses[i][0] + poses[i][1] @ s["position"])[2].real for i, s in feet) - 0.075 + 0.00005
        poses, J = robot.poses(robot.start(q))
        rows = []
        for i, s in feet:
            c = poses[i][0] + poses[i][1] @ s["position"]
            if c[2].real - 0.075 < 0:
                rows.append(point_rows(poses[i], J[i], numpy.array([c[0], c[1], (c[2] - 0.075) / 2])))
        if len(rows) != 2 or len(m.contacts(q, v, u)) != 2:
            continue
        rows, springs = numpy.vstack(rows).real, numpy.append(numpy.zeros(6), -stiffness[6:] * q[7:])
        M, w = free_velocity(robot, robot.start(q), v, springs + select @ u, h)
        M, w = M.real, w.real
        impulse = held(M, w, rows)[1].reshape(2, 3)
        if (impulse[:, 2] <= 0).any() or (numpy.hypot(impulse[:, 0], impulse[:, 1]) > 0.95 * impulse[:, 2]).any():
            continue  # a foot slides or lifts
        by_control = h * numpy.linalg.solve(M, select)
        K = numpy.linalg.solve(M, rows.T)
        truth.append(by_control - K @ numpy.linalg.solve(rows @ K + COMPLIANCE * numpy.eye(6), rows @ by_control))
        got.append(m.step_jacobian(q, v, u).by_control[m.nv:])
    assert len(got) == 40
    return [("by the actions", numpy.stack(got), numpy.stack(truth))]
