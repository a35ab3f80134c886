#!/usr/bin/env python3
"""The same rollout differentiated by costate and by tools of automatic differentiation: Tables 1 to 3, Figure 3 and Figure 8 of Qiao et al.
2021, as Markdown, CSV and SVG.

Usage: compare.py [--build build] [--out out/compare] [--memory-limit GB] [--time-limit S] [one] [ten] [checkpoints] [tables]

`one`: quadruped_stand by every tool; `ten`: quadruped_ten; `checkpoints`: memory against time of schedules; all, if none is named.
`tables`: nothing is run, and the document made again from the figures in OUT.
Needs a build with -DCOSTATE_COMPARE=ON. Every run is a process of its own; one that would pass a limit, or does, is reported as such.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import compare_tables as tables
from gallery import machine

ONE, TEN = "quadruped_stand", "quadruped_ten"
STEPS = [50, 100, 500, 1000, 5000]
TEN_STEPS = [10, 50, 100, 500, 1000, 2000, 3000, 4000, 5000]
TOOLS = ["adolc", "sacado", "jets", "torch"]
SLOTS = 100
INTERVALS = [1, 2, 5, 10, 20, 50, 100, 200]
BINOMIAL = [5, 10, 25, 50, 100, 250, 500, 1000, 2500]


def refuse(message):
    print(f"compare.py: {message}", file=sys.stderr)
    sys.exit(2)


def used(pid):
    """Resident bytes, and seconds of the processor."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return int(pages) * os.sysconf("SC_PAGE_SIZE"), sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):  # it has ended
        return 0, 0


class Runner:
    """Runs programs under limits of memory (bytes) and time of the processor (s)."""

    def __init__(self, build, memory, seconds):
        self.build, self.memory, self.seconds = build, memory, seconds

    def program(self, tool):
        return self.build / f"costate-compare-{tool}"

    def run(self, tool, scene, steps, repeat, checkpoints="every_step"):
        """What the program reports, or {"stopped": why}."""
        line = [str(self.program(tool)), scene, "--steps", str(steps), "--repeat", str(repeat), "--checkpoints", checkpoints]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
            stopped = None
            while True:
                try:
                    out, _ = process.communicate(timeout=0.1)
                    break
                except subprocess.TimeoutExpired:
                    held, seconds = used(process.pid)
                    if held > self.memory:
                        stopped = f"stopped at {held / 1e9:.1f} GB"
                    elif seconds > self.seconds * repeat:
                        stopped = f"stopped after {self.seconds:.0f} s"
                    if stopped:
                        process.kill()
        identity = {"program": tool, "scene": scene, "steps": steps, "checkpoints": checkpoints}
        if stopped:
            result = {**identity, "stopped": stopped}
        elif process.returncode != 0:
            refuse(f"failed with {process.returncode}: {' '.join(line)}")
        else:
            result = {**json.loads(out), **identity}
        took = stopped or (f"{result['forward_us']:10.1f} {result['backward_us']:10.1f} us a step, {result['memory_bytes'] / 1e6:9.2f} MB, "
                           f"differs by {result['relative_error']:.1e}")
        print(f"{tool:8} {scene} {steps:5} {checkpoints:14} {took}", flush=True)
        return result

    def growing(self, tool, scene, all_steps):
        """One run a number of steps, until the next would pass a limit: what a step takes in memory and time is what it took before."""
        results, last = [], None
        for steps in all_steps:
            if last and (bytes_needed := last["memory_bytes"] / last["steps"] * steps + last["peak_bytes"] - last["memory_bytes"]) > self.memory:
                results.append({"program": tool, "scene": scene, "steps": steps, "stopped": f"needs {bytes_needed / 1e9:.0f} GB"})
            elif last and (seconds := (last["forward_us"] + last["backward_us"]) * 1e-6 * steps) > self.seconds:
                results.append({"program": tool, "scene": scene, "steps": steps, "stopped": f"needs {seconds:.0f} s"})
            else:
                brief = last is None or (last["forward_us"] + last["backward_us"]) * 1e-6 * steps < 20
                results.append(self.run(tool, scene, steps, 3 if brief and tool != "torch" else 1))
                if "stopped" not in results[-1]:
                    last = results[-1]
        return results


