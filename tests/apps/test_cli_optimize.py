#!/usr/bin/env python3
"""`costate optimize`: results, curves, reports and baselines. Usage: test_cli_optimize.py PROGRAM"""
import copy
import csv
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import unittest
import xml.etree.ElementTree

from cli import CHECK_FAILED, Cli, DONE, KEYS, PROGRAM, SPRING


class Optimize(Cli):
    def test_report_and_plots(self):
        os.environ["COSTATE_CHROMIUM"] = "/nonexistent"
        self.addCleanup(os.environ.pop, "COSTATE_CHROMIUM")
        if not self.without_viewer():
            self.run_costate("optimize", self.scene, "--report", "report.html")
            self.assertIn("control m/push", (self.folder / "report.html").read_text())
            self.refuse("view", self.scene, "--png", "a.png", because="Chromium")
        self.assertIn("plots", self.run_costate("optimize", self.scene, "--plots", "plots"))
        for name in ["loss", "gradient", "terms", "controls"]:
            self.assertTrue(xml.etree.ElementTree.parse(self.folder / f"plots/{name}.svg").getroot().tag.endswith("svg"))
            with open(self.folder / f"plots/{name}.csv", newline="") as file:
                header, *rows = csv.reader(file)
            self.assertIn(header[0], ["iteration", "time, s"])
            self.assertTrue(rows)
            [float(x) for row in rows for x in row[:2]]
        with open(self.folder / "plots/controls.csv", newline="") as file:
            header, *rows = csv.reader(file)
        self.assertEqual(header, ["time, s", "value", "curve", "plot"])
        self.assertEqual({(row[2], row[3]) for row in rows}, {("before", "m/push"), ("after", "m/push")})
        last = {row[2]: float(row[1]) for row in csv.reader((self.folder / "plots/terms.csv").read_text().splitlines()[1:])}
        r = self.report("optimize", self.scene)
        self.assertEqual(last, {"before": r["initial_loss"], "after": r["final_loss"]})

    def test_the_view_of_a_motion(self):
        link = {"mass": 1, "com": [0.25, 0, 0], "inertia": [0.01, 0.02, 0.02, 0, 0, 0]}
        for axis, seen in (([0, 0, 1], "from above"), ([0, 1, 0], "along the y axis"), ([1, 0, 0], "along the x axis")):
            along = [0.5, 0, 0] if axis[0] == 0 else [0, 0.5, 0]
            arm = {"bodies": [link | {"name": "a", "joint": {"name": "j", "type": "revolute", "axis": axis}},
                              link | {"name": "b", "parent": "a", "joint": {"name": "k", "type": "revolute", "axis": axis, "position": along}}],
                   "actuators": [{"name": "m", "joint": "j", "type": "motor"}]}
            scene = {"steps": 300, "time_step": 0.005, "gravity": [0, 0, 0], "models": [{"name": "arm", "model": arm}],
                     "controls": [{"actuators": ["*"], "optimize": {"knots": 2}, "initial": 2}],
                     "objective": [{"term": "position", "body": "arm/b", "target": [0.1, 0.1, 0.1]}]}
            self.run_costate("optimize", self.write("arm.json", json.dumps(scene)), "--iterations", 3, "--out", "out")
            self.assertIn(f"arm, seen {seen}", (self.folder / "out/motion.svg").read_text())

    def test_one_browser_draws_all_plots(self):
        browser = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
        if not browser:
            self.skipTest("there is no Chromium")
        script = pathlib.Path(self.write("browser", f'#!/bin/sh\necho >> "{self.folder}/starts"\nexec "{browser}" "$@"\n'))
        script.chmod(0o755)
        os.environ["COSTATE_CHROMIUM"] = str(script)
        self.addCleanup(os.environ.pop, "COSTATE_CHROMIUM")
        self.run_costate("optimize", self.scene, "--plots", "plots")
        images = sorted((self.folder / "plots").glob("*.png"))
        self.assertEqual([p.stem for p in images], sorted(p.stem for p in (self.folder / "plots").glob("*.svg")))
        self.assertEqual((self.folder / "starts").read_text(), "\n")
        for image in images:
            data = image.read_bytes()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            svg = xml.etree.ElementTree.parse(image.with_suffix(".svg")).getroot()
            self.assertEqual(struct.unpack(">II", data[16:24]), (3 * int(svg.get("width")), 3 * int(svg.get("height"))))

    def test_comparison_and_landscape(self):
        os.environ["COSTATE_CHROMIUM"] = "/nonexistent"
        self.addCleanup(os.environ.pop, "COSTATE_CHROMIUM")
        self.run_costate("optimize", self.scene, "--method", "momentum", "--iterations", 3, "--out", "earlier")
        self.run_costate("optimize", self.scene, "--compare", "earlier/result.json", "--landscape", 26, "--plots", "plots")

        def rows(name):
            with open(self.folder / f"plots/{name}.csv", newline="") as file:
                return list(csv.reader(file))
        for name, x in [("loss", "iteration"), ("loss_seconds", "time, s")]:
            header, *points = rows(name)
            self.assertEqual([header[0], header[2]], [x, "curve"])
            self.assertEqual([[p[2] for p in points].count(m) for m in ["adam", "momentum"]], [6, 4])
        points = [(float(x), float(y)) for x, y in rows("landscape")[1:]]
        self.assertEqual([len(points), points[0][0], points[-1][0]], [26, -0.5, 2])
        result = json.loads((self.folder / "earlier/result.json").read_text())
        self.assertAlmostEqual(dict(points)[0], result["initial_loss"], delta=1e-12)  # the start
        self.assertAlmostEqual(dict(points)[1], min(float(p[1]) for p in rows("loss")[1:] if p[2] == "adam"), delta=1e-12)
        self.refuse("optimize", self.scene, "--compare", "earlier/result.json", because="require --report or --plots")
        self.refuse("optimize", self.scene, "--compare", "gone.json", "--plots", "p", because="gone.json: cannot be read; give the result.json")
        for text in ["{", "[]", '{"method": "adam", "losses": [1], "loss_seconds": []}']:
            self.refuse("optimize", self.scene, "--compare", self.write("no.json", text), "--plots", "p", because="no.json is not a result.json")

    def test_optimize(self):
        r = self.report("optimize", self.scene, "--iterations", 4)
        self.assertEqual([r["method"], r["iterations"], len(r["losses"])], ["adam", 4, 5])
        self.assertEqual([r["losses"][0], r["losses"][-1]], [r["initial_loss"], r["final_loss"]])
        self.assertLess(r["final_loss"], r["initial_loss"])
        self.assertEqual(sorted(r["losses"], reverse=True), r["losses"])
        r = self.report("optimize", "bounce", "--method", "momentum", "--iterations", 1)
        self.assertEqual([r["method"], list(r["parameters"])], ["momentum", ["shapes/ball/restitution"]])
        self.assertEqual(sorted(r["loss_seconds"]), r["loss_seconds"])
        self.assertEqual(len(r["loss_seconds"]), len(r["losses"]))

    def test_optimize_without_gradients(self):
        cmaes = ["optimize", self.scene, "--method", "cmaes", "--iterations", "200"]
        if "no CMA-ES" in subprocess.run([PROGRAM, *cmaes], capture_output=True, text=True, cwd=self.folder).stderr:
            self.skipTest("the build has no pagmo")
        r = self.report(*cmaes, "--losses", 43, "--seed", 2)
        self.assertEqual([r[k] for k in ["method", "iterations", "loss_evaluations", "gradient_evaluations", "stopped"]],
                         ["cmaes", 6, 43, 0, "loss evaluations used"])
        again = self.report(*cmaes, "--losses", 43, "--seed", 2)
        self.assertEqual(again["losses"], r["losses"])
        self.assertNotEqual(self.report(*cmaes, "--losses", 43, "--seed", 3)["losses"], r["losses"])
        self.assertNotEqual(self.report(*cmaes, "--losses", 43, "--seed", 2, "--sigma", 5)["losses"], r["losses"])
        self.assertLess(self.report(*cmaes)["final_loss"], 1e-6)

    def test_knots_in_place_of_every_step(self):
        line = ["optimize", "cartpole_swingup", "--iterations", 0]
        self.assertEqual(self.report(*line)["variables"], 500)
        thinned = self.report(*line, "--knots", 7, "--method", "adam")
        self.assertEqual(thinned["variables"], 7)
        self.assertEqual(thinned["initial_loss"], self.report(*line)["initial_loss"])

    def test_optimize_out(self):
        r = self.report("optimize", self.scene, "--out", "deep/out")
        names = ["after.csv", "before.csv", "loss.svg", "motion.svg", "result.json"]
        self.assertEqual(self.files(), ["deep/out/" + n for n in names] + ["spring.json"])
        out = self.folder / "deep/out"
        result = json.loads((out / "result.json").read_text())
        self.assertEqual(set(result), KEYS["optimize"] | {"controls", "initial_state", "time_step"})
        self.assertEqual({k: result[k] for k in r}, r)
        self.assertEqual(result["initial_state"], {"m/rail, front": 0.5, "d(m/rail, front)": 0})
        self.assertEqual(len(result["controls"]["m/push"]["values"]), 3)
        for when, key in [("before", "initial_loss"), ("after", "final_loss")]:
            self.assertAlmostEqual(sum(result["terms"][when].values()), result[key])
        self.assertTrue(xml.etree.ElementTree.parse(out / "loss.svg").getroot().tag.endswith("svg"))
        for name, key in [("before.csv", "initial_loss"), ("after.csv", "final_loss")]:
            last = list(csv.DictReader((out / name).read_text().splitlines()))[-1]
            self.assertAlmostEqual((float(last["m/rail, front"]) - 0.2) ** 2, result[key])
        self.run_costate("optimize", self.scene, "--out", "deep/out")  # over the old files

    def test_constraints(self):
        text = self.run_costate("optimize", "cartpole_limits", "--iterations", 300, "--out", "out")
        for name in ("rail", "force"):
            self.assertRegex(text, rf"\nconstraint {name}: (never violated|largest violation .* at .* s, tolerance .*, met)\n")
        result = json.loads((self.folder / "out/result.json").read_text())
        constraints = result["constraints"]
        self.assertTrue(constraints["met"])
        self.assertEqual([c["name"] for c in constraints["each"]], ["rail", "force"])
        self.assertTrue(all(c["violation"] <= c["tolerance"] for c in constraints["each"]))
        self.assertIn(result["final_loss"], [r["loss"] for r in constraints["rounds"]])
        self.assertAlmostEqual(sum(result["terms"]["after"].values()), result["final_loss"], delta=1e-12)
        with open(self.folder / "out/after.csv", newline="") as file:
            positions = [float(row["cartpole/slider"]) for row in csv.DictReader(file)]
        self.assertLessEqual(max(map(abs, positions)), 0.401)

        scene = copy.deepcopy(SPRING)
        scene["constraints"] = [{"name": "low", "term": "effort", "max": -1}, {"name": "high", "term": "effort", "min": 1}]
        scene["optimize"] = {"method": "lbfgs", "iterations": 50}
        impossible = self.write("impossible.json", json.dumps(scene))
        failed = subprocess.run([PROGRAM, "optimize", impossible], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(failed.returncode, CHECK_FAILED, failed.stderr)
        self.assertRegex(failed.stderr, r"\Acostate: the constraints are not met: low, high; allow more .iterations. and .rounds., .* or check that a motion can keep all"
                         r" of them\n\Z")
        scene["constraints"] = scene["constraints"][:1]
        kept = self.write("kept.json", json.dumps(scene))
        restarts = subprocess.run([PROGRAM, "optimize", kept, "--json", "--method", "cmaes", "--restarts", "3", "--iterations", "300", "--losses", "20000"],
                                  cwd=self.folder, capture_output=True, text=True)
        if "no CMA-ES" not in restarts.stderr:
            self.assertEqual(restarts.returncode, DONE, restarts.stderr)
            self.assertTrue(json.loads(restarts.stdout)["constraints"]["met"])
        scene["batch"] = {"environments": 4, "randomize": {"joints": {"m/rail, front": 0.1}}}
        self.refuse("optimize", self.write("batch.json", json.dumps(scene)),
                    because='"constraints" hold for one rollout that is optimized, but the scene has a "batch"; write them as terms')

    def test_stages(self):
        scene = copy.deepcopy(SPRING)
        scene["optimize"] = {"method": "lbfgs", "iterations": 5, "stages": [{"method": "adam", "iterations": 4, "parameters": [{"path": "bodies/*/mass", "value": 9}]}]}
        staged = self.write("staged.json", json.dumps(scene))
        result = self.report("optimize", staged)
        self.assertEqual(len(result["losses"]), result["iterations"] + 1)
        self.assertGreater(result["iterations"], 4)
        self.assertLess(result["final_loss"], result["initial_loss"])
        self.assertEqual(result["initial_loss"], self.report("optimize", self.write("plain.json", json.dumps(SPRING)))["initial_loss"])
        self.refuse("optimize", staged, "--method", "receding_horizon", "--plant", self.scene, because='"stages" precede an optimization')
        self.refuse("optimize", staged, "--restarts", "2", "--save", "run", because="--restarts has no single run")
        self.refuse("optimize", staged, "--sigma", "1", because="require --method cmaes or --restarts")
        scene["optimize"]["stages"] = [{"method": "cmaes", "iterations": 2}]
        found = self.write("found.json", json.dumps(scene))
        run = subprocess.run([PROGRAM, "optimize", found, "--json", "--sigma", "1", "--seed", "2", "--threads", "2"], cwd=self.folder, capture_output=True, text=True)
        if "no CMA-ES" not in run.stderr:
            self.assertEqual(run.returncode, DONE, run.stderr)
            self.refuse("optimize", found, "--save", "run", because="pagmo keeps the state of CMA-ES to itself")

    def test_a_gradient_of_zero_at_the_start(self):
        ball = {"name": "ball", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0],
                "shapes": [{"type": "sphere", "radius": 0.1}]}
        driven = {"bodies": [ball], "actuators": [{"name": "push", "joint": "ball", "type": "motor", "control_limits": [-5, 5]}]}
        scene = {"time_step": 0.01, "steps": 20, "controls": [{"actuators": ["*"], "optimize": "per_step", "initial": 0}],
                 "models": [{"name": "near", "position": [0, 0, 2], "model": driven}, {"name": "far", "position": [3, 0, 2], "model": {"bodies": [ball]}}],
                 "objective": [{"term": "position", "body": "far/ball", "target": [4, 0, 2]}]}
        apart = self.write("apart.json", json.dumps(scene))
        said = "no progress: the gradient is zero for all 20 variables at the start; "

        def stderr(*arguments):
            p = subprocess.run([PROGRAM, "optimize", *arguments, "--out", "out"], capture_output=True, text=True, cwd=self.folder)
            self.assertEqual(p.returncode, CHECK_FAILED, p.stderr)
            self.assertRegex(p.stdout, "0 iterations of .*gradient vanishes")
            self.assertEqual(json.loads((self.folder / "out/result.json").read_text())["iterations"], 0)
            return p.stderr
        for method in ["lbfgs", "adam", "gauss_newton", "ilqr", "multiple_shooting"]:
            with self.subTest(method):
                self.assertRegex(stderr(apart, "--method", method), said + "nothing touches during the rollout: start with bodies that touch")
        scene["controls"][0]["initial"] = 9
        self.assertRegex(stderr(self.write("full.json", json.dumps(scene))), said + "20 of them are at their limits: start inside")
        scene["controls"][0]["initial"], scene["models"][1]["position"] = 0, [0.25, 0, 2]
        scene["models"][1]["model"] = driven
        scene["controls"][0]["actuators"] = ["near/push"]
        scene["exclude"] = [["near/ball", "far/ball"]]
        self.assertRegex(stderr(self.write("alone.json", json.dumps(scene))), said + "if it is not the optimum, change \"initial\"")
        scene["objective"][0]["target"] = [0.25, 0, 2]  # nothing to gain
        self.run_costate("optimize", self.write("there.json", json.dumps(scene)), "--quiet")

    def test_a_gradient_of_rounding_at_the_start(self):
        pole = {"bodies": [{"name": "pole", "joint": {"name": "hinge", "type": "revolute", "axis": [0, 1, 0]}, "mass": 1, "com": [0, 0, 0.5],
                            "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}],
                "actuators": [{"name": "torque", "joint": "hinge", "type": "motor"}]}
        scene = {"time_step": 0.01, "steps": 50, "models": [{"name": "p", "model": pole}], "initial": {"joints": {"p/hinge": math.pi}},
                 "controls": [{"actuators": ["*"], "optimize": "per_step", "initial": 0}],
                 "objective": [{"term": "position", "body": "p/pole", "point": [0, 0, 1], "target": [0, 0, 1]}]}
        hangs = self.write("hangs.json", json.dumps(scene))
        for method in ["lbfgs", "ilqr", "multiple_shooting", "gradient_descent"]:
            with self.subTest(method):
                p = subprocess.run([PROGRAM, "optimize", hangs, "--method", method, "--iterations", "5"], capture_output=True, text=True)
                self.assertEqual(p.returncode, CHECK_FAILED, p.stdout)
                self.assertRegex(p.stderr, r"\Acostate: no progress: the gradient is [0-9.]+e-\d+, which is nothing but rounding, for all 50 variables "
                                           r"at the start; if it is not the optimum, change \"initial\"[^\n]+\n\Z")
        scene["initial"]["joints"]["p/hinge"] = 3
        self.run_costate("optimize", self.write("swings.json", json.dumps(scene)), "--iterations", 5, "--quiet")

    def test_gauss_newton_says_that_it_converged(self):
        r = self.report("optimize", "double_pendulum_identification", "--method", "gauss_newton", "--iterations", 100)
        self.assertEqual(r["stopped"], "converged")  # with noise left in the residuals
        scene = copy.deepcopy(SPRING)
        scene["controls"][0]["optimize"] = "per_step"
        r = self.report("optimize", self.write("exact.json", json.dumps(scene)), "--method", "gauss_newton", "--iterations", 100)
        self.assertLess(r["final_loss"], 1e-25)
        self.assertIn(r["stopped"], ["converged", "gradient vanishes"])


if __name__ == "__main__":
    unittest.main()
