"""Sensors, external wrenches, runs within a budget of bytes, and products along directions."""
import unittest
from functools import partial

import numpy

import costate

SCENE = {
    "name": "arm", "steps": 10, "time_step": 0.002, "ground": True,
    "models": [{"name": "arm", "position": [0, 0, 0.5], "model": {
        "bodies": [
            {"name": "upper", "joint": {"name": "shoulder", "type": "spherical"}, "mass": 1, "com": [0.2, 0, 0],
             "inertia": [0.01, 0.02, 0.02, 0, 0, 0]},
            {"name": "lower", "parent": "upper", "joint": {"name": "elbow", "type": "revolute", "axis": [0, 1, 0],
                                                           "position": [0.4, 0, 0]},
             "mass": 0.5, "com": [0.1, 0, 0], "inertia": [0.005, 0.01, 0.01, 0, 0, 0],
             "sites": [{"name": "hand", "position": [0.2, 0, 0.02], "rpy_deg": [10, 20, 30]}]}],
        "actuators": [{"name": "motor", "joint": "elbow", "type": "motor"}],
        "sensors": [{"name": "imu", "type": "accelerometer", "site": "hand"},
                    {"name": "turn", "type": "frame_quaternion", "site": "hand"},
                    {"name": "load", "type": "force", "site": "hand"},
                    {"name": "height", "type": "height_scan", "site": "hand", "size": [1, 2], "spacing": [0.1, 0.1]},
                    {"name": "effort", "type": "joint_effort", "joint": "elbow"}]}}]}
N, STEPS = 3, 12


class SensorsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.m = costate.Model.from_string(SCENE)
        random = numpy.random.default_rng(0)
        q, v = cls.m.initial_state()
        cls.x = numpy.array([cls.m.state(cls.m.retract(q, 0.3 * random.normal(size=cls.m.nv)),
                                         random.normal(size=cls.m.nv)) for _ in range(N)])
        cls.u = random.normal(size=(STEPS, N, cls.m.nu))
        cls.w = random.normal(size=(STEPS, N, 2, 6))
        cls.random = random

    def test_names(self):
        m = self.m
        self.assertEqual(m.sensors, ["arm/imu", "arm/turn", "arm/load", "arm/height", "arm/effort"])
        self.assertEqual((m.ny, m.sensor_slice("arm/turn"), m.sensor_type(3)), (13, slice(3, 7), "height_scan"))
        with self.assertRaisesRegex(costate.BadArgument, "there is no sensor 'imu'"):
            m.sensor_slice("imu")

    def test_zones_count_contacts_in_them_and_in_front_of_them(self):
        """A trestle presses as much with one foot as with the other; a zone has the forces of the feet that it counts."""
        zones = {"all": None, "left": {"type": "box", "half_extents": [0.1, 0.1, 0.2]},
                 "both": {"type": "cylinder", "radius": 1, "half_length": 0.15},
                 "above": {"type": "sphere", "radius": 0.02}, "below": {"type": "ellipsoid", "semi_axes": [0.1, 0.2, 0.01]}}
        place = {"all": [0, 0, 0], "left": [-0.3, 0, 0], "both": [0, 0, 0], "above": [-0.3, 0, 0.05], "below": [0.3, 0, -0.2]}
        m = costate.Model.from_string({"time_step": 0.001, "ground": True, "models": [{"name": "t", "model": {
            "bodies": [{"name": "t", "joint": {"name": "z", "type": "prismatic", "axis": [0, 0, 1]}, "mass": 2,
                        "inertia": [0.1, 0.1, 0.1, 0, 0, 0],
                        "shapes": [{"name": name, "type": "sphere", "radius": 0.1, "position": [x, 0, 0]}
                                   for name, x in (("l", -0.3), ("r", 0.3))],
                        "sites": [{"name": name, "position": at} for name, at in place.items()]}],
            "sensors": [{"name": name, "type": "touch", "site": name, **({"zone": zone} if zone else {})}
                        for name, zone in zones.items()]
                       + [{"name": "force", "type": "contact_force", "site": "left", "zone": zones["left"]}]}}]})
        m.set_parameter("contact/compliance", 1e-5)
        _, y = m.observe([0.099, 0], [])
        self.assertGreater(y[0], 1)
        numpy.testing.assert_allclose(y / y[0], [1, 0.5, 1, 0, 0.5, 0, 0, 0.5], rtol=1e-9, atol=1e-9)

    def test_forces_of_springs_and_limits(self):
        """A link at rest, held by its limit, carries its weight there; springs and dampers follow their law."""
        m = costate.Model.from_string({"time_step": 0.001, "solver": {"type": "lcp"}, "models": [{"name": "r", "model": {
            "bodies": [{"name": "link", "joint": {"name": "hinge", "type": "revolute", "axis": [0, 1, 0],
                                                  "limits": [-2, 0.3], "stiffness": 3, "rest": 0.2, "damping": 0.5},
                        "mass": 2, "com": [0.4, 0, 0], "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}],
            "sensors": [{"name": "passive", "type": "joint_passive_force", "joint": "hinge"},
                        {"name": "limit", "type": "joint_limit_force", "joint": "hinge"},
                        {"name": "constraints", "type": "joint_constraint_force", "joint": "hinge"}]}}]})
        m.set_parameter("contact/compliance", 0)
        _, (passive, limit, constraints) = m.observe([0.1, 0.7], [])
        self.assertAlmostEqual(passive, 3 * (0.2 - 0.1) - 0.5 * 0.7, delta=1e-14)
        self.assertEqual((limit, constraints), (0, 0))
        x, (passive, limit, constraints) = m.observe([0.3, 0], [])
        self.assertEqual(constraints, -limit)  # it turns the hinge back
        self.assertAlmostEqual(x[1], 0, delta=1e-12)
        self.assertAlmostEqual(limit, 2 * 9.81 * 0.4 * numpy.cos(0.3) + passive, delta=1e-9)
        J = m.observe_jacobian([0.3, 0], [], parameters=True)
        gravity = m.parameter_names.index("world/gravity[2]")
        self.assertAlmostEqual(J.by_parameters[1, gravity], -2 * 0.4 * numpy.cos(0.3), delta=1e-9)
        self.assertEqual(J.by_state[0].tolist(), [-3, -0.5])

    def test_force_of_all_constraints(self):
        """Two sliders at rest: the ground carries one, its dry friction the other."""
        def slider(name, x, **joint):
            return {"name": name, "position": [x, 0, 0], "model": {
                "bodies": [{"name": "block", "joint": {"type": "prismatic", "axis": [0, 0, 1], **joint}, "mass": 2,
                            "inertia": [0.01, 0.01, 0.01, 0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.1}]}],
                "sensors": [{"name": "held", "type": "joint_constraint_force", "joint": "block"}]}}
        m = costate.Model.from_string({"time_step": 0.001, "ground": True, "solver": {"type": "lcp"},
                                       "models": [slider("lying", 0), slider("stuck", 1, dry_friction=30)]})
        _, y = m.observe([0.1, 0.5, 0, 0], [])
        numpy.testing.assert_allclose(y, [2 * 9.81, 2 * 9.81], rtol=1e-5)

    def test_values(self):
        m, x, u = self.m, self.x[0], self.u[0, 0]
        x_next, y = m.observe(x, u)
        numpy.testing.assert_array_equal(x_next, m.state_step(x, u))
        self.assertEqual(y[m.sensor_slice("arm/effort")], u)
        poses, _ = costate.Batch(m, 1).poses(x[None], costate.Batch(m, 1).frames(["arm/hand"]))
        numpy.testing.assert_allclose(y[m.sensor_slice("arm/turn")], poses[0, 0, 3:], atol=1e-12)
        numpy.testing.assert_allclose(y[m.sensor_slice("arm/height")], poses[0, 0, 2], atol=1e-12)
        # at rest a hanging mass pulls its joint by its weight
        rest = m.state(*m.initial_state())
        held = numpy.zeros((2, 6))
        held[:, 2] = 9.81 * numpy.array([1, 0.5])  # weightless
        _, y = m.observe(rest, numpy.zeros(m.nu), held)
        numpy.testing.assert_allclose(y[m.sensor_slice("arm/load")], 0, atol=1e-9)
        self.assertAlmostEqual(numpy.linalg.norm(y[m.sensor_slice("arm/imu")]), 9.81, delta=1e-9)

    def test_products(self):
        m, x, u, w = self.m, self.x[0], self.u[0, 0], self.w[0, 0]
        dots = [self.random.normal(size=size) for size in (m.ndx, m.nu, (2, 6), m.nparam)]
        dots[3] *= 0.01 * m.parameters
        bars = self.random.normal(size=m.ndx), self.random.normal(size=m.ny)
        forward = m.observe_jvp(x, u, *dots, wrenches=w)
        g = m.observe_vjp(x, u, *bars, wrenches=w)
        left = sum(numpy.sum(a * b) for a, b in zip(bars, forward))
        right = sum(numpy.sum(a * b) for a, b in zip(g, dots))
        self.assertAlmostEqual(left, right, delta=1e-9 * (1 + abs(left)))
        J = m.observe_jacobian(x, u, parameters=True)
        g = m.observe_vjp(x, u, y_bar=bars[1])
        for row, bar in zip(J, (g.x, g.u, g.parameters)):
            numpy.testing.assert_allclose(bars[1] @ row, bar, atol=1e-9 * (1 + abs(bar).max()))

    def test_batches_have_the_values_of_single_states(self):
        m, batch = self.m, costate.Batch(self.m, N, threads=2, substeps=2)
        y = batch.sensors(self.x, self.u[0], self.w[0])
        for e in range(N):
            numpy.testing.assert_array_equal(y[e], m.observe(self.x[e], self.u[0, e], self.w[0, e])[1])
        y_bar = self.random.normal(size=y.shape)
        g = batch.sensors_vjp(self.x, y_bar, self.u[0], self.w[0], each=True)
        one = m.observe_vjp(self.x[1], self.u[0, 1], y_bar=y_bar[1], wrenches=self.w[0, 1])
        for got, wanted in zip(g, one):
            numpy.testing.assert_array_equal(got[1], wanted)
        numpy.testing.assert_array_equal(batch.sensors_jacobian(self.x, self.u[0]).by_state[2],
                                         m.observe_jacobian(self.x[2], self.u[0, 2]).by_state)

    def test_every_budget_gives_the_same_bits(self):
        m, batch = self.m, costate.Batch(self.m, N, threads=2, substeps=2)
        states, completed = batch.rollout(self.x, self.u)
        bar = self.random.normal(size=(STEPS, N, m.ndx))
        wanted = batch.backward(numpy.concatenate([self.x[None], states[:-1]]), self.u, bar, completed)
        run = batch.run(self.x, self.u)
        numpy.testing.assert_array_equal(run.states, states)
        asked = []

        def seed(t, after, y):
            asked.append(t)
            numpy.testing.assert_array_equal(after, states[t])
            numpy.testing.assert_array_equal(y, run.sensors[t])
            return bar[t], None

        for budget in (0, 1, 2, 5):
            for how in ({"states_bar": bar}, {"seed": seed}):
                got = batch.run_vjp(self.x, self.u, max_bytes=budget * self.x.nbytes, **how)
                for a, b in zip((got.x, got.u, got.parameters), wanted):
                    numpy.testing.assert_array_equal(a, b)
        self.assertEqual(asked[:STEPS], list(range(STEPS))[::-1])
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            batch.run_vjp(self.x, self.u, seed=lambda *_: (1 / 0, None))
        with self.assertRaisesRegex(costate.BadArgument, "the least is"):
            batch.run_vjp(self.x, self.u, states_bar=bar, max_bytes=8)

    def test_wrenches_along_a_rollout(self):
        m, batch = self.m, costate.Batch(self.m, N, substeps=2)
        states_bar, y_bar = (self.random.normal(size=(STEPS, N, size)) for size in (m.ndx, m.ny))
        loss = numpy.zeros((STEPS, N, m.ndx))
        loss[-1, :, m.nv:] = 1  # velocities at the end
        g = batch.run_vjp(self.x, self.u, loss, wrenches=self.w)
        direction, e = self.random.normal(size=self.w.shape), 1e-5

        def value(w):
            return batch.run(self.x, self.u, w).states[-1, :, m.nq:].sum()

        slope = (value(self.w + e * direction) - value(self.w - e * direction)) / (2 * e)
        self.assertAlmostEqual(numpy.sum(g.wrenches * direction), slope, delta=1e-6 * (1 + abs(slope)))
        # forward and reverse of states and sensors
        x_dot, u_dot = self.random.normal(size=(N, m.ndx)), self.random.normal(size=self.u.shape)
        states_dot, y_dot = batch.jvp(self.x, self.u, x_dot, u_dot, wrenches=self.w)
        g = batch.run_vjp(self.x, self.u, states_bar, y_bar, wrenches=self.w)
        left = numpy.sum(states_bar * states_dot) + numpy.sum(y_bar * y_dot)
        right = numpy.sum(g.x * x_dot) + numpy.sum(g.u * u_dot)
        self.assertAlmostEqual(left, right, delta=1e-9 * (1 + abs(left)))

    def test_wrenches_that_are_not_given_have_the_gradient_of_zeros(self):
        m, batch = self.m, costate.Batch(self.m, N, substeps=2)
        states_bar, y_bar = (self.random.normal(size=(STEPS, N, size)) for size in (m.ndx, m.ny))
        zeros = numpy.zeros_like(self.w)
        calls = (lambda **w: m.observe_vjp(self.x[0], self.u[0, 0], states_bar[0, 0], y_bar[0, 0], **w),
                 lambda **w: batch.sensors_vjp(self.x, y_bar[0], self.u[0], **w),
                 lambda **w: batch.run_vjp(self.x, self.u, states_bar, y_bar, **w))
        for call, given in zip(calls, (zeros[0, 0], zeros[0], zeros)):
            wanted = call(wrenches=given)
            self.assertGreater(abs(wanted.wrenches).max(), 0)
            for a, b in zip(call(), wanted):
                numpy.testing.assert_array_equal(a, b)

    def test_the_centre_of_a_tree_without_mass_is_its_origin(self):
        arm = {"name": "arm", "joint": {"type": "spherical"}, "mass": 1, "inertia": [0.1, 0.2, 0.15, 0, 0, 0]}
        tip = {"name": "tip", "parent": "arm", "joint": {"type": "fixed", "position": [0.3, 0.1, -0.4]}}
        pairs = (("centre_of_mass", "frame_position"), ("centre_of_mass_velocity", "frame_linear_velocity"))
        types = [*pairs[0], *pairs[1], "angular_momentum"]
        m = costate.Model.from_string({
            "models": [{"name": "m", "model": {"bodies": [arm, tip]}}],
            "sensors": [{"name": kind, "type": kind, "body": "m/tip"} for kind in types]})
        x = m.state(m.retract(m.start()[:m.nq], [0.3, -0.5, 0.2]), [1, 2, 3])
        u, x_dot, y_bar = numpy.empty(0), self.random.normal(size=m.ndx), self.random.normal(size=m.ny)
        y, J = m.observe(x, u)[1], m.observe_jacobian(x, u).by_state
        for tree, frame in pairs:
            numpy.testing.assert_allclose(y[m.sensor_slice(tree)], y[m.sensor_slice(frame)], atol=1e-14)
            numpy.testing.assert_allclose(J[m.sensor_slice(tree)], J[m.sensor_slice(frame)], atol=1e-14)
        numpy.testing.assert_array_equal(y[m.sensor_slice("angular_momentum")], 0)
        left = y_bar @ m.observe_jvp(x, u, x_dot)[1]
        self.assertAlmostEqual(left, m.observe_vjp(x, u, y_bar=y_bar).x @ x_dot, delta=1e-12)

    def test_frames_in_other_frames(self):
        """Poses in a frame that moves, from the poses of both, and the rates of change that an observer in it sees."""
        def body(name, at, **more):
            return {"name": name, "joint": {"type": "free", "position": at}, "mass": 1, "inertia": [0.1, 0.2, 0.15, 0, 0, 0],
                    "sites": [{"name": f"{name}_site", "position": [0.1, -0.2, 0.3], "rpy_deg": [10, 20, 30]}], **more}
        ends = {"F": {"site": "m/a_site"}, "R": {"body": "m/b"}}
        relative = {"reference_body": "m/b", **ends["F"]}
        kinds = ("position", "quaternion", "linear_velocity", "angular_velocity", "x_axis", "y_axis", "z_axis")
        sensors = [{"name": f"{end}_{kind}", "type": f"frame_{kind}", **ends[end]} for end in ends for kind in kinds]
        sensors += [{"name": kind, "type": f"relative_{kind}", **relative} for kind in kinds]
        m = costate.Model.from_string({"sensors": sensors, "models": [
            {"name": "m", "model": {"bodies": [body("a", [1, 0, 0]), body("b", [0, 1, 0])]}}]})
        v = self.random.normal(size=m.nv)
        x = m.state(m.retract(m.start()[:m.nq], self.random.normal(size=m.nv)), v)
        y, rate = m.observe(x, [])[1], m.observe_jvp(x, [], numpy.concatenate([v, numpy.zeros(m.ndx - m.nv)]))[1]
        of = {each["name"]: y[m.sensor_slice(each["name"])] for each in sensors}
        F, R = (numpy.column_stack([of[f"{end}_{axis}"] for axis in ("x_axis", "y_axis", "z_axis")]) for end in ends)
        close = partial(numpy.testing.assert_allclose, atol=1e-13)
        close(of["position"], R.T @ (of["F_position"] - of["R_position"]))
        close(numpy.column_stack([of["x_axis"], of["y_axis"], of["z_axis"]]), R.T @ F)
        w, a = of["quaternion"][0], of["quaternion"][1:]
        self.assertGreaterEqual(w, 0)
        for e, axis in zip(numpy.eye(3), ("x_axis", "y_axis", "z_axis")):
            close(e + 2 * numpy.cross(a, numpy.cross(a, e) + w * e), of[axis])
        close(of["angular_velocity"], R.T @ (of["F_angular_velocity"] - of["R_angular_velocity"]))
        close(of["linear_velocity"], rate[m.sensor_slice("position")])
        for axis in ("x_axis", "y_axis", "z_axis"):
            close(numpy.cross(of["angular_velocity"], of[axis]), rate[m.sensor_slice(axis)])

    def test_hessian_vector_products(self):
        m, batch = self.m, costate.Batch(self.m, N, substeps=2)
        bar = self.random.normal(size=(STEPS, N, m.ndx))
        direction, e = self.random.normal(size=self.u.shape), 1e-5
        product = batch.hvp(self.x, self.u, bar, u_dot=direction).u
        more, less = (batch.run_vjp(self.x, self.u + s * e * direction, bar).u for s in (1, -1))
        numpy.testing.assert_allclose(product, (more - less) / (2 * e), atol=1e-5 * abs(product).max())


if __name__ == "__main__":
    unittest.main()
