"""Constraints that hold bodies together, and impacts on legs."""
import numpy

from .reference import Robot, free_velocity, held, jacobian_by_state, point_rows
from .smooth import TREE
from .table import case, scene

GENESIS = "Genesis-Embodied-AI/genesis-world#3087"
H, COMPLIANCE, ERP = 0.01, 1e-6, 0.2


def bound(robot, configuration, v, rows, error, tau=0):
    """A step with the equality rows J (m, nv) and their error in position (m), as documented: J v+ + R lambda = 0,
    then the share ERP of the error is removed in position, with compliance 100 R."""
    M, v = free_velocity(robot, configuration, v, tau, H)
    v, impulse = held(M, v, rows)
    recovered = rows @ v + COMPLIANCE * impulse + ERP * error / H
    w, _ = held(M, 0 * v, rows, recovered, 100 * COMPLIANCE)
    return robot.moved(configuration, H * (v + w)), v


def compared(m, robot, q, v, step):
    return m.step_jacobian(q, v, numpy.zeros(m.nu)).by_state, jacobian_by_state(robot, step, q, v)


@case("stack-of-tasks/pinocchio#2247", "A frame held in six directions",
      "Derivatives of the constrained acceleration and of the contact forces were wrong in release "
      "3.0.0 for constraints of six dimensions; only these seemed affected. #2300 mended it.",
      "A floating tree whose last body is welded to the world while it moves: the Jacobian of a "
      "step, q+ and v+, where the weld is 1 mm apart and where it is held exactly; the truth solves "
      "the constrained equations in numpy, with complex steps.")
def weld():
    hold = {"name": "hold", "type": "weld", "body_a": "d", "body_b": "world"}
    m = scene(TREE, {"equalities": [hold]}, time_step=H)
    robot, random = Robot(TREE), numpy.random.default_rng(1)
    q, v = m.initial_state()[0], random.normal(size=m.nv)
    p0, R0 = (numpy.real(part) for part in robot.poses(robot.start(q))[0][3])

    def step(x, v):
        poses, jacobians = robot.poses(x)
        (p, R), J = poses[3], jacobians[3]
        Q = R0.T @ R
        w = numpy.sqrt(1 + numpy.trace(Q)) / 2  # of the quaternion of Q; the error of the rotation is twice its vector
        e = numpy.array([Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1]]) / (2 * w)
        axes = R0 @ (w * numpy.eye(3) + numpy.cross(numpy.eye(3), e) / 2)
        return bound(robot, x, v, numpy.vstack([J[:3], axes.T @ J[3:]]), numpy.append(p - p0, e))

    apart = m.retract(q, 0.001 * random.normal(size=m.nv))
    return [("1 mm apart", *compared(m, robot, apart, v, step)),
            ("held exactly", *compared(m, robot, q, v, step))]


@case(GENESIS, "Genesis audit: velocities in a closed loop",
      "The reverse of equality constraints dropped the term of their acceleration that is quadratic "
      "in the velocities.",
      "A loop of three links closed by a point, and a ball joint in it, moving: the Jacobian of a "
      "step; the truth as in the case before. costate closes loops in velocity, so the term enters "
      "through the derivative of J(q).", pull=True)
def closed_loop():
    rod = {"mass": 0.6, "com": [0.2, 0.05, 0], "inertia": [0.01, 0.012, 0.014, 0.001, 0, 0]}
    bodies = [{"name": "a", "joint": {"type": "continuous", "axis": [0, 0, 1]}, **rod},
              {"name": "b", "parent": "a", "joint": {"type": "spherical", "position": [0.4, 0, 0]}, **rod},
              {"name": "c", "joint": {"type": "spherical", "position": [0.5, 0.3, 0]}, **rod}]
    m = scene(bodies, {"equalities": [{"name": "loop", "type": "connect", "body_a": "b", "body_b": "c",
                                        "point_a": [0.4, 0, 0]}]}, time_step=H,
              solver={"gyroscopic": "explicit"})
    robot, random = Robot(bodies), numpy.random.default_rng(4)
    q, v = m.retract(m.initial_state()[0], 0.001 * random.normal(size=m.nv)), random.normal(size=m.nv)
    point = numpy.array([0.8, 0, 0]) - [0.5, 0.3, 0]  # of c, where b's end is at the start

    def step(x, v):
        poses, J = robot.poses(x)
        end, other = poses[1][0] + poses[1][1] @ [0.4, 0, 0], poses[2][0] + poses[2][1] @ point
        rows = point_rows(poses[1], J[1], end) - point_rows(poses[2], J[2], other)
        return bound(robot, x, v, rows, end - other)

    return [("Jacobian", *compared(m, robot, q, v, step))]


@case(GENESIS, "Genesis audit: two branches of one tree",
      "The reverse of constraints counted the degrees of freedom of common ancestors twice, once "
      "for each body of a pair.",
      "Two arms of one floating body press their spheres together without friction: the Jacobian of "
      "a step; the truth solves the contact in numpy.", pull=True)
