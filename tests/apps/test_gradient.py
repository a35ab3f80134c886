#!/usr/bin/env python3
"""`costate gradient` as its users meet it: tiers, streams, and runs that are killed and go on. Usage: test_gradient.py PROGRAM"""
import array
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
DONE, BAD_INPUT, DIVERGED = 0, 2, 3
KEYS = {"name", "steps", "loss", "gradient_norm", "largest_adjoint", "solver", "schedule", "forward_evaluations", "checkpoint_bytes", "disk",
        "seconds"}
QUADRUPED = ["quadruped_stand", "--steps", 600]
TIERS = ["--memory", "36K", "--disk", "."]


def rows(file):
    """Shape and numbers of a NumPy array of doubles."""
    data = file.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    header = int.from_bytes(data[8:10], "little")
    shape = re.search(rb"'shape': \((\d+), (\d+)\)", data)
    numbers = array.array("d", data[10 + header:])
    return [int(n) for n in shape.groups()], numbers


class Gradient(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, *arguments):
        return [PROGRAM, "gradient", *map(str, arguments)]

    def gradient(self, *arguments):
        p = subprocess.run([*self.command(*arguments), "--json"], capture_output=True, text=True, cwd=self.folder, timeout=300)
        if "install zlib1g-dev" in p.stderr or "install libzstd-dev" in p.stderr:
            self.skipTest(p.stderr)
        self.assertEqual((p.returncode, p.stderr), (DONE, ""), arguments)
        report = json.loads(p.stdout)
        self.assertEqual(set(report), KEYS)
        return report

    def refuse(self, *arguments, because, code=BAD_INPUT):
        before = self.files()
        p = subprocess.run(self.command(*arguments), capture_output=True, text=True, cwd=self.folder, timeout=300)
        self.assertEqual((p.returncode, p.stdout), (code, ""), p.stderr)
        self.assertRegex(p.stderr, r"\Acostate: [^\n]+\n\Z")
        self.assertRegex(p.stderr, because)
        self.assertEqual([f for f in self.files() if not f.endswith("-diverged.json")], before)

    def files(self):
        return sorted(p.relative_to(self.folder).as_posix() for p in self.folder.rglob("*") if p.is_file())

    def content(self, *names):
        return [(self.folder / name).read_bytes() for name in names]

    def test_result(self):
        r = self.gradient("throw", "--steps", 100, "--out", "g.json")
        self.assertEqual([r["steps"], r["schedule"], r["forward_evaluations"]], [100, "every step", 199])
        g = json.loads((self.folder / "g.json").read_text())
        self.assertEqual(list(g), ["name", "steps", "loss", "gradient_norm", "controls", "initial_state", "parameters"])
        self.assertEqual(len(g["initial_state"]["position"]), len(g["initial_state"]["velocity"]))
        self.assertIn("bodies/ball/mass", g["parameters"])
        self.assertEqual(set(g["controls"]["arm/torque4"]), {"times", "values"})
        numbers = [x for c in g["controls"].values() for x in c["values"]] + list(g["parameters"].values())
        numbers += g["initial_state"]["position"] + g["initial_state"]["velocity"]
        self.assertAlmostEqual(sum(x * x for x in numbers) ** 0.5 / g["gradient_norm"], 1, places=12)
        self.assertGreater(r["largest_adjoint"]["norm"], 0)

    def test_tiers(self):
        self.gradient(*QUADRUPED, "--out", "all.json")
        for more in [["--slots", 7], ["--slots", 7, "--keep", 9], ["--memory", "4K", "--keep", 5], TIERS, [*TIERS, "--compress"], [*TIERS, "--disk-space", "60K"]]:
            r = self.gradient(*QUADRUPED, *more, "--out", "some.json")
            self.assertEqual(*self.content("all.json", "some.json"), more)
            planned = subprocess.run([PROGRAM, "plan", *map(str, [*QUADRUPED, *more]), "--json"], capture_output=True, text=True,
                                     cwd=self.folder)
            if "--compress" in more:
                self.assertEqual(planned.returncode, BAD_INPUT)  # what it will spare is not known
                self.assertGreater(r["disk"]["compression"], 1.2)
                continue
            planned = json.loads(planned.stdout)
            self.assertEqual([r["forward_evaluations"], r["checkpoint_bytes"], r["schedule"]],
                             [planned["forward_evaluations"], planned["peak_bytes"], planned["schedule"]])
            self.assertEqual([r["disk"][k] for k in ["states_written", "states_read", "file_bytes"]], list(planned["disk"].values()))
            self.assertEqual(r["disk"]["states_written"] > 0, "--disk" in more)
        self.assertEqual(self.files(), ["all.json", "some.json"])

    def test_stream(self):
        self.gradient(*QUADRUPED, "--by-step", "g.npy", "--out", "g.json")
        self.gradient(*QUADRUPED, "--by-step", "few.npy", "--slots", 5)
        self.assertEqual(*self.content("g.npy", "few.npy"))
        shape, numbers = rows(self.folder / "g.npy")
        self.assertEqual([shape, len(numbers)], [[600, 12], 600 * 12])
        controls = json.loads((self.folder / "g.json").read_text())["controls"]
        for n, entry in enumerate(controls.values()):  # a value held for all steps: the sum
            total = sum(numbers[n::12])
            self.assertAlmostEqual(total, entry["values"][0], delta=1e-9 * sum(map(abs, numbers[n::12])))

    def wait_for(self, process, file):
        while process.poll() is None and not (self.folder / file).exists():
            time.sleep(0.002)

    def killed(self, saved, after, *arguments):
        """Whether it was killed before it came to its end, where it removes what it saved."""
        p = subprocess.Popen(self.command(*arguments), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_for(p, saved)
        time.sleep(after)
        p.send_signal(signal.SIGKILL)
        stderr = p.communicate()[1]
        self.assertIn(p.returncode, (DONE, -signal.SIGKILL), stderr)
        return p.returncode != DONE and (self.folder / saved).exists()

    def test_killed_at_any_moment(self):
        dice = random.Random(7)
        for way in [["--slots", 40, "--keep", 3], TIERS, [*TIERS, "--compress"]]:
            what = ["quadruped_stand", "--steps", 3000, *way, "--by-step", "g.npy", "--out", "g.json"]
            expected = self.gradient(*what)
            files = self.content("g.npy", "g.json")
            for name in ["g.npy", "g.json"]:
                (self.folder / name).unlink()
            kills, resume = 0, ["--save", "run", "--save-every", 0.002]
            while self.killed("run", dice.uniform(0, 0.1 * expected["seconds"] + 0.02), *what, *resume) and kills < 12:
                kills, resume = kills + 1, ["--resume", "run", "--save-every", 0.002]
            if kills == 12:
                self.gradient(*what, *resume)
            self.assertGreater(kills, 2, way)
            self.assertEqual(self.content("g.npy", "g.json"), files, way)
            self.assertEqual(self.files(), ["g.json", "g.npy"])

    def test_interrupted(self):
        what = ["quadruped_stand", "--steps", 200000, "--slots", 50]
        p = subprocess.Popen(self.command(*what, "--by-step", "g.npy"), cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.wait_for(p, "g.npy.part")
        p.send_signal(signal.SIGINT)
        p.communicate()
        self.assertNotEqual(p.returncode, DONE)
        self.assertEqual(self.files(), [])
        p = subprocess.Popen(self.command(*what, "--save", "run"), cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.wait_for(p, "run")
        first = (self.folder / "run").stat().st_mtime_ns
        time.sleep(0.05)
        p.send_signal(signal.SIGTERM)
        p.communicate()
        self.assertEqual(self.files(), ["run"])
        self.assertGreater((self.folder / "run").stat().st_mtime_ns, first)  # it was saved once more

    def test_two_runs_with_one_name(self):
        what = ["quadruped_stand", "--steps", 200000, "--slots", 50, "--save", "run"]
        first = subprocess.Popen(self.command(*what), cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.wait_for(first, "run")
        for more in [[], ["--out", "g.json"]]:
            self.refuse(*what, *more, because="cannot write 'run': another run writes it; wait for that run")
        self.assertIsNone(first.poll())
        first.send_signal(signal.SIGTERM)
        first.communicate()
        self.assertEqual(self.files(), ["run"])

    def test_two_streams_with_one_name(self):
        long_run = self.command("quadruped_stand", "--steps", 200000, "--slots", 50, "--by-step", "g.npy")
        first = subprocess.Popen(long_run, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.wait_for(first, "g.npy.part")
        self.refuse("quadruped_stand", "--steps", 30, "--by-step", "g.npy",
                    because=r"cannot write 'g\.npy': another run writes it")
        self.assertIsNone(first.poll())
        self.assertTrue((self.folder / "g.npy.part").exists())
        first.send_signal(signal.SIGTERM)
        first.communicate()
        self.assertEqual(self.files(), [])

    def test_corrupted_checkpoints(self):
        what, file = ["quadruped_stand", "--steps", 5000, *TIERS], self.folder / "run.checkpoints"
        p = subprocess.Popen(self.command(*what, "--save", "run"), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while p.poll() is None and not (file.exists() and file.stat().st_size > 100):
            time.sleep(0.001)
        p.send_signal(signal.SIGTERM)
        p.communicate()
        self.assertEqual(self.files(), ["run", "run.checkpoints"])
        good = file.read_bytes()
        file.write_bytes(good[:99] + bytes([good[99] ^ 1]) + good[100:])
        self.refuse(*what, "--resume", "run", because=r"'\./run\.checkpoints' are corrupted at byte 0: ")
        file.unlink()
        self.refuse(*what, "--resume", "run", because=r"cannot read '\./run\.checkpoints': No such file")

    def test_limits(self):
        exact = self.gradient("throw", "--steps", 200)
        self.assertEqual(self.gradient("throw", "--steps", 200, "--clip", 1e9)["gradient_norm"], exact["gradient_norm"])
        clip = 0.5 * exact["largest_adjoint"]["norm"]
        clipped = self.gradient("throw", "--steps", 200, "--clip", clip)
        self.assertNotEqual(clipped["gradient_norm"], exact["gradient_norm"])
        self.assertNotEqual(self.gradient("throw", "--steps", 200, "--horizon", 20)["gradient_norm"], exact["gradient_norm"])

    def test_complaints(self):
        (self.folder / "noise").write_bytes(b"\0" * 100)
        for because, *arguments in [
            ("give the scene and options|not a saved run", "--resume", "noise"),
            ("cannot read 'gone'", "--resume", "gone"),
            ("--save-every requires --save", "--save-every", 1),
            ("require --disk DIR", "--compress"),
            ("require --disk DIR", "--disk-space", "1G"),
            ("there is no folder 'gone'", "--disk", "gone"),
            ("for example 10G, not 'much'", "--disk", ".", "--disk-space", "much"),
            ("leave out --memory and --disk", "--disk", ".", "--slots", 3),
            ("leave one out", "--disk", ".", "--keep", 3),
            ("--horizon", "--horizon", 0),
            ("--clip", "--clip", -1),
            ("cannot write 'gone/g.npy': there is no folder 'gone'", "--by-step", "gone/g.npy"),
            ("cannot write 'gone/g.json': there is no folder 'gone'", "--out", "gone/g.json"),
            ("cannot write 'gone/run': there is no folder 'gone'", "--save", "gone/run"),
            ("cannot write 'noise/.*'", "--save", "noise/run"),
        ]:
            with self.subTest(arguments):
                self.refuse("throw", "--steps", 50, *arguments, because=because)


if __name__ == "__main__":
    unittest.main()
