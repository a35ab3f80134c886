#!/usr/bin/env python3
"""Times a block of touching spheres on the ground between four walls: step, memory and gradient check by size and solver.

    scripts/bench/heap.py build/costate [--sizes 125,250,500,1000] [--solvers pgs,lcp,ncp] [--check]

Prints a Markdown table. A run is of a few steps from the state in which all spheres touch their neighbours, which is the hardest:
every contact bears, in one island of thousands of rows.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import tempfile

RADIUS = 0.05


def scene(count, solver, steps):
    """A block of `count` spheres, 10 high, each moved by up to 0.1 mm so that no two distances are the same."""
    draw = random.Random(count)
    side = math.ceil(math.sqrt(count / 10))
    models = []
    for k in range(count):
        layer, rest = divmod(k, side * side)
        row, column = divmod(rest, side)
        place = [2 * RADIUS * column, 2 * RADIUS * row, RADIUS + 2 * RADIUS * layer]
        models.append({"name": f"ball{k}", "position": [x + draw.uniform(-1e-4, 1e-4) for x in place], "model": {"bodies": [
            {"name": "ball", "mass": 0.1, "inertia": [1e-4, 1e-4, 1e-4, 0, 0, 0], "joint": {"type": "free"},
             "shapes": [{"type": "sphere", "radius": RADIUS, "friction": 0.6}]}]}})
    far = 2 * RADIUS * side - RADIUS
    walls = [{"name": name, "type": "plane", "position": position, "rpy_deg": turn} for name, position, turn in (
        ("left", [-RADIUS, 0, 0], [0, 90, 0]), ("right", [far, 0, 0], [0, -90, 0]),
        ("front", [0, -RADIUS, 0], [-90, 0, 0]), ("back", [0, far, 0], [90, 0, 0]))]
    return {"name": f"heap_{count}", "time_step": 0.002, "steps": steps, "ground": True, "shapes": walls,
            "solver": {"type": solver}, "models": models,
            "objective": [{"term": "position", "body": f"ball{count - 1}/ball", "target": [0, 0, 0]}]}


def costate(program, *arguments):
    return json.loads(subprocess.run([program, *map(str, arguments), "--json"], check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--sizes", default="125,250,500,1000")
    parser.add_argument("--solvers", default="pgs,lcp,ncp")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="also compare the gradient with central differences")
    options = parser.parse_args()
    print("| spheres | solver | step, ms | replay and reverse, ms | peak, MB | residual, m/s |" + (" gradcheck |" if options.check else ""))
    print("|---|---|---|---|---|---|" + ("---|" if options.check else ""))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "heap.json"
        for count in map(int, options.sizes.split(",")):
            for solver in options.solvers.split(","):
                file.write_text(json.dumps(scene(count, solver, options.steps)))
                bench = costate(options.program, "bench", file, "--repeat", 1)
                line = (f"| {count} | {solver} | {bench['forward_us'] / 1000:.3g} | {bench['backward_us'] / 1000:.3g} | "
                        f"{bench['peak_rss_mb']:.0f} | {bench['residual']:.0e} |")
                if options.check:
                    check = costate(options.program, "gradcheck", file, "--components", 4, "--directions", 2)
                    line += f" {check['max_relative_error']:.0e} |"
                print(line, flush=True)


if __name__ == "__main__":
    main()
