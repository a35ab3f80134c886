#!/usr/bin/env python3
"""Time of a step and of its reverse in a batch on one thread, without lanes and with some widths of them, as a Markdown
table. All take turns; medians of processor times. Environments differ in velocities (0.1) and controls (0.05 of noise on
those of the scene's keyframe). Usage: lanes_table.py [SCENE...] [--widths W...] [--environments N] [--steps K]
[--repeat R]; COSTATE_LIBRARY names the library, which must have the widths (-DCOSTATE_LANE_WIDTHS="4;8")."""
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


def batch(model, n, width):
    os.environ["COSTATE_LANES"] = str(width)
    return costate.Batch(model, n_env=n, threads=1)


def timed(clock, call):
    start = clock()
    result = call()
    return result, clock() - start


def measured(model, batches, n, steps, repeat, clock):
    """Medians in microseconds of a step ("f", key) and of its replay and reverse ("r", key), for each key of batches.
    They take turns, and must have the same bits."""
    first = next(iter(batches.values()))
    generator = numpy.random.default_rng(7)
    x, _ = first.state()
    x = x.copy()
    x[:, model.nq:model.nq + model.nv] += 0.1 * generator.normal(size=(n, model.nv))
    u = 0.05 * generator.normal(size=(steps, n, model.nu))
    bar = generator.normal(size=(steps, n, first.ndx))
    times = {(kind, key): [] for kind in "fr" for key in batches}
    expected = None
    for _ in range(repeat):
        for key, batch in batches.items():
            (states, completed), seconds = timed(clock, lambda batch=batch: batch.rollout(x, u))
            times["f", key].append(seconds)
            before = numpy.concatenate([x[None], states[:-1]])
            gradient, seconds = timed(clock, lambda batch=batch, b=before, c=completed: batch.backward(b, u, bar, c))
            times["r", key].append(seconds)
            result = [states, *(it for it in gradient if it is not None)]
            expected = result if expected is None else expected
            for a, b in zip(expected, result):
                assert numpy.array_equal(a, b, equal_nan=True), key
    return {key: 1e6 * statistics.median(values) / (n * steps) for key, values in times.items()}


def row(scene, widths, n, steps, repeat):
    model = costate.Model(scene)
    batches = {width: batch(model, n, width) for width in (1, *widths)}
    micro = measured(model, batches, n, steps, repeat, time.process_time)
    cells = [f"`{scene}`", str(model.nv)]
    for kind in "fr":
        cells.append(f"{micro[kind, 1]:.1f}")
        for width in widths:
            cells += [f"{micro[kind, width]:.1f}", f"{micro[kind, 1] / micro[kind, width]:.1f}"]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", default=SCENES)
    parser.add_argument("--widths", nargs="*", type=int, default=[4])
    parser.add_argument("--environments", type=int, default=256)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    lanes = "".join(f" {width} lanes | ratio |" for width in options.widths)
    columns = 4 + 4 * len(options.widths)
    print(f"| scene | dof | step, us |{lanes} replay and reverse, us |{lanes}\n" + "|---" * columns + "|")
    for scene in options.scenes:
        print(row(scene, options.widths, options.environments, options.steps, options.repeat), flush=True)


if __name__ == "__main__":
    main()
