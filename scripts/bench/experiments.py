#!/usr/bin/env python3
"""Experiments of the literature, each beside its baseline without gradients, as one page one can look at.

Usage: experiments.py [--program build/costate] [--out out/gallery] NAME...|all

Of each scene: OUT/SCENE/ours and OUT/SCENE/cmaes as `costate optimize --out` writes them, OUT/SCENE/plots as SVG, PNG and CSV,
report.html, replay.html and picture.png; of all that were ever run into OUT: OUT/index.html.
"""
import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import gallery

SOURCE = ("Qiao, Liang, Koltun, Lin, Efficient Differentiable Simulation of Articulated Bodies, ICML 2021; Werling, Omens, Lee, Exarchos, Liu, "
          "Fast and Feature-Complete Differentiable Physics for Articulated Rigid Bodies with Contact, RSS 2021; Le Lidec, Montaut, de Mont-Marin, "
          "Schramm, Carpentier, End-to-End and Highly-Efficient Differentiable Simulation for Robotics, 2024")


@dataclass
class Case:
    """A scene that is optimized, by its own method and by CMA-ES."""
    scene: str
    generations: int  # of CMA-ES, at most
    sigma: float      # its first standard deviation
    landscape: int = 0
    ours: list = field(default_factory=list)  # options of `costate optimize`
    theirs: list = field(default_factory=list)  # the same, of CMA-ES


@dataclass
class Experiment:
    title: str
    text: str
    cases: list
    rows: object  # results by scene -> rows of the table: (measure, paper, ours, baseline)


def reached(result, goal):
    """How soon the loss fell below the goal."""
    for k, loss in enumerate(result["losses"]):
        if loss is not None and loss < goal:
            return f"{k} iterations, {seconds(result['loss_seconds'][k])}"
    return (f"not in {result['iterations']} iterations ({result['loss_evaluations']} losses, {seconds(result['seconds'])}): "
            f"{result['final_loss']:.3g}")


def seconds(s):
    return f"{s:.2g} s" if s < 10 else f"{s:.0f} s"


def throw_rows(results):
    ours, cmaes = results["throw"]
    goal = 0.05 * ours["initial_loss"]
    return [(f"throw: miss below 5 % of the first ({goal:.3f} m)", "20 iterations; CMA-ES not in 500", reached(ours, goal),
             reached(cmaes, goal))]


def golf_rows(results):
    ours, cmaes = results["golf"]
    return [("golf: miss below 0.05 m", "50 iterations; CMA-ES not in 1500", reached(ours, 0.05), reached(cmaes, 0.05)),
            ("golf: miss below 0.01 m", "", reached(ours, 0.01), reached(cmaes, 0.01))]


def friction_rows(results):
    ours, cmaes = results["racecar_friction"]
    friction = [f"{r['parameters']['shapes/ground/friction']:.5f}" for r in (ours, cmaes)]
    cells = [f"{reached(r, 1e-3)}; mu = {mu}" for r, mu in zip((ours, cmaes), friction)]
    return [("racecar_friction: within 1 mm", "10 iterations", *cells)]


# Of policies after 100 n epochs: theirs, and MBPO.
PENDULUM_RETURNS = [(0.49, 0.49), (1.93, 1.90), (4.28, 4.28), (7.81, 7.50), (12.31, 11.13), (17.78, 15.02), (24.34, 19.97)]


def pendulum_rows(results):
    rows = []
    for n, (theirs, mbpo) in enumerate(PENDULUM_RETURNS, 1):
        most = 0.5 * n * n  # D at the start; the return is D at the start - 2 D at the end
        ours, cmaes = (f"{most - 2 * r['final_loss']:.2f}; {r['iterations']} iterations, {seconds(r['seconds'])}" for r in results[f"pendulum_{n}"])
        rows.append((f"pendulum, n = {n}: return, at most {most:g}", f"{theirs} (MBPO {mbpo})", ours, cmaes))
    return rows


def best(result, value=lambda loss: f"{loss:.3g}"):
    """What was reached, and what that took."""
    return f"{value(result['final_loss'])}; {result['iterations']} iterations, {seconds(result['seconds'])}"


def swing_rows(results):
    rows = []
    for scene, goal in (("cartpole_swingup", 0.2), ("double_cartpole", 1)):
        ours, cmaes = results[scene]
        rows.append((f"{scene}: loss below {goal:g}, which is upright and at rest", "faster than without gradients", reached(ours, goal), reached(cmaes, goal)))
    return rows


