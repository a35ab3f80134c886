#!/usr/bin/env python3
"""Speed of whole collections of MJCF files beside MuJoCo, as a Markdown table with a row for each folder.

    collections_beside_mujoco.py build/apps/beside/mujoco/costate_files_beside_mujoco FOLDER... [--law] [--steps N]

Every file with a <worldbody> below the folders that both take counts, and so do robots that stand in several files. Ratios
are costate's processor time of a step over MuJoCo's; the slowest files are listed below the table.
"""
import argparse
import math
import pathlib
import statistics
import subprocess

SECONDS = 60  # of a file, at most


def ratio(program, file, options):
    """Costate's time of a step over MuJoCo's; None if one of them refuses the file."""
    try:
        done = subprocess.run([program, *options, file], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    rows = [line.split("|") for line in done.stdout.splitlines() if line.startswith(f"| {file}")]
    return float(rows[0][6]) if done.returncode == 0 and rows else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--law", action="store_true", help="by MuJoCo's law of contact")
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    chosen = ["--steps", str(options.steps)] + ["--law"] * options.law
    print("| folder | files | geometric mean | median | at most 1 | above 2 |\n|---|---|---|---|---|---|")
    everything = []
    for folder in options.folders:
        found = []
        for file in sorted(folder.rglob("*.xml")):
            if "<worldbody" in file.read_text(errors="replace") and (r := ratio(options.program, file, chosen)):
                found.append((r, file))
        everything += found
        row(folder.name, found)
    row("**all**", everything)
    print("\nSlowest:\n")
    for r, file in sorted(everything, reverse=True)[:10]:
        print(f"- {r:.2f} {file}")


def row(name, found):
    if not found:
        return
    ratios = [r for r, _ in found]
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"| {name} | {len(ratios)} | {mean:.2f} | {statistics.median(ratios):.2f} | {sum(r <= 1 for r in ratios)} | "
          f"{sum(r > 2 for r in ratios)} |", flush=True)


if __name__ == "__main__":
    main()
