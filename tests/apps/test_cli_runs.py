#!/usr/bin/env python3
"""Runs of `costate` that begin with earlier ones: controls and starts from files. Usage: test_cli_runs.py PROGRAM"""
import copy
import csv
import json
import unittest

from cli import Cli, SPRING


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
                                 (["--controls", "gone.csv"], "gone.csv: cannot be read")]:
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


if __name__ == "__main__":
    unittest.main()