def catapult_rows(results):
    return [(f"catapult: ball within {goal}", paper, *(reached(r, miss**2) for r in results["catapult"]))
            for goal, miss, paper in (("1 cm", 1e-2, "faster than without gradients"), ("1 nm", 1e-9, ""))]


def jump_rows(results):
    rows = []
    for scene, what, out_of_reach in (("jump_worm", "head", 2), ("half_cheetah_jump", "torso", 3)):
        ours, cmaes = (best(r, lambda loss: f"{out_of_reach - loss**0.5:.2f} m") for r in results[scene])
        rows.append((f"{scene}: height of the {what}", "converges", ours, cmaes))
    rows.append(("humanoid_jump: loss, from 1.95", "converges", *map(best, results["humanoid_jump"])))
    return rows


def takeoff_rows(results):
    ours, cmaes = results["drone_takeoff"]
    return [("drone_takeoff: within 10 cm of 5 m", "escapes where plain gradients are zero", reached(ours, 1e-2), reached(cmaes, 1e-2))]


def cube_rows(results):
    ours, cmaes = results["cube_throw"]
    truth = {"x": 2, "y": 0.5, "z": 1, "wx": 0.3, "wy": -0.5, "wz": 3}
    errors = [max(abs(r["initial_state"][f"d(cube).{k}"] - v) for k, v in truth.items()) for r in (ours, cmaes)]
    cells = [f"{e:.1e}; {r['iterations']} iterations, {seconds(r['seconds'])}" for e, r in zip(errors, (ours, cmaes))]
    return [("cube_throw: largest error of the velocity, m/s or rad/s", "precise where differences stall", *cells),
            ("cube_push: miss, m", "", *(best(r, lambda loss: f"{loss**0.5:.1e}") for r in results["cube_push"]))]


def inverse_dynamics_rows(results):
    return [(f"{scene}: |v+| below 1e-5", "about 10 iterations", reached(ours, 1e-5), reached(cmaes, 1e-5))
            for scene, (ours, cmaes) in results.items()]


EXPERIMENTS = {
    "throw": Experiment(
        "Throwing a ball", "An arm with two fingers holds a ball and lets go after half a second; torques at 20 knots of each of 7 joints, from 0. "
        "The target was drawn before any optimizer saw it.", [Case("throw", 500, 0.02)], throw_rows),
    "golf": Experiment(
        "Golf", "A club of two links hits a ball on a tee too weakly; torques at 20 knots of both joints, from 0, are to send it three metres. "
        "Both stop at a miss of 0.01 m. With so few variables CMA-ES is as good; the paper does not say how many it had.", [Case("golf", 1500, 3)], golf_rows),
    "racecar_friction": Experiment(
        "Friction from where a car stops", "A car slides on four locked wheels; the friction of the ground from its place after a second. "
        "The truth is mu = 2 (v t - x) / (g t^2) = 0.0408.", [Case("racecar_friction", 50, 0.1, landscape=101)], friction_rows),
    "pendulum": Experiment(
        "Pendulums of 1 to 7 links", "From horizontal to upright with at most 10 N m a joint: what the torques can reach, by trajectory "
        "optimization, where the paper learns a policy. CMA-ES gets 60 generations, most of whose time is its own algebra with up to 707 "
        "variables. D is the squared distance of the tip to its place upright; the return is D at the start less twice D at the end.",
        [Case(f"pendulum_{n}", 60, 0.15, ours=["--iterations", 1000, "--losses", 2000]) for n in range(1, 8)], pendulum_rows),
    "swing_up": Experiment(
        "Swing-up of one and of two poles", "A cart swings its poles up and holds them, with at most 10 N: iLQR over the force at each of 500 steps, "
        "CMA-ES over 50 knots of it.",
        [Case(scene, 300, 0.3, theirs=["--knots", 50]) for scene in ("cartpole_swingup", "double_cartpole")], swing_rows),
    "catapult": Experiment(
        "Catapult", "An arm of three joints bats a ball, which is to be at a place exactly at the end: multiple shooting over the torques at each of 500 "
        "steps, in segments of 20, CMA-ES over 6 knots of each.", [Case("catapult", 300, 0.1, theirs=["--knots", 6])], catapult_rows),
    "jump": Experiment(
        "Jumps", "A worm of 5 degrees of freedom, a half cheetah of 9 and Atlas, of 33, jump as high as they can: multiple shooting over 400 steps in "
        "segments of 20, CMA-ES over 6 knots of each torque or servo target. The loss is the squared distance of the height from one out of reach.",
        [Case("jump_worm", 300, 0.3, theirs=["--knots", 6]), Case("half_cheetah_jump", 300, 0.3, theirs=["--knots", 6]),
         Case("humanoid_jump", 60, 0.1, theirs=["--knots", 6])], jump_rows),
    "take_off": Experiment(
        "Take-off", "A drone at rest on the ground, whose thrust does not change its height until it is larger than its weight: Adam along "
        "complementarity-aware gradients.", [Case("drone_takeoff", 60, 0.3)], takeoff_rows),
    "cube": Experiment(
        "With which velocity was the cube thrown?", "Gauss-Newton with the Jacobian of the whole motion by its six numbers; and the impulse that slides a "
        "cube at rest to a place, of which there are many.", [Case("cube_throw", 200, 0.5), Case("cube_push", 200, 0.5)], cube_rows),
    "inverse_dynamics": Experiment(
        "Inverse dynamics through contact", "Servo targets that leave a robot at rest after a step, by Gauss-Newton: Go1 on four feet, with 10 kg on its back "
        "and on two feet, and a biped in a push-up.",
        [Case(scene, 200, 0.02) for scene in ("quadruped_inverse_dynamics", "quadruped_inverse_dynamics_loaded", "quadruped_handstand", "biped_pushup")],
        inverse_dynamics_rows),
}


