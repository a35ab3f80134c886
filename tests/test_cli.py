#!/usr/bin/env python3
"""The program `costate` as its users meet it: outputs, exit codes, complaints, files. Usage: test_cli.py PROGRAM"""
import copy
import csv
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
COMMANDS = ["info", "simulate", "gradcheck", "gradient", "optimize", "plan", "bench", "view"]
DONE, CHECK_FAILED, BAD_INPUT, DIVERGED = 0, 1, 2, 3

KIND = {"max_relative_error", "taylor_order", "at_roundoff", "rejected", "stencils", "worst"}
KEYS = {
    "info": {"name", "description", "file", "bodies", "joints", "nq", "nv", "nu", "mass", "shapes", "sites", "parameters",
             "variables", "steps", "time_step"},
    "simulate": {"name", "steps", "duration", "loss", "seconds", "steps_per_second", "out"},
    "gradcheck": KIND | {"name", "steps", "loss", "variables", "seconds"},
    "gradient": {"name", "steps", "loss", "gradient_norm", "largest_adjoint", "schedule", "forward_evaluations", "checkpoint_bytes",
                 "disk", "seconds"},
    "optimize": {"name", "method", "steps", "variables", "initial_loss", "final_loss", "iterations", "loss_evaluations",
                 "gradient_evaluations", "seconds", "stopped", "parameters", "losses", "loss_seconds"},
    "bench": {"name", "steps", "repeat", "forward_us", "backward_us", "replay_us", "minimum", "bytes_per_checkpoint",
              "checkpoint_bytes", "forward_evaluations", "disk", "memory", "peak_rss_mb", "sweeps", "residual", "gradient_norm",
              "native", "compiler"},
    "plan": {"name", "steps", "schedule", "slots", "kept", "bytes_per_checkpoint", "peak_bytes", "forward_evaluations",
             "evaluations_per_step", "disk"},
    "view": {"name", "bodies", "runs", "bytes", "out", "png"},
}

