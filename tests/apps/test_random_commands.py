#!/usr/bin/env python3
"""Random command lines of the program `costate`: each ends in time with a documented exit code, one clear line on failure, and
leaves nothing behind but what it was asked for. Usage: test_random_commands.py PROGRAM [COUNT [SEED [FIRST]]]; line FIRST of a
seed is the same in every run, so a failure is repeated alone with COUNT 1."""
import json
import random
import re
import shlex
import signal
import subprocess
import sys
import time
import unittest

from cli import BAD_INPUT, CHECK_FAILED, DIVERGED, DONE, PROGRAM, ROBOT, SPRING, Cli, changed

COUNT, SEED, FIRST = (int(sys.argv.pop(1)) if len(sys.argv) > 1 else default for default in (80, 1, 0))
LIMIT = 20  # s, of a command
INTERRUPTED = 4

NUMBERS = (["1", "2", "3"], ["0", "-1", "1e3", "1.5", "99999999999999999999", "", "x", "nan", "inf", "-inf", "1e999", "0x10", " 1", "1 "])
OUTPUTS = (["new.csv", "new.json", "new.npy", "new.html", "new", "deep/new.json", "blank in it.json", "ünïcode.json", "good.csv"],
           ["new.txt", "missing/deep/new.csv", "folder", "-", "", ".", "spring.json/new", "n" * 300, "line\nbreak.json"])
INPUTS = (["good.csv", "good.json", "result.json", "spring.json"],
          ["empty.csv", "binary", "broken.json", "missing.csv", "folder", "", "line\nbreak", "/dev/null", "diverged.json"])
# Values that an option may take, and wrong ones, by its name. All others by the placeholder of their value in --help.
BY_NAME = {
    "base": (["fixed", "floating"], ["flying", ""]), "law": (["rigid", "mujoco"], ["soft", ""]),
    "search": ([".", "folder", ".:folder"], [":", "none"]), "interpolation": (["hold", "linear"], ["cubic"]),
    "method": (["gradient_descent", "momentum", "adam", "lbfgs", "gauss_newton", "ilqr", "multiple_shooting", "receding_horizon", "cmaes"], ["magic"]),
    "columns": (["*", "u(*)", "pose(*)*"], ["time", "none", "", ",", "*,*", "("]),
    "overlays": (["contacts", "gradient", "contacts,gradient", "none"], ["all", ""]), "size": (["64x48"], ["0x0", "x", "64", "100000x100000"]),
    "memory": (["auto", "1M", "64M"], ["1", "0", "-1", "1000000000000T", "M", ""]), "disk-space": (["1M", "10G"], ["0", "-1", "x"]),
    "disk": (["folder"], ["missing", "spring.json", ""]), "shard": (["1/2", "2/2"], ["0/2", "3/2", "1/0", "a/b", "1", "1/99999999999"]),
    "push": (["m/cart:0:0.01:1,0,0"], ["m/cart:0:0.01:1,0", "none:0:1:0,0,1", ":::", "x"]),
    "host": (["127.0.0.1", "localhost"], ["256.1.1.1", ""]), "port": (["0"], ["-1", "65536", "x"]),
    "frames": (["2", "10"], ["0", "1", "x"]), "save-every": (["0", "1"], ["-1", "x"]), "clip": (["1", "0"], ["-1", "x"]),
    "step": (["1e-6", "1e-4"], ["1.5", "0", "-1", "x"]), "max-error": (["1", "1e-6", "0"], ["-1", "nan"]), "environments": (["0", "1", "20"], ["-1", "x"]),
    "threads": (["1", "2"], ["0", "-1", "x"]), "plant": (["spring.json"], ["robot.urdf", "missing.json", ""]),
    "at": (["0", "0.01"], ["-1", "1e9", "x"]),
}
INPUT_OPTIONS = {"from", "controls", "resume", "run", "compare"}
OF_LITTLE_WORK = {"gradcheck": ["--components", "2", "--directions", "1"], "optimize": ["--iterations", "1", "--losses", "5"],
                  "bench": ["--repeat", "1"], "watch": ["--port", "0"]}
RIGHT_SCENES = ["spring.json", "robot.urdf", "robot.xml", "model.json", "stiff.json", "batch.json", "staged.json"]
WRONG_SCENES = ["empty.json", "broken.json", "binary", "missing.json", "folder", "", "entities.xml", "deep.json", "line\nbreak.json", "good.csv",
                "spring.jso", "-", "../spring.json", "n" * 300, "\x01\x7f"]