def run(program, *arguments):
    line = [str(program), *map(str, arguments)]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"experiments.py: failed with {done.returncode}: {' '.join(line)}")
    return done.stdout


def optimize(program, case, folder):
    """Writes all of a case."""
    cmaes, ours = folder / "cmaes", folder / "ours"
    run(program, "optimize", case.scene, "--method", "cmaes", "--iterations", case.generations, "--losses", 10**9, "--sigma", case.sigma,
        *case.theirs, "--out", cmaes)
    landscape = ["--landscape", case.landscape] if case.landscape else []
    run(program, "optimize", case.scene, *case.ours, "--out", ours, "--compare", cmaes / "result.json", *landscape,
        "--report", folder / "report.html", "--plots", folder / "plots")
    run(program, "view", case.scene, "--run", cmaes / "after.csv", "--run", ours / "after.csv", "--out", folder / "replay.html")
    if list((folder / "plots").glob("*.png")):  # there is a Chromium
        run(program, "view", case.scene, "--run", ours / "after.csv", "--png", folder / "picture.png", "--sheet", 4, "--size", "1280x800",
            "--overlays", "none")


def refuse(message):
    print(f"experiments.py: {message}", file=sys.stderr)
    sys.exit(2)


def results_of(experiment, out):
    """By scene, ours and the baseline's; None if one was not run."""
    results = {}
    for case in experiment.cases:
        files = [out / case.scene / who / "result.json" for who in ("ours", "cmaes")]
        if not all(f.is_file() for f in files):
            return None
        results[case.scene] = tuple(json.loads(f.read_text()) for f in files)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="NAME", help="all, or " + ", ".join(EXPERIMENTS))
    parser.add_argument("--program", type=Path, default=Path("build/costate"))
    parser.add_argument("--out", type=Path, default=Path("out/gallery"))
    arguments = parser.parse_args()
    names = list(EXPERIMENTS) if "all" in arguments.names else arguments.names
    for name in names:
        if name not in EXPERIMENTS:
            refuse(f"there is no experiment '{name}': take all, or of {', '.join(EXPERIMENTS)}")
    if not arguments.program.is_file():
        refuse(f"there is no {arguments.program}: build first, or name the program with --program")
    for name in names:
        for case in EXPERIMENTS[name].cases:
            began = time.monotonic()
            print(f"{case.scene} ...", end="", flush=True)
            optimize(arguments.program, case, arguments.out / case.scene)
            print(f" {time.monotonic() - began:.0f} s")
    sections = []
    for name, experiment in EXPERIMENTS.items():
        if results := results_of(experiment, arguments.out):
            sections.append(gallery.Section(name, experiment.title, experiment.text, list(results), experiment.rows(results)))
    page = arguments.out / "index.html"
    page.write_text(gallery.page(sections, SOURCE, arguments.out, run(arguments.program, "--version").strip()), encoding="utf-8")
    (arguments.out / "table.json").write_text(json.dumps([row for s in sections for row in s.rows], indent=1) + "\n")
    print(f"{page}: open it in a browser")


if __name__ == "__main__":
    main()
