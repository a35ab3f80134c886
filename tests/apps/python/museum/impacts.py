"""Impacts, elastic and inelastic."""
import numpy

import costate

from .reference import derivative
from .smooth import G
from .table import ball, case, parameter, rollout_gradient, scene

COMPLIANCE = 1e-6
SLIDER = {"type": "prismatic", "axis": [1, 0, 0]}


def falling(z, v, h, n, restitution=0.0):
    """n steps of a falling point of height z and mass 1 whose impacts are located in their step: it falls until t,
    where the gap closes, and flies on with the velocity after the impact (solvers/rows/bias.hpp)."""
    for _ in range(n):
        free, t, bias = v - h * G, 0, z / h
        if v.real < -0.05 and (z + h * v).real < 0:
            t = -z / v
            bias = restitution * (v - t * G) + (h - t) * G
        impulse = -(free + bias) / (1 + COMPLIANCE) if (free + bias).real < 0 else 0
        v = free + impulse
        z = z + h * v - t * impulse
    return numpy.array([z, v])


def sprung(z, v, k, d, h, n):
    """n steps of a falling point of mass 1 on a spring k with damper d, taken implicitly: f = -k z - d v at the
    end of the step, or none (solvers/rows/compliance.hpp)."""
    for _ in range(n):
        free, pressed = v - h * G, z.real < 0
        # h k (z + h v+) + d v+ = -impulse/h in contact; an open gap is not compressed before it closes
        bias = k * z / (h * k + d) if pressed else z / h
        impulse = -(free + bias) / (1 + 1 / (h * (h * k + d)))
        v = free + (impulse if impulse.real > 0 else 0)
        z = z + h * v
    return numpy.array([z, v])


@case("google-deepmind/mujoco#2237", "A capsule strikes a ball",
      "The gradient of a ball's trajectory by the impulse on a capsule that hits it was NaN in MJX; "
      "other shapes were tried, too.",
      "A push in the first step, an impact, 60 steps in all; cost: the sum of the ball's x² and of "
      "the squared force. The truth is the two bodies on a line, with an inelastic impact.")
def struck():
    h, steps, masses, force = 0.01, 60, (1.0, 0.6), 180.0
    capsule = {"name": "a", "joint": {"type": "free"}, "mass": masses[0], "inertia": [0.02, 0.02, 0.01, 0, 0, 0],
               "shapes": [{"type": "capsule", "radius": 0.1, "half_length": 0.2}]}
    m = scene([capsule, ball("b", 0.15, masses[1])], gravity=[0, 0, 0], time_step=h)
    q = numpy.array([-1.0, 0, 0, 1, 0, 0, 0, -0.4, 0, 0, 1, 0, 0, 0])
    x, states, push = m.state(q, numpy.zeros(12)), [], numpy.zeros((2, 6))
    push[0, 0] = force
    for k in range(steps):
        states.append(x)
        x = m.observe(x, [], push if k == 0 else None)[0]
    bar = numpy.zeros(24)
    for k in range(steps - 1, -1, -1):
        after = states[k + 1] if k + 1 < steps else x
        bar[6] += 2 * after[7]
        g = m.observe_vjp(states[k], [], bar, wrenches=push if k == 0 else None, wanted=("x", "wrenches"))
        bar = g.x

    def cost(force):
        a, b, u, w, total = -1.0, -0.4, 0, 0, 1e-5 * force[0]**2
        for k in range(steps):
            if k == 0:
                u = u + h * force[0] / masses[0]
            gap = b - a - 0.25
            # before the first step the capsule rests, so that the gap counts; later an impact stops it at once
            bounces = k > 0 and (w - u).real < -0.05 and (gap + h * (w - u)).real < 0
            row = w - u + (0 if bounces else gap / h)
            if row.real < 0:
                impulse = -row / (1 / masses[0] + 1 / masses[1] + COMPLIANCE)
                u, w = u - impulse / masses[0], w + impulse / masses[1]
            a, b = a + h * u, b + h * w
            total = total + b**2
        return total

    got = g.wrenches[0, 0] + 2e-5 * force
    assert x[7] > -0.3  # it was hit
    return [("by the force", numpy.array([got]), derivative(cost, [force]))]


@case("google-deepmind/mujoco#2841", "The speed after a ball hits a box",
      "To identify the damping of a contact, a user differentiated the speed after a collision of "
      "sphere and box in MJX 3.3.2 by the speed before it, and got NaN.",
      "A ball falls on a fixed box with a spring and a damper: speed and height after 150 steps, by "
      "height, speed, stiffness and damping; the truth is the spring of one degree of freedom, step "
      "by step.")
def ball_on_box():
    h, n, k, d, z, v = 0.001, 150, 4000.0, 6.0, 0.03, -1.5
    m = scene([{**ball(stiffness=k, damping=d), "joint": {"type": "prismatic", "axis": [0, 0, 1]}}],
              shapes=[{"name": "box", "type": "box", "half_extents": [0.3, 0.2, 0.1]}], time_step=h)
    truth = derivative(lambda p: sprung(*p, h, n), [z, v, k, d])
    rows, x = [], m.state([z + 0.2], [v])
    for i, what in enumerate(("height", "speed")):
        x_bar, _, theta_bar = rollout_gradient(m, x, numpy.zeros((n, 0)), numpy.eye(2)[i])
        own = [parameter(m, f"shapes/r/ball/{name}") for name in ("stiffness", "damping")]
        rows.append((what, numpy.append(x_bar, theta_bar[own]), truth[i]))
    return rows


