#!/usr/bin/env python3
"""Robots as their files have them, in scenes with random objectives and constraints: does `costate optimize` report
what it did?

    random_optimizations.py build/costate [--seed N] [--seconds S | --count N] FILE...    exit code 1 if a check failed

Each seed takes one of the files and a scene of random_scenes.py, and draws terms, constraints, variables, a batch and a
method. Checked are:

- without constraints, the loss is not larger than at the start;
- the losses of the terms sum up to the loss;
- a run that starts at the result (--from) has its loss and its violations;
- the result does not depend on the memory for checkpoints and on the number of threads;
- a run that a signal ends at any moment and that is resumed has the result of the run that was not interrupted.

A seed of which the program refuses the scene, or whose rollout diverges, checks nothing.
"""
import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from random_scenes import add_arguments, random_scene, try_seeds

ROLLOUT_METHODS = ("gradient_descent", "momentum", "adam", "lbfgs", "lbfgs", "cmaes", "gauss_newton")
CONTROL_METHODS = ("ilqr", "multiple_shooting")  # they optimize the controls of one rollout, each step by itself
OF_STATES = ("configuration", "joint_velocity", "kinetic_energy", "potential_energy", "centre_of_mass",
             "linear_momentum", "angular_momentum")
OF_STEPS = ("effort", "impulse")
NOT_SQUARES = ("kinetic_energy", "potential_energy", "impulse")
PARAMETERS = ("bodies/*/mass", "joints/*/damping", "shapes/*/friction", "gravity", "actuators/*/gain")
TIMEOUT = 120  # s
WHAT = ("time_step", "steps", "solver", "contact", "ground", "medium", "initial", "controls", "parameters", "objective",
        "constraints", "batch", "optimize")  # of a scene with faults


def random_optimization(draw, file):
    """A scene (dict) with the file as a model `m` and something to optimize."""
    def chance(p):
        return draw.random() < p

    scene = random_scene(draw, file)
    scene["solver"]["warm_start"] = False  # which not every method supports
    scene["steps"] = draw.choice((2, 5, 20))
    duration = scene["time_step"] * scene["steps"]
    method = draw.choice(ROLLOUT_METHODS + CONTROL_METHODS)
    least_squares = method == "gauss_newton"

    def term():
        kind = draw.choice(OF_STATES + OF_STEPS)
        at = "running" if kind in OF_STEPS else draw.choice(("end", "running", duration / 2))
        window = {"from": duration / 4, "until": duration} if at == "running" and chance(0.3) else {}
        return {"term": kind, "at": at} | window

    terms = [term() for _ in range(draw.randint(1, 3))]
    if least_squares:
        terms = [t for t in terms if t["term"] not in NOT_SQUARES] or [{"term": "configuration", "at": "running"}]
    scene["objective"] = [t | {"weight": draw.uniform(0.1, 2)} for t in terms]
    scene["optimize"] = {"method": method, "iterations": draw.choice((1, 3, 8)), "segment": 3,
                         "learning_rate": draw.choice((0.001, 0.1))}
    if method in CONTROL_METHODS:
        scene["controls"] = [{"actuators": ["*"], "optimize": "per_step", "initial": draw.uniform(-1, 1)}]
    else:
        scene["initial"] = {"optimize": {"joints": ["*"], "velocities": ["*"]}}
        scene["parameters"] = [{"path": p, "optimize": True} for p in draw.sample(PARAMETERS, 3)]
    if chance(0.4):
        kept = [term() | {"max": draw.uniform(0, 1)} for _ in range(draw.randint(1, 2))]
        scene["constraints"] = [c for c in kept if not least_squares or c["term"] not in NOT_SQUARES]
    elif chance(0.4) and method not in CONTROL_METHODS and not least_squares:
        scene["batch"] = {"environments": draw.choice((2, 5)), "seed": draw.randint(1, 99),
                          "randomize": {"velocities": {"*": 0.2}}}
    return scene


