"""Joints, actuators, kinematics, rotations: what the state passes through on its way."""
import numpy

import costate

from .reference import Robot, derivative, dot, free_velocity, matrix_of, turn_by
from .smooth import CART, PUSHED, cart_step, chain_step
from .table import ball, case, parameter, scene

GENESIS = "Genesis-Embodied-AI/genesis-world#3087"


@case(GENESIS, "Genesis audit: replay from a checkpoint",
      "Restoring a checkpoint updated poses but not the velocities of links, so that every gradient "
      "over several steps had an error that no step size explained.",
      "Three links over 300 steps with little memory, so that most steps are replayed; the truth is "
      "Lagrange's equations of the arm.", pull=True)
def checkpoints():
    n, h, steps = 3, 0.002, 300
    bodies = [{"name": f"l{i}", "joint": {"type": "continuous", "axis": [0, -1, 0]}, "mass": 1,
               "com": [0, 0, -0.25], "inertia": [0.03, 0.03, 0.001, 0, 0, 0]} for i in range(n)]
    for i in range(1, n):
        bodies[i]["parent"], bodies[i]["joint"]["position"] = f"l{i - 1}", [0, 0, -0.5]
    start, torque = numpy.array([0.4, -0.7, 0.5]), numpy.array([1.0, -0.5, 0.3])

    def loss(torque):
        phi, w = numpy.cumsum(start) + 0j, numpy.zeros(n)
        for _ in range(steps):
            phi, w = chain_step(phi, w, torque, n, h)
        q = phi - numpy.append(0, phi[:-1])
        return dot(q - 0.2, q - 0.2)

    truth, rows = derivative(loss, torque), []
    for memory in ("1G", 4096):
        s = costate.Scene({
            "time_step": h, "steps": steps, "memory": memory,
            "models": [{"name": "r", "model": {"bodies": bodies, "actuators": [
                {"joint": b["name"], "type": "motor"} for b in bodies]}}],
            "initial": {"joints": {f"r/l{i}": float(start[i]) for i in range(n)}},
            "controls": [{"actuators": ["r/*"], "optimize": "held", "initial": 0}],
            "objective": [{"term": "configuration", "joints": ["r/*"], "target": 0.2}]})
        rows.append((f"memory {memory}", s.gradient(torque), truth))
    return rows


@case(GENESIS, "Genesis audit: a slider with an offset",
      "The reverse of forward kinematics sent the position's gradient of a slide joint into the "
      "wrong rotation; with an offset, quaternion gradients of the chain were wrong by 2 %.",
      "A ball joint, an offset slider and a hinge: the position of the last frame and its gradient "
      "by all coordinates; the truth is forward kinematics in complex numbers.", pull=True)
def offset_slider():
    body = {"mass": 1, "inertia": [0.1] * 3 + [0] * 3}
    slide = {"type": "prismatic", "axis": [0.6, 0, 0.8], "position": [0.4, -0.1, 0.2],
             "quaternion": [0.8, 0.6, 0, 0]}
    hinge = {"type": "continuous", "axis": [0, 0.6, 0.8], "position": [0, 0.3, 0]}
    bodies = [{"name": "a", "joint": {"type": "spherical", "position": [0.1, 0.2, 0.3]}, **body},
              {"name": "b", "parent": "a", "joint": slide, **body},
              {"name": "c", "parent": "b", "joint": hinge, **body,
               "sites": [{"name": "tip", "position": [0.2, 0.1, 0]}]}]
    m = scene(bodies, {"sensors": [{"name": "p", "type": "frame_position", "site": "tip"}]})
    robot, q = Robot(bodies), numpy.array([0.5, -0.3, 0.6, 0.4, 0.7, -0.8])
    at = robot.start(q)

    def tip(d):
        p, R = robot.poses(robot.moved(at, d))[0][2]
        return p + R @ [0.2, 0.1, 0]

    got = m.observe_jacobian(numpy.append(q, numpy.zeros(5)), []).by_state[:, :5]
    return [("position", got, derivative(tip, numpy.zeros(5)))]