def ours(runner, scene, all_steps):
    results = []
    for steps in all_steps:
        for checkpoints in ["every_step"] + ([f"binomial:{SLOTS}"] if steps > SLOTS else []):
            results.append(runner.run("costate", scene, steps, 5, checkpoints))
    return results


def schedules(runner, steps):
    numbers = {"restart": INTERVALS, "every_kth": INTERVALS, "binomial": BINOMIAL}
    plans = [("every_step", "every_step")] + [(kind, f"{kind}:{n}") for kind in numbers for n in numbers[kind] if n < steps]
    return [{**runner.run("costate", TEN, steps, 1, plan), "schedule": kind} for kind, plan in plans]


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)), restval="")
        writer.writeheader()
        writer.writerows({key: json.dumps(value) if isinstance(value, dict) else value for key, value in row.items()} for row in rows)


def available_bytes():
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="one, ten, checkpoints (default: these), tables")
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--out", type=Path, default=Path("out/compare"))
    parser.add_argument("--memory-limit", type=float, metavar="GB", help="of a process (default: 0.7 of what is free)")
    parser.add_argument("--time-limit", type=float, metavar="S", default=600, help="of a gradient (default 600)")
    parser.add_argument("--tools", default=",".join(TOOLS), help="of automatic differentiation, with commas between")
    parser.add_argument("--steps", type=int, default=5000, help="longer rollouts are left out")
    arguments = parser.parse_args()
    parts = arguments.parts or ["one", "ten", "checkpoints"]
    for part in parts:
        if part not in ("one", "ten", "checkpoints", "tables"):
            refuse(f"there is no part '{part}': take one, ten, checkpoints or tables")
    asked = [tool for tool in arguments.tools.split(",") if tool]
    for tool in asked:
        if tool not in TOOLS:
            refuse(f"there is no tool '{tool}': take of {','.join(TOOLS)}")
    memory = arguments.memory_limit * 1e9 if arguments.memory_limit else 0.7 * available_bytes()
    runner = Runner(arguments.build, memory, arguments.time_limit)
    for tool in ("costate", "plot"):
        if not runner.program(tool).is_file():
            refuse(f"there is no {runner.program(tool)}: build with -DCOSTATE_COMPARE=ON, or name the build with --build")
    tools = [tool for tool in asked if runner.program(tool).is_file()]
    arguments.out.mkdir(parents=True, exist_ok=True)

    def up_to(all_steps):
        return [steps for steps in all_steps if steps <= arguments.steps] or [arguments.steps]

    files = {part: arguments.out / f"{part}.json" for part in ("one", "ten", "checkpoints")}
    begin = {"machine": machine(), "memory_limit_bytes": memory, "load": os.getloadavg()[0],
             "absent": [tool for tool in asked if tool not in tools]}
    for part in parts:
        if part == "one":
            runs = ours(runner, ONE, up_to(STEPS)) + [run for tool in tools for run in runner.growing(tool, ONE, up_to(STEPS))]
        elif part == "ten":
            runs = ours(runner, TEN, up_to(TEN_STEPS))
            runs += [run for tool in tools if tool != "jets" for run in runner.growing(tool, TEN, up_to(TEN_STEPS))]
        elif part == "checkpoints":
            runs = schedules(runner, min(5000, arguments.steps))
        else:
            continue
        files[part].write_text(json.dumps({**begin, "runs": runs}, indent=1) + "\n")
        write_csv(arguments.out / f"{part}.csv", runs)

    parts_run = {part: json.loads(file.read_text()) for part, file in files.items() if file.is_file()}
    (arguments.out / "compare.md").write_text(tables.document(parts_run))
    for name, plot in tables.plots(parts_run).items():
        drawing = subprocess.run([str(runner.program("plot"))], input=json.dumps(plot), stdout=subprocess.PIPE, text=True, check=True).stdout
        (arguments.out / f"{name}.svg").write_text(drawing)
    print(f"{arguments.out / 'compare.md'}: the tables; beside it one plot a figure, and the figures as CSV")


if __name__ == "__main__":
    main()