def near(a, b, size=0.0):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), size, 1e-6)


def check(program, file, seed):
    """(faults, scene) of a seed; faults are None if it checks nothing."""
    draw = random.Random(seed)
    scene = random_optimization(draw, file)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scene.json"

        def call(*options):
            return [program, "optimize", path, "--json", "--quiet", "--search", file.parent, *options]

        def run(*options):
            done = subprocess.run(call(*options), cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
            if done.returncode not in (0, 1, 2, 3):
                raise subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)
            return json.loads(done.stdout) if done.returncode in (0, 1) else done.stderr

        def interrupted(how, seconds):
            """The result of a run that a signal ends so many seconds after it has saved, and another that goes on."""
            saved = pathlib.Path(folder) / "part.save"
            saved.unlink(missing_ok=True)
            process = subprocess.Popen(call("--save", saved, "--save-every", "1e-9"), cwd=folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not saved.exists() and process.poll() is None:
                time.sleep(0.0005)
            time.sleep(seconds)
            process.send_signal(how)
            process.wait(TIMEOUT)
            return run("--resume", saved) if saved.exists() else None

        while True:
            path.write_text(json.dumps(scene))
            result = run("--out", folder)
            missing = re.search(r"#/(?:parameters/(\d)|controls)", result) if isinstance(result, str) else None
            if missing is None:
                break
            if missing[1]:  # the model has none of these parameters
                del scene["parameters"][int(missing[1])]
            else:  # it has no actuators
                del scene["controls"]
        if isinstance(result, str):
            return None, scene
        faults, loss = [], result["final_loss"]
        if "constraints" not in result and not loss <= result["initial_loss"]:
            faults.append(f"the loss grows from {result['initial_loss']:.12g} to {loss:.12g}")
        shares = result["terms"]["after"].values()
        if "batch" not in scene and not near(sum(shares), loss, sum(map(abs, shares))):
            faults.append(f"the terms sum up to {sum(shares):.12g}, the loss is {loss:.12g}")
        again = run("--from", f"{folder}/result.json", "--iterations", "0")
        if isinstance(again, str):
            faults.append(f"--from: {again.strip()}")
        else:
            if not near(again["initial_loss"], loss):
                faults.append(f"--from has the loss {again['initial_loss']:.12g} instead of {loss:.12g}")
            for a, b in zip(*(r.get("constraints", {}).get("each", []) for r in (result, again))):
                if not near(a["violation"], b["violation"], 1e-3):
                    faults.append(f"--from violates {a['name']} by {b['violation']:.12g}, not {a['violation']:.12g}")
        for options in [("--memory", "100K")] + [("--threads", "3")] * ("batch" in scene):
            other = run(*options)
            if isinstance(other, str):
                if "memory" not in other:
                    faults.append(f"{options[0]}: {other.strip()}")
            elif (other["losses"], other["parameters"]) != (result["losses"], result["parameters"]):
                faults.append(f"{options[0]} changes the result")
        if scene["optimize"]["method"] != "cmaes":
            start = time.monotonic()
            whole = run("--save", "whole.save", "--save-every", "1e-9")
            seconds = time.monotonic() - start
            for how in (signal.SIGKILL, signal.SIGINT, signal.SIGKILL):
                other = interrupted(how, draw.uniform(0, 0.5 * seconds) * draw.choice((0.1, 1)))
                if isinstance(other, str):
                    faults.append(f"--resume after {how.name}: {other.strip()}")
                elif other and any(other[key] != whole[key] for key in ("losses", "parameters", "final_loss")):
                    faults.append(f"a run that {how.name} ends and --resume has another result")
    return faults, scene


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    add_arguments(parser)
    options = parser.parse_args()
    return try_seeds(options, lambda file, seed: check(options.program, file.resolve(), seed), WHAT)


if __name__ == "__main__":
    sys.exit(main())