@case(GENESIS, "Genesis audit: springs and position control",
      "The gradient that position control and joint stiffness send to the joint positions was "
      "computed and never used.",
      "A hinge with spring, damper and servo: v+ = v + h (kp (u - q) - k (q - r) - (kd + d) v)/(I + "
      "h (kd + d)), by hand with respect to state, control and gains.", pull=True)
def springs():
    I, h, kp, kd, k, r, d = 0.3, 0.01, 20.0, 1.5, 7.0, 0.2, 0.4
    joint = {"type": "continuous", "axis": [0, 0, 1], "stiffness": k, "rest": r, "damping": d}
    wheel = {"name": "w", "joint": joint, "mass": 1, "inertia": [I, I, I, 0, 0, 0]}
    servo = {"name": "s", "joint": "w", "type": "servo", "kp": kp, "kd": kd}
    m = scene([wheel], {"actuators": [servo]}, time_step=h)

    def step(z):
        q, v, u, kp, kd, k, r, d = z
        v = v + h * (kp * (u - q) - k * (q - r) - (kd + d) * v) / (I + h * (kd + d))
        return numpy.array([q + h * v, v])

    truth = derivative(step, [0.5, -0.8, 0.9, kp, kd, k, r, d])
    J = m.step_jacobian([0.5], [-0.8], [0.9], parameters=True)
    names = ["actuators/r/s/kp", "actuators/r/s/kd"]
    names += [f"joints/r/w/{number}" for number in ("stiffness", "rest", "damping")]
    return [("by the state", J.by_state, truth[:, :2]), ("by the control", J.by_control, truth[:, 2:3]),
            ("by gains", J.by_parameters[:, [parameter(m, name) for name in names]], truth[:, 3:])]


@case(GENESIS, "Genesis audit: the pose of a fixed root",
      "The list of gradient fixes also names the pose of links that are fixed to the world.",
      "A root fixed to the world, which carries a ball joint and a slider: a step and its gradient "
      "by position and rotation of the root; the truth is Newton and Euler's equations in numpy.", pull=True)
def fixed_root():
    h = 0.01
    pose = {"position": [0.1, 0, 0.5], "quaternion": [0.9, 0.3, 0.1, 0.2]}
    root = {"name": "root", "joint": {"type": "fixed", **pose}, "mass": 1, "inertia": [0.1] * 3 + [0] * 3}
    slide = {"type": "prismatic", "axis": [0, 1, 0], "position": [0, 0, -0.3]}
    moving = [{"name": "a", "parent": "root", "joint": {"type": "spherical", "position": [0.2, 0, 0]}, "mass": 1,
               "com": [0.1, 0.2, -0.1], "inertia": [0.1, 0.12, 0.08, 0.01, 0, 0.005]},
              {"name": "b", "parent": "a", "joint": slide, "mass": 0.7, "com": [0, 0.1, 0.1],
               "inertia": [0.05, 0.06, 0.04, 0, 0, 0], "sites": [{"name": "s"}]}]
    m = scene([root, *moving], {"sensors": [{"name": "p", "type": "frame_position", "site": "s"}]}, time_step=h)
    # in the reference the root has a free joint that the step leaves alone
    robot = Robot([{**root, "joint": {"type": "free"}}, *moving])
    q, v = numpy.array([0.7, 0.2, -0.4, 0.5, 0.3]), numpy.array([0.5, -1, 0.8, 0.4])
    at = robot.start(numpy.concatenate([pose["position"], pose["quaternion"], q]))

    def step(d):
        x = robot.moved(at, numpy.append(d, numpy.zeros(4)))
        M, c = robot.dynamics(x, numpy.append(numpy.zeros(6), v))
        p, _ = robot.poses(x)[0][2]
        return numpy.append(v + h * numpy.linalg.solve(M[6:, 6:], -c[6:]), p)

    truth = derivative(step, numpy.zeros(6))
    names = [f"joints/r/root/{kind}[{i}]" for kind in ("placement", "rotation") for i in range(3)]
    columns = [parameter(m, name) for name in names]
    by_step = m.step_jacobian(q, v, [], parameters=True).by_parameters[4:, columns]
    seen = m.observe_jacobian(numpy.append(q, v), [], parameters=True).by_parameters[:, columns]
    return [("velocity", by_step, truth[:4]), ("position of a site", seen, truth[4:])]


