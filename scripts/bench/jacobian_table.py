#!/usr/bin/env python3
"""The cost of a step's Jacobian, as a Markdown table: scenes of 5 to 33 dofs, and the quadruped on feet that are boxes (patches of four
points) or convex meshes of 200 and 700 points.
Usage: jacobian_table.py PROGRAM [--repeat K]"""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile

SCENES = ["pendulum_5", "arm_7", "half_cheetah", "quadruped_stand", "go1_stand", "humanoid", "biped_stand", "atlas_stand"]


def sphere_points(count, radius):
    """Spread evenly by the golden angle."""
    points = []
    for k in range(count):
        z = 1 - (2 * k + 1) / count
        r, turn = math.sqrt(1 - z * z), k * math.pi * (3 - math.sqrt(5))
        points.append([radius * r * math.cos(turn), radius * r * math.sin(turn), radius * z])
    return points


def quadruped_on(scenes, folder, name, foot):
    """The standing quadruped with other feet: foot(radius) gives the keys of the shape that replaces a toe's sphere."""
    scene = json.loads((scenes / "quadruped_stand.json").read_text())
    model = json.loads((scenes / "models/quadruped.json").read_text())
    for body in model["bodies"]:
        for shape in body.get("shapes", []):
            if shape["type"] == "sphere":
                shape.update(foot(shape.pop("radius")))
    (folder / "models").mkdir(exist_ok=True)
    (folder / "models" / f"{name}.json").write_text(json.dumps(model))
    scene["name"], scene["models"][0]["file"] = name, f"models/{name}.json"
    (folder / f"{name}.json").write_text(json.dumps(scene))
    return str(folder / f"{name}.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--repeat", default="9")
    a = parser.parse_args()
    scenes = pathlib.Path(__file__).resolve().parents[2] / "scenes/library"
    print("| scene | dofs | rows | step, us | Jacobian, us | by adjoints | central differences | Ridders |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        feet = {"quadruped on boxes": lambda r: {"type": "box", "half_extents": [r, r, r]},
                "quadruped on meshes of 200 points": lambda r: {"type": "mesh", "vertices": sphere_points(200, r)},
                "quadruped on meshes of 700 points": lambda r: {"type": "mesh", "vertices": sphere_points(700, r)}}
        rows = [(s, s) for s in SCENES]
        rows += [(quadruped_on(scenes, folder, f"quadruped_{n}", foot), title) for n, (title, foot) in enumerate(feet.items())]
        for scene, title in rows:
            run = subprocess.run([a.program, "bench", scene, "--jacobian", "--steps", "200", "--repeat", a.repeat, "--json"],
                                 check=True, capture_output=True, text=True)
            r = json.loads(run.stdout)
            print(f"| {title if ' ' in title else f'`{title}`'} | {r['dofs']} | {r['rows']} | {r['forward_us']:.2f} | {r['jacobian_us']:.2f} "
                  f"| {r['adjoints_us']:.0f} | {r['central_difference_us']:.0f} | {r['ridders_us']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
