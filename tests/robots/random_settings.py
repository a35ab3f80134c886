#!/usr/bin/env python3
"""Robots as their files have them, in scenes with random settings: are batches single steps, and derivatives derivatives?

    random_settings.py [--seed N] [--seconds S | --count N] FILE...      exit code 1 if a check failed

Each seed takes one of the files and draws a solver, its gradient, law and parameters of contact, ground, integrator, medium and sensors.
From states around the start of the file, five environments of a batch make six control steps. Checked are:

- states: those of single time steps, bit for bit;
- reverse mode of the batch: the product of the adjoints of single steps;
- forward mode of states and sensors: its dot product with reverse mode, and differences of one step, where six one-sided
  differences of three sizes agree with each other;
- the same dot product over a run with wrenches and sensors, and reverse mode with few states kept, bit for bit;
- Jacobians of a control step and of its sensors, by forward and reverse mode;
- Hessian-vector products: differences of reverse mode, judged as those of a step.

A check fails where a number is wrong, not where differences cross a branch or a solver has not converged.
"""
import argparse
import random
import re
import sys
import warnings

import numpy

import costate
from random_scenes import add_arguments, random_scene, try_seeds

ENVIRONMENTS, STEPS = 5, 6
LARGEST = 1e4  # m, rad, and per second, beyond which a motion is an instability that tests nothing more
CHAOTIC = 1e9  # sizes of products of covectors and derivatives, beyond which round-off decides
OF_FRAMES = ("frame_position", "frame_quaternion", "frame_x_axis", "frame_linear_velocity", "frame_angular_velocity",
             "frame_linear_acceleration", "frame_angular_acceleration", "velocimeter", "gyro", "accelerometer", "force", "torque",
             "contact_force", "touch", "centre_of_mass", "centre_of_mass_velocity", "linear_momentum", "angular_momentum",
             "kinetic_energy", "potential_energy")
OF_JOINTS = ("joint_position", "joint_velocity", "joint_constraint_force", "joint_passive_force", "joint_effort")


def load(folder, scene):
    """The model of a scene in a folder, without the sensors that it cannot have."""
    while True:
        try:
            return costate.Model.from_string(scene, name=folder / "scene.json", search=[folder, folder.parent])
        except costate.BadFile as error:
            at = re.search(r"#/sensors/(\d+)", str(error))
            if at is None:
                raise
            del scene["sensors"][int(at[1])]


def with_sensors(draw, folder, scene):
    m = load(folder, scene)
    if m.nq == 0:
        raise costate.BadFile("nothing moves")
    subjects = [("body", t, draw.choice(m.bodies)) for t in OF_FRAMES] + [("joint", t, draw.choice(m.joints)) for t in OF_JOINTS]
    scene["sensors"] = [{"name": t, "type": t, key: name} for key, t, name in subjects]
    return load(folder, scene)


def apart(a, b):
    """The largest difference of two arrays, relative to their largest entry."""
    size = max(abs(a).max(), abs(b).max(), 1e-9) if a.size else 1
    return abs(a - b).max() / size if a.size else 0


