#!/usr/bin/env python3
"""The commands of `costate`: outputs, exit codes, files. Usage: test_cli_commands.py PROGRAM"""
import csv
import http.client
import json
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import time
import unittest

from cli import BAD_INPUT, CHECK_FAILED, COMMANDS, Cli, DONE, KIND, PROGRAM, changed

SANITIZED = re.search(b"__[at]san_init", pathlib.Path(PROGRAM).read_bytes()) is not None


class Commands(Cli):
    def test_view(self):
        if self.without_viewer():
            return self.refuse("view", self.scene, because="no viewer")
        self.assertIn("21 frames", self.run_costate("view", self.scene))
        r = self.report("view", self.scene, "--out", "page.html", "--frames", 11)
        self.assertEqual(r["runs"], [{"label": "simulation", "states": 21, "frames": 11, "every": 2}])
        self.assertEqual(self.files(), ["page.html", "spring.html", "spring.json"])
        self.assertEqual((self.folder / "page.html").stat().st_size, r["bytes"])
        for because, *arguments in [
            ("nearest is \"gradient\"", "--overlays", "gradent"),
            ("--frames", "--frames", 1),
            ("--png", "--at", 1),
            ("leave one out", "--png", "a.png", "--at", 1, "--sheet", 4),
            ("--size", "--png", "a.png", "--size", "1280"),
            ("cannot be read", "--run", "nothing.csv"),
        ]:
            self.refuse("view", self.scene, *arguments, because=because)
        self.assertEqual(self.files(), ["page.html", "spring.html", "spring.json"])

    def test_words(self):
        text = self.run_costate("--help")
        self.assertRegex(text, r"(?m)^  convert +\w")
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} +\w")
            for option in ["--steps", "--json", "--quiet", "--help"]:
                self.assertIn(option, self.run_costate(command, "--help"))
            self.assertIn("spring", self.run_costate(command, self.scene, "--quiet"))
        self.assertRegex(self.run_costate("--version"), r"\Acostate \d+\.\d+\.\d+\n\Z")

    def test_info(self):
        r = self.report("info", self.scene)
        keys = ["bodies", "joints", "nq", "nv", "nu", "mass", "shapes", "variables"]
        self.assertEqual([r[k] for k in keys], [1, 1, 1, 1, 1, 2, 0, 3])
        r = self.report("info", "quadruped_stand")
        self.assertEqual([r[k] for k in ["joints", "nq", "nv", "nu"]] + [round(r["mass"])], [13, 19, 18, 12, 25])
        self.assertEqual(self.report("info", self.scene, "--steps", 7)["steps"], 7)

    def test_simulate(self):
        r = self.report("simulate", self.scene)
        self.assertEqual([r["steps"], r["out"], r["duration"]], [20, None, 20 * 0.01])
        self.assertEqual(self.report("simulate", self.scene, "--steps", 3)["steps"], 3)

    def test_commands_say_how_the_solver_left_its_contacts(self):
        scene = json.loads((pathlib.Path(__file__).parents[2] / "scenes/library/box_slide.json").read_text())
        for solver, converges in [({"type": "pgs", "sweeps": 1}, False), ({"type": "lcp"}, True)]:
            path = self.write("box.json", json.dumps({**scene, "steps": 20, "solver": solver}))
            for command in ["simulate", "gradient", "optimize"]:
                p = subprocess.run([PROGRAM, command, path, "--json"], capture_output=True, text=True, cwd=self.folder)
                found = json.loads(p.stdout)["solver"]
                warning = r"\Acostate: warning: \d+ steps .* unsolved contacts, .*; raise \"sweeps\"[^\n]*\n\Z"
                self.assertRegex(p.stderr, warning if command == "optimize" and not converges else r"\A\Z")
                if converges:
                    self.assertEqual(found["unconverged_steps"], 0)
                    self.assertLess(found["largest_residual"], 1e-9)
                else:
                    self.assertTrue(0 < found["unconverged_steps"] <= 20 and found["largest_residual"] > 1e-6)

    def test_gradcheck(self):
        r = self.report("gradcheck", "pendulum_1", "--steps", 20, "--max-error", 1e-6)
        self.assertEqual(list(r["variables"]), ["controls", "initial_state", "parameters", "optimized"])
        for name, kind in r["variables"].items():
            self.assertEqual(set(kind), KIND)
            self.assertEqual(kind["stencils"] > 0, name != "optimized", name)
        self.assertEqual(r["max_relative_error"], max(k["max_relative_error"] for k in r["variables"].values()))
        few = self.report("gradcheck", "pendulum_1", "--steps", 5, "--components", 2, "--directions", 1, "--seed", 4)
        self.assertEqual([k["stencils"] for k in few["variables"].values()], [3, 3, 3, 0])
        r = self.report("gradcheck", "bounce", "--steps", 20)
        self.assertEqual(r["variables"]["optimized"]["stencils"], 17)
        self.report("gradcheck", "pendulum_1", "--steps", 20, "--max-error", 0, code=CHECK_FAILED)

    def test_gradcheck_without_objective(self):
        few = [self.robot(), "--steps", 20, "--components", 10, "--directions", 2, "--seed"]
        r = self.report("gradcheck", *few, 3, "--max-error", 1e-6)
        self.assertEqual([r["objective"], r["seed"]], ["random", 3])
        self.assertNotEqual(r["loss"], 0)
        for name in ["initial_state", "parameters"]:
            self.assertGreater(r["variables"][name]["stencils"], 0)
            self.assertLess(r["variables"][name]["max_relative_error"], 1e-6)
            self.assertGreater(r["variables"][name]["max_relative_error"], 0)
        self.assertNotEqual(self.report("gradcheck", *few, 4)["loss"], r["loss"])
        text = self.run_costate("gradcheck", *few, 3)
        self.assertIn("a random linear function of the final state (seed 3)", text)
        self.assertEqual(self.report("gradcheck", self.scene)["objective"], "of the scene")
        self.refuse("gradient", few[0], because="thrower.urdf has no objective.* costate gradcheck")

    def test_gradcheck_that_checks_nothing(self):
        limits = ["models", 0, "model", "actuators", 0, "control_limits"]
        at_its_limit = self.write("limit.json", changed(limits, [0, 1]))
        r = self.report("gradcheck", at_its_limit, code=CHECK_FAILED)
        self.assertEqual([r["checked"], r["max_relative_error"]], [False, None])
        controls = r["variables"]["controls"]
        self.assertEqual([controls[k] for k in ["checked", "rejected", "max_relative_error"]], [False, 1, None])
        self.assertTrue(r["variables"]["initial_state"]["checked"])
        text = self.run_costate("gradcheck", at_its_limit, code=CHECK_FAILED)
        self.assertIn("controls        not checked: all 19 stencils", text)

    def test_bench(self):
        r = self.report("bench", "box_slide", "--steps", 30, "--repeat", 2)
        self.assertEqual([r[k] for k in ["steps", "repeat", "bytes_per_checkpoint", "checkpoint_bytes"]], [30, 2, 104, 30 * 104])
        self.assertEqual(set(r["minimum"]), {"forward_us", "backward_us", "replay_us"})
        for key, least in r["minimum"].items():
            self.assertTrue(0 < least <= r[key], key)
        self.assertGreater(r["sweeps"], 0)
        self.assertGreater(r["gradient_norm"], 0)
        self.assertEqual(list(r["memory"]), ["model", "scratch", "checkpoints", "controls", "gradients"])
        self.assertEqual(r["memory"]["checkpoints"], r["checkpoint_bytes"])
        for owner in [] if SANITIZED else ["model", "scratch", "gradients"]:  # of a box
            self.assertTrue(100 < r["memory"][owner] < 1e6, owner)

    def test_bench_of_stages(self):
        r = json.loads(self.run_costate("bench", "box_slide", "--stages", "--steps", 30, "--repeat", 2, "--json"))
        self.assertEqual(len(r["shares"]), 10)
        self.assertAlmostEqual(sum(r["shares"].values()), 1)
        self.assertTrue(all(share > 0 for share in r["shares"].values()))
        self.assertGreater(r["step_us"], 0)
        self.assertGreater(r["processor"]["step_us"], 0)
        # a box lies on the ground with four corners
        self.assertEqual((r["pairs_tried"], r["contacts_found"], r["contacts_pushing"], r["rows"]), (1, 4, 4, 12))
        self.assertGreaterEqual(r["problems_solved"], 1)
        self.assertRegex(self.run_costate("bench", "box_slide", "--stages", "--steps", 30, "--repeat", 1), "detection .*%")

    def test_bench_of_a_batch(self):
        r = json.loads(self.run_costate("bench", "box_slide", "--batch", 3, "--threads", 2, "--steps", 20, "--repeat", 2, "--json"))
        self.assertEqual([r[k] for k in ["batch", "threads", "steps", "repeat", "same_bits"]], [3, 2, 20, 2, True])
        for key in ["steps_per_second", "steps_per_second_one_thread", "steps_per_second_in_cpp", "steps_back_per_second", "speedup"]:
            self.assertGreater(r[key], 0, key)
        self.assertGreater(r["batch_cost"], -1)
        self.assertGreater(r["bytes"], 3 * 2 * 13 * 8)  # two states of 13 numbers for each
        self.assertRegex(self.run_costate("bench", self.scene, "--batch", 2, "--repeat", 1), "2 environments(.|\n)*the same bits by all three")
        self.refuse("bench", self.scene, "--threads", 2, because="--threads requires --batch; add --batch N")
        self.refuse("bench", self.scene, "--batch", 0, because="--batch takes a whole number")

    def test_plan(self):
        r = self.report("plan", "quadruped_stand", "--steps", 5000, "--slots", 100)
        self.assertEqual([r[k] for k in ["schedule", "slots", "bytes_per_checkpoint", "peak_bytes", "forward_evaluations"]],
                         ["binomial", 100, 296, 29600, 14898])
        self.assertEqual(r["evaluations_per_step"], 14898 / 5000)
        self.assertRegex(self.run_costate("plan", "quadruped_stand", "--steps", 5000, "--slots", 100),
                         "binomial, 100 of 5000(.|\n)*29600 bytes(.|\n)*2.98 per step")
        for slots, evaluations in [(3, 25), (1, 55), (9, 19), (10, 19), (11, 19)]:
            r = self.report("plan", self.scene, "--steps", 10, "--slots", slots)
            self.assertEqual([r["slots"], r["forward_evaluations"]], [min(slots, 10), evaluations])
        r = self.report("plan", self.scene)  # a state of the spring is 16 bytes
        self.assertEqual([r["schedule"], r["peak_bytes"], r["forward_evaluations"]], ["every step", 320, 39])
        for memory in ["320", "1K", "64M", "auto"]:
            self.assertEqual(self.report("plan", self.scene, "--memory", memory), r)
        self.assertEqual(self.report("plan", self.scene, "--memory", 319)["slots"], 19)
        tight = self.write("tight.json", changed(["memory"], 50))
        self.assertEqual(self.report("plan", tight)["slots"], 3)
        self.assertEqual(self.report("plan", tight, "--memory", "auto")["slots"], 20)
        self.assertEqual(self.report("plan", self.write("k.json", changed(["memory"], "1K")))["slots"], 20)
        self.assertEqual(self.report("plan", self.scene, "--steps", 1000000, "--memory", "1K")["slots"], 64)

    def test_memory(self):
        few = ["quadruped_stand", "--steps", 400, "--memory", "4K"]
        planned, r = self.report("plan", *few), self.report("bench", *few, "--repeat", 1)
        self.assertEqual([r["forward_evaluations"], r["checkpoint_bytes"]], [planned["forward_evaluations"], planned["peak_bytes"]])
        self.assertEqual(r["checkpoint_bytes"], 13 * 296)
        self.assertEqual(self.report("bench", *few[:3], "--repeat", 1)["gradient_norm"], r["gradient_norm"])
        for memory, *command in [(16, "gradcheck", self.scene), (16, "optimize", self.scene),
                                 ("4K", "optimize", "throw", "--method", "gauss_newton", "--iterations", 2)]:
            with_all, with_few = self.report(*command), self.report(*command, "--memory", memory)
            for time in ["seconds", "loss_seconds"]:
                with_all.pop(time, None), with_few.pop(time, None)
            self.assertEqual(with_all, with_few)
        for memory, because in [("64Q", "for example 64M, not '64Q'"), ("0", "not '0'"), ("-1", "not '-1'"), ("1.5G", "not '1.5G'"),
                                ("99999T", "not '99999T'"), ("", "not ''"), ("15", "is too small for a state of spring: give at least 16")]:
            self.refuse("plan", self.scene, "--memory=" + memory, because=because)
        self.refuse("plan", self.scene, "--memory", "1K", "--slots", 3, because="leave out --memory")
        self.refuse("plan", self.scene, "--slots", 0, because="--slots.*'0'")
        self.refuse("simulate", self.scene, "--memory", "1K", because="--memory")

    @unittest.skipIf(SANITIZED, "memory is the sanitizer's")
    def test_memory_grows_by_the_checkpoints(self):
        def least(steps):  # of three: how many pages of the libraries are mapped varies by half a megabyte
            reports = [self.report("bench", "quadruped_stand", "--steps", steps, "--repeat", 1) for _ in range(3)]
            return min(r["peak_rss_mb"] for r in reports), reports[0]["checkpoint_bytes"] / 1e6

        (few, few_bytes), (many, many_bytes) = least(50), least(10000)
        self.assertLess(many - few, 1.5 * (many_bytes - few_bytes))

    def test_csv(self):
        self.run_costate("simulate", self.scene, "--out", "a.csv")
        text = (self.folder / "a.csv").read_text()
        header, *rows = csv.reader(text.splitlines())
        self.assertEqual(header, ["time", "m/rail, front", "d(m/rail, front)", "u(m/push)"])
        self.assertEqual(len(rows), 21)
        numbers = [[float(x) for x in row] for row in rows]
        self.assertEqual(numbers[0], [0, 0.5, 0, 0])
        for before, after in zip(numbers, numbers[1:]):  # no digit is lost: q+ = q + h v+ to the last bit
            self.assertEqual(after[1], before[1] + 0.01 * after[2])
        self.assertEqual(self.run_costate("simulate", self.scene, "--out", "-"), text)
        self.run_costate("simulate", self.scene, "--out", "b.csv", "--every", 8)
        times = [float(line.split(",")[0]) for line in (self.folder / "b.csv").read_text().splitlines()[1:]]
        self.assertEqual(times, [0, 0.08, 0.16, 0.2])

    def test_sites_in_csv(self):
        site = [{"name": "bow", "position": [0.3, 0, 0.1], "rpy_deg": [90, 0, 0]}]
        (self.folder / "boat.json").write_text(changed(["models", 0, "model", "bodies", 0, "sites"], site))
        self.assertEqual(self.report("info", "boat.json")["sites"], 1)
        self.assertRegex(self.run_costate("info", "boat.json"), r"m/cart .* bow\n")
        self.run_costate("simulate", "boat.json", "--out", "plain.csv")
        self.run_costate("simulate", "boat.json", "--out", "a.csv", "--columns", "m/*,d(*),u(*),site(*bow).x,site(*bow).y,site(*bow).z")
        plain, rows = ([*csv.reader((self.folder / n).read_text().splitlines())] for n in ["plain.csv", "a.csv"])
        self.assertEqual(rows[0], plain[0] + ["site(m/bow).x", "site(m/bow).y", "site(m/bow).z"])
        self.assertEqual([row[:-3] for row in rows], plain)
        for row in rows[1:]:
            self.assertAlmostEqual(float(row[-3]), float(row[1]) + 0.3, delta=1e-15)
            self.assertEqual(row[-2:], ["0", "0.1"])
        self.refuse("simulate", "boat.json", "--out", "b.csv", "--columns", "site(m/bw).x", because=r'm/bw.*"site\(m/bow\)')

    def test_sensors(self):
        scene = json.loads(changed(["sensors"], [{"name": "height", "type": "height_scan", "body": "m/cart", "size": [1, 1],
                                                  "spacing": [1, 1]},
                                                 {"name": "speed", "type": "frame_linear_velocity", "body": "m/cart"}]))
        scene["pushes"] = [{"name": "shove", "body": "m/cart", "times": [0, 10], "force": [20, 0, 0]}]
        (self.folder / "boat.json").write_text(json.dumps(scene))
        self.assertEqual(self.report("info", "boat.json")["sensors"], 2)
        self.assertRegex(self.run_costate("info", "boat.json"), r"speed +frame_linear_velocity +3 +m/s +body m/cart")
        self.run_costate("simulate", "boat.json", "--out", "a.csv", "--columns", "d(*),sensor(speed)*")
        header, *rows = csv.reader((self.folder / "a.csv").read_text().splitlines())
        self.assertEqual(header[2:], ["sensor(speed)[0]", "sensor(speed)[1]", "sensor(speed)[2]"])
        for row in rows[:-1]:
            self.assertEqual(row[1], row[2])
        self.assertGreater(float(rows[-1][1]), float(rows[0][1]))  # the push
        self.refuse("simulate", "boat.json", "--out", "b.csv", "--columns", "sensor(sped)*", because=r"sensor\(speed\)")
        scene["sensors"][0]["type"] = "hight_scan"
        (self.folder / "boat.json").write_text(json.dumps(scene))
        self.refuse("info", "boat.json", because="/sensors/0/type.*height_scan")

    def test_quantities_without_declaration(self):
        scene = json.loads(changed(["models", 0, "model", "bodies", 0, "sites"], [{"name": "bow", "position": [0.3, 0, 0], "rpy_deg": [0, 0, 90]}]))
        scene["controls"][0]["initial"] = 3
        scene["gravity"] = [0, 0, -2]
        scene["models"][0]["position"] = [0, 0, 4]
        scene["sensors"] = [{"name": "turn", "type": "frame_quaternion", "site": "m/bow"}]
        self.write("boat.json", json.dumps(scene))
        self.run_costate("simulate", "boat.json", "--out", "a.csv", "--columns", "*")
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader((self.folder / "a.csv").read_text().splitlines())]
        for row in rows[:-1]:
            v = row["d(m/rail, front)"]
            self.assertAlmostEqual(row["energy.kinetic"], 0.5 * 2 * v * v, delta=1e-14)
            self.assertAlmostEqual(row["energy.potential"], 2 * 2 * 4, delta=1e-12)
            self.assertEqual([row["force(m/push)"], row["effort(m/rail, front)"]], [row["u(m/push)"]] * 2)
            self.assertEqual([row[f"velocity(m/cart).{k}"] for k in ["x", "y", "z", "wx", "wy", "wz"]], [v, 0, 0, 0, 0, 0])
            self.assertEqual([row[f"site_velocity(m/bow).{k}"] for k in "xyz"], [v, 0, 0])
            self.assertEqual([row[f"site(m/bow).q{k}"] for k in "wxyz"], [row[f"sensor(turn)[{k}]"] for k in range(4)])
        self.assertNotEqual(rows[0]["d(m/rail, front)"], rows[-2]["d(m/rail, front)"])
        # what a trajectory holds besides the state does not hinder the viewer
        if not self.without_viewer():
            self.run_costate("view", "boat.json", "--run", "a.csv")
        box = self.run_costate("simulate", "box_slide", "--steps", 4, "--columns", "contact(*)*,impulse(*),pose(box).*", "--out", "-")
        for row in [*csv.DictReader(box.splitlines())][:-1]:
            self.assertAlmostEqual(float(row["contact(box).fz"]), float(row["impulse(box)"]) / 1e-3, delta=1e-6 * float(row["contact(box).fz"]))
            self.assertLess(float(row["contact(box).fx"]), 0)  # friction brakes it
            self.assertAlmostEqual(float(row["contact(box).z"]), 0, delta=1e-3)
            self.assertAlmostEqual(float(row["contact(box).y"]), float(row["pose(box).y"]), delta=1e-3)
        self.refuse("simulate", "boat.json", "--columns", "velocity(m/crt).x", "--out", "b.csv", because=r'velocity\(m/cart\).x')

    def test_the_loss_by_term(self):
        scene = json.loads(changed(["objective"], [
            {"term": "position", "body": "m/cart", "target": [0.2, 0, 0]}, {"term": "effort", "weight": 0.1, "at": "running"},
            {"name": "rest", "term": "joint_velocity", "weight": 2}]))
        scene["controls"][0]["initial"] = 1
        self.write("three.json", json.dumps(scene))
        r = self.report("simulate", "three.json")
        self.assertEqual(list(r["terms"]), ["position", "effort", "rest"])
        self.assertAlmostEqual(sum(r["terms"].values()), r["loss"], delta=1e-14)
        self.assertEqual(r["terms"], self.report("optimize", "three.json", "--iterations", 0)["terms"]["before"])
        self.assertRegex(self.run_costate("simulate", "three.json"), r"\n  effort +[0-9.]+\n  rest +[0-9.]+\n")
        robot = self.robot()
        self.assertEqual(self.report("simulate", robot, "--steps", 5)["terms"], {})

    def test_open_a_page(self):
        if self.without_viewer():
            self.skipTest("built without the viewer")
        folder = self.folder / "bin"
        folder.mkdir()
        (folder / "xdg-open").write_text(f'#!/bin/sh\nprintf %s "$1" > "{self.folder}/opened.tmp"; mv "{self.folder}/opened.tmp" "{self.folder}/opened"\n')
        (folder / "xdg-open").chmod(0o755)
        run = lambda path: subprocess.run([PROGRAM, "view", self.scene, "--open"], capture_output=True, text=True, cwd=self.folder,
                                          env=dict(os.environ, PATH=path), timeout=100)
        self.assertEqual(run(f"{folder}:/usr/bin:/bin").stderr, "")
        while not (self.folder / "opened").exists():
            time.sleep(0.01)
        self.assertEqual((self.folder / "opened").read_text(), str((self.folder / "spring.html").resolve()))
        self.assertRegex(run("/nonexistent").stderr, r"warning: xdg-open cannot be started: open spring.html in a browser")
        self.refuse("view", self.scene, "--png", "a.png", "--open", because="--open requires a page: add --out FILE")

    def test_a_moment_after_the_end(self):
        if self.without_viewer() or not any(map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])):
            self.skipTest("needs the viewer and Chromium")
        for at, said in ((99, "--at 99 is after the end of the run, 0.2 s"), (-1, "--at -1 is before the start of the run, 0 s")):
            p = subprocess.run([PROGRAM, "view", self.scene, "--png", "a.png", f"--at={at}"], capture_output=True, text=True, cwd=self.folder)
            self.assertEqual((p.returncode, p.stderr), (DONE, f"costate: warning: {said}; the image shows this moment\n"))

    def test_columns(self):
        text = self.run_costate("simulate", "box_slide", "--steps", 4, "--columns", "impulse(box),pose(b*).z,pose(*).qw", "--out", "-")
        header, *rows = csv.reader(text.splitlines())
        self.assertEqual(header, ["time", "pose(box).z"] + [f"pose(box).q{c}" for c in "wxyz"] + ["impulse(box)"])
        numbers = [[float(x) for x in row] for row in rows]
        self.assertEqual(numbers[0][1:6], [0.04995, 1, 0, 0, 0])
        for row in numbers:  # its weight
            self.assertAlmostEqual(row[6], 1e-3 * 9.81, delta=1e-3)
        self.assertEqual(numbers[-1][6], numbers[-2][6])

    def test_recording_of_itself(self):
        self.run_costate("simulate", self.scene, "--out", "a.csv")
        term = [{"term": "recording", "file": "a.csv", "columns": ["m/rail*", "d(*)"]}]
        same = self.write("same.json", changed(["objective"], term))
        self.assertEqual(self.report("simulate", same)["loss"], 0)
        self.write("a.csv", (self.folder / "a.csv").read_text().replace(",0.5,", ",half,"))
        self.refuse("simulate", same, because=r'a\.csv:2: "half" in column "m/rail, front"')

    def test_json_trajectory_equals_csv(self):
        self.run_costate("simulate", "quadruped_stand", "--steps", 3, "--out", "a.csv")
        self.report("simulate", "quadruped_stand", "--steps", 3, "--out", "a.json")
        header, *rows = csv.reader((self.folder / "a.csv").read_text().splitlines())
        trajectory = json.loads((self.folder / "a.json").read_text())
        self.assertEqual(trajectory, {"columns": header, "rows": [[float(x) for x in row] for row in rows]})
        self.assertEqual(len(set(header)), len(header))
        self.assertEqual(len(header), 1 + 19 + 18 + 12)

    def test_the_same_bytes_twice(self):
        runs = []
        for out in ["one", "two"]:
            self.run_costate("optimize", "box_slide", "--steps", 200, "--iterations", 2, "--method", "adam", "--out", out)
            check = self.report("gradcheck", "box_slide", "--steps", 50)
            check.pop("seconds")
            runs.append([(self.folder / out / n).read_bytes() for n in ["loss.svg", "motion.svg", "before.csv", "after.csv"]] + [check])
        self.assertEqual(runs[0], runs[1])

    def test_a_terminal_sees_progress_and_an_interrupt_leaves_nothing(self):
        terminal, stderr = pty.openpty()
        command = [PROGRAM, "simulate", "pendulum_1", "--steps", "10000000", "--out", "a.csv"]
        p = subprocess.Popen(command, cwd=self.folder, stderr=stderr)
        os.close(stderr)
        shown = b""
        while b"left" not in shown:
            shown += os.read(terminal, 1000)
        self.assertIn(b"simulate pendulum_1 [", shown)
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(timeout=60), -signal.SIGINT)
        os.close(terminal)
        self.assertEqual(self.files(), ["spring.json"])

    def test_progress_is_wiped_before_the_result(self):
        for result, *command in [
            (b"pendulum_5: 800 steps, loss", "gradcheck", "pendulum_5", "--steps", 800),
            (b"quadruped_stand: 40000 steps, loss", "gradient", "quadruped_stand", "--steps", 40000, "--slots", 1000),
            (b"pendulum_5: 50 environments", "bench", "pendulum_5", "--steps", 500, "--batch", 50, "--repeat", 20),
        ]:
            with self.subTest(command):
                terminal, both = pty.openpty()
                p = subprocess.Popen([PROGRAM, *map(str, command)], cwd=self.folder, stdout=both, stderr=both)
                os.close(both)
                shown = b""
                while p.poll() is None or select.select([terminal], [], [], 0.1)[0]:
                    if not select.select([terminal], [], [], 0.1)[0]:
                        continue
                    try:
                        more = os.read(terminal, 10000)
                    except OSError:  # the other end is closed
                        break
                    if not more:
                        break
                    shown += more
                os.close(terminal)
                self.assertEqual(p.wait(timeout=60), 0)
                self.assertIn(b" left", shown)
                bars, lines = shown.split(result)
                self.assertTrue(bars.endswith(b"\r\033[K"), bars[-100:])
                self.assertNotIn(b"\033", lines)

    def test_full_disk_is_found_before_the_work(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        endless = self.write("endless.json", changed(["optimize"], {"method": "adam", "iterations": 100000000}))
        places = [("--out", "result"), ("--out", "new/result"), ("--report", "page.html"), ("--plots", "plots")]
        for option, value in places:
            if option == "--report" and self.without_viewer():
                continue
            with self.subTest(option):
                p = subprocess.run([PROGRAM, "optimize", endless, option, value], capture_output=True, text=True,
                                   cwd=self.folder, preexec_fn=small_files, restore_signals=False, timeout=60)
                self.assertEqual((p.returncode, p.stdout), (BAD_INPUT, ""))
                why = f"costate: cannot write '{value}': File too large; make room, or give another place\n"
                self.assertEqual(p.stderr, why)
        why = "cannot write 'gone/page.html': there is no folder 'gone'|no viewer"
        self.refuse("optimize", endless, "--report", "gone/page.html", because=why)
        self.assertEqual(self.files(), ["endless.json", "spring.json"])

    def test_pages_open_beside_many_streams(self):
        if "--port" not in self.run_costate("watch", "--help"):
            self.skipTest("built without cpp-httplib")
        command = [PROGRAM, "watch", self.scene, "--port", "0", "--json"]
        p = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.stdout.close)
        text = ""
        while not text.endswith("}\n"):
            text += p.stdout.readline()
        url = json.loads(text)["url"]
        host, port = url.removeprefix("http://").rstrip("/").split(":")

        def ask(path):
            connection = http.client.HTTPConnection(host, int(port), timeout=10)
            self.addCleanup(connection.close)
            connection.request("GET", path)
            return connection.getresponse()

        streams = [ask("/events") for _ in range(80)]
        self.assertEqual([r.status for r in streams], 48 * [200] + 32 * [503])
        self.assertRegex(streams[-1].read().decode(), "already 48 open pages: close one")
        self.assertEqual(ask("/").status, 200)
        for r in streams:
            r.close()
        deadline = time.monotonic() + 20
        while ask("/events").status != 200 and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertEqual(ask("/events").status, 200)
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(timeout=60), 0)

    # What is refused. Nothing is written then.


if __name__ == "__main__":
    unittest.main()
