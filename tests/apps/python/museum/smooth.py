"""Motion without contact: free bodies, pendulums, arms."""
import json
from pathlib import Path

import numpy

import costate

from .reference import GRAVITY, Robot, derivative, dot, free_velocity, inertia_of, turn
from .table import ball, case, parameter, rollout_gradient, scene

LIBRARY = Path(__file__).resolve().parents[4] / "scenes/library"
G = -GRAVITY[2]


@case("google/brax#387", "A ball in free fall",
      "The gradient of the final position of a free-falling ball by its initial position was NaN "
      "with the generalized pipeline; two other pipelines gave the right 1.",
      "The Jacobian of 100 steps of a free ball; position and rotation after n steps grow by n h "
      "times the velocity.")
def free_fall():
    m, n, h = scene([ball()], time_step=0.005), 100, 0.005
    got = costate.transition(m, m.state(*m.initial_state()), [], n).A
    one, zero = numpy.eye(6), numpy.zeros((6, 6))
    return [("Jacobian", got, numpy.block([[one, n * h * one], [zero, one]]))]


@case("google/brax#412", "A box on two sliders, pushed by a linear policy",
      "The gradient of a squared position after one step by the two weights of a linear policy was "
      "NaN with the generalized pipeline.",
      "The same sliders and policy; x+ = x + h v + h² f/m gives the gradient by hand.")
def policy_on_sliders():
    h, mass, w, x, v = 0.001, 1.3, numpy.array([0.7, -0.4]), 10.0, 0.3
    box = {"name": "box", "mass": mass, "inertia": [0.1, 0.1, 0.1, 0, 0, 0],
           "joints": [{"name": "x", "type": "prismatic", "axis": [1, 0, 0]},
                      {"name": "z", "type": "prismatic", "axis": [0, 0, 1]}]}
    m = scene([box], {"actuators": [{"joint": "x", "type": "motor"}]}, time_step=h)
    inputs, f = numpy.array([x, v]), w @ [x, v]
    x_next = m.step([x, 0.5], [v, 0], [f])[0][0]
    u_bar = m.step_vjp([x, 0.5], [v, 0], [f], [2 * x_next, 0], [0, 0]).u
    return [("by the weights", u_bar * inputs, 2 * (x + h * v + h**2 * f / mass) * h**2 / mass * inputs)]


def chain_step(phi, w, torque, n, h, mass=1.0, l=0.5, inertia=0.03):
    """A planar arm of n links in absolute angles from the vertical, hanging down: Lagrange's equations by hand."""
    i = numpy.arange(n)
    c = mass * l**2 * (n - 1 - numpy.maximum.outer(i, i) + 0.5) + 0j
    c[i, i] = mass * l**2 * (n - 1 - i + 0.25)
    difference = phi[:, None] - phi[None, :]
    M = c * numpy.cos(difference)
    M[i, i] += inertia
    pull = torque - numpy.append(torque[1:], 0)
    force = pull - (c * numpy.sin(difference)) @ w**2 - mass * G * l * (n - 1 - i + 0.5) * numpy.sin(phi)
    w = w + h * numpy.linalg.solve(M, force)
    return phi + h * w, w


@case("google/brax#9", "An arm of four links",
      "Gradients by the torques of a planar arm were fine with two and three links and NaN with "
      "four.",
      "Four and seven links over 20 steps, the gradient of the height of the tip by all torques; "
      "the truth is Lagrange's equations of the arm in absolute angles.")
def links():
    rows = []
    for n in (4, 7):
        h, steps = 0.002, 20
        bodies = [{"name": f"l{i}", "joint": {"type": "continuous", "axis": [0, -1, 0]}, "mass": 1,
                   "com": [0, 0, -0.25], "inertia": [0.03, 0.03, 0.001, 0, 0, 0]} for i in range(n)]
        for i in range(1, n):
            bodies[i]["parent"], bodies[i]["joint"]["position"] = f"l{i - 1}", [0, 0, -0.5]
        m = scene(bodies, {"actuators": [{"joint": b["name"], "type": "motor"} for b in bodies]}, time_step=h)
        random = numpy.random.default_rng(n)
        start, controls = random.normal(size=n), 3 * random.normal(size=(steps, n))

        def height(flat, start=start, n=n):
            phi, w = numpy.cumsum(start) + 0j, numpy.zeros(n)
            for torque in flat.reshape(steps, n):
                phi, w = chain_step(phi, w, torque, n, h)
            return -0.5 * numpy.sum(numpy.cos(phi))

        # d height/d q_j: of all links from j on
        def bar(x, n=n):
            by_angle = 0.5 * numpy.sin(numpy.cumsum(x[:n]))
            return numpy.append(numpy.cumsum(by_angle[::-1])[::-1], numpy.zeros(n))

        x = m.state(start, numpy.zeros(n))
        got = rollout_gradient(m, x, controls, bar)[1].ravel()
        rows.append((f"{n} links", got, derivative(height, controls.ravel())))
    return rows


