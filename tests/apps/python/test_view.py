"""Pages of states, written by the program. COSTATE_PROGRAM says where it is."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy

import costate
import settings
from costate import viewer


def program_has_a_viewer():
    try:
        path = viewer.program()
    except FileNotFoundError:
        return False
    return "--run" in subprocess.run([path, "view", "--help"], capture_output=True, text=True).stdout


@unittest.skipUnless(program_has_a_viewer(),
                     "there is no program with a viewer (cmake --build build --target costate)")
class ViewTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = Path(self.folder.name) / "page.html"

    def test_a_rollout_of_a_batch_becomes_a_page(self):
        m = costate.Model("go1_stand")
        batch = costate.Batch(m, 2, substeps=10)
        x, u = batch.state()[0], numpy.zeros((20, 2, 12))
        states, _ = batch.rollout(x, u)
        self.assertEqual(costate.view(m, states[:, 1], out=self.out, time_step=0.01), str(self.out))
        without = self.out.read_text()
        self.assertIn("<html", without)
        costate.view(m, numpy.concatenate([x[1:], states[:, 1]]), u[:, 1], out=self.out, time_step=0.01)
        self.assertGreater(len(self.out.read_text()), 0)
        self.assertNotEqual(self.out.read_text(), without)  # contacts are in it

    def test_a_model_from_a_string_and_kept_impulses(self):
        scene = json.loads((Path(__file__).parent.parent / "settings_scene.json").read_text())
        m = costate.Model.from_string(
            {**scene, "solver": {**settings.SOLVERS["lcp"], "warm_start": True, "warm_contacts": 4}})
        x = m.state(*m.initial_state())
        self.assertGreater(m.nx, m.nq + m.nv)
        costate.view(m, [x, m.state_step(x, numpy.zeros(m.nu))], out=self.out)
        self.assertTrue(self.out.is_file())
        with mock.patch.object(tempfile, "mkdtemp", return_value=self.folder.name):
            self.assertEqual(costate.view(m, x[None, : m.nq + m.nv]), str(Path(self.folder.name) / "text.html"))

    def test_a_scene_from_a_string_names_the_files_of_its_models(self):
        file = Path(__file__).resolve().parents[3] / "scenes/library/hopper.json"
        scene = json.loads(file.read_text())
        self.assertIn("file", scene["models"][0])
        m = costate.Model.from_string({**scene, "time_step": 0.004}, name=file)
        costate.view(m, m.state(*m.initial_state())[None], out=self.out)
        self.assertIn("<html", self.out.read_text())

    def test_bad_input_is_refused(self):
        m = costate.Model("cartpole")
        with self.assertRaisesRegex(ValueError, r"states must have shape \(n, 4\), not \(4,\)"):
            costate.view(m, numpy.zeros(4), out=self.out)
        with self.assertRaisesRegex(ValueError, "controls must have 3 or 2 rows, not 1"):
            costate.view(m, numpy.zeros((3, 4)), numpy.zeros((1, 1)), out=self.out)
        with self.assertRaisesRegex(costate.BadFile, "nowhere"):
            costate.view(m, numpy.zeros((3, 4)), out="/nowhere/page.html")
        with self.assertRaisesRegex(costate.BadFile, "not a finite number"):
            costate.view(m, numpy.full((3, 4), numpy.nan), out=self.out)
        with self.assertRaisesRegex(TypeError, "model must be a costate.Model"):
            costate.view("cartpole", numpy.zeros((3, 4)))
        with mock.patch.dict(os.environ, {"COSTATE_PROGRAM": "/nowhere/costate"}):
            with self.assertRaisesRegex(FileNotFoundError, "no program at /nowhere/costate; build it"):
                costate.view(m, numpy.zeros((3, 4)), out=self.out)
        self.assertFalse(self.out.exists())
