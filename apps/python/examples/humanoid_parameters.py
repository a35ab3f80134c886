"""Identifies 240 parameters of a humanoid of 23 degrees of freedom from its own noisy motion.

python3 humanoid_parameters.py [--seconds 20 --out humanoid] [--ground soft|rigid]

The parameters are mass, centre and inertia of 11 links, damping, armature, springs and gears of 17 joints, and the
positions of these joints. The truth is drawn about the model: 10 % of each number, 5 mm of positions, 0.05 rad of
rest angles. The fit starts at the model and has these spreads as priors, because no motion alone shows all of them:
only ratios of masses, inertias and gears act, and a hinge hides parts of an inertia.

The humanoid floats without gravity and limits of joints, and moves under smooth random torques. Its motion is
cut into windows of 0.2 s. Each starts from its first noisy sample, which is known with the noise of the
sensors.

With --ground soft, it falls and thrashes on a mat of 2 kN/m for each contact point, whose stiffness, damping and
18 coefficients of friction are unknown, too. Windows are 0.05 s long, and those that miss by more than three times
the noise count as less (`outliers`). With --ground rigid this does not reach the noise: contacts open and close at
other times than in the recordings, and a start that is off by a millimetre may miss one, so the misfit has many
minima.
"""
import argparse
import json
import os
import time
from pathlib import Path

import numpy

import costate
from costate import Recording, Unknown
from costate._identification.unknowns import Unknowns  # their numbers, about which the truth is drawn

SCENES = Path(os.environ.get("COSTATE_SCENES") or Path(__file__).resolve().parents[3] / "scenes/library")
SUBSTEPS = 5  # time steps of a control step (10 ms)
WINDOW = {None: 20, "soft": 5, "rigid": 5}  # control steps
MAT = {"stiffness": 2000, "damping": 50}  # N/m, N s/m
SPREAD = 0.1
ANGLE, POSITION, SPEED, TURN = 1e-3, 1e-3, 0.01, 0.02  # noise: rad, m, m/s, rad/s


def humanoid(ground):
    scene = json.loads((SCENES / "humanoid.json").read_text())
    scene["ground"] = MAT if ground == "soft" else True
    model = costate.Model.from_string(scene, name=SCENES / "humanoid.json")
    theta = model.parameters
    for i, name in enumerate(model.parameter_names):
        if "/limits[" in name and name.startswith("joints/"):
            theta[i] = -100 if name.endswith("[0]") else 100
        elif name.startswith("world/gravity") and not ground:
            theta[i] = 0
    model.parameters = theta
    return model


def unknowns_of(model, ground):
    values, log = dict(zip(model.parameter_names, model.parameters)), (1, SPREAD)
    links = [name[:-5] for name in model.parameter_names if name.endswith("/mass") and values[name] > 0]
    out = [Unknown(f"{link}/pseudo_inertia", prior=log) for link in links]
    for name, value in values.items():
        kind = name.rsplit("/", 1)[-1].split("[")[0]
        if name.startswith("shapes/") and not ground:
            continue
        if kind in ("damping", "armature", "stiffness", "gear", "friction") and value > 0:
            out.append(Unknown(name, "log", prior=(value, SPREAD)))
        elif kind == "rest" and values[name.replace("rest", "stiffness")] > 0:
            out.append(Unknown(name, prior=(value, 0.05)))
        elif kind == "placement" and "/root" not in name:
            out.append(Unknown(name, prior=(value, 0.005)))
    return out


def motion(model, theta, steps, ground, random):
    """Controls (steps, nu), and the states (steps + 1, nx) with parameters theta."""
    t = 0.01 * numpy.arange(steps)[:, None, None]
    rates, phases = random.uniform(0.5, 3, (1, model.nu, 3)), random.uniform(0, 2 * numpy.pi, (1, model.nu, 3))
    u = (0.2 if ground else 0.05) * numpy.sin(2 * numpy.pi * rates * t + phases).sum(2)
    batch = costate.Batch(model, 1, threads=1, substeps=SUBSTEPS)
    batch.set_parameters(theta)
    x = batch.state()[0]
    x[0, 2] += 0 if ground else 5
    states, completed = batch.rollout(x, u[:, None])
    assert completed[0] == steps, "the motion diverges"
    return u, numpy.concatenate([x[None], states])[:, 0]