@case("Genesis-Embodied-AI/genesis-world#3089", "Different controls for different environments",
      "Controls set for two groups of environments in the same step replaced each other, so that "
      "one group received no gradient; and targets that change from step to step were replayed with "
      "the last one.",
      "Three cart-poles in one batch, with different forces in every step; the truth is the "
      "cart-pole by hand.", pull=True)
def batch():
    h, n, steps = 0.01, 3, 15
    m, random = scene(CART, PUSHED, time_step=h), numpy.random.default_rng(2)
    starts, forces = random.normal(size=(n, 4)), 5 * random.normal(size=(steps, n, 1))
    bars = numpy.zeros((steps, n, 4))
    bars[-1] = [1.0, -2.0, 0.5, 0.25]
    with costate.Batch(m, n, threads=1) as b:
        states, _ = b.rollout(starts, forces)
        got = b.backward(numpy.concatenate([starts[None], states[:-1]]), forces, bars).u[:, :, 0]

    def final(f, i):
        s = starts[i] + 0j
        for force in f:
            s = cart_step(s, force, h)
        return dot(bars[-1, i], s)

    truth = numpy.stack([derivative(lambda f, i=i: final(f, i), forces[:, i, 0]) for i in range(n)], 1)
    return [("by all forces", got, truth)]


@case("Genesis-Embodied-AI/genesis-world#2150", "Forward kinematics of an arm",
      "A user wanted to move an arm to a pose by the gradient of forward kinematics, and got no "
      "usable gradient of the link's pose by the joint positions.",
      "Position and orientation of the last of seven links, gradients with respect to all joints; "
      "the truth is forward kinematics in complex numbers.")
def forward_kinematics():
    axes = [[0, 0, 1], [0, 1, 0], [0.6, 0, 0.8], [1, 0, 0], [0, 0.8, 0.6], [0, 1, 0], [0, 0, 1]]
    bodies = [{"name": f"l{i}", "joint": {"type": "continuous", "axis": a, "position": [0.05, 0.02 * i, 0.2],
                                          "quaternion": [0.9, 0.1, -0.2, 0.3]},
               "mass": 1, "inertia": [0.1] * 3 + [0] * 3, **({"parent": f"l{i - 1}"} if i else {})}
              for i, a in enumerate(axes)]
    m, robot, q = scene(bodies), Robot(bodies), numpy.linspace(-1.2, 1.4, 7)
    at, bar = robot.start(q), numpy.array([0.3, -0.5, 0.8, 0.6, 0.1, -0.4])
    R0 = numpy.real(robot.poses(at)[0][6][1])

    def pose(d):
        p, R = robot.poses(robot.moved(at, d))[0][6]
        E = R0.T @ R  # rotation in axes of the frame, to first order
        return numpy.array([*p, E[2, 1], E[0, 2], E[1, 0]])

    with costate.Batch(m, 1, threads=1) as b:
        got = b.poses_vjp(m.state(q, 0 * q)[None], b.frames(["r/l6"]), bar[None, None], wanted=("x",)).x[0, :7]
    return [("pose", got, bar @ derivative(pose, numpy.zeros(7)))]


@case("google-deepmind/mujoco_warp#1423", "Damping that is implicit",
      "While this pull request was in work, the derivative by controls was exactly zero with the "
      "implicit integrator, and that of implicitfast lacked the factor of the implicit damping; "
      "both were found by differences and mended.",
      "A damped arm of two links with velocity servos, whose damping is implicit: one step and its "
      "Jacobian; the truth solves (M + h B) a = τ - c - B v in numpy.", pull=True)
