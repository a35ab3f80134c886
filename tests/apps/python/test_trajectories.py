"""Trajectories in CSV files: the columns and numbers of the program, and what is refused. COSTATE_PROGRAM says where it is."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy

import costate

SENSORS = Path(__file__).resolve().parents[1] / "sensors_scene.json"


def simulate(*arguments):
    return subprocess.run([os.environ["COSTATE_PROGRAM"], "simulate", *map(str, arguments)], capture_output=True,
                          text=True)


class TrajectoryTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "run.csv"
        self.other = Path(folder.name) / "other.csv"

    @unittest.skipUnless("COSTATE_PROGRAM" in os.environ, "COSTATE_PROGRAM does not name the program")
    def test_the_columns_and_numbers_are_those_of_the_program(self):
        for scene in ("cartpole", "go1_stand", SENSORS):
            with self.subTest(scene):
                self.assertEqual(simulate(scene, "--steps", 20, "--out", self.file).returncode, 0)
                m = costate.Model(scene)
                run = costate.read_trajectory(self.file, m)
                self.assertEqual((len(run.times), run.states.shape, run.controls.shape), (21, (21, m.nx), (21, m.nu)))
                x = m.state(*m.initial_state())
                for state, u in zip(run.states, run.controls):
                    numpy.testing.assert_array_equal(state, x)
                    x = m.state_step(x, u)
                costate.write_trajectory(self.other, m, run.states, run.controls[:-1])
                self.assertEqual(self.other.read_text().split("\n")[0], self.file.read_text().split("\n")[0])
                again = costate.read_trajectory(self.other, m)
                numpy.testing.assert_array_equal(again.states, run.states)
                numpy.testing.assert_array_equal(again.controls, run.controls)
                numpy.testing.assert_allclose(again.times, run.times, atol=1e-15)

    @unittest.skipUnless("COSTATE_PROGRAM" in os.environ, "COSTATE_PROGRAM does not name the program")
    def test_the_program_is_driven_by_controls_from_python(self):
        m, random = costate.Model("cartpole"), numpy.random.default_rng(0)
        u, states = random.normal(size=(15, m.nu)), [m.state(*m.initial_state())]
        for control in u:
            states.append(m.state_step(states[-1], control))
        costate.write_trajectory(self.file, m, states, u)
        done = simulate("cartpole", "--steps", 15, "--controls", self.file, "--out", self.other)
        self.assertEqual(done.returncode, 0, done.stderr)
        numpy.testing.assert_array_equal(costate.read_trajectory(self.other, m).states, states)

    def test_controls_may_be_missing(self):
        m = costate.Model("cartpole")
        states = numpy.arange(8.0).reshape(2, 4) / 3
        costate.write_trajectory(self.file, m, states, time_step=0.5)
        run = costate.read_trajectory(self.file, m)
        self.assertIsNone(run.controls)
        self.assertEqual(run.times.tolist(), [0, 0.5])
        numpy.testing.assert_array_equal(run.states, states)

    def test_bad_input_is_refused(self):
        m = costate.Model("cartpole")
        costate.write_trajectory(self.file, m, numpy.zeros((2, 4)), numpy.zeros((2, 1)))
        text = self.file.read_text()
        for change, sentence in ((("d(cartpole/slider)", "speed"), r"has no column 'd\(cartpole/slider\)'"),
                                 (("\n0.0,0.0,", "\n0.0,,"), "column 'cartpole/slider' has a cell that is empty"),
                                 (("\n0.0,0.0,", "\n0.0,x,"), "line 2: 'x' in column 'cartpole/slider' is not a number")):
            self.file.write_text(text.replace(*change, 1))
            with self.assertRaisesRegex(costate.BadFile, sentence):
                costate.read_trajectory(self.file, m)
        self.file.write_text(text)
        with self.assertRaisesRegex(costate.BadFile, "has no column 'pendulum/joint1'"):
            costate.read_trajectory(self.file, costate.Model("pendulum_1"))
        with self.assertRaisesRegex(costate.BadFile, "/nowhere/run.csv: cannot be written"):
            costate.write_trajectory("/nowhere/run.csv", m, numpy.zeros((2, 4)))
        with self.assertRaisesRegex(costate.BadFile, "/nowhere/run.csv: cannot be read"):
            costate.read_trajectory("/nowhere/run.csv", m)
        with self.assertRaisesRegex(ValueError, "time_step is 0.0, it must be positive"):
            costate.write_trajectory(self.file, m, numpy.zeros((2, 4)), time_step=0)
        with self.assertRaisesRegex(ValueError, "controls must have 2 or 1 rows, not 5"):
            costate.write_trajectory(self.file, m, numpy.zeros((2, 4)), numpy.zeros((5, 1)))
        with self.assertRaisesRegex(TypeError, "model must be a costate.Model"):
            costate.read_trajectory(self.file, "cartpole")
        self.assertEqual(self.file.read_text(), text)
