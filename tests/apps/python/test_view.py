"""Pages of states, written by the program. COSTATE_PROGRAM says where it is."""
import html
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path
from unittest import mock

import numpy

import costate
import settings
from costate import _png, viewer


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

    def test_a_page_shows_itself_in_a_notebook(self):
        m = costate.Model("cartpole")
        page = costate.view(m, m.state(*m.initial_state())[None], out=self.out)
        self.assertEqual((page, str(page), type(page)), (str(self.out), str(self.out), costate.Page))
        shown = page._repr_html_()
        self.assertTrue(shown.startswith('<iframe srcdoc="') and shown.endswith("</iframe>"))
        self.assertEqual(html.unescape(shown.split('srcdoc="')[1].split('" style=')[0]), self.out.read_text())

    @unittest.skipUnless(shutil.which("chromium") or "COSTATE_CHROMIUM" in os.environ, "there is no Chromium")
    def test_images_have_their_size_and_show_the_state(self):
        m = costate.Model("cartpole")
        still, turned = viewer.image(m, [0, 0, 0, 0], (400, 300)), viewer.image(m, [0, 1, 0, 0], (400, 300))
        self.assertEqual((still.shape, still.dtype), ((300, 400, 3), numpy.uint8))
        self.assertGreater(numpy.ptp(still), 50)
        self.assertTrue((still != turned).any())

    def test_images_are_read_with_every_filter(self):
        random = numpy.random.default_rng(0)
        for channels, colours in ((3, 2), (4, 6)):
            want = random.integers(0, 256, (7, 5, channels)).astype(numpy.uint8)
            rows, above = b"", numpy.zeros((5, channels), int)
            for y, row in enumerate(want.astype(int)):
                left = numpy.concatenate([numpy.zeros((1, channels), int), row[:-1]])
                corner = numpy.concatenate([numpy.zeros((1, channels), int), above[:-1]])
                p = left + above - corner
                choices = numpy.stack([left, above, corner])
                nearest = numpy.argmin(numpy.abs(p - choices), 0)
                paeth = numpy.take_along_axis(choices, nearest[None], 0)[0]
                guess = [0 * row, left, above, (left + above) // 2, paeth][y % 5]
                rows += bytes([y % 5]) + ((row - guess) % 256).astype(numpy.uint8).tobytes()
                above = row
            chunks = ((b"IHDR", struct.pack(">IIBBBBB", 5, 7, 8, colours, 0, 0, 0)), (b"IDAT", zlib.compress(rows)),
                      (b"IEND", b""))
            self.out.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
                struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
                for kind, data in chunks))
            numpy.testing.assert_array_equal(_png.read_png(self.out), want[..., :3])

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