# A mass on a spring, pushed by a motor.
SPRING = {
    "name": "spring",
    "time_step": 0.01,
    "steps": 20,
    "models": [{
        "name": "m",
        "model": {
            "bodies": [{"name": "cart", "joint": {"name": "rail, front", "type": "prismatic", "axis": [1, 0, 0], "stiffness": 10},
                        "mass": 2, "com": [0, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}],
            "actuators": [{"name": "push", "joint": "rail, front", "type": "motor"}],
        },
    }],
    "initial": {"joints": {"m/rail, front": 0.5}},
    "controls": [{"actuators": ["m/push"], "optimise": {"knots": 3}, "initial": 0}],
    "objective": [{"term": "position", "body": "m/cart", "target": [0.2, 0, 0]}],
    "optimize": {"method": "adam", "iterations": 5},
}


def changed(path, value):
    """SPRING as text with one value replaced."""
    scene = copy.deepcopy(SPRING)
    *parents, last = path
    item = scene
    for key in parents:
        item = item[key]
    item[last] = value
    return json.dumps(scene)


# A block with an arm, and the mesh it is seen as.
ROBOT = """<robot name="thrower">
  <link name="block">
    <inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <visual><geometry><mesh filename="meshes/block.obj"/></geometry></visual>
    <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
  </link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="block"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="3" velocity="1"/>
  </joint>
</robot>
"""

BODY = ["models", 0, "model", "bodies", 0]


class Cli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scene = self.write("spring.json", json.dumps(SPRING))

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def run_costate(self, *arguments, code=DONE):
        """Its stdout. On success stderr is empty, or else stdout is empty and stderr one line; only a failed check has both."""
        p = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder, timeout=300)
        self.assertEqual(p.returncode, code, f"{arguments}: {p.stderr}")
        if code == DONE:
            self.assertEqual(p.stderr, "")
            return p.stdout
        self.assertRegex(p.stderr, r"\Acostate: [^\n]+\n\Z")
        if code != CHECK_FAILED:
            self.assertEqual(p.stdout, "")
        return p.stdout if code == CHECK_FAILED else p.stderr

    def report(self, command, *arguments, code=DONE):
        report = json.loads(self.run_costate(command, *arguments, "--json", code=code))
        self.assertEqual(set(report), KEYS[command])
        return report

    def files(self):
        return sorted(p.relative_to(self.folder).as_posix() for p in self.folder.rglob("*") if p.is_file())

    def without_viewer(self):
        return "--overlays" not in self.run_costate("view", "--help")

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
            ("one of them", "--png", "a.png", "--at", 1, "--sheet", 4),
            ("--size", "--png", "a.png", "--size", "1280"),
            ("cannot be read", "--run", "nothing.csv"),
        ]:
            self.refuse("view", self.scene, *arguments, because=because)
        self.assertEqual(self.files(), ["page.html", "spring.html", "spring.json"])

    def test_report_and_plots(self):
        os.environ["COSTATE_CHROMIUM"] = "/nonexistent"
        self.addCleanup(os.environ.pop, "COSTATE_CHROMIUM")
        if not self.without_viewer():
            self.run_costate("optimize", self.scene, "--report", "report.html")
            self.assertIn("control m/push", (self.folder / "report.html").read_text())
            self.refuse("view", self.scene, "--png", "a.png", because="Chromium")
        self.assertIn("plots", self.run_costate("optimize", self.scene, "--plots", "plots"))
        for name in ["loss", "gradient", "control_m_push"]:
            self.assertTrue(xml.etree.ElementTree.parse(self.folder / f"plots/{name}.svg").getroot().tag.endswith("svg"))
            with open(self.folder / f"plots/{name}.csv", newline="") as file:
                header, *rows = csv.reader(file)
            self.assertIn(header[0], ["iteration", "time, s"])
            self.assertTrue(rows)
            [float(x) for row in rows for x in row[:2]]

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
        self.refuse("optimize", self.scene, "--compare", "earlier/result.json", because="--report and --plots")
        self.refuse("optimize", self.scene, "--compare", "gone.json", "--plots", "p", because="cannot read gone.json")
        for text in ["{", "[]", '{"method": "adam", "losses": [1], "loss_seconds": []}']:
            self.refuse("optimize", self.scene, "--compare", self.write("no.json", text), "--plots", "p", because="no.json is no result.json")

    def test_words(self):
        text = self.run_costate("--help")
        self.assertRegex(text, r"(?m)^  convert +\w")
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} +\w")
            for option in ["--steps", "--json", "--help"]:
                self.assertIn(option, self.run_costate(command, "--help"))
            self.assertIn("spring", self.run_costate(command, self.scene))
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

    def test_gradcheck(self):
        r = self.report("gradcheck", "pendulum_1", "--steps", 20, "--max-error", 1e-6)
        self.assertEqual(list(r["variables"]), ["controls", "initial_state", "parameters", "optimised"])
        for name, kind in r["variables"].items():
            self.assertEqual(set(kind), KIND)
            self.assertEqual(kind["stencils"] > 0, name != "optimised", name)
        self.assertEqual(r["max_relative_error"], max(k["max_relative_error"] for k in r["variables"].values()))
        few = self.report("gradcheck", "pendulum_1", "--steps", 5, "--components", 2, "--directions", 1, "--seed", 4)
        self.assertEqual([k["stencils"] for k in few["variables"].values()], [3, 3, 3, 0])
        r = self.report("gradcheck", "bounce", "--steps", 20)
        self.assertEqual(r["variables"]["optimised"]["stencils"], 17)
        self.report("gradcheck", "pendulum_1", "--steps", 20, "--max-error", 0, code=CHECK_FAILED)

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
        for owner in ["model", "scratch", "gradients"]:  # of a box
            self.assertTrue(100 < r["memory"][owner] < 1e6, owner)

    def test_bench_of_a_batch(self):
        r = json.loads(self.run_costate("bench", "box_slide", "--batch", 3, "--threads", 2, "--steps", 20, "--repeat", 2, "--json"))
        self.assertEqual([r[k] for k in ["batch", "threads", "steps", "repeat", "same_bits"]], [3, 2, 20, 2, True])
        for key in ["steps_per_second", "steps_per_second_one_thread", "steps_per_second_in_cpp", "steps_back_per_second", "speedup"]:
            self.assertGreater(r[key], 0, key)
        self.assertGreater(r["boundary_cost"], -1)
        self.assertGreater(r["bytes"], 3 * 2 * 13 * 8)  # two states of 13 numbers for each
        self.assertRegex(self.run_costate("bench", self.scene, "--batch", 2, "--repeat", 1), "2 environments(.|\n)*the same bits by all three")
        self.refuse("bench", self.scene, "--threads", 2, because="--threads is of batches; add --batch N")
        self.refuse("bench", self.scene, "--batch", 0, because="--batch takes a whole number")

    def test_plan(self):
        r = self.report("plan", "quadruped_stand", "--steps", 5000, "--slots", 100)
        self.assertEqual([r[k] for k in ["schedule", "slots", "bytes_per_checkpoint", "peak_bytes", "forward_evaluations"]],
                         ["binomial", 100, 296, 29600, 14898])
        self.assertEqual(r["evaluations_per_step"], 14898 / 5000)
        self.assertRegex(self.run_costate("plan", "quadruped_stand", "--steps", 5000, "--slots", 100),
                         "binomial, 100 of 5000(.|\n)*29600 bytes(.|\n)*2.98 a step")
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
        for memory, because in [("64Q", "such as 64M, not '64Q'"), ("0", "not '0'"), ("-1", "not '-1'"), ("1.5G", "not '1.5G'"),
                                ("99999T", "not '99999T'"), ("", "not ''"), ("15", "holds no state of spring: give at least 16")]:
            self.refuse("plan", self.scene, "--memory=" + memory, because=because)
        self.refuse("plan", self.scene, "--memory", "1K", "--slots", 3, because="leave out --memory")
        self.refuse("plan", self.scene, "--slots", 0, because="--slots.*'0'")
        self.refuse("simulate", self.scene, "--memory", "1K", because="--memory")

    @unittest.skipIf(b"__asan_init" in pathlib.Path(PROGRAM).read_bytes(), "memory is the sanitizer's")
    def test_memory_grows_by_the_checkpoints(self):
        def peak_rss(steps):  # the least of three: how many pages of the libraries are mapped varies
            return min(self.report("bench", "quadruped_stand", "--steps", steps, "--repeat", 1)["peak_rss_mb"] for _ in range(3))

        peak = [peak_rss(n) for n in (50, 5000)]
        self.assertLess(peak[1] - peak[0], 2)

    def robot(self, text=ROBOT):
        (self.folder / "robots/meshes").mkdir(parents=True, exist_ok=True)
        self.write("robots/meshes/block.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        path = self.write("robots/thrower.urdf", text)
        p = subprocess.run([PROGRAM, "info", path], capture_output=True, text=True)
        if "TinyXML-2 was missing" in p.stderr:
            self.assertEqual(p.returncode, BAD_INPUT)
            self.skipTest("built without TinyXML-2")
        return path

    def test_a_robot_alone(self):
        robot = self.robot()
        r = self.report("info", robot)
        self.assertEqual([r[k] for k in ["name", "bodies", "joints", "nv", "nu", "mass", "shapes"]], ["thrower", 2, 2, 7, 1, 3, 2])
        self.assertEqual(self.report("info", robot, "--base", "fixed")["nv"], 1)
        self.assertRegex(self.run_costate("info", robot), r"floats(.|\n)*thrower/arm +thrower/shoulder +revolute +6 +1 +motor thrower/shoulder")
        self.run_costate("simulate", robot, "--out", "a.csv")
        last = list(csv.DictReader((self.folder / "a.csv").read_text().splitlines()))[-1]
        self.assertAlmostEqual(float(last["thrower/block.z"]), 0.1, delta=0.01)  # it lies on the ground

    def test_convert(self):
        robot = self.robot()
        self.assertIn("2 bodies in deep.json", self.run_costate("convert", robot, "-o", "deep.json"))
        r = json.loads(self.run_costate("convert", robot, "--out", "robots/near.json", "--json"))
        self.assertEqual([r["bodies"], r["out"], r["warnings"]], [2, "robots/near.json", []])
        texts = [json.loads((self.folder / n).read_text()) for n in ["deep.json", "robots/near.json"]]
        files = [t["bodies"][0]["visuals"][0].pop("file") for t in texts]
        self.assertEqual(files, ["robots/meshes/block.obj", "meshes/block.obj"])  # as seen from where the model is
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(json.loads(self.run_costate("convert", robot)), json.loads((self.folder / "deep.json").read_text()))
        for name, from_file in [("a.csv", robot), ("b.csv", "deep.json")]:
            self.run_costate("simulate", from_file, "--steps", 300, "--out", name)
        self.assertEqual((self.folder / "a.csv").read_bytes(), (self.folder / "b.csv").read_bytes())

    def test_convert_mjcf(self):
        robot = self.write("hopper.xml", """<mujoco model="hopper"><option timestep="0.004" gravity="0 0 -5"/>
            <worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.5"/>
            <body name="leg"><freejoint/><geom type="capsule" size="0.1 0.2"/>
            <body name="foot" pos="0 0 -0.4"><joint name="ankle" axis="0 1 0" pos="0 0 0.1"/><geom size="0.1"/></body></body></worldbody>
            <actuator><position joint="ankle" kp="20" kv="1"/></actuator>
            <keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.3" ctrl="-0.2"/></keyframe></mujoco>""")
        self.run_costate("convert", robot, "-o", "hopper.json", "--strict")
        for name, from_file in [("a.csv", robot), ("b.csv", "hopper.json")]:
            self.run_costate("simulate", from_file, "--steps", 200, "--out", name)
        self.assertEqual((self.folder / "a.csv").read_bytes(), (self.folder / "b.csv").read_bytes())
        first = next(csv.DictReader((self.folder / "b.csv").read_text().splitlines()))
        self.assertEqual([float(first["hopper/leg.z"]), float(first["hopper/ankle"])], [1, 0.3])

    def test_warnings_and_strict(self):
        robot = self.robot(ROBOT.replace("</robot>", "  <gazebo/>\n</robot>"))
        p = subprocess.run([PROGRAM, "info", robot], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(p.returncode, DONE)
        self.assertRegex(p.stderr, r"\Acostate: warning: [^\n]*thrower.urdf:11: <gazebo> in <robot> has no counterpart[^\n]*\n\Z")
        self.refuse("info", robot, "--strict", because=r"thrower.urdf:11: <gazebo>")
        self.refuse("convert", robot, "--strict", "-o", "x.json", because=r"thrower.urdf:11: <gazebo>")

    def test_bad_robots(self):
        self.robot()
        for because, text in [(r"broken.urdf:2: ", "<robot>\n<link"), (r"broken.urdf:1: .*no <link>", "<robot/>"), (r"broken.urdf:1: .*binary", "\0")]:
            self.refuse("convert", self.write("broken.urdf", text), "-o", "x.json", because=because)
        self.refuse("convert", self.scene, because="takes a URDF or MJCF file")
        self.refuse("convert", "missing.urdf", because="there is no such file")
        self.refuse("info", self.robot(), "--base", "flying", because="fixed or floating, not 'flying'")
        self.refuse("info", self.robot(), "--search", "nowhere", because="no folder 'nowhere'")
        self.refuse("convert", self.robot(), "-o", "missing/x.json", because="cannot write 'missing/x.json")

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
        self.assertIn("m/bow", self.run_costate("info", "boat.json"))
        self.run_costate("simulate", "boat.json", "--out", "plain.csv")
        self.run_costate("simulate", "boat.json", "--out", "a.csv", "--columns", "m/*,d(*),u(*),site(*bow)*")
        plain, rows = ([*csv.reader((self.folder / n).read_text().splitlines())] for n in ["plain.csv", "a.csv"])
        self.assertEqual(rows[0], plain[0] + ["site(m/bow).x", "site(m/bow).y", "site(m/bow).z"])
        self.assertEqual([row[:-3] for row in rows], plain)
        for row in rows[1:]:
            self.assertAlmostEqual(float(row[-3]), float(row[1]) + 0.3, delta=1e-15)
            self.assertEqual(row[-2:], ["0", "0.1"])
        self.refuse("simulate", "boat.json", "--out", "b.csv", "--columns", "site(m/bw).x", because=r'm/bw.*"site\(m/bow\)')

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

    def test_optimize_out(self):
        r = self.report("optimize", self.scene, "--out", "deep/out")
        names = ["after.csv", "before.csv", "loss.svg", "motion.svg", "result.json"]
        self.assertEqual(self.files(), ["deep/out/" + n for n in names] + ["spring.json"])
        out = self.folder / "deep/out"
        result = json.loads((out / "result.json").read_text())
        self.assertEqual(set(result), KEYS["optimize"] | {"controls", "initial_state"})
        self.assertEqual({k: result[k] for k in r}, r)
        self.assertEqual(result["initial_state"], {"m/rail, front": 0.5, "d(m/rail, front)": 0})
        self.assertEqual(len(result["controls"]["m/push"]["values"]), 3)
        self.assertTrue(xml.etree.ElementTree.parse(out / "loss.svg").getroot().tag.endswith("svg"))
        for name, key in [("before.csv", "initial_loss"), ("after.csv", "final_loss")]:
            last = list(csv.DictReader((out / name).read_text().splitlines()))[-1]
            self.assertAlmostEqual((float(last["m/rail, front"]) - 0.2) ** 2, result[key])
        self.run_costate("optimize", self.scene, "--out", "deep/out")  # over the old files

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

    # What is refused. Nothing is written then.

    def refuse(self, *arguments, because, code=BAD_INPUT):
        before = self.files()
        self.assertRegex(self.run_costate(*arguments, code=code), because)
        replay = {name for name in self.files() if name.endswith("-diverged.json")} if code == DIVERGED else set()
        self.assertEqual(set(self.files()), set(before) | replay)

    def test_bad_arguments(self):
        s = self.scene
        for because, *arguments in [
            ("no command",),
            ('simulat.*"simulate"', "simulat", s),
            ("--jsn.*--json", "info", s, "--jsn"),
            ("--foo", "--foo"),
            ("-x", "info", "-x", s),
            ("takes a scene", "info"),
            ("unexpected argument 'more'", "info", s, "more"),
            ("--steps takes a value", "info", s, "--steps"),
            ("--steps.*'0'", "info", s, "--steps", 0),
            ("--steps.*'1e3'", "info", s, "--steps", "1e3"),
            ("--steps.*'99999999999'", "info", s, "--steps", 99999999999),
            ("no value", "info", s, "--json=maybe"),
            ("--max-error.*'nan'", "gradcheck", s, "--max-error", "nan"),
            ("--max-error.*'-1'", "gradcheck", s, "--max-error=-1"),
            ('adm.*"adam"', "optimize", s, "--method", "adm"),
            ("of --method cmaes", "optimize", s, "--seed", 2),
            ('throw.json: ilqr .* not "per_step"; write', "optimize", "throw", "--method", "ilqr"),
            ("multiple_shooting .* optimises parameters", "optimize", "box_slide", "--method", "multiple_shooting"),
            ("--knots.*'1'", "optimize", s, "--knots", 1),
            ("--sigma.*'0'", "optimize", s, "--method", "cmaes", "--sigma", 0),
            ("stdout", "simulate", s, "--out", "-", "--json"),
            ("a.txt", "simulate", s, "--out", "a.txt"),
            (r'pose\(m/crt\)\.x.*"pose\(m/cart\)\.x"', "simulate", s, "--out", "a.csv", "--columns", "u(*),pose(m/crt).x"),
        ]:
            with self.subTest(arguments):
                self.refuse(*arguments, because=because)

    @unittest.skipIf(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") > 296 * 9e8, "so much memory is here")
    def test_more_steps_than_memory(self):
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
        r = self.report("plan", "quadruped_stand", "--steps", 900000000)
        self.assertEqual([r["schedule"], r["slots"]], ["binomial", there // 2 // 296])
        self.assertEqual(r["forward_evaluations"], 3 * 900000000 - r["slots"] - 2)
        r = self.report("plan", "quadruped_stand", "--steps", 900000000, "--memory", "1000T")
        self.assertEqual(r["slots"], there // 296)

    def test_places_that_cannot_be_written(self):
        for out in ["missing/a.csv", "spring.json/a.csv"]:
            self.refuse("simulate", self.scene, "--out", out, because="cannot write '" + out)
        (self.folder / "folder.csv").mkdir()
        self.refuse("simulate", self.scene, "--out", "folder.csv", because="is not a file")
        for out in ["spring.json", "spring.json/deep"]:
            self.refuse("optimize", self.scene, "--out", out, because="not a directory")
        (self.folder / "out/loss.svg").mkdir(parents=True)
        self.refuse("optimize", self.scene, "--out", "out", because="loss.svg")
        if os.path.exists("/dev/full"):
            with open("/dev/full", "w") as full:
                p = subprocess.run([PROGRAM, "info", self.scene], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual((p.returncode, p.stderr[:33]), (BAD_INPUT, "costate: cannot write to stdout: "))

    def test_bad_scenes(self):
        cases = {  # what is wrong: the text, and the place that is named
            "broken": (json.dumps(SPRING)[:-20], ":1:"),
            "empty": ("", ":1:1:"),
            "unknown_key": (changed(["time_stp"], 0.1), "#/time_stp: .*time_step"),
            "missing_key": (json.dumps({k: v for k, v in SPRING.items() if k != "steps"}), '#: .*"steps"'),
            "key_given_twice": (json.dumps(SPRING).replace('"steps"', '"steps": 5, "steps"'), "#/steps: "),
            "wrong_length": (changed(BODY + ["com"], [0, 0]), "#/models/0/model/bodies/0/com: "),
            "negative_mass": (changed(BODY + ["mass"], -1), "#/models/0/model/bodies/0/mass: "),
            "inertia": (changed(BODY + ["inertia"], [1, 1, 9, 0, 0, 0]), "#/models/0/model/bodies/0/inertia: "),
            "name": (changed(["objective", 0, "body"], "m/crt"), "#/objective/0/body: .*m/cart"),
            "actuator_name": (changed(["controls", 0, "actuators", 0], "m/pish"), "#/controls/0/actuators/0: .*m/push"),
            "model_file": (changed(["models", 0], {"name": "m", "file": "gone.json"}), "#/models/0/file: .*gone.json"),
            "infinite": (json.dumps(SPRING).replace("0.01", "1e999"), ":1:"),
            "nan": (json.dumps(SPRING).replace("0.01", "NaN"), ":1:"),
            "type": (changed(["steps"], "many"), "#/steps: "),
        }
        for name, (text, place) in cases.items():
            path = self.write(name + ".json", text)
            for command in COMMANDS:
                out = {"simulate": ["--out", "a.csv"], "optimize": ["--out", "out"]}.get(command, [])
                with self.subTest(name, command=command):
                    self.refuse(command, path, *out, because=re.escape(path) + place)
        self.refuse("info", "nowhere.json", because="nowhere.json")
        self.refuse("info", "pendulum_11", because="pendulum_1")
        self.assertFalse((self.folder / "out").exists())

    def test_divergence(self):
        stiff = self.write("stiff.json", changed(BODY + ["joint", "stiffness"], 1e12).replace('"steps": 20', '"steps": 500'))
        for command, *out in [("simulate", "--out", "a.csv"), ("optimize", "--out", "out"), ("gradcheck",), ("gradient", "--out", "g.json"), ("bench",)]:
            self.refuse(command, stiff, *out, because=r"step \d+: body 'm/cart', joint 'm/rail, front'", code=DIVERGED)
        self.assertFalse((self.folder / "out").exists())
        self.report("info", stiff)

    def test_replay_of_a_divergence(self):
        stiff = self.write("stiff.json", changed(BODY + ["joint", "stiffness"], 1e12).replace('"steps": 20', '"steps": 500'))
        self.refuse("simulate", stiff, because="costate simulate --from stiff-diverged.json", code=DIVERGED)
        replay = json.loads((self.folder / "stiff-diverged.json").read_text())
        self.assertEqual(len(replay["controls"]), 10)
        self.assertIn(f"after step {replay['first_step'] + 9}: body 'm/cart'", replay["message"])
        self.refuse("simulate", "--from", "stiff-diverged.json", because="after step 9: body 'm/cart'", code=DIVERGED)
        self.refuse("simulate", stiff, "--from", "stiff-diverged.json", because="leave them out")
        del replay["state"][0]
        self.refuse("simulate", "--from", self.write("short.json", json.dumps(replay)), because="short.json#/state")
        self.refuse("simulate", "--from", "nowhere.json", because="nowhere.json")


if __name__ == "__main__":
    unittest.main()