@case("google-deepmind/mujoco#1377", "A pendulum without contact",
      "In MJX the gradient of a rollout of a plain pendulum was NaN.",
      "The angle and speed after 200 steps by those at the start; the truth is the product of 2 x 2 "
      "matrices [[1 - h² k cos θ, h], [-h k cos θ, 1]] along the swing.")
def pendulum():
    h, mass, l, I, n = 0.002, 0.8, 0.6, 0.02, 200
    rod = {"name": "rod", "joint": {"type": "continuous", "axis": [0, -1, 0]}, "mass": mass, "com": [0, 0, -l],
           "inertia": [I, I, 0.001, 0, 0, 0]}
    m, k = scene([rod], time_step=h), mass * G * l / (I + mass * l**2)
    angle, speed, truth = 0.9, -0.4, numpy.eye(2)
    got = costate.transition(m, [angle, speed], [], n).A
    for _ in range(n):
        s = h * k * numpy.cos(angle)
        truth = numpy.array([[1 - h * s, h], [-s, 1]]) @ truth
        speed -= h * k * numpy.sin(angle)
        angle += h * speed
    return [("Jacobian", got, truth)]


@case("google-deepmind/mujoco#1349", "A branch without mass",
      "The gradient of an MJX step became NaN during a descent. The reporter traced it to the "
      "`where` that computes the centre of mass of a subtree.",
      "A pendulum that carries a frame without mass; the gradient of the centre of mass and of a "
      "step, by hand.")
def massless_leaf():
    h, l, angle, speed = 0.01, 0.7, 0.5, 0.2
    bodies = [{"name": "rod", "joint": {"type": "continuous", "axis": [0, -1, 0]}, "mass": 1, "com": [0, 0, -l],
               "inertia": [0.001, 0.001, 0.001, 0, 0, 0]},
              {"name": "frame", "parent": "rod", "joint": {"type": "fixed", "position": [0, 0, -l]}, "mass": 0}]
    m = scene(bodies, {"sensors": [{"name": "c", "type": "centre_of_mass"}]}, time_step=h)
    k = h * G * l / (0.001 + l**2) * numpy.cos(angle)
    J = m.step_jacobian([angle], [speed], []).by_state
    seen = m.observe_jacobian([angle, speed], []).by_state
    return [("step", J, numpy.array([[1 - h * k, h], [-k, 1]])),
            ("centre of mass", seen, numpy.array([[l * numpy.cos(angle), 0], [0, 0], [l * numpy.sin(angle), 0]]))]


CART = [{"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "mass": 1.0,
         "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        {"name": "pole", "parent": "cart", "joint": {"type": "continuous", "axis": [0, 1, 0]}, "mass": 0.1,
         "com": [0, 0, 0.5], "inertia": [0.01, 0.01, 0.001, 0, 0, 0]}]
PUSHED = {"actuators": [{"joint": "cart", "type": "motor"}]}


def cart_step(s, f, h, pole=0.1, cart=1.0, l=0.5, I=0.01):
    """The cart-pole by hand; s = (x, angle from upright, their rates)."""
    x, angle, v, w = s
    a, b, d = cart + pole, pole * l * numpy.cos(angle), I + pole * l**2
    p, r = f + pole * l * w**2 * numpy.sin(angle), pole * G * l * numpy.sin(angle)
    D = a * d - b * b
    v, w = v + h * (d * p - b * r) / D, w + h * (a * r - b * p) / D
    return numpy.array([x + h * v, angle + h * w, v, w])


