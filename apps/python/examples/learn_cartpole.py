"""A cart learns to swing up its pole: SHAC, which uses the gradients of the simulator, and PPO, which does not, on one environment.

python3 learn_cartpole.py [--out out/learning] [--seeds 3] [--epochs 200] [--iterations 40] [--workers N]

Writes learning.csv (a row for each time a policy was judged), learning.png and learning.svg, and
prints what each seed reached.
"""
import argparse
import concurrent.futures
import csv
import multiprocessing
import os
import statistics
import sys
from pathlib import Path

COLUMNS = ("learner", "seed", "environment steps", "seconds", "return", "upright")
ENOUGH = 7 / 8  # of the starts


def learn(learner, seed, rounds):
    """Rows of one training; runs in its own process."""
    import torch

    import ppo
    import shac

    torch.set_num_threads(1)
    train = {"SHAC": shac.train, "PPO": ppo.train}[learner]

    def report(row):
        steps, seconds, best, upright = row
        print(f"{learner} seed {seed}: {steps} steps, {seconds:.0f} s, return {best:.0f}, "
              f"upright from {8 * upright:.0f} of 8 starts", file=sys.stderr, flush=True)

    return [(learner, seed, *row) for row in train("cartpole-swing-up", seed, rounds, report=report)]


def median_of(rows, learner, column):
    """(environment steps, medians over seeds)"""
    by_steps = {}
    for row in rows:
        if row[0] == learner:
            by_steps.setdefault(row[2], []).append(row[column])
    return sorted((steps, statistics.median(values)) for steps, values in by_steps.items())


def plot(rows, out):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, column, label in zip(axes, (4, 5), ("return", "fraction of starts that end upright")):
        for learner, colour in (("SHAC", "tab:blue"), ("PPO", "tab:orange")):
            for seed in sorted({row[1] for row in rows if row[0] == learner}):
                line = [(row[2], row[column]) for row in rows if row[:2] == (learner, seed)]
                axis.plot(*zip(*line), color=colour, alpha=0.3, linewidth=1)
            if median := median_of(rows, learner, column):
                axis.plot(*zip(*median), color=colour, linewidth=2, label=f"{learner}, median of seeds")
        axis.set(xlabel="environment steps", ylabel=label, xscale="log")
        axis.grid(alpha=0.3)
    axes[0].legend()
    for name in ("learning.png", "learning.svg"):
        figure.savefig(out / name, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("out/learning"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=200, help="epochs of SHAC, each with 32 steps of 64 environments")
    parser.add_argument("--iterations", type=int, default=40, help="iterations of PPO, each with 240 steps of 128 environments")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="number of parallel trainings")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    rows = []
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.workers, context) as pool:
        jobs = [pool.submit(learn, learner, seed, rounds)
                for learner, rounds in (("SHAC", options.epochs), ("PPO", options.iterations)) if rounds for seed in range(options.seeds)]
        for job in concurrent.futures.as_completed(jobs):
            rows += job.result()
            learner, seed, *_ = rows[-1]
            mine = [row for row in rows if row[:2] == (learner, seed)]
            best, reached = max(mine, key=lambda row: (row[5], row[4])), [row for row in mine if row[5] >= ENOUGH]
            when = f"after {reached[0][2]} steps, {reached[0][3]:.0f} s" if reached else "never"
            print(f"{learner} seed {seed}: upright from 7 of 8 starts {when}; best {8 * best[5]:.0f} of 8, return {best[4]:.0f}; "
                  f"last {8 * mine[-1][5]:.0f} of 8, return {mine[-1][4]:.0f}, {mine[-1][3]:.0f} s", flush=True)
    rows.sort()
    with open(options.out / "learning.csv", "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    plot(rows, options.out)
    print(f"wrote {options.out}/learning.csv, learning.png, learning.svg")


if __name__ == "__main__":
    sys.exit(main())
