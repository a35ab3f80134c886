#!/usr/bin/env python3
"""Ways around bad minima: scenes with rigid contact, optimized by lbfgs from their start, in stages from soft to rigid contacts, from several
starts, and from the best point of CMA-ES, with controls of 12 knots, as a table in Markdown. Losses do not depend on the machine's speed.

Usage: stages.py [--program build/costate] [--scenes scenes/library] [--seeds 3] [NAME...]
"""
import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = ["hopper", "jump_worm", "half_cheetah_jump", "humanoid_jump", "catapult", "drone_takeoff"]
ITERATIONS = 120  # of each way together


def softer(*values):
    return [{"iterations": ITERATIONS // (len(values) + 1), "parameters": [{"path": "contact/compliance", "value": value}]} for value in values]


WAYS = {
    "from the start": ({"iterations": ITERATIONS}, []),
    "compliance 3, 0.3": ({"iterations": ITERATIONS // 3, "stages": softer(3, 0.3)}, []),
    "compliance 0.3, 0.03": ({"iterations": ITERATIONS // 3, "stages": softer(0.3, 0.03)}, []),
    "best of 4 starts": ({"iterations": ITERATIONS // 4}, ["--restarts", "4"]),
    "CMA-ES, then lbfgs": ({"iterations": ITERATIONS // 2, "stages": [{"method": "cmaes", "iterations": ITERATIONS // 2}]}, []),
}


def rigid(scene):
    """Without compliant ground."""
    if isinstance(scene.get("ground"), dict):
        scene["ground"] = {key: value for key, value in scene["ground"].items() if key not in ("stiffness", "damping")}
    return scene


def run(program, scene, more, folder):
    file = folder / "scene.json"
    file.write_text(json.dumps(scene))
    done = subprocess.run([program, "optimize", file, "--json", "--quiet", "--knots", "12", *more], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"stages.py: {done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/costate")
    parser.add_argument("--scenes", type=Path, default=Path("scenes/library"))
    parser.add_argument("--seeds", type=int, default=3, help="of the ways that draw; the table has medians")
    parser.add_argument("names", nargs="*", default=NAMES)
    options = parser.parse_args()
    program = Path(options.program).resolve()
    if not program.exists():
        sys.exit(f"stages.py: {program} does not exist; build first, or give --program")
    print(f"| scene | variables | start | {' | '.join(WAYS)} |\n|{'---|' * (len(WAYS) + 3)}")
    with tempfile.TemporaryDirectory() as folder:
        for part in ("models", "recordings"):
            shutil.copytree(options.scenes / part, Path(folder) / part)
        for name in options.names:
            scene = rigid(json.loads((options.scenes / f"{name}.json").read_text()))
            cells = []
            for settings, more in WAYS.values():
                draws = "--restarts" in more or "cmaes" in str(settings)
                results = [run(program, scene | {"optimize": {"method": "lbfgs", "max_loss_evaluations": 100_000, "seed": seed, **settings}},
                               [*more, "--threads", "1"] if draws else more, Path(folder)) for seed in range(1, 1 + (options.seeds if draws else 1))]
                cells.append(f"{statistics.median(r['final_loss'] for r in results):.3g}")
            print(f"| `{name}` | {results[0]['variables']} | {results[0]['initial_loss']:.3g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