@case("google-deepmind/mujoco_playground#239", "A cart-pole at an ordinary state",
      "The gradient of the cost of a cart-pole by a control sequence was NaN in single precision, "
      "without any collision; in double precision it was finite.",
      "120 controls, final cost x² + 1 - cos θ; the truth is the cart-pole by hand.")
def cart_pole():
    h, start = 0.01, numpy.array([0.1, 2.5, -0.2, 0.7])
    m, f = scene(CART, PUSHED, time_step=h), 4 * numpy.sin(numpy.arange(120) / 9)

    def cost(f):
        s = start + 0j
        for force in f:
            s = cart_step(s, force, h)
        return s[0]**2 + 1 - numpy.cos(s[1])

    got = rollout_gradient(m, start, f, lambda x: [2 * x[0], numpy.sin(x[1]), 0, 0])[1][:, 0]
    return [("by the controls", got, derivative(cost, f))]


@case("Genesis-Embodied-AI/genesis-world#2069", "Gradients with respect to control forces",
      "Gradients by the initial pose arrived, but those by control forces on a cart-pole did not: "
      "the graph seemed to be broken.",
      "The gradient of a scene's loss by a force at each of ten steps; the truth is the cart-pole "
      "by hand.")
def control_forces():
    h, start, f = 0.01, numpy.array([0.0, 0.4, 0, 0]), 5 * numpy.cos(numpy.arange(10.0))
    s = costate.Scene({
        "time_step": h, "steps": 10, "models": [{"name": "r", "model": {"bodies": CART, **PUSHED}}],
        "initial": {"joints": {"r/pole": 0.4}},
        "controls": [{"actuators": ["r/cart"], "optimize": "per_step", "initial": 0}],
        "objective": [{"term": "configuration", "joints": ["r/pole"], "target": 0.1},
                      {"term": "effort", "actuators": ["r/cart"], "weight": 0.3, "at": "running"}]})

    def loss(f):
        x, cost = start + 0j, 0
        for force in f:
            cost, x = cost + 0.3 * h * force**2, cart_step(x, force, h)
        return cost + (x[1] - 0.1)**2

    return [("by the forces", s.gradient(f), derivative(loss, f))]


TREE = [{"name": "a", "joint": {"type": "free"}, "mass": 2, "com": [0.1, 0.02, -0.03],
         "inertia": [0.2, 0.3, 0.25, 0.01, -0.02, 0.03]},
        {"name": "b", "parent": "a", "joint": {"type": "spherical", "position": [0.3, 0.1, 0],
                                               "quaternion": [0.9, 0.1, 0.3, -0.2]},
         "mass": 1, "com": [0.2, 0, 0.1], "inertia": [0.1, 0.12, 0.08, 0.01, 0, 0.005]},
        {"name": "c", "parent": "b", "joint": {"type": "prismatic", "axis": [0, 0.6, 0.8],
                                               "position": [0.3, 0.1, 0.2]},
         "mass": 1.5, "com": [0.2, 0.3, 0.1], "inertia": [0.1, 0.12, 0.08, 0.01, 0, 0.005]},
        {"name": "d", "parent": "c", "joint": {"type": "continuous", "axis": [0.6, 0, 0.8], "armature": 0.05,
                                               "damping": 0.3, "position": [0.1, 0.1, 0.2]},
         "mass": 0.5, "com": [0.1, 0.3, 0.1], "inertia": [0.1, 0.12, 0.08, 0.01, 0, 0.005]}]


def accelerations(robot, q, v, tau):
    """Derivatives of the accelerations by (tangent of q, v, tau)."""
    at, n = robot.start(q), robot.nv

    def a(z):
        M, c = robot.dynamics(robot.moved(at, z[:n]), v + z[n:2 * n])
        return numpy.linalg.solve(M, tau + z[2 * n:] - c)

    return derivative(a, numpy.zeros(3 * n))


@case("stack-of-tasks/pinocchio#607", "The same derivative, asked for five times",
      "computeABADerivatives, called again with the same q, v and τ, returned larger and larger "
      "matrices: memory was not cleared between calls.",
      "Derivatives of the accelerations of a tree with all kinds of joints, five times; the truth "
      "is Newton and Euler's equations in numpy, with complex steps.")
