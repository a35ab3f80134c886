#!/usr/bin/env python3
"""Scenes of the gallery with limits kept in several ways: as the simulation keeps them (stops of a joint, clamped
controls, saturated servos), as constraints of the optimization, and as penalties; a table in Markdown. The
method, its iterations and evaluations are those of the scene.

Usage: gallery_limits.py [--program build/costate] [--scenes scenes/library] [NAME...]
"""
import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PENALTIES = [1, 100, 10_000]


def copy(scene):
    return json.loads(json.dumps(scene))


def model_of(scene, scenes):
    """The scene's only model, written into the scene."""
    entry = scene["models"][0]
    if "file" in entry:
        entry["model"] = json.loads((scenes / entry.pop("file")).read_text())
    return entry["model"]


def without_control_limits(scene, scenes):
    scene = copy(scene)
    for actuator in model_of(scene, scenes)["actuators"]:
        actuator.pop("control_limits", None)
    return scene


def rail_ways(scene, scenes, joint, reach):
    """A rail of half length `reach`, m."""
    def with_stops(at):
        return copy(scene) | {"parameters": [{"path": f"joints/{joint}/limits", "value": [-at, at]}]}

    open_rail = with_stops(100)
    bounds = {"term": "configuration", "joints": [joint]}
    yield "stops", with_stops(reach)
    yield "constraint", open_rail | {"constraints": [{**bounds, "name": "rail", "min": -reach, "max": reach}]}
    for weight in PENALTIES:
        penalty = {**bounds, "name": "rail", "target": 0, "lower": -reach, "upper": reach, "weight": weight}
        more = [penalty | {"at": "running"}, penalty | {"name": "rail at the end"}]
        yield f"penalty, weight {weight:g}", open_rail | {"objective": scene["objective"] + more}


def control_ways(scene, scenes):
    """The control limits of the actuators, one number for all."""
    limit = model_of(copy(scene), scenes)["actuators"][0]["control_limits"][1]
    free = without_control_limits(scene, scenes)
    yield "clamped controls", scene
    effort = {"name": "controls", "term": "effort"}
    bounds = {"min": -limit, "max": limit, "tolerance": 0.01 * limit, "penalty": 1 / limit**2}
    yield "constraint", free | {"constraints": [effort | bounds]}
    for weight in PENALTIES:
        penalty = effort | {"lower": -limit, "upper": limit, "weight": weight / limit**2, "at": "running"}
        yield f"penalty, weight {weight:g}", free | {"objective": scene["objective"] + [penalty]}


def servo_ways(scene, scenes):
    """The published gains of the servos, which the scene replaces by softer ones, and the published forces."""
    published = copy(scene)
    published.pop("parameters")
    free = copy(published)
    model, constraints = model_of(free, scenes), []
    for actuator in model["actuators"]:
        name = actuator.setdefault("name", actuator["joint"])
        low, high = actuator.pop("force_limits")
        sensor = {"name": f"force of {name}", "type": "actuator_force", "actuator": name}
        model.setdefault("sensors", []).append(sensor)
        constraints.append({"name": name, "term": "sensor", "sensor": f"robot/{sensor['name']}", "min": low,
                            "max": high, "tolerance": 0.01 * high, "penalty": 1 / high**2})
    yield "softer servos that saturate", scene
    yield "published servos that saturate", published
    yield "published servos, constraints", free | {"constraints": constraints}


GALLERY = {
    "cartpole_swingup": lambda scene, scenes: rail_ways(scene, scenes, "cartpole/slider", 0.3),
    "double_cartpole": lambda scene, scenes: rail_ways(scene, scenes, "cartpole/slider", 1),
    "jump_worm": control_ways,
    "half_cheetah_jump": control_ways,
    "humanoid_jump": servo_ways,
}


def largest_control(rows):
    return max(abs(float(value)) for row in rows for column, value in row.items()
               if column.startswith("u(") and value)


def run(program, scene, folder):
    """The result, and the rows of the trajectory after the optimization."""
    file = folder / "scene.json"
    file.write_text(json.dumps(scene))
    command = [program, "optimize", file, "--quiet", "--out", folder / "out"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"gallery_limits.py: {done.stderr}")
    with open(folder / "out/after.csv", newline="") as lines:
        return json.loads((folder / "out/result.json").read_text()), list(csv.DictReader(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/costate")
    parser.add_argument("--scenes", type=Path, default=Path("scenes/library"))
    parser.add_argument("names", nargs="*", default=list(GALLERY), metavar="NAME", help=", ".join(GALLERY))
    options = parser.parse_args()
    program = Path(options.program).resolve()
    if not program.exists():
        sys.exit(f"gallery_limits.py: {program} does not exist; build first, or give --program")
    if unknown := set(options.names) - set(GALLERY):
        sys.exit(f"gallery_limits.py: there is no {', '.join(sorted(unknown))}; the scenes are {', '.join(GALLERY)}")
    print("| scene | limits | loss without them | largest position or control | largest violation, in tolerances "
          "| iterations | seconds |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(options.scenes / "models", folder / "models")
        for scene_name in options.names:
            scene = json.loads((options.scenes / f"{scene_name}.json").read_text())
            own = [term.get("name", term["term"]) for term in scene["objective"]]
            for way, variant in GALLERY[scene_name](scene, options.scenes):
                began = time.monotonic()
                result, rows = run(program, variant, folder)
                seconds, loss = time.monotonic() - began, sum(result["terms"]["after"][term] for term in own)
                each = result.get("constraints", {}).get("each", [])
                violation = f"{max(c['violation'] / c['tolerance'] for c in each):.2g}" if each else ""
                slider = [abs(float(row["cartpole/slider"])) for row in rows if row.get("cartpole/slider")]
                largest = max(slider) if slider else largest_control(rows)
                print(f"| `{scene_name}` | {way} | {loss:.4g} | {largest:.3f} | {violation} "
                      f"| {result['iterations']} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
