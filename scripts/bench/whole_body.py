#!/usr/bin/env python3
"""Go1 and a biped controlled through contact in closed loop, as a Markdown table: rate of planning by processor time, and cost, with exact
Jacobians of steps and with central differences of the same steps. The plants (scenes go1_plant, biped_plant) have other masses and friction,
and steps of 1 ms. "loss held" is that of the first controls, held.
Usage: whole_body.py PROGRAM [--out DIR] [--only TASK] [--seconds S] [--differences S]"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import tempfile

PUSHES = {"forward": "200,0,0", "backward": "-200,0,0", "to the left": "0,200,0", "to the right": "0,-200,0"}  # N on the trunk, 0.1 s
SCENES = {
    "Go1 stands": "go1_balance",
    "Go1 trots": "go1_trot",
    "Go1 rears": "go1_rear",
    "biped stands": "biped_balance",
    "biped squats": "biped_squat",
    "biped walks": "biped_walk",
}
TASKS = {
    task: (scene, push)
    for name, scene in SCENES.items()
    for task, push in [(name, None)] + [(f"{name}, push {way}", force) for way, force in PUSHES.items() if name.endswith("stands")]
}
ROBOTS = {"go1": ("robot/trunk", 2), "biped": ("robot/torso", 3)}  # the body that is pushed; seconds of a run


def last_state(folder):
    """(distance, m, height, m, tilt, degrees) of the trunk at the end."""
    rows = list(csv.DictReader((folder / "plant.csv").read_text().splitlines()))
    x, y, z, qx, qy = (float(rows[-1][f"robot/base.{name}"]) for name in ("x", "y", "z", "qx", "qy"))
    return math.hypot(x, y), z, math.degrees(2 * math.asin(min(1, math.hypot(qx, qy))))


def run(program, scene, push, out, more):
    robot = scene.split("_")[0]
    line = [program, "optimize", scene, "--method", "receding_horizon", "--plant", f"{robot}_plant", "--plans", "5", "--json", "--out", str(out)]
    if push:
        line += ["--push", f"{ROBOTS[robot][0]}:0.5:0.1:{push}"]
    done = subprocess.run(line + more, check=False, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


HEAD = "| task | Jacobians | time, s | horizon, s | plans per s | rate, Hz | longest plan, ms | loss | loss held | distance, m | height, m | tilt, degrees |"


def row(program, task, kind, seconds, folder):
    scene, push = TASKS[task]
    step = json.loads((pathlib.Path(__file__).parents[2] / "scenes" / "library" / f"{scene}.json").read_text())["time_step"]
    out = folder / f"{task.replace(', ', '_').replace(' ', '_')}_{kind}_{seconds:g}"
    out.mkdir(parents=True, exist_ok=True)
    steps = ["--steps", str(round(seconds / step))]
    r = run(program, scene, push, out, steps + (["--differences", "1e-6"] if kind == "differences" else []))
    if r is None:
        return f"| {task} | {kind} | {seconds:g} | | | | | diverges | | | | |"
    moved, height, tilt = last_state(out)
    planning = r["planning"]
    return (f"| {task} | {kind} | {seconds:g} | {r['horizon'] * step:g} | {r['plans'] / step:.0f} | {planning['rate']:.0f} "
            f"| {1e3 * planning['longest_seconds']:.1f} | {r['final_loss']:.3g} | {r['initial_loss']:.3g} | {moved:.2f} | {height:.2f} | {tilt:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--out", help="keeps the runs there, for costate view go1_plant --run DIR/.../plant.csv")
    parser.add_argument("--only", choices=TASKS, action="append", help="this task alone; may be given several times")
    parser.add_argument("--seconds", type=float, help="of a run (default 2 for Go1, 3 for the biped)")
    parser.add_argument("--differences", type=float, metavar="SECONDS", help="compares runs of this time with central differences")
    a = parser.parse_args()
    print(HEAD)
    print("|" + "---|" * (HEAD.count("|") - 1))
    with tempfile.TemporaryDirectory() as temporary:
        for task in a.only or TASKS:
            seconds = a.differences or a.seconds or ROBOTS[TASKS[task][0].split("_")[0]][1]
            for kind in ["exact", "differences"] if a.differences else ["exact"]:
                print(row(a.program, task, kind, seconds, pathlib.Path(a.out or temporary)), flush=True)


if __name__ == "__main__":
    main()
