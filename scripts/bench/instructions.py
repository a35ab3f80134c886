#!/usr/bin/env python3
"""Instructions of a step with its replay and adjoint, as valgrind counts them, for the scenes of
tests/adjoint/fingerprints/table.json: instructions.py PROGRAM [OTHER_PROGRAM]. With a second program, the ratio of the
first to it. Each figure is the difference of two rollouts of different lengths, divided by the difference of their steps."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/adjoint/fingerprints"


def instructions(arguments):
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    run = subprocess.run([*valgrind, *arguments], capture_output=True, text=True)
    count = re.search(r"I\s+refs:\s+([\d,]+)", run.stderr)
    if run.returncode or not count:
        sys.exit(f"{' '.join(map(str, arguments))}: {run.stderr}")
    return int(count[1].replace(",", ""))


def per_step(program, scene, steps):
    few, many = (instructions([program, "gradient", scene, "--steps", str(n)]) for n in (steps, 2 * steps))
    return (many - few) / steps


def merged(value, patch):
    """A merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    out = dict(value) if isinstance(value, dict) else {}
    for key, entry in patch.items():
        out[key] = merged(out.get(key), entry)
    return out


def scenes(folder):
    """Files of the table's scenes, with names that shipped models are found by."""
    library = ROOT / "scenes/library"
    for name in ("models", "recordings"):
        shutil.copytree(library / name, folder / name)
    for number, entry in enumerate(json.loads((TABLE / "table.json").read_text())):
        source = TABLE / entry["scene"] if entry["scene"].endswith(".json") else library / (entry["scene"] + ".json")
        scene = merged(json.loads(source.read_text()), entry["patch"])
        file = folder / f"{number}.json"
        file.write_text(json.dumps(scene))
        if entry["steps"] > 1:
            yield entry["name"], file, min(entry["steps"] // 2, 30)


def main():
    programs = [pathlib.Path(p).resolve() for p in sys.argv[1:3]]
    if not programs:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        for name, file, steps in scenes(pathlib.Path(folder)):
            counts = [per_step(p, file, steps) for p in programs]
            ratio = f"  {counts[0] / counts[1]:.4f}" if len(counts) == 2 else ""
            print(f"{name:58} {counts[0]:12.0f}{ratio}", flush=True)


if __name__ == "__main__":
    main()