def recordings_of(model, u, states, window, random):
    """Windows of noisy states, and the noise of the signals."""
    spread = numpy.array([POSITION] * 3 + [ANGLE] * (model.nv - 3) + [SPEED] * 3 + [TURN] * (model.nv - 3))
    seen = [spread * random.normal(size=model.ndx) for _ in states]
    seen = numpy.array([model.state(model.retract(x[:model.nq], d[:model.nv]), x[model.nq:] + d[model.nv:])
                        for x, d in zip(states, seen)])
    noise, columns = {}, {}
    for joint in model.joints:
        q, v = model.joint_slices(joint)
        noise[joint], noise[f"d({joint})"] = spread[v], spread[model.nv:][v]
        columns[joint], columns[f"d({joint})"] = q, slice(model.nq + v.start, model.nq + v.stop)
    out = []
    for first in range(0, len(u) - window + 1, window):  # the last sample is the start of the next window
        rows = slice(first + 1, first + window)
        signals = {name: seen[rows, part] for name, part in columns.items()}
        out.append(Recording(0.01 * numpy.arange(1, window), signals, seen[first], spread, u[first:first + window]))
    return out, noise


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--ground", choices=["soft", "rigid"], help="with gravity, contact and friction; see above")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=16)
    parser.add_argument("--out", type=Path, help="folder of figures.json and report.html")
    options = parser.parse_args()
    model, random = humanoid(options.ground), numpy.random.default_rng(options.seed)
    unknowns = unknowns_of(model, options.ground)
    numbers = Unknowns(model, unknowns)
    y = numbers.mean + numbers.std * random.normal(size=len(numbers.y))
    truth, values = numbers.parameters(y)[0], numbers.values(y)[0]
    u, states = motion(model, truth, round(100 * options.seconds), options.ground, random)
    recordings, noise = recordings_of(model, u, states, WINDOW[options.ground], random)
    began = time.process_time()
    found = costate.identify(model, recordings, unknowns, noise, substeps=SUBSTEPS, iterations=options.iterations,
                             outliers=3 if options.ground else numpy.inf, threads=1)
    seconds = time.process_time() - began
    scores = (found.values - values) / found.standard_errors
    _, slopes = numbers.values(numbers.mean)
    shrunk = found.standard_errors / (numpy.abs(slopes) * numbers.std)  # of the spread that the prior has
    p, directions = len(found.names), len(found.names) + model.ndx
    contacts = [len(model.contacts(x[:model.nq], x[model.nq:model.nq + model.nv], one)) for x, one in zip(states, u)]
    print(f"{p} unknowns from {len(recordings)} windows, {options.seconds:g} s, on average {numpy.mean(contacts):.1f} "
          f"contacts; {seconds:.0f} s of processor time")
    print(f"misfit {found.misfit:.3f} of the noise, {found.iterations} iterations, {found.stopped}")
    print(f"{found.simulations} rollouts of all windows and {found.linearizations} passes with derivatives; central "
          f"differences would need {found.linearizations * 2 * directions} rollouts instead of these passes")
    print(f"errors in units of their standard errors: root mean square {numpy.sqrt(numpy.mean(scores**2)):.3f}, "
          f"largest {numpy.abs(scores).max():.2f}")
    print(f"standard errors of the prior's spread: median {numpy.median(shrunk):.3f}, below a tenth for "
          f"{int((shrunk < 0.1).sum())}, above 0.9 for {int((shrunk > 0.9).sum())} unknowns")
    table = {}
    for name, score, share in zip(found.names, scores, shrunk):
        table.setdefault(name.rsplit("/", 1)[-1].split("[")[0], []).append((score, share))
    for kind, rows in table.items():
        z, share = numpy.array(rows).T
        print(f"  {kind:15} {len(rows):4}  errors {numpy.sqrt(numpy.mean(z**2)):.2f} standard errors, which are "
              f"{numpy.median(share):.3f} of the prior")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        found.report(options.out / "report.html", title="Humanoid")
        figures = {"names": found.names, "truth": values.tolist(), "values": found.values.tolist(),
                   "standard errors": found.standard_errors.tolist(), "misfit": found.misfit, "seconds": seconds,
                   "simulations": found.simulations, "linearizations": found.linearizations}
        (options.out / "figures.json").write_text(json.dumps(figures, indent=1))
    if found.stopped == "converged":
        assert numpy.sqrt(numpy.mean(scores**2)) < 1.3, "the errors are larger than predicted"


if __name__ == "__main__":
    main()