class Check:
    """The checks of one model; `faults` are texts."""

    def __init__(self, m, seed):
        self.m, self.faults, self.random = m, [], numpy.random.default_rng(seed)
        self.substeps = int(self.random.integers(1, 4))
        start, nq, nv, normal = m.start(), m.nq, m.nv, self.random.normal
        self.x = numpy.tile(start, (ENVIRONMENTS, 1))
        for x in self.x:
            x[:nq] = m.retract(start[:nq], 0.05 * normal(size=nv))
            x[nq:nq + nv] += 0.5 * normal(size=nv)
        self.u = normal(size=(STEPS, ENVIRONMENTS, m.nu))

    def fault(self, what, *numbers):
        self.faults.append(f"{what}: " + ", ".join(f"{n:.10g}" for n in numbers))

    def batch(self):
        m, batch = self.m, costate.Batch(self.m, ENVIRONMENTS, substeps=self.substeps)
        states, completed = batch.rollout(self.x, self.u)
        bars = self.random.normal(size=(STEPS, ENVIRONMENTS, m.ndx))
        got = batch.backward(numpy.concatenate([self.x[None], states[:-1]]), self.u, bars, completed, each=True)
        for e in numpy.flatnonzero(completed == STEPS):
            before, x = [], self.x[e]
            for t in range(STEPS):
                for _ in range(self.substeps):
                    before.append(x)
                    x = m.state_step(x, self.u[t, e])
                if not numpy.array_equal(x, states[t, e]):
                    self.fault("states of a batch", apart(x, states[t, e]))
                    return
            bar, by_theta = numpy.zeros(m.ndx), numpy.zeros(m.nparam)
            for k in reversed(range(len(before))):
                t, last = divmod(k, self.substeps)
                bar = bar + bars[t, e] if last == self.substeps - 1 else bar
                g = m.state_step_vjp(before[k], self.u[t, e], bar)
                bar, by_theta = g.x, by_theta + g.parameters
            for name, a, b in (("states", got.x[e], bar), ("parameters", got.parameters[e], by_theta)):
                if apart(a, b) > 1e-9:
                    self.fault(f"gradient of a batch by {name}", apart(a, b))

    def step(self, x, u):
        m, normal = self.m, self.random.normal
        wrenches, w_dot = normal(size=(2, len(m.bodies), 6))
        x_dot, u_dot, theta_dot = normal(size=m.ndx), normal(size=m.nu), numpy.zeros(m.nparam)
        x_dot[2 * m.nv:] = 0  # activations and kept impulses
        x_next, y = m.observe(x, u, wrenches)
        forward = numpy.concatenate(m.observe_jvp(x, u, x_dot, u_dot, w_dot, theta_dot, wrenches))
        weights = normal(size=forward.size)
        g = m.observe_vjp(x, u, weights[:m.ndx], weights[m.ndx:], wrenches)
        left, right = weights @ forward, g.x @ x_dot + g.u @ u_dot + (g.wrenches * w_dot).sum()
        if abs(left - right) > 1e-6 * (abs(weights * forward).sum() + 1e-9):
            self.fault("forward and reverse mode", left, right)

        def slope(e):
            moved = x.copy()
            moved[:m.nq] = m.retract(x[:m.nq], e * x_dot[:m.nv])
            moved[m.nq:m.nq + m.nv] += e * x_dot[m.nv:2 * m.nv]
            after, seen = m.observe(moved, u + e * u_dot, wrenches + e * w_dot)
            v = slice(m.nq, m.nq + m.nv)
            return numpy.concatenate([m.difference(x_next[:m.nq], after[:m.nq]), after[v] - x_next[v], seen - y]) / e

        slopes = numpy.array([slope(sign * e) for e in (1e-4, 1e-5, 1e-6) for sign in (1, -1)])
        columns = numpy.concatenate([forward[:2 * m.nv], forward[m.ndx:]])
        spread, error = numpy.ptp(slopes, axis=0), abs(slopes - columns).min(axis=0)
        middle = abs(slopes).mean(axis=0)
        for i in numpy.flatnonzero((spread < 1e-2 * middle) & (error > 1e-4 * (middle + 1e-3) + 3 * spread)):
            name = "state" if i < 2 * m.nv else next(s for s in m.sensors if i - 2 * m.nv < m.sensor_slice(s).stop)
            self.fault(f"derivative of {name}", columns[i], slopes[2:4, i].mean())

    def product(self, what, outputs, inputs):
        """Outputs and inputs: pairs of a covector and a derivative, (environments, entries) each."""
        def products(pairs):
            return numpy.concatenate([bar * dot for bar, dot in pairs], axis=1)

        left, right = products(outputs), products(inputs)
        size = abs(left).sum(1) + abs(right).sum(1)
        wrong = abs(left.sum(1) - right.sum(1)) > 1e-6 * (size + 1e-9)
        for e in numpy.flatnonzero(wrong & (size < CHAOTIC)):
            self.fault(what, left[e].sum(), right[e].sum())

    def parameters_dot(self):
        """A direction of the parameters. Those that are 0 stay, as many are at the end of their range: with an erp of
        0 no row recovers and each may begin to."""
        return 0.1 * self.random.normal(size=self.m.nparam) * abs(self.m.parameters)

    def runs(self, batch, x, u):
        m, normal, n = self.m, self.random.normal, len(x)
        wrenches = normal(size=(len(u), n, len(m.bodies), 6))
        states, y, completed = batch.run(x, u, wrenches)
        whole = (completed == len(u)) & (abs(states).max(axis=(0, 2)) < LARGEST)
        x_dot, u_dot = normal(size=(n, m.ndx)), normal(size=u.shape)
        x_dot[:, 2 * m.nv:] = 0  # activations and kept impulses
        theta_dot = self.parameters_dot()
        states_bar, y_bar = normal(size=(len(u), n, m.ndx)) * whole[:, None], normal(size=y.shape) * whole[:, None]
        along = batch.jvp(x, u, x_dot, u_dot, theta_dot, wrenches)
        g = batch.run_vjp(x, u, states_bar, y_bar, wrenches=wrenches, each=True)

        def rows(a):  # (steps, environments, entries)
            return a.swapaxes(0, 1).reshape(n, -1)[whole]

        self.product("forward and reverse mode of a run",
                     [(rows(bar), rows(dot)) for bar, dot in zip((states_bar, y_bar), along)],
                     [(g.x[whole], x_dot[whole]), (rows(g.u), rows(u_dot)), (g.parameters[whole], theta_dot)])
        few = batch.run_vjp(x, u, states_bar, y_bar, wrenches=wrenches, each=True, max_bytes=32 * n * m.nx)
        for name, a, b in zip(g._fields, g, few):
            of_steps = name in ("u", "wrenches")
            if not numpy.array_equal(*((it[:, whole] if of_steps else it[whole]) for it in (a, b))):
                self.fault(f"reverse mode with few states by {name}", apart(a, b))

    def jacobians(self, batch, x, u):
        m, normal, n = self.m, self.random.normal, len(x)
        x_dot, u_dot = normal(size=(n, m.ndx)), normal(size=(n, m.nu))
        x_dot[:, 2 * m.nv:] = 0
        theta_dot = self.parameters_dot()
        J, C = batch.jacobian(x, u, parameters=True), batch.sensors_jacobian(x, u, parameters=True)
        after, completed = batch.rollout(x, u[None])
        bar, y_bar = normal(size=(n, m.ndx)), normal(size=C.by_state.shape[:2])
        along, seen = batch.jvp(x, u[None], x_dot, u_dot[None], theta_dot)
        g = batch.backward(x[None], u[None], bar[None], completed, each=True)
        of_sensors = batch.sensors_vjp(x, y_bar, u, each=True)
        for e in numpy.flatnonzero((completed == 1) & ~J.diverged & ~C.diverged & (abs(after[0]).max(1) < LARGEST)):
            for what, matrix, by_direction, covector, back in (
                    ("states", J, along[0, e], bar[e], (g.x[e], g.u[0, e], g.parameters[e])),
                    ("sensors", C, seen[0, e], y_bar[e], (of_sensors.x[e], of_sensors.u[e], of_sensors.parameters[e]))):
                parts = [(M[e], dot) for M, dot in zip(matrix, (x_dot[e], u_dot[e], theta_dot))]
                size = sum(abs(M) @ abs(dot) for M, dot in parts)
                error = abs(sum(M @ dot for M, dot in parts) - by_direction)
                if (error > 1e-6 * (size + 1e-3 * size.max(initial=0) + 1e-2)).any():
                    self.fault(f"Jacobian of {what} by forward mode", error.max())
                for name, (M, _), expected in zip(("x", "u", "parameters"), parts, back):
                    if apart(covector @ M, expected) > 1e-5:
                        self.fault(f"Jacobian of {what} by {name}", apart(covector @ M, expected))

    def hessian(self, batch, x, u):
        m, normal, n = self.m, self.random.normal, len(x)
        x_dot, u_dot, bar = normal(size=(n, m.ndx)), normal(size=(1, n, m.nu)), normal(size=(1, n, m.ndx))
        x_dot[:, 2 * m.nv:] = 0

        def gradient(e):
            moved = x.copy()
            for here, start, dot in zip(moved, x, x_dot):
                here[:m.nq] = m.retract(start[:m.nq], e * dot[:m.nv])
                here[m.nq:m.nq + m.nv] += e * dot[m.nv:2 * m.nv]
            g = batch.backward(moved[None], u[None] + e * u_dot, bar, batch.rollout(moved, u[None] + e * u_dot)[1])
            return numpy.concatenate([g.x[:, m.nv:2 * m.nv], g.u[0]], axis=1)

        h, here = batch.hvp(x, u[None], bar, x_dot, u_dot), gradient(0)
        products = numpy.concatenate([h.x[:, m.nv:2 * m.nv], h.u[0]], axis=1)
        slopes = numpy.array([(gradient(sign * e) - here) / (sign * e) for e in (1e-4, 1e-5, 1e-6) for sign in (1, -1)])
        spread, error = numpy.ptp(slopes, axis=0), abs(slopes - products).min(axis=0)
        middle = abs(slopes).mean(axis=0)
        noise = 1e-6 * abs(here).max(initial=0)
        for at in zip(*numpy.nonzero((spread < 1e-2 * middle) & (error > 1e-3 * middle + 3 * spread + noise))):
            self.fault("Hessian-vector product", products[at], slopes[2:4][:, at[0], at[1]].mean())

    def run(self):
        self.batch()
        for e in range(3):
            x = self.x[e]
            for _ in range(3 * e):
                x = self.m.state_step(x, self.u[0, e])
            if abs(x).max() < LARGEST and self.m.residual(x, self.u[1, e])[1]:
                self.step(x, self.u[1, e])
        batch, x = costate.Batch(self.m, ENVIRONMENTS, substeps=self.substeps), self.x
        for _ in range(int(self.random.integers(0, 8))):
            x = batch.step(x, self.u[0])[0]
        if abs(x).max() < LARGEST:
            self.runs(batch, x, self.u)
            self.jacobians(batch, x, self.u[0])
            if self.m.nq == self.m.nv:  # a fixed covector of a rotated frame is another function
                self.hessian(batch, x, self.u[0])


def check(file, seed):
    """(faults, scene) of a seed; faults are None if the scene cannot be made."""
    draw = random.Random(seed)
    scene = random_scene(draw, file)
    try:
        one = Check(with_sensors(draw, file.parent, scene), seed)
    except costate.BadFile:
        return None, scene
    try:
        one.run()
    except costate.Diverged:
        pass
    return one.faults, scene


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore", costate.ModelWarning)
    return try_seeds(options, check, ("solver", "contact", "ground", "time_step"))


if __name__ == "__main__":
    sys.exit(main())