def implicit_damping():
    h, kd = 0.01, [3.0, 2.0]
    bodies = [{"name": "a", "joint": {"type": "continuous", "axis": [0, 1, 0], "damping": 0.8}, "mass": 1,
               "com": [0.1, 0, -0.3], "inertia": [0.04, 0.05, 0.01, 0, 0, 0]},
              {"name": "b", "parent": "a", "joint": {"type": "continuous", "axis": [1, 0, 0], "damping": 0.5,
                                                     "position": [0, 0, -0.6]}, "mass": 0.8, "com": [0, 0.1, -0.3],
               "inertia": [0.04, 0.05, 0.01, 0, 0, 0]}]
    servos = [{"joint": b["name"], "type": "velocity", "kd": k} for b, k in zip(bodies, kd)]
    m = scene(bodies, {"actuators": servos}, time_step=h)
    damped = [{**b, "joint": {**b["joint"], "damping": b["joint"]["damping"] + k}} for b, k in zip(bodies, kd)]
    robot, q, v, u = Robot(damped), numpy.array([0.6, -0.9]), numpy.array([1.5, -2.0]), numpy.array([0.7, 1.1])

    def step(z):
        w = free_velocity(robot, z[:2], z[2:4], kd * z[4:], h)[1]
        return numpy.concatenate([z[:2] + h * w, w])

    truth, J = derivative(step, numpy.concatenate([q, v, u])), m.step_jacobian(q, v, u)
    return [("by the state", J.by_state, truth[:, :4]), ("by the controls", J.by_control, truth[:, 4:])]


@case("google-deepmind/mujoco#3606", "Limits of the right control",
      "The analytic derivatives of actuators read the limits of another actuator's control if an "
      "actuator before had several controls: a clamped control was then differentiated as if it "
      "were free.",
      "Three motors of which the second is beyond its limit: its column is zero, the gradient by "
      "its limit is h gear/I, and the others are not touched.", pull=True)
def clamped_controls():
    h, I, gear = 0.01, 0.5, [2.0, 3.0, -1.5]
    hinge = {"type": "continuous", "axis": [0, 0, 1]}
    bodies = [{"name": n, "joint": hinge, "mass": 1, "inertia": [I, I, I, 0, 0, 0]} for n in "abc"]
    limits = [[-2, 2], [-0.5, 0.5], [-3, 3]]
    m = scene(bodies, {"actuators": [{"joint": b["name"], "type": "motor", "gear": g, "control_limits": r}
                                     for b, g, r in zip(bodies, gear, limits)]}, time_step=h)
    J = m.step_jacobian([0, 0, 0], [0.1, 0.2, 0.3], [1.0, 0.8, 1.0], parameters=True)
    speeds = h / I * numpy.diag([gear[0], 0, gear[2]])
    limit = J.by_parameters[3:, parameter(m, "actuators/r/b/control_limits[1]")]
    return [("by the controls", J.by_control, numpy.vstack([h * speeds, speeds])),
            ("by the limit", limit, numpy.array([0, h / I * gear[1], 0]))]


@case("RobotLocomotion/drake#10654", "A quaternion of length two",
      "The Jacobian of a point's position by the numbers of a quaternion differed from that of "
      "automatic differentiation if the quaternion was not normalized.",
      "A free body with a quaternion of length two: the pose of a frame, by the seven numbers of q; "
      "the truth is the rotation of q/|q| in complex numbers.")
def long_quaternion():
    body = {**ball(), "sites": [{"name": "s", "position": [0.3, -0.2, 0.5]}]}
    m = scene([body])
    r = numpy.array([0.5, 0.1, -0.7, 0.5])
    q, bar = numpy.append([0.4, 0.5, 0.6], 2 * r / numpy.linalg.norm(r)), numpy.array([0.7, -1.1, 0.4])

    def value(q):
        return dot(bar, q[:3] + matrix_of(q[3:]) @ [0.3, -0.2, 0.5])

    with costate.Batch(m, 1, threads=1, ambient=True) as b:
        x, bars = m.state(q, numpy.zeros(6))[None], numpy.append(bar, numpy.zeros(4))[None, None]
        got = b.poses_vjp(x, b.frames(["r/s"]), bars, wanted=("x",)).x[0, :7]
    return [("by q", got, derivative(value, q))]


