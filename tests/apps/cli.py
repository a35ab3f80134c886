"""What the tests of the program `costate` share: small scenes, a folder for each test, runs and complaints. Usage: test_cli_*.py PROGRAM"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
COMMANDS = ["info", "simulate", "gradcheck", "gradient", "optimize", "plan", "bench", "view"]
DONE, CHECK_FAILED, BAD_INPUT, DIVERGED = 0, 1, 2, 3

KIND = {"max_relative_error", "taylor_order", "at_roundoff", "checked", "rejected", "stencils", "worst"}
KEYS = {
    "info": {"name", "description", "file", "bodies", "joints", "nq", "nv", "nu", "mass", "shapes", "shape_pairs", "sites", "sensors", "warnings", "parameters",
             "variables", "steps", "time_step"},
    "simulate": {"name", "steps", "duration", "loss", "terms", "solver", "seconds", "steps_per_second", "out"},
    "gradcheck": KIND | {"name", "steps", "loss", "objective", "seed", "variables", "seconds"},
    "gradient": {"name", "steps", "loss", "gradient_norm", "largest_adjoint", "solver", "schedule", "forward_evaluations",
                 "checkpoint_bytes", "disk", "seconds"},
    "optimize": {"name", "method", "steps", "variables", "initial_loss", "final_loss", "iterations", "loss_evaluations",
                 "gradient_evaluations", "seconds", "stopped", "solver", "terms", "parameters", "losses", "loss_seconds"},
    "bench": {"name", "steps", "repeat", "forward_us", "backward_us", "replay_us", "minimum", "bytes_per_checkpoint",
              "checkpoint_bytes", "forward_evaluations", "disk", "memory", "peak_rss_mb", "sweeps", "residual", "unconverged_steps", "gradient_norm",
              "processor", "native", "compiler"},
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
    "controls": [{"actuators": ["m/push"], "optimize": {"knots": 3}, "initial": 0}],
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

    def robot(self, text=ROBOT):
        (self.folder / "robots/meshes").mkdir(parents=True, exist_ok=True)
        self.write("robots/meshes/block.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        path = self.write("robots/thrower.urdf", text)
        p = subprocess.run([PROGRAM, "info", path], capture_output=True, text=True)
        if "TinyXML-2 was missing" in p.stderr:
            self.assertEqual(p.returncode, BAD_INPUT)
            self.skipTest("built without TinyXML-2")
        return path

    def refuse(self, *arguments, because, code=BAD_INPUT):
        before = self.files()
        self.assertRegex(self.run_costate(*arguments, code=code), because)
        replay = {name for name in self.files() if name.endswith("-diverged.json")} if code == DIVERGED else set()
        self.assertEqual(set(self.files()), set(before) | replay)