MJCF = """<mujoco model="hopper"><option timestep="0.004"/><worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="leg"><freejoint/>
<geom type="capsule" size="0.1 0.2"/></body></worldbody></mujoco>"""
ENTITIES = '<!DOCTYPE r [<!ENTITY a "' + "ha" * 50 + '"><!ENTITY b "' + "&a;" * 50 + '">]><robot name="&b;"><link name="l"/></robot>'


def options_of(command):
    """Names and placeholders (None: no value) of the options in the help of a command."""
    text = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True).stdout
    return [(m[1], m[2]) for m in re.finditer(r"^ +(?:-\w, )?--([\w-]+)(?: (\S+))?", text, re.M)]


def value_of(name, placeholder, r):
    right, wrong = BY_NAME.get(name) or (INPUTS if name in INPUT_OPTIONS else OUTPUTS if placeholder in ("FILE", "DIR") else NUMBERS)
    return r.choice(right if r.random() < 0.85 else wrong)


class RandomCommands(Cli):
    def setUp(self):
        super().setUp()
        top = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout
        self.commands = re.findall(r"^  (\w+) +\S", top[top.index("[OPTION...]"):top.index("SCENE is")], re.M)
        self.assertIn("simulate", self.commands)
        self.options = {c: options_of(c) for c in self.commands}
        self.shipped = re.findall(r"\w+", top[top.index("or one of"):top.index("costate COMMAND --help")])[3:]
        self.assertIn("throw", self.shipped)
        (self.folder / "folder").mkdir()
        (self.folder / "deep").mkdir()
        self.write("robot.urdf", ROBOT)
        self.write("robot.xml", MJCF)
        self.write("model.json", json.dumps(SPRING["models"][0]["model"]))
        self.write("stiff.json", changed(["initial", "joints", "m/rail, front"], 1e308))
        stages = [{"method": "cmaes", "iterations": 1}, {"iterations": 1, "parameters": [{"path": "contact/compliance", "value": 1}]}]
        self.write("staged.json", json.dumps(SPRING | {"optimize": {"iterations": 2, "stages": stages}}))
        self.write("batch.json", json.dumps(SPRING | {"batch": {"environments": 20, "randomize": {"parameters": [{"path": "bodies/m/cart/mass", "factor": [0.5, 2]}]}}}))
        for name in ["empty.json", "empty.csv"]:
            self.write(name, "")
        self.write("broken.json", json.dumps(SPRING)[:-20])
        self.write("deep.json", "[" * 100000)
        self.write("entities.xml", ENTITIES)
        (self.folder / "binary").write_bytes(bytes(range(256)))
        for command in [["simulate", "spring.json", "--steps", "3", "--out", "good.csv"], ["simulate", "spring.json", "--steps", "3", "--out", "good.json"],
                        ["optimize", "spring.json", "--steps", "3", "--out", "o"],
                        *(["gradient", "batch.json", "--steps", "3", "--shard", f"{i}/2", "--out", f"{i}.shard"] for i in (1, 2))]:
            self.run_costate(*command)
        (self.folder / "o/result.json").rename(self.folder / "result.json")
        for left in (self.folder / "o").iterdir():
            left.unlink()
        (self.folder / "o").rmdir()
        self.write("diverged.json", json.dumps({"scene": "spring.json", "message": "", "first_step": 0, "state": [0, 0], "parameters": [], "controls": [[0]]}))

    def line(self, r):
        """A random command line; most of its parts are right."""
        if r.random() < 0.03:
            return r.choice([[], ["--help"], ["--version"], ["--man"], ["--completion"], ["--completion", "bash"], ["simulat"], ["--x"], [""]])
        command = r.choice(self.commands)
        line = [command]
        if command == "merge":
            line += ["1.shard", "2.shard"] if r.random() < 0.4 else r.choices(["1.shard", "2.shard", *INPUTS[0], *INPUTS[1]], k=r.randint(1, 3))
        elif r.random() < 0.97:
            line.append(r.choice(self.shipped if r.random() < 0.5 else RIGHT_SCENES if r.random() < 0.8 else WRONG_SCENES))
        line += OF_LITTLE_WORK.get(command, [])
        if command != "merge":
            line += ["--steps", r.choice(NUMBERS[0])]
        for name, placeholder in r.sample(self.options[command], min(len(self.options[command]), r.choice([0, 1, 1, 2, 2, 3, 4]))):
            value = value_of(name, placeholder, r)
            if placeholder is None:
                line.append("--" + name)
            else:
                line += ["--" + name + "=" + value] if r.random() < 0.3 else ["--" + name, value]
        if r.random() < 0.05:
            line.insert(r.randint(1, len(line)), r.choice(["--", "-", "-x", "--no-such", "more", "--json=no", "--out", "\n", "%s%n"]))
        return line

    def state(self):
        return {p.relative_to(self.folder).as_posix(): (p.stat().st_mtime_ns, p.stat().st_size) if p.is_file() else None for p in self.folder.rglob("*")}

    def end_of(self, line):
        """Exit code, stdout and stderr. What serves until it is stopped is stopped when it has begun."""
        with subprocess.Popen([PROGRAM, *line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, cwd=self.folder) as p:
            first = b""
            if line[:1] == ["watch"]:
                first = p.stdout.readline()
                if first:
                    time.sleep(0.1)
                    p.send_signal(signal.SIGINT)
            try:
                out, err = p.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                p.kill()
                self.fail(f"took more than {LIMIT} s")
        return p.returncode, (first + out).decode(errors="replace"), err.decode(errors="replace")

    def judge(self, line, before, code, out, err):
        self.assertIn(code, {DONE, CHECK_FAILED, BAD_INPUT, DIVERGED, INTERRUPTED}, f"stderr: {err[-500:]}")
        complaints = [said for said in err.splitlines() if not said.startswith(("costate: warning: ", "costate: note: "))]
        self.assertEqual(err == "" or err.endswith("\n"), True, err)
        self.assertEqual(len(complaints), 0 if code == DONE else 1, err)
        for said in complaints:
            self.assertRegex(said, r"\Acostate: .{6,2000}\Z")
            self.assertNotRegex(said, r"[\x00-\x1f\x7f]|terminate called|std::|basic_string|_M_|vector::|stoi|json\.exception")
        if code in (BAD_INPUT, DIVERGED) and line[:1] != ["watch"]:
            self.assertEqual(out, "")
        if code == DONE and "--json" in line and "--help" not in line:
            self.assertIsInstance(json.loads(out), dict)
        now = self.state()
        new = set(now) - set(before)
        self.assertEqual(set(before) - set(now), {n for n in set(before) - set(now) if n in line})
        for name in new:
            self.assertNotRegex(name, r"\.(tmp|part|lock|checkpoints)$|costate-|~$|\.costate", "left behind")
        if code == BAD_INPUT:
            self.assertEqual(new, set())
        if code == DIVERGED:
            self.assertEqual({n for n in new if not n.endswith("-diverged.json")}, set())
        given = " ".join(line)
        changed_files = {n for n in set(now) & set(before) if now[n] != before[n]}
        self.assertEqual({n for n in changed_files if n not in given}, set(), "changed")
        if code in (BAD_INPUT, DIVERGED):
            self.assertEqual(changed_files, set())

    def restore(self, kept):
        for path in sorted(self.folder.rglob("*"), reverse=True):
            name = path.relative_to(self.folder).as_posix()
            if name not in kept:
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        for name, content in kept.items():
            if content is not None and (not (self.folder / name).is_file() or (self.folder / name).read_bytes() != content):
                (self.folder / name).write_bytes(content)

    def test_random_commands(self):
        kept = {p.relative_to(self.folder).as_posix(): p.read_bytes() if p.is_file() else None for p in self.folder.rglob("*")}
        codes = {}
        for n in range(FIRST, FIRST + COUNT):
            line = self.line(random.Random(f"{SEED} {n}"))
            with self.subTest(f"seed {SEED}, line {n}: costate {shlex.join(line)}"):
                before = self.state()
                try:
                    code, out, err = self.end_of(line)
                    codes[code] = codes.get(code, 0) + 1
                    self.judge(line, before, code, out, err)
                finally:
                    self.restore(kept)
        print(f"{COUNT} command lines, exit codes {dict(sorted(codes.items()))}")
        self.assertTrue(COUNT < 50 or {DONE, BAD_INPUT} <= set(codes))


if __name__ == "__main__":
    unittest.main()
