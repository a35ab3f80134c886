"""The command `costate identify`: the example finds what made its files; every bad input gives one line with file, place and remedy,
and nothing is written."""
import contextlib
import copy
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy

import costate
from costate._identification.command import BAD_INPUT, DIVERGED, DONE, main

EXAMPLE = Path(__file__).resolve().parents[3] / "apps/python/examples/box_pull/fit.json"
SCENE = {
    "time_step": 0.01, "gravity": [0, 0, 0],
    "models": [{"name": "m", "model": {
        "bodies": [{"name": "cart", "joint": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0], "stiffness": 10}, "mass": 2,
                    "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "sites": [{"name": "tip"}]}],
        "sensors": [{"name": "velocity", "type": "velocimeter", "site": "tip"}],
        "actuators": [{"name": "push", "joint": "rail", "type": "motor"}]}}],
    "initial": {"joints": {"m/rail": 0.5}},
}
SPEC = {"model": "scene.json", "noise": {"m/rail": 0.001}, "recordings": [{"file": "run.csv"}], "unknowns": ["bodies/m/cart/mass"]}
CSV = "time,m/rail,u(m/push)\n0,0.5,1\n0.01,0.4995,1\n0.02,0.4986,1\n0.04,,1\n0.05,0.4925,1\n"


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.write(spec=SPEC)

    def write(self, spec=None, csv=CSV, scene=SCENE):
        for name, text in (("spec.json", json.dumps(spec)), ("run.csv", csv), ("scene.json", json.dumps(scene))):
            if name != "spec.json" or spec is not None:
                (self.folder / name).write_text(text)

    def run_it(self, *more):
        """(status, standard output, standard error)"""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([str(self.folder / "spec.json"), "--out", str(self.folder / "out"), *more])
        return status, out.getvalue(), err.getvalue()

    def refused(self, sentence, *more, status=BAD_INPUT):
        before = sorted(self.folder.rglob("*"))
        got, out, err = self.run_it(*more)
        self.assertEqual((got, out, err.count("\n")), (status, "", 1), err)
        self.assertTrue(err.startswith("costate: "), err)
        self.assertIn(sentence, err.replace(str(self.folder) + "/", ""))
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_the_example_finds_what_made_its_files(self):
        done = subprocess.run([sys.executable, "-m", "costate", "identify", str(EXAMPLE), "--write-model", "box.json"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.assertIn("held-out recordings: misfit ", done.stdout)
        self.assertIn("wrote fit/result.json, fit/report.html, box.json", done.stdout)
        result = json.loads((self.folder / "fit/result.json").read_text())
        for unknown, truth in zip(result["unknowns"], (2, 0.3, 0.004, 0.012)):
            self.assertLess(abs(unknown["value"] - truth), 3.5 * unknown["standard_error"], unknown)
        self.assertEqual([unknown["name"] for unknown in result["unknowns"][2:]], ["offset(box/along)", "delay(box/along)"])
        self.assertLess(abs(result["misfit"] - 1), 0.3)
        self.assertLess(abs(result["held_out"]["misfit"] - 1), 0.3)
        self.assertEqual(result["held_out"]["errors"][0]["file"], "pull_20.csv")
        self.assertIn("Held-out recordings", (self.folder / "fit/report.html").read_text())
        written = costate.Model(self.folder / "box.json")
        for entry in result["parameters"]:
            self.assertEqual(written.parameters[written.parameter_names.index(entry["path"])], entry["value"])

    def test_starts_windows_sensors_and_comments(self):
        m = costate.Model.from_string(SCENE)
        batch = costate.Batch(m, 1, threads=1)
        u = numpy.sin(0.3 * numpy.arange(60))[:, None]
        x = m.state([0.5], [0.0])
        theta = m.parameters
        theta[m.parameter_names.index("bodies/m/cart/mass")] = 2.5
        batch.set_parameters(theta)
        states = numpy.concatenate([x[None], batch.rollout(x[None], u[:, None])[0][:, 0]])
        lines = ["time,m/rail,d(m/rail),u(m/push),sensor(m/velocity)[0]"]
        lines += [f"{0.01 * k:.2f},{s[0]!r},{s[1]!r},{u[min(k, 59), 0]!r},{s[1]!r}" for k, s in enumerate(states)]
        spec = {**SPEC, "noise": {"m/rail": 0.001, "m/velocity": [0.01, 1, 1]}, "substeps": 1,
                "recordings": [{"file": "run.csv", "from": 0.1, "to": 0.3, "start": "row", "start_noise": [0, "inf"]},
                               {"file": "run.csv", "from": 0.35, "start": states[35].tolist()}],
                "held_out": [{"file": "run.csv", "controls": "run.csv"}]}
        self.write(csv="\n".join(lines) + "\n")
        (self.folder / "spec.json").write_text("// a cart\n" + json.dumps(spec).replace("{", "{ /* { */", 1))
        status, out, err = self.run_it("--write-model", str(self.folder / "found.json"))
        self.assertEqual((status, err), (DONE, ""))
        result = json.loads((self.folder / "out/result.json").read_text())
        self.assertAlmostEqual(result["unknowns"][0]["value"], 2.5, delta=1e-8)
        self.assertLess(max(result["misfit"], result["held_out"]["misfit"]), 1e-6)
        self.assertEqual(json.loads((self.folder / "found.json").read_text())["parameters"][0]["path"], "bodies/m/cart/mass")
        self.assertEqual(costate.Model(self.folder / "found.json").initial_state()[0], [0.5])

    def test_bad_specifications_are_refused_with_their_place(self):
        cases = (
            (("modell", "x"), "spec.json#/modell: unknown key"),
            (("model", "nowhere.json"), "spec.json#/model: nowhere.json: there is no such file; check the path"),
            (("noise", {}), "spec.json#/noise: names no signal"),
            (("noise", {"m/rial": 1}), "spec.json#/noise/m/rial: there is no signal 'm/rial'; "),
            (("noise", {"m/rail": 0}), "spec.json#/noise/m/rail: must be a positive number or 1 of them: standard deviations"),
            (("unknowns", ["bodies/m/cart/mas"]), "spec.json#/unknowns/0: there is no parameter 'bodies/m/cart/mas'; the nearest is bodies/m/cart/mass"),
            (("unknowns", [{"path": "bodies/m/cart/mass", "scael": "log"}]), "spec.json#/unknowns/0/scael: unknown key; there are path, scale"),
            (("unknowns", [{"scale": "log"}]), "spec.json#/unknowns/0: has no 'path'; add it"),
            (("unknowns", [{"path": "bodies/m/cart/mass", "lower": "a"}]), 'spec.json#/unknowns/0/lower: must be a number or "inf", not "a"'),
            (("unknowns", [{"path": "bodies/m/cart/mass", "lower": 3}]), "spec.json#/unknowns/0: bodies/m/cart/mass starts at 2, outside of its bounds 3"),
            (("unknowns", [{"path": "bodies/m/cart/mass", "prior": [1, 0]}]), "spec.json#/unknowns/0/prior: its second number"),
            (("unknowns", 2 * ["bodies/m/cart/mass"]), "spec.json: bodies/m/cart/mass is in two unknowns; name it once"),
            (("unknowns", []), "spec.json: nothing is unknown: name parameters"),
            (("recordings", []), "spec.json#/recordings: is empty; name at least one file"),
            (("recordings", [{"file": "gone.csv"}]), "gone.csv: cannot be read: No such file or directory; check the path"),
            (("recordings", [{"file": "run.csv", "start": [1]}]), "spec.json#/recordings/0/start: has 1 numbers, but a state of the model has 2"),
            (("recordings", [{"file": "run.csv", "start": "row"}]), "run.csv: a start of \"row\" needs all numbers of 'd(m/rail)' at 0 s"),
            (("recordings", [{"file": "run.csv", "start_noise": -1}]), "spec.json#/recordings/0/start_noise: must be a number of at least 0"),
            (("recordings", [{"file": "run.csv", "from": 3}]), "run.csv: has no rows between 3 and inf s; it goes from 0 to 0.05 s"),
            (("substeps", 2), "spec.json: run.csv: the sample at 0.01 s lies between control steps of 0.02 s; choose a time step"),
            (("substeps", True), "spec.json#/substeps: must be an integer of at least 1, not true"),
            (("signals", {"m/rial": {}}), "spec.json#/signals/m/rial: unknown key; there are m/rail"),
            (("signals", {"m/rail": {"delay": [0, 1]}}), "spec.json: run.csv: m/rail: no sample is later than the longest delay of 1 s"),
            (("signals", {"m/rail": {"delay": [1, 0]}}), "spec.json#/signals/m/rail: delay is (1.0, 0.0); it may be"),
        )
        for (key, value), sentence in cases:
            with self.subTest(sentence):
                self.write({**SPEC, key: value})
                self.refused(sentence)
        for text, sentence in (('{"model": 1,}', "spec.json: line 1, column 13: "), ('{"model": 1, "model": 2}', "spec.json: the key 'model' is given twice"),
                               ("[]", "spec.json: must be an object, not []")):
            with self.subTest(sentence):
                (self.folder / "spec.json").write_text(text)
                self.refused(sentence)
        (self.folder / "spec.json").unlink()
        self.refused("spec.json: cannot be read: No such file or directory; check the path")

    def test_bad_tables_are_refused_with_their_line(self):
        cases = (
            ("", "run.csv: has no rows; write a line of column names"),
            ("t,m/rail\n0,1\n", "run.csv: has no column 'time', s; add it"),
            (CSV.replace("0.4986", "a"), "run.csv: line 4: 'a' in column 'm/rail' is not a number; correct it"),
            (CSV.replace("0.4986,", ""), "run.csv: line 4 has 2 cells, but there are 3 columns; complete it"),
            (CSV.replace("0.02,", "0.01,"), "run.csv: line 4: time does not increase"),
            (CSV.replace("time,m/rail", "time,m/rial"), "run.csv: has no column of any signal in \"noise\", for example 'm/rail'; it has time, m/rial, "),
            (CSV.replace("u(m/push)", "u(push)"), "run.csv: has no column 'u(m/push)'; there are u(push); add the controls of all actuators"),
            (CSV.replace("0,0.5,1\n", "", 1), "run.csv: the controls begin at 0.01 s, the motion at 0 s; add a row"),
            (CSV.replace("0.4986,1", "0.4986,"), "run.csv: a control is missing between 0 and 0.06 s; fill it in"),
            (CSV.replace("time,m/rail", "time,time"), "run.csv: has two columns 'time'; remove one of them"),
        )
        for text, sentence in cases:
            with self.subTest(sentence):
                self.write(csv=text)
                self.refused(sentence)

    def test_nothing_is_written_unless_everything_can_be(self):
        self.refused("gone/found.json: cannot be written: No such file or directory; choose a folder", "--write-model", str(self.folder / "gone/found.json"))
        (self.folder / "taken").mkdir()
        self.refused("taken: cannot be written: there is a folder of this name", "--write-model", str(self.folder / "taken"))
        robot = SCENE["models"][0]["model"]
        self.write({**SPEC, "noise": {"scene/rail": 0.001}, "unknowns": ["bodies/scene/cart/mass"]}, CSV.replace("m/", "scene/"), robot)
        self.refused("spec.json#/model: --write-model writes scenes, and scene.json is the model of one robot; name it in a scene: ",
                     "--write-model", str(self.folder / "found.json"))
        with_file = copy.deepcopy(SCENE)
        with_file["models"][0] = {"name": "m", "file": "robot.json"}
        (self.folder / "robot.json").write_text(json.dumps(robot))
        (self.folder / "other").mkdir()
        self.write(SPEC, scene=with_file)
        self.refused("other/found.json: the scene would not load there, because files that it names are relative to its folder", "--write-model",
                     str(self.folder / "other/found.json"))
        status, _, err = self.run_it("--write-model", str(self.folder / "found.json"))
        self.assertEqual((status, err), (DONE, ""))

    def test_a_divergence_has_its_own_status(self):
        self.write(csv=CSV.replace(",1\n", ",1e308\n"))
        self.refused("spec.json: the first rollouts diverge; start from other values", status=DIVERGED)

    def test_bad_arguments_give_one_line(self):
        for arguments, sentence in (([], "the following arguments are required: SPEC.json"), (["a", "b"], "unrecognized arguments: b")):
            out = subprocess.run([sys.executable, "-m", "costate", "identify", *arguments], capture_output=True, text=True, env=os.environ)
            self.assertEqual((out.returncode, out.stderr), (BAD_INPUT, f"costate: identify: {sentence}; see costate identify --help\n"))


if __name__ == "__main__":
    unittest.main()
