#!/usr/bin/env python3
"""Time of a step and of its reverse in a batch on one thread, with and without lanes, as a Markdown table. Both take turns;
medians of processor times. Environments differ in velocities (0.1) and controls (0.05 of noise on those of the scene's keyframe).
Usage: lanes_table.py [SCENE...] [--environments N] [--steps K] [--repeat R]; COSTATE_LIBRARY names the library."""
import argparse
import os
import pathlib
import statistics
import sys
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "apps/python"))
import costate  # noqa: E402  (the package of this tree)

SCENES = ["quadruped_stand", "go1_stand", "ant", "humanoid", "half_cheetah", "hopper", "atlas_stand", "arm_7"]


def batch(model, n, lanes):
    os.environ["COSTATE_LANES"] = "4" if lanes else "1"
    return costate.Batch(model, n_env=n, threads=1)


def timed(call):
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def row(scene, n, steps, repeat):
    model = costate.Model(scene)
    both = {lanes: batch(model, n, lanes) for lanes in (False, True)}
    generator = numpy.random.default_rng(7)
    x, _ = both[False].state()
    x = x.copy()
    x[:, model.nq:model.nq + model.nv] += 0.1 * generator.normal(size=(n, model.nv))
    u = 0.05 * generator.normal(size=(steps, n, model.nu))
    bar = generator.normal(size=(steps, n, both[False].ndx))
    times = {(kind, lanes): [] for kind in "fr" for lanes in both}
    results = {}
    for _ in range(repeat):
        for lanes, one in both.items():
            (states, completed), seconds = timed(lambda one=one: one.rollout(x, u))
            times["f", lanes].append(seconds)
            before = numpy.concatenate([x[None], states[:-1]])
            gradient, seconds = timed(lambda one=one, b=before, c=completed: one.backward(b, u, bar, c))
            times["r", lanes].append(seconds)
            results[lanes] = [states, *(it for it in gradient if it is not None)]
    for a, b in zip(results[False], results[True]):
        assert numpy.array_equal(a, b, equal_nan=True), scene
    micro = {key: 1e6 * statistics.median(values) / (n * steps) for key, values in times.items()}
    return (f"| `{scene}` | {model.nv} | {micro['f', False]:.1f} | {micro['f', True]:.1f} | {micro['f', False] / micro['f', True]:.1f} "
            f"| {micro['r', False]:.1f} | {micro['r', True]:.1f} | {micro['r', False] / micro['r', True]:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", default=SCENES)
    parser.add_argument("--environments", type=int, default=256)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print("| scene | dof | step, us | in lanes | ratio | replay and reverse, us | in lanes | ratio |\n|---|---|---|---|---|---|---|---|")
    for scene in options.scenes:
        print(row(scene, options.environments, options.steps, options.repeat), flush=True)


if __name__ == "__main__":
    main()
