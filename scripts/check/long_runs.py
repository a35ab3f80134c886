#!/usr/bin/env python3
"""Ten million steps of a robot that stands and of robots that march, with ten thousand resets, and a day of
`costate watch` at a higher speed: memory must stay flat, nothing may drift, and the results afterwards must have
the bits of before. By hand, about ten minutes: long_runs.py BUILD [--share S], where S < 1 runs a part of it.
Needs numpy. The exit code is 1 if something grows."""
import argparse
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_GROWTH = 2**20   # bytes, between a tenth of a run and its end
MOST_SINKING = 1e-4   # m of a trunk that stands: contacts creep under load until they are as deep as the slop


def resident(pid):
    """The memory of a process in bytes."""
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def of_memory(first, grown):
    return f"memory {(first + grown) / 1e6:.1f} MB, {grown / 1e3:+.0f} kB since a tenth of the run"


class Judge:
    def __init__(self):
        self.failed = False

    def __call__(self, right, sentence):
        self.failed |= not right
        print(("  " if right else "FAILED: ") + sentence, flush=True)


def peak(command):
    """The largest memory in bytes of a command that succeeds."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"long_runs.py: {' '.join(map(str, command))} failed")
    return usage.ru_maxrss * 1024


def standing(program, share, judge):
    steps = int(10_000_000 * share)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "states.csv"

        def run(n):
            return peak([program, "simulate", "go1_stand", f"--steps={n}", f"--every={n // 10}", f"--out={out}", "-q"])

        short, began = run(steps // 10), time.monotonic()
        long = run(steps)
        print(f"go1_stand, {steps} steps in {time.monotonic() - began:.0f} s")
        rows = list(csv.DictReader(out.open()))
    grown = long - short
    judge(grown < MOST_GROWTH, f"peak memory {long / 1e6:.1f} MB, {grown / 1e3:+.0f} kB to a tenth of the steps")
    sunk = float(rows[0]["robot/base.z"]) - float(rows[-1]["robot/base.z"])
    judge(0 <= sunk < MOST_SINKING, f"the trunk sinks by {sunk:.1e} m")


def marching(costate, numpy, share, judge):
    """Diagonal pairs of feet lift in turn, at a rate of its own in each environment; who falls is reset, and one
    after the other is."""
    n, substeps, calls, resets = 8, 20, int(62_500 * share), 0
    batch = costate.Batch(costate.Model("go1_stand"), n, threads=2, substeps=substeps)
    model = batch.model
    q, _ = model.initial_state()
    # servos have the names of joints
    targets = numpy.array([q[model.joint_slices(joint)[0]][0] for joint in model.actuators])
    first_pair = numpy.array(["FL" in name or "RR" in name for name in model.actuators])
    bends = numpy.array([1.0 if "calf" in name else -0.5 if "thigh" in name else 0.0 for name in model.actuators])
    rates = 1 + 0.2 * numpy.arange(n)
    began, first, falls = time.monotonic(), 0, 0
    for k in range(calls):
        phase = numpy.sin(2 * math.pi * rates * k * 0.02)[:, None]
        swing = numpy.where(first_pair, numpy.maximum(phase, 0), numpy.maximum(-phase, 0))
        x, diverged = batch.advance(targets - 0.4 * swing * bends)
        again = (x[:, 2] < 0.15) | diverged
        falls += int(again.sum())
        again[k % n] |= k % 6 == 0
        resets += int(again.sum())
        batch.reset(envs=again)
        if k == calls // 10:
            first = resident(os.getpid())
    grown = resident(os.getpid()) - first
    print(f"go1_stand marching, {calls * n * substeps} steps in {time.monotonic() - began:.0f} s, "
          f"{resets} resets, of which {falls} after a fall")
    judge(grown < MOST_GROWTH, of_memory(first, grown))


def watching(program, share, judge):
    """86 400 simulated seconds with a reader of the events."""
    steps, speed = int(86_400 / 0.000416666667 * share), 1000
    run = ["--steps", str(steps), "--speed", str(speed), "--port", "0", "--json"]
    child = subprocess.Popen([program, "watch", "pendulum_1", *run], stdout=subprocess.PIPE, text=True)
    answer = ""
    while not answer.endswith("}\n"):
        answer += child.stdout.readline()
    url, read, began = json.loads(answer)["url"], [0], time.monotonic()

    def listen():
        with urllib.request.urlopen(url + "events") as events:
            while line := events.readline():
                read[0] += len(line)
                if b"end" in line[:20]:
                    return

    threading.Thread(target=listen, daemon=True).start()
    seconds = 86_400 * share / speed
    time.sleep(seconds / 10)
    first = resident(child.pid)
    time.sleep(seconds * 0.85)
    grown = resident(child.pid) - first
    print(f"watch pendulum_1, {86_400 * share:.0f} simulated seconds in {time.monotonic() - began:.0f} s, "
          f"{read[0] / 1e6:.1f} MB of events read")
    judge(grown < MOST_GROWTH, of_memory(first, grown))
    child.terminate()
    child.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--share", type=float, default=1)
    options = parser.parse_args()
    os.environ["COSTATE_LIBRARY"] = str(next((options.build / "apps" / "c_api").glob("libcostate.so")).resolve())
    sys.path[:0] = [str(ROOT / "apps" / "python"), str(ROOT / "tests" / "apps" / "python")]
    import numpy

    import costate
    from random_calls import reference
    program, judge = options.build.resolve() / "costate", Judge()
    before = reference()
    standing(program, options.share, judge)
    marching(costate, numpy, options.share, judge)
    watching(program, options.share, judge)
    judge(reference() == before, "a rollout and its gradient have the bits of before")
    sys.exit(judge.failed)


if __name__ == "__main__":
    main()