@case("RobotLocomotion/drake#20405", "Normalization is part of the function",
      "A normalization divided by a norm without derivatives, and so lost a part of the gradient.",
      "A step of a turning body from a quaternion of length 1.7: where a point is after it, by all "
      "numbers of q and v; the truth is the step in complex numbers.")
def normalization():
    h, arm = 0.05, numpy.array([0.3, -0.2, 0.5])
    m = scene([{**ball(), "sites": [{"name": "s", "position": list(arm)}]}], gravity=[0, 0, 0], time_step=h)
    r, v = numpy.array([0.3, -0.5, 0.6, 0.2]), numpy.array([0.5, 0.2, -0.1, 3, -2, 4.0])
    q, bar = numpy.append([0.4, 0.5, 0.6], 1.7 * r / numpy.linalg.norm(r)), numpy.array([0.7, -1.1, 0.4])

    def value(z):
        return dot(bar, z[:3] + h * z[7:10] + matrix_of(z[3:7]) @ turn_by(h * z[10:]) @ arm)

    with costate.Batch(m, 1, threads=1, ambient=True) as b:
        x = m.state(q, v)[None]
        after, _ = b.rollout(x, numpy.zeros((1, 1, 0)))
        bars = numpy.append(bar, numpy.zeros(4))[None, None]
        bars = b.poses_vjp(after[0], b.frames(["r/s"]), bars, wanted=("x",)).x
        got = b.backward(x[None], numpy.zeros((1, 1, 0)), bars[None], wanted=("x",)).x[0]
    return [("by q and v", got, derivative(value, numpy.append(q, v)))]


@case("stack-of-tasks/pinocchio#2050", "The logarithm of no rotation",
      "With CasADi, the gradient of |log q|² was NaN at the identity, although it is zero there.",
      "The squared angle between a body and a target after a step, by the angular velocity: at rest "
      "on the target, at 1e-9 rad/s and at 2 rad/s. The gradient is 2 h² ω, because the axis does "
      "not change.")
def logarithm():
    h, rows = 0.1, []
    for speed in (0.0, 1e-9, 2.0):
        w = speed * numpy.array([0.6, 0, 0.8])
        s = costate.Scene({
            "time_step": h, "steps": 1, "gravity": [0, 0, 0],
            "models": [{"name": "r", "model": {"bodies": [ball()]}}],
            "initial": {"velocities": {"r/ball": {"angular": list(w)}}, "optimize": {"velocities": ["r/*"]}},
            "objective": [{"term": "orientation", "body": "r/ball", "quaternion": [1, 0, 0, 0]}]})
        scale = speed or 1
        rows.append((f"{speed} rad/s", s.gradient(s.start) / scale, numpy.append([0, 0, 0], 2 * h**2 * w) / scale))
    return rows


@case("JuliaGeometry/Rotations.jl#139", "The axis of no rotation",
      "The conversion of a quaternion to an axis and an angle has NaN derivatives at the identity.",
      "A ball joint with a greatest angle, at exactly zero and close to the limit: a step's "
      "Jacobian is that of a free joint at zero, and at the limit the velocity along the axis "
      "follows the gap by -1/h.")
def axis_of_nothing():
    h, limit, I = 0.01, 1.0, 0.02
    body = {"name": "b", "joint": {"type": "spherical", "greatest_angle": limit}, "mass": 1,
            "inertia": [I, I, I, 0, 0, 0]}
    m = scene([body], gravity=[0, 0, 0], time_step=h)
    one, zero = numpy.eye(3), numpy.zeros((3, 3))
    got = m.step_jacobian([1, 0, 0, 0], [0, 0, 0], []).by_state
    rows = [("at zero", got, numpy.block([[one, h * one], [zero, one]]))]
    # at the limit, about z: v+ = (gap/h + R' v)/(1 + R'), R' = compliance I; gap = limit - angle
    angle, R = limit - 0.0002, 1e-6 * I
    q = [numpy.cos(angle / 2), 0, 0, numpy.sin(angle / 2)]
    J = m.step_jacobian(q, [0, 0, 0.04], [])
    rows.append(("at the limit", J.by_state[5, [2, 5]], numpy.array([-1 / h, R]) / (1 + R)))
    return rows
