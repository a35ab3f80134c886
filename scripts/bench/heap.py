#!/usr/bin/env python3
"""Times a block of touching spheres on the ground between four walls: step, memory and gradient check by size and solver.

    scripts/bench/heap.py build/costate [--sizes 125,250,500,1000] [--solvers pgs,lcp,ncp] [--speed V] [--check STEP]

Prints a Markdown table. A run is of a few steps from the state in which all spheres touch their neighbours: every
contact bears, in one island of thousands of rows. With a speed V (m/s) the spheres start 2 mm apart, each with a random
velocity of up to V along each axis. Times are of the processor, the median of some runs; "unsolved" are steps that the solver left with a residual.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

RADIUS = 0.05


def scene(count, solver, steps, speed=0):
    """A block of `count` spheres, 10 high, each moved by up to 0.1 mm so that no two distances are the same."""
    draw = random.Random(count)
    side = math.ceil(math.sqrt(count / 10))
    models, velocities = [], {}
    pitch = 2 * RADIUS + (0.002 if speed > 0 else 0)
    for k in range(count):
        layer, rest = divmod(k, side * side)
        row, column = divmod(rest, side)
        place = [pitch * column, pitch * row, RADIUS + pitch * layer]
        models.append({"name": f"ball{k}", "position": [x + draw.uniform(-1e-4, 1e-4) for x in place], "model": {"bodies": [
            {"name": "ball", "mass": 0.1, "inertia": [1e-4, 1e-4, 1e-4, 0, 0, 0], "joint": {"type": "free"},
             "shapes": [{"type": "sphere", "radius": RADIUS, "friction": 0.6}]}]}})
        if speed > 0:
            velocities[f"ball{k}/ball"] = {"linear": [draw.uniform(-speed, speed) for _ in range(3)]}
    far = pitch * (side - 1) + RADIUS
    walls = [{"name": name, "type": "plane", "position": position, "rpy_deg": turn} for name, position, turn in (
        ("left", [-RADIUS, 0, 0], [0, 90, 0]), ("right", [far, 0, 0], [0, -90, 0]),
        ("front", [0, -RADIUS, 0], [-90, 0, 0]), ("back", [0, far, 0], [90, 0, 0]))]
    return {"name": f"heap_{count}", "time_step": 0.002, "steps": steps, "ground": True, "shapes": walls,
            "solver": {"type": solver}, "models": models, "initial": {"velocities": velocities},
            "objective": [{"term": "position", "body": f"ball{count - 1}/ball", "target": [0, 0, 0]}]}


def costate(program, *arguments):
    """What it prints; gradcheck exits with 1 where every stencil changes a branch."""
    run = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True)
    if not run.stdout:
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--sizes", default="125,250,500,1000")
    parser.add_argument("--solvers", default="pgs,lcp,ncp")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--speed", type=float, default=0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--check", type=float, metavar="STEP",
                        help="also compare the gradient with central differences of this relative step; between thousands "
                        "of contacts a stencil is valid only if it is short")
    options = parser.parse_args()
    columns = ["spheres", "solver", "step, ms", "replay and reverse, ms", "peak, MB", "residual, m/s", "unsolved"]
    if options.check:
        columns += ["gradcheck", "rejected"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "heap.json"
        for count in map(int, options.sizes.split(",")):
            for solver in options.solvers.split(","):
                file.write_text(json.dumps(scene(count, solver, options.steps, options.speed)))
                bench = costate(options.program, "bench", file, "--repeat", options.repeat)
                times = [f"{bench['processor'][way] / 1000:.3g}" for way in ("forward_us", "backward_us")]
                row = [count, solver, *times, f"{bench['peak_rss_mb']:.0f}", f"{bench['residual']:.0e}",
                       f"{bench['unconverged_steps']} of {options.steps}"]
                if options.check:
                    check = costate(options.program, "gradcheck", file, "--components", 8, "--directions", 4,
                                    "--step", options.check)
                    error = check["max_relative_error"]
                    row += ["every stencil changes a branch" if error is None else f"{error:.0e}",
                            f"{100 * check['rejected']:.0f} %"]
                print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
