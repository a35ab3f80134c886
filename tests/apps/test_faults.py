#!/usr/bin/env python3
"""Calls that fail one at a time while `costate` reads, works and writes: memory, files, folders, threads. After each, every file
is either the old one or the new one, whole; the message is one line that names a file or memory, and the exit code is 2 unless all
was written. Usage: test_faults.py PROGRAM FAULTS [N], with faults.c as a library and at most N faults of a kind (default 6)"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from cli import BAD_INPUT, DONE, PROGRAM, ROBOT, SPRING, Cli

FAULTS = str(pathlib.Path(sys.argv.pop(1)).resolve())
MOST = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 6
OLD = b"an older file\n"
TIMES = re.compile(rb'"(loss_)?seconds": (\[[^]]*\]|[^,}\n]*)|\b[\d.e+-]+ (s|min)\b')  # differ from run to run
outcomes = collections.Counter()


def spread(count, most):
    """Up to `most` of the numbers 1 to count: the first and last ones, and others between at growing distances."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({round(count ** (i / (most - 2))) for i in range(most - 1)} | {count - 1})


class Faults(Cli):
    def setUp(self):
        super().setUp()
        (self.folder / "disk").mkdir()
        self.robot()

    def faulty(self, command, fault=""):
        environment = os.environ | {"LD_PRELOAD": FAULTS, "COSTATE_FAULT": fault, "COSTATE_FAULT_COUNTS": str(self.folder / "counts")}
        return subprocess.run([PROGRAM, *command], capture_output=True, text=True, cwd=self.folder, timeout=60, env=environment)

    def contents(self):
        return {name: (self.folder / name).read_bytes() for name in self.files() if name != "counts"}

    def restore(self, kept):
        for name in self.files():
            (self.folder / name).unlink()
        for name, content in kept.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(content)

    def whole(self, content, new):
        """True for the file that a run without faults writes, at other times. The page of an optimization plots these."""
        if new.endswith(b"</html>\n") and b"<svg" in new:
            return content.endswith(b"</html>\n") and abs(len(content) - len(new)) < 5000
        return TIMES.sub(b"", content) == TIMES.sub(b"", new)

    def judge(self, p, old, new, stays):
        now = self.contents()
        self.assertIn(p.returncode, (DONE, BAD_INPUT), p.stderr)
        if p.returncode == DONE:
            self.assertEqual(set(now), set(new))
            self.assertEqual({n for n in now if not self.whole(now[n], new[n])}, set(), "not what is due")
            self.assertTrue(all(line.startswith("costate: warning: ") for line in p.stderr.splitlines()), p.stderr)
            return
        self.assertRegex(p.stderr, r"\Acostate: [^\n]{6,}\n\Z")
        self.assertNotRegex(p.stderr, r"std::|basic_|terminate|ios_|bad_|iostream error")
        named = {pathlib.PurePath(name).name for name in [*old, *new, *stays]} | {"'disk'", "'.'", "'out'"}
        self.assertTrue("not enough memory" in p.stderr or "no thread" in p.stderr or any(name in p.stderr for name in named), p.stderr)
        self.assertEqual(set(old) - set(now), set(), "lost")
        if "not even to clean up" in p.stderr:  # nlohmann::json allocates in its destructor, where the program ends at once
            now = {name: content for name, content in now.items() if ".tmp-" not in name and not name.endswith(".lock")}
        self.assertEqual(set(now) - set(old) - set(new) - set(stays), set(), "left behind")
        self.assertEqual({n for n in now if n not in stays and now[n] != old.get(n) and not self.whole(now[n], new.get(n, b""))}, set(), "half-written")

    def inject(self, *command, stays=(), after=None):
        """Runs the command with every kind of fault; files in `stays` may be left for a run that is resumed."""
        start = self.contents()
        self.assertEqual(self.faulty(command).stderr, "")
        counts = {kind: int(n) for kind, n in map(str.split, (self.folder / "counts").read_text().splitlines())}
        new = self.contents()
        old = start | {name: OLD for name in new if name not in start}
        for kind, count in counts.items():
            for fault in [f"{kind} {n}{onwards}" for onwards in ("", "+") for n in spread(count, MOST)]:
                self.restore(old)
                with self.subTest(f"COSTATE_FAULT='{fault}' of {count}: costate {' '.join(command)}"):
                    p = self.faulty(command, fault)
                    outcomes[f"{kind}, exit {p.returncode}"] += 1
                    self.judge(p, old, new, stays)
                    if after and p.returncode == BAD_INPUT:
                        after(new)
        self.restore(start)

    def test_optimize(self):
        report = [] if self.without_viewer() else ["--report", "page.html"]
        self.inject("optimize", "spring.json", "--method", "lbfgs", "--save", "run", "--save-every", "0", "--out", "out", *report, stays=["run"])

    def test_gradient(self):
        def resumed(new):
            """What was saved goes on to the same result, or is refused as another run."""
            if not (self.folder / "run").exists():
                return
            p = subprocess.run([PROGRAM, *command, "--resume", "run"], capture_output=True, text=True, cwd=self.folder, timeout=60)
            outcomes[f"resumed, exit {p.returncode}"] += 1
            if p.returncode == BAD_INPUT:
                self.assertRegex(p.stderr, r"\Acostate: cannot re[^\n]*\n\Z")
            else:
                self.assertEqual((p.returncode, (self.folder / "g.json").read_bytes()), (DONE, new["g.json"]), p.stderr)

        command = ["gradient", "spring.json", "--steps", "20000", "--memory", "40000", "--disk", "disk", "--compress", "--by-step", "b.npy", "--out", "g.json"]
        self.inject(*command, "--save", "run", "--save-every", "0.02", stays=["run", "disk/run.checkpoints", "b.npy.part"], after=resumed)

    def test_batch(self):
        randomized = {"environments": 40, "randomize": {"parameters": [{"path": "bodies/m/cart/mass", "factor": [0.5, 2]}]}}
        self.write("batch.json", json.dumps(SPRING | {"batch": randomized}))
        self.inject("gradient", "batch.json", "--threads", "2", "--out", "g.json")

    def test_view(self):
        if self.without_viewer():
            self.skipTest("built without the viewer")
        self.run_costate("simulate", "spring.json", "--out", "states.csv")
        self.inject("view", "spring.json", "--run", "states.csv", "--out", "page.html")

    def test_robot(self):
        self.inject("simulate", self.robot(), "--base", "fixed", "--steps", "3", "--out", "states.csv")


if __name__ == "__main__":
    program = unittest.main(exit=False)
    print(f"{sum(outcomes.values())} faults: {dict(sorted(outcomes.items()))}")
    sys.exit(not program.result.wasSuccessful())
