#!/usr/bin/env python3
"""Limits as constraints and as penalties: the scene cartpole_limits beside the same scene with its limits as terms of the objective, by weight,
as a table in Markdown. Losses and violations do not depend on the machine's speed.

Usage: constraints.py [--program build/costate] [--scene scenes/library/cartpole_limits.json]
"""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

WEIGHTS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6]


def penalties(scene, weight):
    """The scene with each constraint as a penalty: the term of its first round, times the weight."""
    scene = json.loads(json.dumps(scene))
    for constraint in scene.pop("constraints"):
        term = {key: value for key, value in constraint.items() if key not in ("min", "max", "tolerance", "penalty")}
        term |= {"lower": constraint["min"], "upper": constraint["max"], "weight": 0.5 * weight * constraint.get("penalty", 10), "at": "running"}
        if term["term"] == "configuration":  # of a state: also in the final one
            term["target"] = 0
            scene["objective"].append(term | {"at": "end"})
        scene["objective"].append(term)
    return scene


def run(program, scene, folder):
    """Losses by term after the optimization, iterations, and the largest |position| and |force|."""
    file = folder / "scene.json"
    file.write_text(json.dumps(scene))
    done = subprocess.run([program, "optimize", file, "--out", folder / "out"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"constraints.py: {done.stderr}")
    result = json.loads((folder / "out/result.json").read_text())
    with open(folder / "out/after.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    largest = [max(abs(float(row[column])) for row in rows if row[column]) for column in ("cartpole/slider", "u(cartpole/force)")]
    return result["terms"]["after"], result["iterations"], largest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/costate")
    parser.add_argument("--scene", type=Path, default=Path("scenes/library/cartpole_limits.json"))
    options = parser.parse_args()
    program = Path(options.program).resolve()
    if not program.exists():
        sys.exit(f"constraints.py: {program} does not exist; build first, or give --program")
    scene = json.loads(options.scene.read_text())
    own = [term.get("name", term["term"]) for term in scene["objective"]]
    limits = [constraint["max"] for constraint in scene["constraints"]]
    print("| limits | loss without them | beyond the rail, mm | beyond the force, N | iterations |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, variant in [("constraints", scene)] + [(f"penalties, weight {w:g}", penalties(scene, w)) for w in WEIGHTS]:
            terms, iterations, largest = run(program, variant, Path(folder))
            rail, force = (max(0, x - limit) for x, limit in zip(largest, limits))
            print(f"| {name} | {sum(terms[k] for k in own):.4f} | {1000 * rail:.1f} | {force:.3f} | {iterations} |")


if __name__ == "__main__":
    main()