@case("keenon/nimblephysics#97", "Two balls, fully elastic",
      "One ball hits another of the same mass. The final position of the second is v0 T + x1 + 2 r, "
      "so that its gradient by (x1, x2, v0, u0) is (1, 0, 1, 0); Nimble returned (0.75, 0.25, 0.91, "
      "0.08).",
      "The same balls for one second of 100 steps, with located impacts; the gradient by hand.")
def elastic_balls():
    h, n, T = 0.01, 100, 1.0
    balls = [{**ball(name, restitution=1.0), "joint": SLIDER} for name in "ab"]
    m = scene(balls, gravity=[0, 0, 0], time_step=h, contact={"compliance": 0}, solver={"impact": "located"})
    x = m.state([0, 0.7034], [1, 0])
    got = rollout_gradient(m, x, numpy.zeros((n, 0)), numpy.array([0, 1, 0, 0]))[0]
    return [("by the start", got, numpy.array([1, 0, T, 0]))]


@case("google/brax#317", "A higher start, a lower end",
      "A ball without gravity bounces once. The higher it starts, the lower it ends; but the "
      "simulated height was not continuous, and both gradients, automatic and by differences, "
      "disagreed with the physics.",
      "The same ball with restitution 0.7 and located impacts: z = r + e (w T - z0 + r), so that "
      "dz/dz0 = -e and dz/dw = e T. Five starts, of which none meets the ground at the end of a "
      "step.")
def bounce_without_gravity():
    h, n, e, r, speed = 0.01, 100, 0.7, 0.1, 2.0
    m = scene([ball(restitution=e)], ground=True, gravity=[0, 0, 0], time_step=h, contact={"compliance": 0},
              solver={"impact": "located"})
    rows, bar = [], numpy.eye(12)[2]
    for z in (0.9, 0.905, 0.913, 0.927, 0.931):
        x = m.state([0, 0, z, 1, 0, 0, 0], [0, 0, -speed, 0, 0, 0])
        got = rollout_gradient(m, x, numpy.zeros((n, 0)), bar)[0][[2, 8]]
        rows.append((f"from {z} m", got, numpy.array([-e, -e * n * h])))
    return rows


@case("google/brax#73", "A bounce that is not in the gradient",
      "The derivative of the final height of a bouncing ball by its initial height was always 1, "
      "also where differences showed that it is not.",
      "A ball dropped with gravity and restitution 0.8, once so high that it does not reach the "
      "ground, where 1 is right; the truth is the fall step by step, the impact located in its "
      "step.")
def bounce():
    h, n, e, r = 0.01, 60, 0.8, 0.1
    m = scene([ball(restitution=e)], ground=True, time_step=h, solver={"impact": "located"})
    rows, bar = [], numpy.eye(12)[2]
    for z in (0.6034, 0.8031, 3.0):
        got = rollout_gradient(m, m.state([0, 0, z + r, 1, 0, 0, 0], numpy.zeros(6)), numpy.zeros((n, 0)), bar)[0]
        truth = derivative(lambda p: falling(*p, h, n, e)[0], [z, 0.0])
        rows.append((f"from {z} m", got[[2, 8]], truth))
    return rows


@case("NVIDIA/warp#736", "A thrown ball on a free joint",
      "A ball on a free joint, thrown against the ground without friction, began to turn with the "
      "Featherstone integrator, and its gradients grew to 1e25; the semi-implicit integrator worked "
      "well.",
      "A ball thrown without friction that bounces once in 60 steps: no rotation, and the Jacobian "
      "of all coordinates by all others, which are apart but for the vertical ones; those are the "
      "fall step by step.")
def thrown():
    h, n, e, r = 0.01, 60, 0.8, 0.1
    m = scene([ball(radius=r, restitution=e, condim=1)], ground={"friction": 0}, time_step=h,
              solver={"impact": "located"})
    x = m.state([0, 0, 0.5 + r, 1, 0, 0, 0], [5, -2, 1.0, 0, 0, 0])
    got, one = costate.transition(m, x, [], n).A, numpy.eye(6)
    truth = numpy.block([[one, n * h * one], [0 * one, one]])
    vertical = derivative(lambda p: falling(*p, h, n, e), [0.5, 1.0])
    truth[numpy.ix_([2, 8], [2, 8])] = vertical
    with costate.Batch(m, 1, threads=1) as b:
        end = b.rollout(x[None], numpy.zeros((n, 1, 0)))[0][-1, 0]
    return [("Jacobian", got, truth), ("rotation", end[3:7], numpy.array([1.0, 0, 0, 0]))]


@case("taichi-dev/difftaichi#14", "Billiards",
      "In a variant of the billiards example the loss grew in almost every iteration. The example "
      "lacked the correction for the time of impact, which was then added; the reporter still saw "
      "similar symptoms.",
      "A cue ball strikes a row of two balls, elastic: the last one ends at v0 T + x1 + 4 r. Its "
      "gradient by positions and velocities of all three is (1, 0, 0, T, 0, 0).")
def billiards():
    h, n = 0.01, 100
    balls = [{**ball(name, restitution=1.0), "joint": SLIDER} for name in "abc"]
    m = scene(balls, gravity=[0, 0, 0], time_step=h, contact={"compliance": 0}, solver={"impact": "located"})
    got = rollout_gradient(m, m.state([0, 0.4542, 0.9333], [1.2, 0, 0]), numpy.zeros((n, 0)), numpy.eye(6)[2])[0]
    return [("by the start", got, numpy.array([1, 0, 0, n * h, 0, 0]))]
