#!/usr/bin/env python3
"""Time of a step and of its replay and reverse in a batch by the number of threads, as a Markdown table: medians by the
clock, and how many times as fast as one thread. All take turns, on the states and controls of lanes_table.py. Usage:
threads_table.py [SCENE...] [--threads K...] [--environments N] [--steps K] [--repeat R]; COSTATE_LIBRARY names the
library."""
import argparse
import os
import sys
import time

from lanes_table import costate, measured


def row(scene, threads, n, steps, repeat):
    model = costate.Model(scene)
    batches = {count: costate.Batch(model, n_env=n, threads=count) for count in threads}
    micro = measured(model, batches, n, steps, repeat, time.perf_counter)
    cells = [f"`{scene}`"]
    for kind in "fr":
        alone = micro[kind, threads[0]]
        cells.append(f"{alone:.2f}")
        cells += [f"{micro[kind, count]:.2f} ({alone / micro[kind, count]:.2f})" for count in threads[1:]]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", default=["quadruped_stand", "go1_stand", "ant", "humanoid"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--environments", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    kinds = ("step", "replay and reverse")
    heads = ["scene", *(f"{kind}, us, threads: {count}" for kind in kinds for count in options.threads)]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for scene in options.scenes:
        print(row(scene, options.threads, options.environments, options.steps, options.repeat), flush=True)
    processors, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    print(f"{processors} processors, {options.environments} environments, {options.steps} steps, load {load:.1f}",
          file=sys.stderr)


if __name__ == "__main__":
    main()
