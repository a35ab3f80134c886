#!/usr/bin/env python3
"""Go1 controlled through contact in closed loop, as a Markdown table: rate of planning by processor time, and cost, with exact Jacobians of
steps and with central differences of the same steps. The plant (scene go1_plant) has other masses and friction, and steps of 1 ms.
"loss held" is that of the first controls, held. Usage: whole_body.py PROGRAM [--out DIR] [--only TASK] [--steps N] [--differences N]"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import tempfile

TASKS = {  # scene, push of the trunk: time, duration, s, force, N
    "stand": ("go1_balance", None),
    "stand, push forward": ("go1_balance", "0.5:0.1:200,0,0"),
    "stand, push backward": ("go1_balance", "0.5:0.1:-200,0,0"),
    "stand, push to the left": ("go1_balance", "0.5:0.1:0,200,0"),
    "stand, push to the right": ("go1_balance", "0.5:0.1:0,-200,0"),
    "trot": ("go1_trot", None),
    "rear": ("go1_rear", None),
}


def last_state(folder):
    """(distance, m, height, m, tilt, degrees) of the trunk at the end."""
    rows = list(csv.DictReader((folder / "plant.csv").read_text().splitlines()))
    x, y, z, qx, qy = (float(rows[-1][f"robot/base.{name}"]) for name in ("x", "y", "z", "qx", "qy"))
    return math.hypot(x, y), z, math.degrees(2 * math.asin(min(1, math.hypot(qx, qy))))


def run(program, scene, push, out, more):
    line = [program, "optimize", scene, "--method", "receding_horizon", "--plant", "go1_plant", "--plans", "5", "--json", "--out", str(out)]
    if push:
        line += ["--push", f"robot/trunk:{push}"]
    done = subprocess.run(line + more, check=False, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


HEAD = "| task | Jacobians | time, s | horizon | plans per s | rate, Hz | longest plan, ms | loss | loss held | distance, m | height, m | tilt, degrees |"


def row(program, task, kind, steps, folder):
    scene, push = TASKS[task]
    out = folder / f"{task.replace(', ', '_').replace(' ', '_')}_{kind}_{steps}"
    out.mkdir(parents=True, exist_ok=True)
    r = run(program, scene, push, out, ["--steps", str(steps)] + (["--differences", "1e-6"] if kind == "differences" else []))
    if r is None:
        return f"| {task} | {kind} | {steps / 100:g} | | | | | diverges | | | | |"
    moved, height, tilt = last_state(out)
    planning = r["planning"]
    return (f"| {task} | {kind} | {steps / 100:g} | {r['horizon']} | {r['plans'] * 100} | {planning['rate']:.0f} "
            f"| {1e3 * planning['longest_seconds']:.1f} | {r['final_loss']:.3g} | {r['initial_loss']:.3g} | {moved:.2f} | {height:.2f} | {tilt:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--out", help="keeps the runs there, for costate view go1_plant --run DIR/.../plant.csv")
    parser.add_argument("--only", choices=TASKS, action="append", help="this task alone; may be given several times")
    parser.add_argument("--steps", type=int, default=200, help="of 10 ms (default 200)")
    parser.add_argument("--differences", type=int, metavar="STEPS", help="compares these steps with central differences")
    a = parser.parse_args()
    print(HEAD)
    print("|" + "---|" * (HEAD.count("|") - 1))
    with tempfile.TemporaryDirectory() as temporary:
        for task in a.only or TASKS:
            rows = [("exact", a.steps)] if not a.differences else [("exact", a.differences), ("differences", a.differences)]
            for kind, steps in rows:
                print(row(a.program, task, kind, steps, pathlib.Path(a.out or temporary)), flush=True)


if __name__ == "__main__":
    main()
