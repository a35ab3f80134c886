#!/usr/bin/env python3
"""Scenes with a "batch": threads, shards and their faults, optimization. Usage: test_cli_batch.py PROGRAM"""
import copy
import json
import os
import random
import resource
import shutil
import struct
import subprocess
import unittest
import unittest.mock

from cli import DIVERGED, PROGRAM, SPRING, Cli

BATCH = copy.deepcopy(SPRING) | {
    "batch": {"environments": 100, "seed": 4, "randomize": {
        "joints": {"m/*": 0.1},
        "velocities": {"m/*": 0.5},
        "parameters": [{"path": "bodies/m/cart/mass", "factor": [0.5, 2]}],
        "controls": [{"actuators": ["m/push"], "noise": 1}]}},
    "optimize": {"method": "adam", "iterations": 20}}
REPORT = {"name", "steps", "loss", "gradient_norm", "standard_errors", "environments", "threads", "ranks", "batch_bytes", "share_in_lanes", "compute_seconds", "wait_seconds", "reduce_seconds",
          "slowest_rank", "seconds"}


class Batch(Cli):
    def setUp(self):
        super().setUp()
        self.batch = self.write("batch.json", json.dumps(BATCH))

    def gradient(self, *arguments, scene=None):
        """The bytes of g.json."""
        self.run_costate("gradient", scene or self.batch, "--out", "g.json", *arguments)
        return (self.folder / "g.json").read_bytes()

    def shards(self, n, scene=None):
        files = []
        for i in range(1, n + 1):
            files.append(f"shard_{i}_of_{n}")
            self.run_costate("gradient", scene or self.batch, "--shard", f"{i}/{n}", "--out", files[-1])
        return files

    def merged(self, files):
        self.run_costate("merge", *files, "--out", "merged.json")
        return (self.folder / "merged.json").read_bytes()

    def test_threads(self):
        expected = self.gradient("--threads", 1)
        for threads in (2, 5):
            self.assertEqual(self.gradient("--threads", threads), expected)
        self.assertEqual(self.gradient("--memory", 100), expected)  # fewer checkpoints
        g = json.loads(expected)
        self.assertEqual((g["environments"], len(g["controls"]["m/push"]["values"])), (100, 3))
        report = json.loads(self.run_costate("gradient", self.batch, "--json", "--threads", 2))
        self.assertEqual(set(report), REPORT)
        self.assertEqual((report["loss"], report["gradient_norm"], report["threads"]), (g["loss"], g["gradient_norm"], 2))
        other = copy.deepcopy(BATCH)
        other["batch"]["seed"] = 5
        self.assertNotEqual(json.loads(self.gradient(scene=self.write("other.json", json.dumps(other))))["loss"], g["loss"])

    def test_lanes_give_the_same_bits(self):
        gradients, shares = {}, {}
        for lanes in ("1", "4"):
            with unittest.mock.patch.dict(os.environ, COSTATE_LANES=lanes):
                gradients[lanes] = self.gradient("--threads", 1)
                shares[lanes] = json.loads(self.run_costate("gradient", self.batch, "--json", "--threads", 1))["share_in_lanes"]
        self.assertEqual(gradients["1"], gradients["4"])
        self.assertEqual(shares["1"], 0)
        with unittest.mock.patch.dict(os.environ, COSTATE_LANES="3"):
            self.refuse("gradient", self.batch, because="COSTATE_LANES is '3', but this build has the widths 1, ")

    def test_one_environment(self):
        self.run_costate("simulate", self.batch, "--environment", 7, "--out", "seven.csv")
        self.run_costate("simulate", self.batch, "--out", "none.csv")
        self.assertNotEqual((self.folder / "seven.csv").read_bytes(), (self.folder / "none.csv").read_bytes())
        losses = [json.loads(self.run_costate("simulate", self.batch, "--environment", e, "--json"))["loss"] for e in range(16)]
        self.assertEqual(len(set(losses)), 16)
        sixteen = json.loads(self.run_costate("gradient", self.batch, "--environments", 16, "--json"))["loss"]
        self.assertAlmostEqual(sum(losses) / 16, sixteen, places=14)
        self.refuse("simulate", self.scene, "--environment", 1, because="requires a scene with a \"batch\"")

    def test_a_full_disk(self):
        """Of a process that may write files of so many bytes. Nothing is left half-written."""
        def limited(bytes_, *arguments):
            return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder, restore_signals=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_)))
        long = copy.deepcopy(BATCH)
        long["controls"][0]["optimize"] = "per_step"
        long = self.write("long.json", json.dumps(long))
        before = sorted(os.listdir(self.folder))
        for arguments in (["gradient", long, "--steps", 20000, "--environments", 16, "--out", "g.json"],
                          ["gradient", long, "--steps", 20000, "--environments", 16, "--shard", "1/1", "--out", "shard"],
                          ["optimize", long, "--steps", 20000, "--environments", 16, "--iterations", 2, "--save", "saved", "--save-every", 0],
                          ["optimize", long, "--steps", 20000, "--environments", 16, "--iterations", 1, "--out", "results"]):
            p = limited(70_000, *arguments)
            self.assertEqual(p.returncode, 2, p.stderr)
            self.assertRegex(p.stderr, r"^costate: cannot write '.*': File too large.*\n$")
            self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_number_of_environments(self):
        few = copy.deepcopy(BATCH)
        few["batch"]["environments"] = 30
        self.assertEqual(self.gradient("--environments", 30), self.gradient(scene=self.write("few.json", json.dumps(few))))
        self.assertNotEqual(self.gradient("--environments", 31), self.gradient("--environments", 30))
        of_batch, of_spring = (json.loads(self.run_costate("gradient", scene, "--json", *more)) for scene, more in
                               ((self.batch, ["--environments", 0]), (self.scene, [])))
        self.assertEqual((of_batch["loss"], of_batch["gradient_norm"]), (of_spring["loss"], of_spring["gradient_norm"]))
        self.run_costate("optimize", self.batch, "--environments", 0, "--method", "gauss_newton", "--quiet")
        self.refuse("gradient", self.scene, "--environments", 5, because="--environments requires a scene with a \"batch\"")
        self.refuse("gradient", self.batch, "--environments", -1, because="--environments takes a whole number")

    def test_gradient_against_differences(self):
        g = json.loads(self.gradient())
        step = 1e-5
        for k in range(3):
            losses = []
            for sign in (1, -1):
                moved = copy.deepcopy(BATCH)
                moved["controls"][0]["initial"] = [sign * step if i == k else 0 for i in range(3)]
                losses.append(json.loads(self.gradient(scene=self.write("moved.json", json.dumps(moved))))["loss"])
            self.assertAlmostEqual((losses[0] - losses[1]) / (2 * step), g["controls"]["m/push"]["values"][k], delta=1e-9)

    def test_shards_have_the_bits_of_one_process(self):
        expected = self.gradient()
        for n in (1, 2, 3, 7):
            files = self.shards(n)
            random.Random(n).shuffle(files)
            self.assertEqual(self.merged(files), expected)
        # shards of different numbers, as long as they do not overlap: 1/7 has the first of seven blocks, 2/2 the last three
        self.assertEqual(self.merged(["shard_2_of_2", "shard_1_of_7", "shard_2_of_7", "shard_3_of_7", "shard_4_of_7"]), expected)
        report = json.loads(self.run_costate("merge", *self.shards(2), "--json"))
        self.assertEqual((report["loss"], report["shards"]), (json.loads(expected)["loss"], 2))

    def test_faults_of_shards(self):
        files = self.shards(3)
        self.refuse("merge", files[0], files[2], "--out", "m.json", because="environments 48 to 79 are missing: add the files of --shard 2/3")
        self.refuse("merge", *files, files[1], because="shard_2_of_3 is the same shard as shard_2_of_3: give each shard once")
        shutil.copy(self.folder / files[1], self.folder / "copy")
        self.refuse("merge", *files, "copy", because="copy is the same shard as shard_2_of_3")
        self.shards(2)
        self.refuse("merge", files[0], "shard_1_of_2", because="shard_1_of_2 overlaps with the files before it: blocks? .* twice")
        self.refuse("merge", files[0], "shard_2_of_2", because="environments 48 to 63 are missing: add the shards with them")
        content = (self.folder / files[1]).read_bytes()
        for name, data, because in [("truncated", content[:-8], "truncated is truncated: compute this shard again"),
                                    ("short", content[:20], "short is no shard"),
                                    ("long", content + b"x", "long is truncated"),
                                    ("flipped", content[:200] + bytes([content[200] ^ 1]) + content[201:], "flipped is corrupted"),
                                    ("empty", b"", "empty is no shard"),
                                    ("text", b"{" * 500, "text is no shard")]:
            (self.folder / name).write_bytes(data)
            self.refuse("merge", files[0], name, files[2], because=because)
        self.refuse("merge", "gone", because="gone is no file")
        self.refuse("merge", because="merge takes one or more files")
        other = copy.deepcopy(BATCH)
        other["batch"]["seed"] = 5
        self.run_costate("gradient", self.write("other.json", json.dumps(other)), "--shard", "2/3", "--out", "other")
        self.refuse("merge", files[0], "other", files[2], because="other is a shard of another scene or of other options than shard_1_of_3")

    def test_a_shard_of_another_version(self):
        import zlib
        [file] = self.shards(1)
        content = (self.folder / file).read_bytes()
        body = bytearray(content[32:])
        length = struct.unpack("Q", body[:8])[0]
        body[8:8 + length] = b"9" * length
        (self.folder / "newer").write_bytes(content[:24] + struct.pack("I", zlib.crc32(body)) + content[28:32] + body)
        self.refuse("merge", "newer", because=r"newer was written by costate 9+, and this is costate [\d.]+: use one version")

    def test_faults(self):
        for shard in ("0/3", "4/3", "1", "1/", "/3", "a/3", "1/3/4", "-1/3"):
            self.refuse("gradient", self.batch, "--shard", shard, "--out", "s", because="--shard takes I/N")
        self.refuse("gradient", self.batch, "--shard", "1/3", because="--shard requires --out FILE")
        self.refuse("gradient", self.batch, "--shard", "1/8", "--out", "s", because="100 environments are cut into 7 blocks of 16")
        self.refuse("gradient", self.scene, "--shard", "1/3", "--out", "s", because="--shard requires a scene with a \"batch\"")
        self.refuse("gradient", self.scene, "--threads", 2, because="--threads requires a scene with a \"batch\"")
        self.refuse("gradient", self.batch, "--by-step", "g.npy", because="--by-step is for one rollout")
        self.refuse("gradient", self.batch, "--save", "run", because="--save is for one rollout")
        self.refuse("optimize", self.batch, "--method", "ilqr", because="ilqr optimizes one rollout.* use lbfgs or adam")
        self.refuse("optimize", self.batch, "--landscape", 20, "--plots", "p", because="--landscape is for one rollout")
        heavy = copy.deepcopy(BATCH)
        heavy["controls"][0]["initial"] = 1e308
        heavy["models"][0]["model"]["actuators"][0]["gear"] = 1e10
        heavy = self.write("heavy.json", json.dumps(heavy))
        for arguments in (["gradient"], ["optimize"], ["gradient", "--shard", "2/3", "--out", "s"]):
            command, *rest = arguments
            self.refuse(command, heavy, *rest, code=DIVERGED, because=r"environment \d+: the state is not finite after step 0: body 'm/cart'")

    def test_optimization(self):
        def results(*arguments):
            self.run_costate("optimize", self.batch, "--out", "out", *arguments)
            r = json.loads((self.folder / "out/result.json").read_text())
            return {k: r[k] for k in ("initial_loss", "final_loss", "iterations", "controls", "losses", "environments", "terms")}
        expected = results("--threads", 1)
        self.assertLess(expected["final_loss"], 0.9 * expected["initial_loss"])
        self.assertEqual((expected["iterations"], expected["environments"]), (20, 100))
        self.assertEqual(expected["initial_loss"], json.loads(self.gradient())["loss"])
        for threads in (2, 5):
            self.assertEqual(results("--threads", threads), expected)
        for method in ("lbfgs", "momentum"):
            r = results("--method", method)
            self.assertLess(r["final_loss"], 0.9 * r["initial_loss"])

    def test_other_commands_run_the_scene_without_noise(self):
        for command in ("simulate", "gradcheck", "plan"):
            of_batch, of_spring = (json.loads(self.run_costate(command, scene, "--json")) for scene in (self.batch, self.scene))
            self.assertEqual(of_batch.get("loss"), of_spring.get("loss"))


if __name__ == "__main__":
    unittest.main()