def shared_ancestors():
    arm = {"mass": 0.5, "com": [0, 0, -0.2], "inertia": [0.01, 0.012, 0.004, 0, 0, 0],
           "shapes": [{"type": "sphere", "radius": 0.1, "position": [0, 0, -0.4], "condim": 1}]}
    hinge = {"type": "continuous", "axis": [0, 1, 0]}
    bodies = [{"name": "trunk", "joint": {"type": "free"}, "mass": 2, "com": [0.02, 0, 0.1],
               "inertia": [0.1, 0.08, 0.06, 0, 0.01, 0]},
              {"name": "l", "parent": "trunk", "joint": {**hinge, "position": [-0.1, 0, 0]}, **arm},
              {"name": "r", "parent": "trunk", "joint": {**hinge, "position": [0.1, 0.03, 0]}, **arm}]
    m, robot = scene(bodies, time_step=H), Robot(bodies)
    q = numpy.array([0, 0, 1, 0.9, 0.2, -0.3, 0.1, -0.0027, 0.0027])
    q[3:7] /= numpy.linalg.norm(q[3:7])
    v = numpy.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6, -0.8, 0.7])
    v[6:] *= 0.05  # slower than rest_speed: no bounce

    def step(x, v):
        poses, J = robot.poses(x)
        ends = [p + R @ [0, 0, -0.4] for p, R in poses[1:]]
        apart = ends[0] - ends[1]
        distance = numpy.sqrt(apart @ apart)
        n, gap = apart / distance, distance - 0.2
        point = ends[1] + n * (0.1 + gap / 2)
        row = n @ (point_rows(poses[1], J[1], point) - point_rows(poses[2], J[2], point))
        M, w = free_velocity(robot, x, v, 0, H)
        w, impulse = held(M, w, row[None], gap / H)
        assert impulse.real[0] > 0
        return robot.moved(x, H * w), w

    x, distance = robot.start(q), []
    for i in (1, 2):
        p, R = robot.poses(x)[0][i]
        distance.append((p + R @ [0, 0, -0.4]).real)
    gap = numpy.linalg.norm(distance[0] - distance[1]) - 0.2
    assert 0 <= gap < 0.01, gap
    return [("Jacobian", *compared(m, robot, q, v, step))]


@case("stack-of-tasks/pinocchio#1540", "The knee at an impact",
      "A user found the derivative of the velocities after an impact to be zero in the columns of "
      "the joints next to the ground, the knees, while differences were not.",
      "A floating trunk with a leg of hip, thigh and knee, whose foot hits the ground at 2 m/s and "
      "sticks: the Jacobian of the velocities after it; the truth is v+ = v_f - M^-1 J' (J M^-1 J' "
      "+ R)^-1 J v_f in numpy.")
def knee():
    links = [{"mass": 1.2, "com": [0, 0.01, -0.05], "inertia": [0.01, 0.012, 0.004, 0, 0, 0]},
             {"mass": 0.8, "com": [0.02, 0, -0.15], "inertia": [0.008, 0.009, 0.002, 0, 0, 0]},
             {"mass": 0.4, "com": [0, 0, -0.12], "inertia": [0.004, 0.004, 0.001, 0, 0, 0]}]
    joints = [{"type": "continuous", "axis": [1, 0, 0], "position": [0.1, 0, 0]},
              {"type": "continuous", "axis": [0, 1, 0], "position": [0, 0.08, 0]},
              {"type": "continuous", "axis": [0, 1, 0], "position": [0, 0, -0.3]}]
    bodies = [{"name": "trunk", "joint": {"type": "free"}, "mass": 5, "com": [0, 0.02, 0.05],
               "inertia": [0.1, 0.2, 0.15, 0, 0.01, 0]}]
    for i, (joint, link) in enumerate(zip(joints, links)):
        bodies.append({"name": f"l{i}", "parent": bodies[-1]["name"], "joint": joint, **link})
    q = numpy.array([0, 0, 0.6, 1, 0, 0, 0, 0.1, 0.5, -1.0])
    plain = Robot(bodies)
    poses, jacobians = plain.poses(plain.start(q))
    foot = poses[3][0] + poses[3][1] @ [0, 0, -0.28]
    v = numpy.linalg.lstsq(point_rows(poses[3], jacobians[3], foot).real, [0.2, 0.1, -2], rcond=None)[0]
    bodies[3]["shapes"] = [{"type": "sphere", "radius": 0.03, "position": [0, 0, -0.28]}]
    height = float(foot[2].real - 0.031)
    m = scene(bodies, ground={"friction": 3, "height": height}, time_step=H)

    def step(x, v):
        poses, J = plain.poses(x)
        centre = poses[3][0] + poses[3][1] @ [0, 0, -0.28]
        gap = centre[2] - 0.03 - height
        point = numpy.array([centre[0], centre[1], height + gap / 2])
        M, w = free_velocity(plain, x, v, 0, H)
        w, impulse = held(M, w, point_rows(poses[3], J[3], point))
        assert impulse[2].real > 0 and numpy.hypot(*impulse[:2].real) < 3 * impulse[2].real
        return plain.moved(x, H * w), w

    return [("velocities", m.step_jacobian(q, v, []).by_state[9:], jacobian_by_state(plain, step, q, v)[9:])]