def called_again():
    m, robot, random = scene(TREE), Robot(TREE), numpy.random.default_rng(3)
    q, v, tau = random.normal(size=m.nq), random.normal(size=m.nv), random.normal(size=m.nv)
    truth = accelerations(robot, q, v, tau)
    return [(f"call {k}", numpy.hstack(m.forward_dynamics_derivatives(q, v, tau)), truth) for k in range(5)]


@case("stack-of-tasks/pinocchio#770", "A ball joint that is not the root",
      "Derivatives of joint velocities and accelerations were wrong for joints with several degrees "
      "of freedom away from the root: a term S x S was taken as zero.",
      "A chain of three ball joints, derivatives of the accelerations; the truth as in the case "
      "before.", pull=True)
def ball_joints():
    bodies = [{**TREE[1], "name": f"b{i}", **({"parent": f"b{i - 1}"} if i else {})} for i in range(3)]
    if "parent" in bodies[0]:
        del bodies[0]["parent"]
    m, robot, random = scene(bodies), Robot(bodies), numpy.random.default_rng(5)
    q, v, tau = random.normal(size=m.nq), random.normal(size=m.nv), random.normal(size=m.nv)
    return [("accelerations", numpy.hstack(m.forward_dynamics_derivatives(q, v, tau)),
             accelerations(robot, q, v, tau))]


@case("stack-of-tasks/pinocchio#1473", "Momentum about the centre of mass",
      "The derivative of the centroidal momentum differed from that of automatic differentiation "
      "and was not zero for a displacement of the base; a fix followed.",
      "The derivative of a floating tree's angular momentum about its centre of mass; the truth is "
      "the sum over the bodies in numpy, with complex steps.")
def centroidal_momentum():
    m = scene(TREE, {"sensors": [{"name": "L", "type": "angular_momentum"}]})
    robot, random = Robot(TREE), numpy.random.default_rng(7)
    q, v = random.normal(size=m.nq), random.normal(size=m.nv)
    at, n = robot.start(q), m.nv

    def momentum(z):
        poses, jacobians = robot.poses(robot.moved(at, z[:n]))
        w, parts = v + z[n:], []
        for b, (p, R), J in zip(TREE, poses, jacobians):
            arm, turning = R @ numpy.array(b["com"]), J[3:] @ w
            spin = R @ inertia_of(b) @ R.T @ turning
            parts.append((b["mass"], p + arm, J[:3] @ w + numpy.cross(turning, arm), spin))
        total = sum(mass for mass, *_ in parts)
        centre = sum(mass * p for mass, p, *_ in parts) / total
        return sum(mass * numpy.cross(p - centre, u) + spin for mass, p, u, spin in parts)

    truth = derivative(momentum, numpy.zeros(2 * n))
    got = m.observe_jacobian(numpy.concatenate([q, v]), []).by_state
    return [("Jacobian", got, truth), ("by the base's position", got[:, :3], numpy.zeros((3, 3)))]


@case("NVIDIA/warp#471", "Forces on a robot arm",
      "Gradients of a position loss by joint forces of an arm exploded: about 1e12 after one frame "
      "and 1e32 after two.",
      "A published seven-joint arm (the included arm_7) over 12 steps, the gradient of all forces; "
      "the truth is Newton and Euler's equations in numpy, with complex steps.")
def seven_joints():
    file = json.loads((LIBRARY / "models/arm_7.json").read_text())
    bodies, plain, h, steps = [], [], 0.001, 12
    for b in file["bodies"]:
        joint = {k: v for k, v in b["joint"].items() if k not in ("limits", "rpy_deg")}
        roll, pitch, yaw = numpy.radians(b["joint"].get("rpy_deg", [0, 0, 0]))
        R = turn([0, 0, 1], yaw) @ turn([0, 1, 0], pitch) @ turn([1, 0, 0], roll)
        w = numpy.sqrt(max(0, 1 + numpy.trace(R))) / 2
        if w < 1e-6:  # half a turn: R = 2 u u' - 1
            u = numpy.sqrt(numpy.maximum(0, (numpy.diag(R) + 1) / 2))
            k = int(numpy.argmax(u))
            u = (R[:, k] + numpy.eye(3)[k]) / (2 * u[k])
            joint["quaternion"] = [0.0, *u]
        else:
            u = numpy.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w)
            joint["quaternion"] = [w, *u]
        bodies.append({k: b[k] for k in ("name", "parent", "mass", "com", "inertia") if k in b} | {"joint": joint})
    m = scene(bodies, {"actuators": [{"joint": b["joint"]["name"], "type": "motor"} for b in bodies]}, time_step=h)
    robot, random = Robot(bodies), numpy.random.default_rng(11)
    q, v, u = random.normal(size=7), random.normal(size=7), 5 * random.normal(size=(steps, 7))
    target, held = numpy.linspace(0, 1, 7), [0, 5, 11]  # forces of these steps are varied

    def loss(flat):
        controls = u + 0j
        controls[held] = flat.reshape(3, 7)
        x, w = robot.start(q), v
        for tau in controls:
            w = free_velocity(robot, x, w, tau, h)[1]
            x = robot.moved(x, h * w)
        return dot(numpy.array(x) - target, numpy.array(x) - target)

    got = rollout_gradient(m, m.state(q, v), u, lambda x: numpy.append(2 * (x[:7] - target), numpy.zeros(7)))[1]
    return [("by the forces", got[held].ravel(), derivative(loss, u[held].ravel()))]


