#!/usr/bin/env python3
"""What `costate` makes of robots, arguments and scenes, good and bad, and of rollouts that diverge. Usage: test_cli_inputs.py PROGRAM"""
import csv
import json
import os
import re
import subprocess
import unittest

from cli import BAD_INPUT, BODY, COMMANDS, Cli, DIVERGED, DONE, PROGRAM, ROBOT, SPRING, changed


class Inputs(Cli):
    def test_a_robot_alone(self):
        robot = self.robot()
        r = self.report("info", robot)
        self.assertEqual([r[k] for k in ["name", "bodies", "joints", "nv", "nu", "mass", "shapes"]], ["thrower", 2, 2, 7, 1, 3, 2])
        self.assertEqual(self.report("info", robot, "--base", "fixed")["nv"], 1)
        self.assertRegex(self.run_costate("info", robot), r"floats(.|\n)*  arm +shoulder +revolute +6 +1 +motor\n")
        self.run_costate("simulate", robot, "--out", "a.csv")
        last = list(csv.DictReader((self.folder / "a.csv").read_text().splitlines()))[-1]
        self.assertAlmostEqual(float(last["thrower/block.z"]), 0.1, delta=0.01)  # it lies on the ground

    def test_a_folder_does_not_hide_the_scene_of_its_name(self):
        for name in ("throw", "results"):
            (self.folder / name).mkdir()
        self.assertEqual(self.report("info", "throw")["name"], "throw")
        self.refuse("info", "results", because="results: is a folder; name a file in it")

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
        robot = self.robot(ROBOT.replace("</robot>", "  <loop_joint/>\n</robot>"))
        p = subprocess.run([PROGRAM, "plan", robot], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(p.returncode, DONE)
        said = r"[^\n]*thrower.urdf:11: <loop_joint> in <robot> is not supported[^\n]*\n\Z"
        self.assertRegex(p.stderr, r"\Acostate: warning: " + said)
        self.assertRegex(self.run_costate("info", robot), r"\nchanged, guessed or left out:\n  " + said)
        self.assertEqual(len(self.report("info", robot)["warnings"]), 1)
        self.refuse("info", robot, "--strict", because=r"thrower.urdf:11: <loop_joint>")
        self.refuse("convert", robot, "--strict", "-o", "x.json", because=r"thrower.urdf:11: <loop_joint>")

    def test_what_cannot_move(self):
        table = self.write("table.urdf", "<robot name='t'><link name='t'/></robot>")
        if "TinyXML-2" in subprocess.run([PROGRAM, "info", table], capture_output=True, text=True, cwd=self.folder).stderr:
            self.skipTest("built without TinyXML-2")
        self.assertEqual(self.report("info", table)["nv"], 0)
        p = subprocess.run([PROGRAM, "simulate", table, "--out", "a.csv"], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(p.returncode, DONE)
        self.assertIn("no body can move, so a simulation changes nothing", p.stderr)
        self.assertEqual((self.folder / "a.csv").read_text().splitlines()[0], "time")

    def test_bad_robots(self):
        self.robot()
        for because, text in [(r"broken.urdf:2: ", "<robot>\n<link"), (r"broken.urdf:1: .*no <link>", "<robot/>"), (r"broken.urdf:1: .*binary", "\0")]:
            self.refuse("convert", self.write("broken.urdf", text), "-o", "x.json", because=because)
        self.refuse("convert", self.scene, because="takes a URDF, MJCF or SDFormat file")
        self.refuse("convert", "missing.urdf", because="there is no such file")
        self.refuse("info", self.robot(), "--base", "flying", because="fixed or floating, not 'flying'")
        self.refuse("info", self.robot(), "--search", "nowhere", because="no folder 'nowhere'")
        self.refuse("info", self.robot(), "--hull-vertices", "3", because="--hull-vertices")
        self.refuse("info", self.robot(), "--decompose", "0", because="--decompose")
        self.refuse("info", self.robot(), "--law", "soft", because="rigid or mujoco, not 'soft'")
        self.refuse("convert", self.robot(), "-o", "missing/x.json", because="cannot write 'missing/x.json")

    def test_models_beside_the_scene(self):
        (self.folder / "robots").mkdir()
        (self.folder / "scenes").mkdir()
        self.write("robots/cart.json", json.dumps(SPRING["models"][0]["model"]))
        scene = self.write("scenes/s.json", changed(["models", 0], {"name": "m", "file": "../robots/cart.json"}))
        self.assertEqual(self.report("info", scene)["nv"], 1)
        by_name = self.write("scenes/named.json", changed(["models", 0], {"name": "m", "file": "cart.json"}))
        self.assertEqual(self.report("info", by_name, "--search", "robots")["nv"], 1)
        absolute = str(self.folder / "robots" / "cart.json")
        outside = self.write("scenes/out.json", changed(["models", 0], {"name": "m", "file": absolute}))
        self.refuse("info", outside, because=r"s/out.json:1:\d+#/models/0/file: leads out of .* with --search")
        self.assertEqual(self.report("info", outside, "--search", "robots")["nv"], 1)
        self.write("package.xml", "<package/>")
        self.assertEqual(self.report("info", outside)["nv"], 1)
        gone = self.write("scenes/gone.json", changed(["models", 0], {"name": "m", "file": "../robots/gone.json"}))
        self.refuse("info", gone, because="there is no file .*gone.json; correct the path")

    def test_faults_name_line_and_column(self):
        text = json.dumps(SPRING, indent=2).replace('"m/rail, front": 0.5', '"m/rail": 0.5')
        line = text[:text.index('"m/rail"')].count("\n") + 1
        self.refuse("info", self.write("s.json", text), because=rf's.json:{line}:7#/initial/joints/"m/rail": .*"m/rail, front"')

    def test_robots_that_fall(self):
        robot = self.robot()
        scene = {"steps": 5, "models": [{"name": "r", "file": "thrower.urdf"}]}
        self.write("robots/fall.json", json.dumps(scene))
        p = subprocess.run([PROGRAM, "simulate", "robots/fall.json"], capture_output=True, text=True, cwd=self.folder)
        self.assertRegex(p.stderr, r"fall.json: robots float and no shape can hold them, so they fall: \"r/block\"; add \"ground\": true")
        self.write("robots/stand.json", json.dumps(scene | {"ground": {"height": -2}}))
        p = subprocess.run([PROGRAM, "simulate", "robots/stand.json"], capture_output=True, text=True, cwd=self.folder)
        self.assertNotIn("fall", p.stderr)

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
            ("unexpected argument 'two lines'", "info", s, "two\nlines"),
            ("two lines is no file", "merge", "two\nlines"),
            ("'' is no file", "merge", ""),
            ("is a folder", "simulate", "cartpole", "--controls", "."),
            ("--steps takes a value", "info", s, "--steps"),
            ("--steps.*'0'", "info", s, "--steps", 0),
            ("--steps.*'1e3'", "info", s, "--steps", "1e3"),
            ("--steps.*'99999999999'", "info", s, "--steps", 99999999999),
            ("without a value", "info", s, "--json=maybe"),
            ("--max-error.*'nan'", "gradcheck", s, "--max-error", "nan"),
            ("--max-error.*'-1'", "gradcheck", s, "--max-error=-1"),
            ("--step takes a number up to 0.001", "gradcheck", s, "--step", 1.5),
            ('adm.*"adam"', "optimize", s, "--method", "adm"),
            ("require --method cmaes", "optimize", s, "--seed", 2),
            ('throw.json: ilqr .* not "per_step"; write', "optimize", "throw", "--method", "ilqr"),
            ("multiple_shooting .* optimizes parameters", "optimize", "box_slide", "--method", "multiple_shooting"),
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
                    self.refuse(command, path, *out, because=re.escape(path) + r"(:\d+:\d+)?" + place)
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
        self.refuse("simulate", stiff, "--from", "stiff-diverged.json", because="leave out SCENE")
        del replay["state"][0]
        self.refuse("simulate", "--from", self.write("short.json", json.dumps(replay)), because=r"short.json:1:\d+#/state")
        self.refuse("simulate", "--from", "nowhere.json", because="nowhere.json")


if __name__ == "__main__":
    unittest.main()
