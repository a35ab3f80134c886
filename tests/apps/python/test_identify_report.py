"""The page of an identification: it stands alone, its pictures are well formed, and no text lies outside or on another."""
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy
from test_identify import DAMPING, FLIER, FRICTION, MASSES, pendulum, recorded
from test_identify_signals import NAMES, NOISE, SUBSTEPS, UNKNOWN, fit, swings

import costate
from costate import Recording, Signal, _svg
from costate._identification import fit_page

SVG = "{http://www.w3.org/2000/svg}"


def page(found, held_out=None, **options):
    with tempfile.TemporaryDirectory() as folder:
        found.report(Path(folder) / "fit.html", held_out, **options)
        assert [path.name for path in Path(folder).iterdir()] == ["fit.html"]
        return (Path(folder) / "fit.html").read_text()


def pictures(text):
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]


class ReportTest(unittest.TestCase):
    def assert_readable(self, svg):
        """Every text lies within the picture, and no two overlap; glyphs of 11 px are about 6.2 px wide."""
        width, height, boxes = float(svg.get("width")), float(svg.get("height")), []
        for text in svg.iter(SVG + "text"):
            x, y, size = float(text.get("x")), float(text.get("y")), 6.2 * len(text.text)
            left = x - {None: 0, "middle": size / 2, "end": size}[text.get("text-anchor")]
            boxes.append((left, left + size, y - 9, y + 2, text.text))
        for i, (a, b, top, bottom, text) in enumerate(boxes):
            self.assertTrue(0 <= a and b <= width + 1 and 0 <= top and bottom <= height, (text, a, b, width))
            for c, d, above, below, other in boxes[:i]:
                self.assertTrue(b <= c or d <= a or bottom <= above or below <= top, (text, other))

    def test_a_fit_with_held_out_recordings(self):
        m = pendulum()
        recordings = swings(m, n=3, offsets=(0.05,) * 3)
        found = fit(m, recordings[:2], [MASSES, DAMPING, FRICTION._replace(lower=0.22), "bodies/pendulum/upper/com[1]"],
                    {NAMES[0]: UNKNOWN})
        held = costate.evaluate(m, recordings[2:], NOISE, found.parameters, signals=found.signals, substeps=SUBSTEPS, threads=1)
        text = page(found, held, title="Swings <1 & 2>")
        for expected in ("<h1>Swings &lt;1 &amp; 2&gt;</h1>", f"Misfit <b>{found.misfit:.3g}</b>", f"<b>{held.misfit:.3g}</b>",
                         "No recording shows <b>bodies/pendulum/upper/com[1]</b>: every value fits equally well",
                         "<b>joints/pendulum/elbow/dry_friction</b> ends at its lower bound", "<td>delay(pendulum/shoulder)</td>",
                         "prefers-color-scheme: dark", "Held-out recordings"):
            self.assertIn(expected, text)
        self.assertNotRegex(text.replace('xmlns="http://www.w3.org/2000/svg"', ""), r"https?:|<script|<link|url\(")
        self.assertNotIn("nan", re.sub("<style>.*</style>", "", text, flags=re.DOTALL).lower())
        drawn = pictures(text)
        self.assertEqual(len(drawn), 1 + 2 * 2 * 3)
        for svg in drawn:
            self.assert_readable(svg)
        lines = [path.get("d") for path in drawn[1].iter(SVG + "path") if "line" in path.get("class")]
        self.assertEqual((len(lines), lines[0].count("M"), lines[0].count("L")), (1, 1, len(recordings[0].times) - 1))

    def test_poses_velocities_large_numbers_and_gaps(self):
        m, random = costate.Model.from_string(FLIER), numpy.random.default_rng(0)
        x = m.state(*m.initial_state())
        x[m.nq:] = 2 * random.normal(size=m.nv)
        u = 0.3 * random.normal(size=(30, 1))
        states = recorded(m, x, u, 10)
        free, fast = states[:, :7] + 1e-3 * random.normal(size=(31, 7)), 1e6 * states[:, 8:14]
        free[5:9], fast[:] = numpy.nan, numpy.round(fast, -3)
        one = Recording(0.01 * numpy.arange(31), {"f/free": -free, "d(f/free)": fast}, x, u=u)
        one.signals["f/free"][:, :3] *= -1  # a quaternion and its negative are the same rotation
        found = costate.identify(m, [one] * 14, ["bodies/f/link/com[*]", "joints/f/hinge/placement[*]"], {"f/free": 1e-3, "d(f/free)": 1e3},
                                 signals={"d(f/free)": Signal(gain=1e6)}, substeps=10, threads=1)
        text = page(found)
        self.assertIn("The 12 with the largest errors of 14.", text)
        self.assertRegex(text, "No recording changes when together <b>bodies/f/link/com.1.</b> rises by 1, <b>joints/f/hinge/placement.1.</b> "
                               "falls by 1")
        drawn = pictures(text)
        self.assertEqual(len(drawn), 1 + 12 * 8)
        for svg in drawn[:9]:
            self.assert_readable(svg)
        quaternion = [path.get("d") for path in drawn[3].iter(SVG + "path") if path.get("class") == "line s0"][0]
        self.assertEqual(quaternion.count("M"), 1)
        self.assertIn("d(f/free), 10^6", text)

    def test_a_divergence_is_said(self):
        m = pendulum()
        recordings = swings(m, n=1, offsets=(0,))
        held = costate.evaluate(m, recordings, NOISE, substeps=SUBSTEPS, threads=1)
        differences = [{name: numpy.full_like(d, numpy.inf) for name, d in held.differences[0].items()}]
        found = fit(m, recordings, [DAMPING], {}, iterations=1)
        text = page(found, held._replace(differences=differences, misfit=numpy.inf))
        self.assertIn("<td>diverges</td>", text)
        self.assertIn("The prediction diverges.", text)

    def test_ticks_are_round_and_few(self):
        for low, high, expected in ((0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]), (-2.2, 3, ["\u22122", "0", "2"]),
                                    (5, 5, None), (0.99999, 1.00001, None), (1e-9, 3e-9, None), (-4e7, 1e5, None), (0, 0, None)):
            at, texts, exponent = _svg.ticks(low, high)
            self.assertTrue(2 <= len(at) <= 7, (low, high, texts))
            self.assertEqual(len(set(texts)), len(texts))
            self.assertLess(max(map(len, texts)), 10)
            self.assertTrue(expected is None or texts == expected, texts)
            numpy.testing.assert_allclose([float(text.replace("\u2212", "-")) * 10.0**exponent for text in texts], at, atol=1e-12)

    def test_numbers_have_the_digits_that_are_known(self):
        for value, error, expected in ((1.23456, 0.0123, "1.235"), (99909.4, 312, "99909"), (-0.5, 0.1, "\u22120.50"), (3.0e-9, 1e-10, "3.00e\u221209"),
                                       (2.5, numpy.inf, "2.5"), (numpy.inf, 1, "\u221e"), (0.0, 2.3e-5, "0.000000"), (2e9, 3e6, "2.0000e+09")):
            self.assertEqual(fit_page.number(value, error), expected)

    def test_a_folder_that_is_missing_is_said(self):
        m = pendulum()
        found = fit(m, swings(m, n=1), [DAMPING], {}, iterations=1)
        with self.assertRaisesRegex(costate.BadFile, "nowhere/fit.html: cannot be written: No such file or directory; choose a folder"):
            found.report("nowhere/fit.html")


if __name__ == "__main__":
    unittest.main()
