#!/usr/bin/env python3
"""Go1 trots under the receding-horizon controller of the scene go1_trot, with Jacobians of steps of several
origins: exact, by central differences of the same steps, and MuJoCo's by mjd_transitionFD; a table in Markdown.
MuJoCo's derivatives fit states that MuJoCo's law of contact can reach, so there are rows whose planner has this
law, with friction and softness of MuJoCo's defaults in both. The plant is that of whole_body.py.

Usage: controller_beside_mujoco.py costate_controller_beside_mujoco go1_nomesh.xml [--scenes scenes/library]
    [--steps 100]
"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

FRICTION = 0.8


def for_mujoco(file):
    """Menagerie's file with feet as the scene has them, and without dry friction of joints as in the scene."""
    tree = xml.parse(file)
    for option in tree.iter("option"):
        option.set("impratio", "1")
    for element in tree.iter():
        element.attrib.pop("frictionloss", None)
        if element.tag == "geom":
            for name in ("priority", "solimp"):
                element.attrib.pop(name, None)
            if element.get("condim") == "6":  # of the feet
                element.set("condim", "3")
            if "friction" in element.attrib:
                element.set("friction", str(FRICTION))
    return tree


def by_mujocos_law(scene):
    """The scene with soft contacts, whose friction is the square of the larger coefficient of both shapes."""
    more = [{"path": "shapes/robot/*_foot/friction", "value": FRICTION**0.5}]
    return scene | {"contact": {"law": "mujoco"}, "ground": {"friction": 0},
                    "parameters": scene.get("parameters", []) + more}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--scenes", type=Path, default=Path("scenes/library"))
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    scene = json.loads((options.scenes / "go1_trot.json").read_text())
    print("| planner's contacts | Jacobians of steps | ms of a plan | plans per s | loss |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(options.scenes / "models", folder / "models")
        shutil.copy(options.scenes / "go1_plant.json", folder)
        for_mujoco(options.file).write(folder / "go1.xml")
        for law, variant, more in [("rigid", scene, []),
                                   ("MuJoCo's law", by_mujocos_law(scene), [folder / "go1.xml"])]:
            (folder / "scene.json").write_text(json.dumps(variant))
            files = [folder / "scene.json", folder / "go1_plant.json"]
            command = [options.program, *files, str(options.steps), *more]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"controller_beside_mujoco.py: {done.stderr}")
            for row in done.stdout.splitlines():
                print(f"| {law} {row}", flush=True)


if __name__ == "__main__":
    main()
