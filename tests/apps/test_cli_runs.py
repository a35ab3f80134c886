#!/usr/bin/env python3
"""Runs of `costate` that begin with earlier ones: controls and starts from files, and optimizations that are
interrupted, killed and resumed. Usage: test_cli_runs.py PROGRAM"""
import copy
import csv
import json
import random
import signal
import subprocess
import time
import unittest

from cli import BAD_INPUT, Cli, DONE, PROGRAM, SPRING

INTERRUPTED = 4
POLE = ["optimize", "cartpole_swingup"]


class Trajectories(Cli):
    def rows(self, name):
        return list(csv.DictReader((self.folder / name).read_text().splitlines()))

    def copy_of(self, name, change):
        """A CSV file with the cells that change(column, cell) gives."""
        header, *rows = list(csv.reader((self.folder / name).read_text().splitlines()))
        with open(self.folder / "changed.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([change(None, c) for c in header])
            writer.writerows([change(c, x) for c, x in zip(header, row)] for row in rows)
        return "changed.csv"

    def test_controls_drive_a_rollout(self):
        result = self.report("optimize", self.scene, "--out", "out")
        for file in ["out/after.csv", "out/result.json"]:
            self.assertEqual(self.report("simulate", self.scene, "--controls", file)["loss"], result["final_loss"], file)
        self.run_costate("simulate", self.scene, "--controls", "out/after.csv", "--out", "again.csv")
        self.assertEqual((self.folder / "again.csv").read_bytes(), (self.folder / "out/after.csv").read_bytes())
        # twice the rows in time: held, and on a line
        self.write("two.csv", "time,u(m/push)\n0,0\n0.1,1\n")
        self.refuse("simulate", self.scene, "--controls", "two.csv", because="lasts from 0 s to 0.1 s, but the rollout from 0 s to 0.2 s; use fewer")
        for how, third in [("hold", 0), ("linear", 0.2)]:
            self.run_costate("simulate", self.scene, "--steps", 10, "--controls", "two.csv", "--interpolation", how, "--out", "a.csv")
            self.assertAlmostEqual(float(self.rows("a.csv")[2]["u(m/push)"]), third)

    def test_columns_that_are_missing_or_unknown(self):
        self.run_costate("simulate", "throw", "--steps", 50, "--out", "a.csv")
        scene = ["simulate", "throw", "--steps", 50]
        only = self.write("only.csv", "time,u(arm/torque4)\n0,1\n1,1\n")
        self.run_costate(*scene, "--controls", only, "--out", "b.csv")
        a, b = self.rows("a.csv")[0], self.rows("b.csv")[0]
        self.assertEqual(float(b["u(arm/torque4)"]), 1)
        self.assertEqual({k for k in a if a[k] != b[k]}, {"u(arm/torque4)"})
        wrong = self.copy_of("a.csv", lambda column, cell: cell.replace("torque4", "torqe4") if column is None else cell)
        self.refuse(*scene, "--controls", wrong, because=r"no column 'u\(arm/torqe4\)', the nearest is \"u\(arm/torque4\)\"")
        self.refuse(*scene, "--controls", self.write("q.csv", "time,arm/joint1\n0,1\n"), because="no column of a control; name one u")
        self.refuse("simulate", "bounce", "--controls", self.write("e.csv", "time\n0\n"), because="no actuators")

    def test_times_that_do_not_fit(self):
        self.run_costate("simulate", self.scene, "--out", "a.csv")
        scene = ["simulate", self.scene, "--controls"]
        milliseconds = self.copy_of("a.csv", lambda c, x: str(1000 * float(x)) if c == "time" else x)
        self.refuse(*scene, milliseconds, because="to 200 s, but the rollout from 0 s to 0.2 s; divide its times by 1000")
        self.refuse(*scene, self.write("back.csv", "time,u(m/push)\n0,0\n0.1,0\n0.05,0\n"), because="back.csv:4: .*not later.*sort")
        for options, because in [(["--interpolation", "linear"], "requires --controls"),
                                 (["--controls", "a.csv", "--interpolation", "cubic"], "hold or linear, not 'cubic'"),
                                 (["--controls", "gone.csv"], "gone.csv: there is no such file")]:
            self.refuse("simulate", self.scene, *options, because=because)
        self.refuse("simulate", "--from", "x.json", "--controls", "a.csv", because="leave out --controls")

    def test_start_from_a_result(self):
        first = self.report("optimize", self.scene, "--out", "out")
        start = ["optimize", self.scene, "--from", "out/result.json"]
        self.assertEqual(self.report(*start, "--iterations", 0)["initial_loss"], first["final_loss"])
        self.assertLess(self.report(*start)["final_loss"], first["final_loss"])
        other = copy.deepcopy(SPRING)
        other["initial"]["optimize"] = {"velocities": ["m/*"]}
        other["parameters"] = [{"path": "bodies/m/cart/mass", "optimize": True, "scale": "log"}]
        more = self.write("more.json", json.dumps(other))
        self.refuse("optimize", more, "--from", "out/result.json", because='does not have "bodies/m/cart/mass", which the scene optimizes')
        loss = self.report("optimize", more, "--out", "more")["final_loss"]
        again = self.report("optimize", more, "--from", "more/result.json", "--iterations", 0)["initial_loss"]
        self.assertAlmostEqual(again, loss, delta=1e-12)
        self.refuse("optimize", self.scene, "--from", "more/result.json", because='has "bodies/m/cart/mass", which the scene does not')
        self.refuse(*start, "--steps", 10, because="other times.*resamples")
        other["controls"][0]["optimize"] = {"knots": 4}
        self.refuse("optimize", self.write("four.json", json.dumps(other)), "--from", "out/result.json", because="has 3 values, but the scene 4")
        self.refuse("optimize", self.scene, "--from", self.write("no.json", "{}"), because="no.json.*is not a result.json")
        self.refuse("optimize", "cartpole_swingup", "--from", "out/result.json", because='does not have "cartpole/force"')


class Saved(Cli):
    def setUp(self):
        super().setUp()
        if "install zlib1g-dev" in subprocess.run([PROGRAM, "optimize", self.scene, "--save", "run"], capture_output=True, text=True,
                                                  cwd=self.folder).stderr:
            self.skipTest("the build has no zlib")

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # background jobs ignore it

    def wait_for(self, process, name):
        while process.poll() is None and not (self.folder / name).exists():
            time.sleep(0.001)

    def result(self, folder):
        """result.json without times."""
        result = json.loads((self.folder / folder / "result.json").read_text())
        for key in ["seconds", "loss_seconds"]:
            result.pop(key)
        if result["method"] == "receding_horizon":
            result.pop("stopped")  # names the rate
        return result

    def killed_and_resumed(self, dice, what):
        before = time.monotonic()
        self.run_costate(*what, "--save", "other", "--out", "expected")
        seconds = time.monotonic() - before
        kills, options = 0, ["--save", "run", "--save-every", 0, "--out", "out"]
        while kills < 8:
            p = self.start(*what, *options)
            self.wait_for(p, "run")
            time.sleep(dice.uniform(0, 0.3 * seconds))
            p.send_signal(signal.SIGKILL)
            stderr = p.communicate()[1]
            self.assertIn(p.returncode, (DONE, -signal.SIGKILL), stderr)
            if p.returncode == DONE:
                break
            if not (self.folder / "run").exists():  # killed when all was written, maybe before the lock was removed
                (self.folder / "run.lock").unlink(missing_ok=True)
                break
            kills, options = kills + 1, ["--resume", "run", "--save-every", 0, "--out", "out"]
        if kills == 8:
            self.run_costate(*what, *options)
        self.assertGreater(kills, 1, what)
        self.assertEqual(self.result("out"), self.result("expected"), what)
        self.assertEqual((self.folder / "out/after.csv").read_bytes(), (self.folder / "expected/after.csv").read_bytes())
        self.assertFalse({"run", "run.lock", "other"} & set(self.files()), what)

    def test_killed_at_any_moment(self):
        dice = random.Random(11)
        for method, *options in [("adam", "--iterations", 200), ("momentum", "--iterations", 200), ("gradient_descent", "--iterations", 200),
                                 ("lbfgs", "--iterations", 200), ("gauss_newton", "--knots", 25, "--iterations", 40),
                                 ("ilqr", "--iterations", 100), ("multiple_shooting", "--iterations", 100), ("receding_horizon",)]:
            with self.subTest(method):
                self.killed_and_resumed(dice, [*POLE, "--method", method, *options])
        with self.subTest("constraints"):
            self.killed_and_resumed(dice, ["optimize", "cartpole_limits", "--iterations", 300])
        with self.subTest("gauss_newton by rows"):
            self.killed_and_resumed(dice, ["optimize", "throw", "--method", "gauss_newton"])

    def test_interrupted(self):
        for number, name in [(signal.SIGINT, "lbfgs"), (signal.SIGTERM, "adam"), (signal.SIGINT, "ilqr"), (signal.SIGINT, "receding_horizon")]:
            with self.subTest(name):
                what = [*POLE, "--method", name, "--iterations", 250]
                self.run_costate(*what, "--save", "other", "--out", "expected")
                p = self.start(*what, "--save", "run", "--save-every", 0, "--out", "out")
                self.wait_for(p, "run")
                time.sleep(0.2)
                p.send_signal(number)
                stdout, stderr = p.communicate()
                self.assertEqual(p.returncode, INTERRUPTED, stderr)
                self.assertRegex(stderr, r"\Acostate: interrupted after \d+ iterations; the results are the best so far; go on with --resume run\n\Z")
                self.assertIn("(interrupted)", stdout)
                result = json.loads((self.folder / "out/result.json").read_text())
                self.assertEqual(result["stopped"], "interrupted")
                self.assertEqual(self.report("optimize", "cartpole_swingup", "--from", "out/result.json", "--iterations", 0)["initial_loss"],
                                 result["final_loss"])
                self.run_costate(*what, "--resume", "run", "--out", "out")
                self.assertEqual(self.result("out"), self.result("expected"))

    def test_interrupted_without_a_file(self):
        for options in [[], ["--method", "cmaes"]]:  # NLopt's L-BFGS, and pagmo
            p = self.start(*POLE, "--iterations", 100000, "--losses", 1000000, "--out", "out", *options)
            time.sleep(1)
            p.send_signal(signal.SIGINT)
            stdout, stderr = p.communicate()
            if "no CMA-ES" in stderr:
                continue
            self.assertEqual(p.returncode, INTERRUPTED, stderr)
            result = json.loads((self.folder / "out/result.json").read_text())
            self.assertEqual(result["stopped"], "interrupted")
            self.assertLess(result["final_loss"], result["initial_loss"])

    def test_second_signal_kills(self):
        p = self.start("optimize", "quadruped_stand", "--steps", 200000, "--iterations", 5, "--out", "out")
        time.sleep(0.5)  # within the first rollout, which no iteration ends
        p.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(p.poll())
        p.send_signal(signal.SIGINT)
        p.communicate()
        self.assertEqual(p.returncode, -signal.SIGINT)
        self.assertEqual(self.files(), ["spring.json"])

    def test_another_scene_or_setting(self):
        what = [*POLE, "--method", "adam", "--iterations", 100000]
        p = self.start(*what, "--save", "run", "--save-every", 0)
        self.wait_for(p, "run")
        p.send_signal(signal.SIGSTOP)  # or its own files would come and go
        self.refuse(*what, "--save", "run", because="another run writes it")
        p.send_signal(signal.SIGKILL)
        p.communicate()
        (self.folder / "run.lock").unlink()
        for other in [[*POLE, "--method", "momentum", "--iterations", 100000], [*what[:-1], 50], [*what, "--steps", 400],
                      ["optimize", self.scene, "--method", "adam", "--iterations", 100000]]:
            self.refuse(*other, "--resume", "run", because="saved by another run; give the scene and options of that run")
        run = (self.folder / "run").read_bytes()
        (self.folder / "run").write_bytes(run[:-1])
        self.refuse(*what, "--resume", "run", because="corrupted")
        self.refuse(*what, "--save-every", 3, because="--save-every requires --save")
        self.refuse(*what, "--resume", "gone", because="cannot read 'gone'")
        cmaes = self.run_costate(*POLE, "--method", "cmaes", "--save", "x", code=BAD_INPUT)
        self.assertRegex(cmaes, "no CMA-ES|pagmo keeps the state of CMA-ES to itself.*leave out --save")

    def test_a_file_of_the_scene_changes(self):
        target = copy.deepcopy(SPRING)
        target["objective"] = [{"term": "recording", "file": "goal.csv", "columns": ["m/rail, front"]}]
        self.write("goal.csv", 'time,"m/rail, front"\n0,0.5\n1,0\n')
        scene = self.write("goal.json", json.dumps(target))
        what = ["optimize", scene, "--iterations", 1000000, "--losses", 10000000]
        p = self.start(*what, "--save", "run", "--save-every", 0)
        self.wait_for(p, "run")
        p.send_signal(signal.SIGKILL)
        p.communicate()
        (self.folder / "run.lock").unlink()
        self.write("goal.csv", 'time,"m/rail, front"\n0,0.5\n1,0.1\n')
        self.refuse(*what, "--resume", "run", because="cannot resume 'run': .*a file of the scene has changed")


class Loops(Cli):
    LOOP = [*POLE, "--method", "receding_horizon", "--steps", 120]

    def loop(self, *options):
        return json.loads(self.run_costate(*self.LOOP, *options, "--json"))

    def test_a_feedback_law_is_written(self):
        what = [*POLE, "--steps", 60, "--iterations", 20, "--out", "out", "--method"]
        for method in ["ilqr", "multiple_shooting"]:
            with self.subTest(method):
                self.assertIn("controller.json", self.run_costate(*what, method))
                law = json.loads((self.folder / "out/controller.json").read_text())
                self.assertEqual([law["actuators"], len(law["state"]), len(law["tangent"])], [["cartpole/force"], 4, 4])
                self.assertEqual([len(law[k]) for k in ["states", "controls", "gains", "cost_gradients", "cost_hessians"]], [61, 60, 60, 61, 61])
                last = list(csv.DictReader((self.folder / "out/after.csv").read_text().splitlines()))[-1]
                self.assertEqual([float(last[name]) for name in law["state"]], law["states"][-1])
                (self.folder / "out/controller.json").unlink()
        self.assertNotIn("controller.json", self.run_costate(*what, "lbfgs"))
        self.assertFalse((self.folder / "out/controller.json").exists())

    def test_a_plant_like_the_model(self):
        plain = self.report(*self.LOOP)["final_loss"]
        r = self.loop("--plant", "cartpole_swingup", "--out", "out")
        self.assertEqual([r["final_loss"], r["plant"], r["substeps"]], [plain, "cartpole_swingup", 1])
        self.assertLess(r["final_loss"], r["initial_loss"])
        self.assertGreater(r["planning"]["rate"], 1)
        self.assertEqual(self.loop("--delay", 4)["final_loss"], plain)  # the model brings a late measurement to the present
        rows = list(csv.DictReader((self.folder / "out/plant.csv").read_text().splitlines()))
        self.assertEqual(len(rows), 121)
        for controls in ["out/plant.csv", "out/result.json"]:
            self.assertEqual(self.report("simulate", "cartpole_swingup", "--steps", 120, "--controls", controls)["loss"], plain)
        self.assertRegex(self.run_costate(*self.LOOP, "--delay", 0), r"loss [\d.]+ with its start, [\d.]+ in closed loop of 120 steps\n[\d.e+]+ Hz by processor time")

    def test_noise_and_pushes(self):
        exact = self.loop("--delay", 0)["final_loss"]
        noisy = [self.loop("--noise", 0.01, "--seed", seed)["final_loss"] for seed in [1, 1, 2]]
        self.assertEqual(noisy[0], noisy[1])
        self.assertEqual(len({exact, *noisy}), 3)
        self.assertNotEqual(self.loop("--push", "cartpole/pole:0.5:0.1:5,0,0")["final_loss"], exact)
        self.assertEqual(self.loop("--push", "cartpole/pole:2:0.1:5,0,0")["final_loss"], exact)  # after the end

    def test_another_plant(self):
        slow, body = copy.deepcopy(SPRING), {"actuators": ["*"], "optimize": "per_step", "initial": 0}
        slow["controls"] = [body]
        slow["objective"] = [{"term": "position", "body": "m/cart", "target": [0.2, 0, 0], "at": "running"}]
        slow["steps"] = 60
        fine = copy.deepcopy(slow)
        fine["time_step"] = 0.002
        fine["pushes"] = [{"name": "gust", "body": "m/cart", "times": [0.1, 0.2], "force": [3, 0, 0]}]
        scene, plant = self.write("slow.json", json.dumps(slow)), self.write("fine.json", json.dumps(fine))
        line = ["optimize", scene, "--method", "receding_horizon", "--plant"]
        r = json.loads(self.run_costate(*line, plant, "--json"))
        self.assertEqual(r["substeps"], 5)
        calm = copy.deepcopy(fine)
        calm.pop("pushes")
        calm = json.loads(self.run_costate(*line, self.write("calm.json", json.dumps(calm)), "--json"))
        self.assertNotEqual(calm["final_loss"], r["final_loss"])  # the plant's own pushes act
        self.assertLess(calm["final_loss"], calm["initial_loss"])
        self.assertEqual([r["plans"], r["feedback"], r["differences"]], [1, True, 0])
        held, often, differences = (json.loads(self.run_costate(*line, plant, *more, "--json")) for more in [
            ["--hold"], ["--plans", 5], ["--differences", 1e-6]])
        self.assertEqual([held["feedback"], often["plans"], differences["differences"]], [False, 5, 1e-6])
        self.assertNotEqual(held["final_loss"], r["final_loss"])
        self.assertLess(often["final_loss"], held["final_loss"])
        self.assertAlmostEqual(differences["final_loss"] / r["final_loss"], 1, places=5)
        for because, arguments in [
            ("the plant has 2 coordinates.*spring.*1 coordinates|the plant has 2 coordinates", [*line, "cartpole_swingup"]),
            ("does not divide", [*line, self.write("odd.json", json.dumps({**slow, "time_step": 0.003}))]),
            ("no body of the plant is named 'm/cat', the nearest is \"m/cart\"", [*line, plant, "--push", "m/cat:0:1:1,2,3"]),
            ("--plans must divide the 5 steps", [*line, plant, "--plans", 2]),
            ("be 1 with --delay", [*line, plant, "--plans", 5, "--delay", 1]),
            ("write five numbers", [*line, plant, "--push", "m/cart:0:1:1,2"]),
            ("write four parts", [*line, plant, "--push", "hello"]),
            ("duration above 0", [*line, plant, "--push", "m/cart:0:0:1,2,3"]),
            ("require --method receding_horizon", ["optimize", scene, "--method", "adam", "--noise", 1]),
            ("--save cannot be combined with a plant", [*line, plant, "--save", "run"]),
            ("--seed without --noise, require --method cmaes", ["optimize", scene, "--method", "adam", "--seed", 1]),
        ]:
            with self.subTest(because):
                self.refuse(*arguments, because=because)


if __name__ == "__main__":
    unittest.main()