@case("NVIDIA/warp#260", "A gradient by mass that depends on earlier calls",
      "The gradient of an inverted pendulum's coordinates by a body's mass was too large and "
      "changed from call to call, although the initial state was the same; a new integrator object "
      "changed it, too.",
      "The pole's angle after 100 steps by the mass of the pole, three times; the truth is the "
      "cart-pole by hand.")
def mass_again():
    h, start, n = 0.01, numpy.array([0, 0.3, 0, 0.1]), 100
    m = scene(CART, PUSHED, time_step=h)

    def angle(mass):
        s = start + 0j
        for _ in range(n):
            s = cart_step(s, 0, h, pole=mass[0])
        return s[1]

    truth = derivative(angle, [0.1])
    i, rows = parameter(m, "bodies/r/pole/mass"), []
    for k in range(3):
        rows.append((f"call {k}", rollout_gradient(m, start, numpy.zeros(n), [0, 1, 0, 0])[2][[i]], truth))
    return rows


@case("isaac-sim/IsaacSim#839", "Friction in 23 joints",
      "In Isaac Sim 6.1.0 joint friction is -f tanh(100 v). For a robot with 23 joints and no "
      "contact the backward pass could become NaN while the forward pass stayed finite.",
      "A chain of 23 joints with dry friction in each, 20 steps, the gradient by friction and "
      "start; friction opposes the motion with constant force, the truth is Newton and Euler's "
      "equations in numpy.")
def dry_joints():
    n, h, steps = 23, 0.001, 20
    axes = numpy.eye(3)
    bodies = [{"name": f"b{i}",
               "joint": {"type": "continuous", "axis": list(axes[i % 3]), "dry_friction": 0.05 + 0.01 * i,
                         "armature": 0.2, **({"position": [0, 0, -0.1]} if i else {})},
               "mass": 0.3, "com": [0.01, 0, -0.05], "inertia": [0.01, 0.012, 0.008, 0, 0, 0],
               **({"parent": f"b{i - 1}"} if i else {})} for i in range(n)]
    m, robot, random = scene(bodies, time_step=h), Robot(bodies), numpy.random.default_rng(23)
    q, v = 0.3 * random.normal(size=n), numpy.where(numpy.arange(n) % 2, 3.0, -3.0) + 0.3 * random.normal(size=n)
    friction = numpy.array([b["joint"]["dry_friction"] for b in bodies])
    chosen, weights = [0, 7, 22], random.normal(size=2 * n)

    def final(z):
        x, w, f = robot.moved(robot.start(q), numpy.zeros(n)), v + 0j, friction + 0j
        f[chosen], w[chosen] = f[chosen] + z[:3], w[chosen] + z[3:]
        for _ in range(steps):
            w = free_velocity(robot, x, w, -f * numpy.sign(w.real), h)[1]
            x = robot.moved(x, h * w)
        return dot(weights, numpy.concatenate([x, w]))

    x_bar, _, theta_bar = rollout_gradient(m, m.state(q, v), numpy.zeros((steps, 0)), weights)
    names = [parameter(m, f"joints/r/b{i}/dry_friction") for i in chosen]
    truth = derivative(final, numpy.zeros(6))
    return [("by friction", theta_bar[names], truth[:3]), ("by velocities", x_bar[n:][chosen], truth[3:])]
