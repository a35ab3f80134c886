"""Batches: the bits of single calls, gradients against central differences, and bad input."""
import copy
import pickle
import unittest

import numpy

import costate

SUBSTEPS = 3


def states(model, n, seed=0):
    """n states (n, nx) about where the file starts, feet in the ground."""
    random = numpy.random.default_rng(seed)
    q, v = model.initial_state()
    rows = []
    for _ in range(n):
        moved = model.retract(q, 0.05 * random.normal(size=model.nv))
        moved[2] = q[2] - 0.01
        rows.append(numpy.concatenate([moved, v + 0.1 * random.normal(size=model.nv)]))
    return numpy.array(rows)


class BatchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.m = costate.Model("go1_stand")
        cls.n = 4
        cls.x = states(cls.m, cls.n)
        cls.u = cls.x[0, 7:19] + 0.1 * numpy.random.default_rng(1).normal(size=(2, cls.n, cls.m.nu))
        cls.bar = numpy.random.default_rng(2).normal(size=(2, cls.n, cls.m.ndx))

    def test_a_rollout_has_the_bits_of_steps_one_by_one(self):
        batch = costate.Batch(self.m, self.n, threads=2, substeps=SUBSTEPS)
        got, completed = batch.rollout(self.x, self.u)
        self.assertEqual(completed.tolist(), [2] * self.n)
        x = self.x
        for t in range(2):
            one, diverged = batch.step(x, self.u[t])
            for i in range(self.n):
                q, v = x[i, :19].copy(), x[i, 19:].copy()
                for _ in range(SUBSTEPS):
                    q, v = self.m.step(q, v, self.u[t, i])
                self.assertTrue(numpy.array_equal(got[t, i], numpy.concatenate([q, v])))
            self.assertTrue(numpy.array_equal(one, got[t]) and not diverged.any())
            x = one

    def test_backward_pulls_back_what_single_steps_do(self):
        batch = costate.Batch(self.m, self.n, substeps=1)
        after, _ = batch.rollout(self.x, self.u)
        g = batch.backward(numpy.stack([self.x, after[0]]), self.u, self.bar, each=True)
        nv = self.m.nv
        for i in range(self.n):
            q_bar, v_bar, theta = numpy.zeros(nv), numpy.zeros(nv), 0
            for t in (1, 0):
                start = (self.x, after[0])[t][i]
                bar = self.m.step_vjp(start[:19].copy(), start[19:].copy(), self.u[t, i],
                                      q_bar + self.bar[t, i, :nv], v_bar + self.bar[t, i, nv:])
                q_bar, v_bar, theta = bar.q, bar.v, theta + bar.parameters
                numpy.testing.assert_array_equal(g.u[t, i], bar.u)
            numpy.testing.assert_array_equal(g.x[i], numpy.concatenate([q_bar, v_bar]))
            numpy.testing.assert_allclose(g.parameters[i], theta, rtol=1e-12, atol=1e-12)
        summed = batch.backward(numpy.stack([self.x, after[0]]), self.u, self.bar, wanted=("parameters",))
        self.assertIsNone(summed.x)
        numpy.testing.assert_allclose(summed.parameters, g.parameters.sum(0), rtol=1e-12, atol=1e-12)

    def test_chosen_columns_of_jacobians_are_written_in_place(self):
        batch = costate.Batch(self.m, self.n, threads=2, substeps=SUBSTEPS)
        whole = batch.jacobian(self.x, self.u[0], parameters=True)
        gravity, mass = (self.m.parameter_names.index(name)
                         for name in ("world/gravity[2]", "bodies/robot/trunk/mass"))
        turning = numpy.zeros(self.m.ndx, bool)
        turning[[4, 30]] = True
        J = batch.jacobian(self.x, self.u[0], columns={"x": turning, "u": [2, 7],
                                                       "parameters": ["world/gravity[2]", "bodies/robot/trunk/mass"]})
        for got, want, columns in ((J.by_state, whole.by_state, [4, 30]), (J.by_control, whole.by_control, [2, 7]),
                                   (J.by_parameters, whole.by_parameters, [gravity, mass])):
            numpy.testing.assert_allclose(got[..., columns], want[..., columns], atol=1e-12 * numpy.abs(want).max())
            self.assertGreater(numpy.abs(got[..., columns]).max(), 0)
            left = numpy.delete(got, columns, -1)
            self.assertFalse(left.any())
        out = costate.BatchJacobian(*(numpy.full(part.shape, 7.0) for part in whole[:2]), None, None)
        J = batch.jacobian(self.x, self.u[0], envs=[1], columns={"u": []}, out=out)
        self.assertIs(J.by_state, out.by_state)
        self.assertTrue((out.by_control == 7).all() and (out.by_state[[0, 2, 3]] == 7).all())
        numpy.testing.assert_allclose(out.by_state[1], whole.by_state[1], atol=1e-12)
        for columns, sentence in (({"q": [0]}, "columns has 'q'; possible are x, u, parameters"),
                                  ({"x": [36]}, r"columns\['x'\] has 36; there are 36 columns"),
                                  ({"parameters": ["mass"]}, "there is no parameter 'mass'")):
            with self.assertRaisesRegex(costate.BadArgument, sentence):
                batch.jacobian(self.x, self.u[0], columns=columns)

    def test_contacts_are_those_of_single_steps(self):
        batch = costate.Batch(self.m, self.n, threads=2)
        x = self.x.copy()
        x[1, 2] += 1  # flies
        x[2, 22] = 1e200  # diverges
        found = batch.contacts(x, self.u[0])
        self.assertEqual(found.diverged.tolist(), [False, False, True, False])
        for i in (0, 1, 3):
            want = self.m.contacts(x[i, :19], x[i, 19:], self.u[0, i])
            self.assertEqual(found.counts[i], len(want))
            numpy.testing.assert_array_equal(found.contacts[i, : len(want)], want)
        self.assertEqual((found.counts[1], found.counts[2]), (0, 0))
        self.assertEqual(found.couples.shape, (*found.contacts.shape, 3))
        batch.reset(x=self.x)
        numpy.testing.assert_array_equal(batch.contacts().contacts, batch.contacts(self.x).contacts)

    def test_there_is_room_for_any_number_of_contacts(self):
        scene = {"ground": True, "models": [{"name": "box", "model": {
            "bodies": [{"name": "box", "joint": {"type": "free"}, "mass": 1, "inertia": [1, 1, 1, 0, 0, 0],
                        "shapes": [{"type": "box", "half_extents": [0.1, 0.1, 0.1]}]}]}}]}
        scene["models"] = [{**scene["models"][0], "name": f"box{i}", "position": [i, 0, 0.0999]} for i in range(6)]
        batch = costate.Batch(costate.Model.from_string(scene), 1)
        self.assertEqual(batch.contacts().counts.tolist(), [24])

    def test_progress_is_told_and_may_end_a_call(self):
        batch = costate.Batch(self.m, self.n, threads=2, substeps=SUBSTEPS)
        u = numpy.repeat(self.u[:1], 400, 0)
        told = []
        states, _ = batch.rollout(self.x, u, progress=lambda *report: told.append(report))
        self.assertEqual(told[-1], (400 * self.n, 400 * self.n))
        self.assertGreater(len(told), 1)
        self.assertEqual(sorted(told), told)
        before = numpy.concatenate([self.x[None], states[:-1]])
        batch.backward(before, u, numpy.zeros((400, self.n, self.m.ndx)), progress=lambda *report: told.append(report))
        batch.run(self.x, u, progress=lambda *report: told.append(report))
        self.assertEqual(told.count((400 * self.n, 400 * self.n)), 3)
        with self.assertRaises(costate.Interrupted):
            batch.rollout(self.x, u, progress=lambda done, total: False)

        def fail(done, total):
            raise KeyError("of the caller")

        with self.assertRaisesRegex(KeyError, "of the caller"):
            batch.run_vjp(self.x, u, numpy.zeros((400, self.n, self.m.ndx)), progress=fail)
        with self.assertRaisesRegex(TypeError, "progress must be a function"):
            batch.rollout(self.x, u, progress=3)
        numpy.testing.assert_array_equal(batch.rollout(self.x, u)[0], states)

    def test_ambient_gradients_are_those_by_the_numbers_of_a_state(self):
        batch = costate.Batch(self.m, self.n, substeps=SUBSTEPS, ambient=True)
        x = self.x.copy()
        x[:, 3:7] *= 1.3  # means q/|q|
        bar = numpy.random.default_rng(3).normal(size=(1, self.n, self.m.nx))
        g = batch.backward(x[None], self.u[:1], bar).x
        for k in range(self.m.nx):
            d = numpy.zeros_like(x)
            d[:, k] = 1e-6
            change = (batch.step(x + d, self.u[0])[0] - batch.step(x - d, self.u[0])[0]) / 2e-6
            self.assertLess(numpy.abs((change * bar[0]).sum(1) - g[:, k]).max(), 1e-5 * max(1, numpy.abs(g).max()))

    def test_each_environment_may_have_parameters_of_its_own(self):
        batch = costate.Batch(self.m, self.n, own_parameters=True)
        theta = numpy.repeat(self.m.parameters[None], self.n, 0)
        batch.set_parameters(theta)
        same, _ = batch.step(self.x, self.u[0])
        theta[2, self.m.parameter_names.index("bodies/robot/trunk/mass")] += 2
        batch.set_parameters(theta)
        heavier, _ = batch.step(self.x, self.u[0])
        self.assertEqual((same != heavier).any(1).tolist(), [False, False, True, False])
        batch.set_parameters(None)
        numpy.testing.assert_array_equal(batch.step(self.x, self.u[0])[0], same)

    def test_a_batch_has_states_of_its_own(self):
        batch = costate.Batch(self.m, self.n, substeps=SUBSTEPS)
        batch.reset(x=self.x)
        numpy.testing.assert_array_equal(batch.advance(self.u[0])[0], batch.step(self.x, self.u[0])[0])
        batch.reset(envs=numpy.array([1], numpy.int32), noise=numpy.full(self.m.ndx, 0.1),
                    seeds=numpy.array([7], numpy.uint64))
        noisy, diverged = batch.state()
        start = numpy.concatenate(self.m.initial_state())
        self.assertTrue(0 < numpy.abs(noisy[1] - start).max() <= 0.11 and not diverged.any())
        numpy.testing.assert_array_equal(noisy[0], batch.step(self.x, self.u[0])[0][0])
        batch.reset()
        numpy.testing.assert_array_equal(batch.state()[0], numpy.repeat(start[None], self.n, 0))

    def test_environments_to_reset_are_indices_or_a_mask(self):
        batch, n = costate.Batch(self.m, 8), 8
        start, other = batch.state()[0], states(self.m, 8, 1)
        for envs in (numpy.array([1, 0, 0, 0, 1, 0, 0, 1],
                                 bool), [True, 0 > 1, False, False, True, False, False,
                                         True], [4, 0, 7], numpy.array([0, 4, 7],
                                                                       numpy.uint8), numpy.array([7, 4, 0])):
            batch.reset(x=other)
            batch.reset(envs=envs)
            moved = (batch.state()[0] != other).any(1)
            self.assertEqual(numpy.flatnonzero(moved).tolist(), [0, 4, 7])
            numpy.testing.assert_array_equal(batch.state()[0][moved], start[moved])
        batch.reset(envs=numpy.arange(n) == 3, x=other[5:6])
        numpy.testing.assert_array_equal(batch.state()[0][3], batch.state()[0][5])
        batch.reset(envs=[])
        batch.reset(envs=numpy.zeros(n, bool))
        before = batch.state()[0]
        for envs, error, sentence in (([1, 2, 1], costate.BadArgument, "environment 1 more than once"),
                                      ([8], costate.BadArgument, "no environment 8"),
                                      ([-1], costate.BadArgument, "-1"), ([2**40], costate.BadArgument,
                                                                          "envs has numbers beyond"),
                                      ([0.0], TypeError, "envs must hold integers, not float64"),
                                      (numpy.ones(7,
                                                  bool), ValueError, r"envs must have shape \(8,\), not \(7,\)")):
            with self.assertRaisesRegex(error, sentence):
                batch.reset(envs=envs)
        for envs in ([8], [-1]):
            with self.assertRaisesRegex(costate.BadArgument, f"no environment {envs[0]}; there are 8"):
                batch.jacobian(before, numpy.zeros((n, batch.nu)), envs=envs)
        numpy.testing.assert_array_equal(batch.state()[0], before)

    def test_a_copy_has_parameters_and_states(self):
        batch = costate.Batch(self.m, self.n, threads=2, substeps=SUBSTEPS, own_parameters=True, ambient=True)
        theta = numpy.repeat(self.m.parameters[None], self.n, 0)
        theta[2, self.m.parameter_names.index("bodies/robot/trunk/mass")] += 2
        batch.set_parameters(theta)
        batch.reset(x=self.x)
        want = batch.advance(self.u[0])[0]
        for other in (pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch)):
            self.assertEqual((other.n_env, other.substeps, other.ambient), (self.n, SUBSTEPS, True))
            numpy.testing.assert_array_equal(other.state()[0], want)
            numpy.testing.assert_array_equal(other.advance(self.u[1])[0], batch.step(want, self.u[1])[0])

    def test_other_numbers_are_converted(self):
        batch = costate.Batch(self.m, self.n)
        single = self.x.astype("f")
        want = batch.step(single.astype(float), self.u[0])[0]
        for x in (single, single.tolist(), numpy.asfortranarray(single)):
            numpy.testing.assert_array_equal(batch.step(x, self.u[0].tolist())[0], want)
        states, completed = batch.rollout(single, self.u.tolist())
        x = numpy.stack([single, states[0].astype("f")])
        got = batch.backward(x, self.u, self.bar.astype("f"), completed.tolist())
        want = batch.backward(x.astype(float), self.u, self.bar.astype("f").astype(float), completed)
        numpy.testing.assert_array_equal(got.x, want.x)

    def test_one_that_diverges_stays_and_stops_no_other(self):
        batch = costate.Batch(self.m, self.n, ambient=True)
        x = self.x.copy()
        x[1, 19:] = 1e200
        after, diverged = batch.step(x, self.u[0])
        self.assertEqual(diverged.tolist(), [False, True, False, False])
        numpy.testing.assert_array_equal(after[1], x[1])
        numpy.testing.assert_array_equal(after[2], batch.step(self.x, self.u[0])[0][2])
        g = batch.backward(x[None], self.u[:1], numpy.ones((1, self.n, self.m.nx)),
                           completed=(~diverged).astype(numpy.int32))
        self.assertTrue((g.u[0, 1] == 0).all() and (g.u[0, 2] != 0).any())

    def test_poses_and_their_reverse(self):
        batch = costate.Batch(self.m, self.n)
        frames = batch.frames(["robot/FR_calf"])
        poses, _ = batch.poses(self.x, frames)
        position, quaternion = self.m.body_pose(self.x[1, :19].copy(), "robot/FR_calf")
        numpy.testing.assert_allclose(poses[1, 0], numpy.concatenate([position, quaternion]), atol=1e-14)
        bar = numpy.zeros((self.n, 1, 6))
        bar[:, 0, 2] = 1
        g = batch.poses_vjp(self.x, frames, bar).x
        d = numpy.zeros(self.m.nv)
        d[7] = 1e-6
        up, down = (self.m.body_pose(self.m.retract(self.x[1, :19].copy(), e), "robot/FR_calf")[0][2]
                    for e in (d, -d))
        self.assertAlmostEqual(g[1, 7], (up - down) / 2e-6, delta=1e-8)
        with self.assertRaisesRegex(ValueError, "no body or site 'robot/head'"):
            batch.frames(["robot/head"])

    def test_bad_input_is_an_exception_with_a_sentence(self):
        batch = costate.Batch(self.m, self.n)
        self.assertEqual(batch.bytes, costate.Batch.bytes_of(self.m, self.n))
        with self.assertRaisesRegex(ValueError, r"u must have shape \(4, 12\), not \(3, 12\)"):
            batch.step(self.x, self.u[0, :3])
        frozen = self.x.copy()
        frozen.flags.writeable = False
        for out in (frozen, numpy.repeat(self.x, 2, 1)[:, ::2]):
            with self.assertRaisesRegex(ValueError, "out is an output and must be C-contiguous and writable"):
                batch.step(self.x, self.u[0], out=out)
        with self.assertRaisesRegex(TypeError, "out is an output and must be a numpy array of float64"):
            batch.step(self.x, self.u[0], out=self.x.astype("f"))
        with self.assertRaisesRegex(ValueError, "wanted has 'z'; possible are x, u, parameters"):
            batch.backward(self.x[None], self.u[:1], self.bar[:1], wanted=("z",))
        with self.assertRaisesRegex(ValueError, r"u must have shape \(n, 4, 12\), not \(4, 12\)"):
            batch.rollout(self.x, self.u[0])
        with self.assertRaisesRegex(costate.BadArgument, "not finite"):
            batch.step(self.x, self.u[0] * numpy.nan)
        for n in (0, -1, 2**32 + 4, 2**40):
            with self.assertRaisesRegex(costate.BadArgument, f"n_env is {n}"):
                costate.Batch(self.m, n)
        for n in (4.0, "4", None, True):
            with self.assertRaisesRegex(TypeError, "n_env must be an integer"):
                costate.Batch(self.m, n)
        with self.assertRaisesRegex(costate.BadArgument, "checkpoint_bytes is -1"):
            costate.Batch(self.m, 4, checkpoint_bytes=-1)
        with self.assertRaisesRegex(TypeError, "model must be a costate.Model, not str: costate.Model"):
            costate.Batch("go1_stand", 4)
        own = self.m.parameters
        with self.assertRaises(costate.BadArgument):
            batch.set_parameters(numpy.repeat(own[None], self.n, 0))
        batch.close()
        with self.assertRaisesRegex(costate.BadHandle, "freed"):
            batch.step(self.x, self.u[0])

    def test_an_output_may_be_given(self):
        batch = costate.Batch(self.m, self.n)
        want, _ = batch.step(self.x, self.u[0])
        x = self.x.copy()
        self.assertIs(batch.step(x, self.u[0], out=x)[0], x)
        numpy.testing.assert_array_equal(x, want)
