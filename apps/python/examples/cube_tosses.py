"""Identifies the contact of a real cube from 4 to 256 measured tosses, and predicts 100 others.

python3 cube_tosses.py --out tosses [--laws cone --tosses 4 8 --minutes 9]
python3 cube_tosses.py --out tosses --laws cone mujoco --tosses 64 --search 1000

The tosses are those of Pfrommer, Halm, Posa, "ContactNets" (CoRL 2020), in
$COSTATE_REFERENCE_DIR/recordings/cube_tosses/tosses.csv.gz. Each row of the table is written as soon as it is
known, and rows that are there are not computed again: an interrupted run goes on.

A toss with many impacts is chaotic, so parameters are fitted to windows of 24 samples (0.16 s), each with its own
start near the measured one. Predictions are rollouts of whole tosses. They start from the first measured state, or
from a start fitted to the free flight before the first contact. --search fits without derivatives instead: CMA-ES
(Debian's python3-cmaes) minimizes the errors of the predictions of the tosses themselves.
"""
import argparse
import gzip
import json
import os
import re
import time
from pathlib import Path

import numpy

import costate
from costate import Recording, Unknown

DATA = "recordings/cube_tosses/tosses.csv.gz"
EDGE, RATE, SUBSTEPS, TEST = 0.1048, 148, 5, 100  # m, samples per s, time steps per sample, tosses kept out
WINDOW, BEFORE = 24, 4  # samples of a window; samples of the first one before contact
NEAR = 0.006  # m, lowest corner of a cube that may soon be in contact
POSE, FRICTION = "cube", "shapes/ground/friction"
NOISE = {POSE: [1e-3] * 3 + [0.02] * 3}  # what a window may miss: m, rad
START = [2e-4] * 3 + [2e-3] * 3 + [0.02] * 3 + [0.1] * 3  # m, rad, m/s, rad/s: noise of a measured state
FLIGHT, LAUNCH = {POSE: [1e-4] * 3 + [2e-3] * 3}, [numpy.inf] * 6 + [0.05] * 3 + [0.3] * 3

BODY = [
    Unknown("bodies/cube/com[*]"),
    Unknown([f"bodies/cube/inertia[{i}]" for i in range(3)], "log", tied=True),
    Unknown("shapes/cube/size[*]", "log", tied=True),
    Unknown("shapes/ground/position[2]"),
    Unknown(FRICTION, "log", 0.01, 2),
]
BOUNCE = [Unknown("shapes/ground/restitution", "linear", 0, 0.9)]
SPRING = [Unknown("shapes/ground/stiffness", "log", 1e3, 1e7), Unknown("shapes/ground/damping", "log", 0.1, 1e4)]
SOFT = [
    Unknown("shapes/ground/solref[0]", "log", 2 / RATE / SUBSTEPS, 0.1),
    Unknown("shapes/ground/solref[1]", "log", 0.02, 2),
    Unknown("shapes/ground/solimp[0]", "linear", 0.1, 0.99),
    Unknown("shapes/ground/solimp[1]", "linear", 0.1, 0.99),
    Unknown("shapes/ground/solimp[2]", "log", 1e-4, 0.01),
]
AUTHORS = ("cone", "cone, no restitution", "box", "box, pgs")  # laws for which the authors give parameters
# solver, ground besides its friction, the rest of the scene, friction of the cube, unknowns
LAWS = {
    "cone": ("ncp", {"restitution": 0.125}, {}, 1, BOUNCE),
    "cone, no restitution": ("ncp", {}, {}, 1, []),
    "cone, soft ground": ("ncp", {"stiffness": 5000, "damping": 20}, {}, 1, SPRING),
    "box": ("lcp", {"restitution": 0.125}, {}, 1, BOUNCE),
    "box, pgs": ("pgs", {"restitution": 0.125}, {}, 1, BOUNCE),
    "mujoco": ("ncp", {"solref": [0.006, 0.5], "solimp": [0.5, 0.9, 0.002, 0.5, 2]},
               {"contact": {"law": "mujoco"}}, 0, SOFT),
}


def model_of(law):
    """The authors' cube and friction."""
    solver, ground, more, friction, _ = LAWS[law]
    cube = {"name": "cube", "joint": {"type": "free"}, "mass": 0.37, "inertia": [8.1e-4] * 3 + [0] * 3,
            "shapes": [{"type": "box", "half_extents": [EDGE / 2] * 3, "friction": friction}]}
    return costate.Model.from_string({
        "time_step": 1 / RATE / SUBSTEPS, "solver": {"type": solver}, "ground": {"friction": 0.18, **ground},
        "models": [{"name": "cube", "position": [0, 0, 1], "model": {"bodies": [cube]}}], **more
    })


def load(folder):
    """The tosses, each (n, 14): time, position, quaternion, velocity, angular velocity."""
    with gzip.open(Path(folder) / DATA, "rt") as file:
        rows = numpy.loadtxt(file, delimiter=",", skiprows=1)
    return [rows[rows[:, 0] == toss, 1:] for toss in numpy.unique(rows[:, 0])]


def split_tosses(test):
    """The tosses to fit, of which the first ones are taken, and `test` of those to predict."""
    folder = os.environ.get("COSTATE_REFERENCE_DIR")
    if folder is None or not (Path(folder) / DATA).is_file():
        raise SystemExit(f"the tosses are missing: set COSTATE_REFERENCE_DIR to the folder with {DATA}")
    tosses = load(folder)
    order = numpy.random.default_rng(0).permutation(len(tosses))
    return [tosses[i] for i in order[:-TEST]], [tosses[i] for i in order[-TEST:][:test]]


def lowest(poses):
    """Heights (n) of the lowest corners of cubes with poses (n, 7 or more)."""
    w, x, y, z = poses[:, 3:7].T
    down = numpy.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
    return poses[:, 2] - EDGE / 2 * numpy.abs(down).sum(0)


def contact(toss):
    """The first sample that may be in contact."""
    near = lowest(toss[:, 1:]) < NEAR
    return int(numpy.argmax(near)) if near.any() else len(toss)


def recording(samples, start_noise):
    """Samples as a recording. Measured velocities are backward differences: half a sample late for gravity."""
    start = samples[0, 1:].copy()
    start[9] -= 9.81 / RATE / 2
    return Recording(samples[:, 0] - samples[0, 0], {POSE: samples[:, 1:8]}, start, start_noise)


def windows(tosses):
    """Recordings that together hold the motion in contact, until the cube rests."""
    out = []
    for toss in tosses:
        moving = numpy.flatnonzero(numpy.linalg.norm(toss[:, 8:11], axis=1) > 0.02)
        end = min(moving[-1] + BEFORE, len(toss) - 1)
        for first in range(max(0, contact(toss) - BEFORE), end - WINDOW // 2, WINDOW):
            out.append(recording(toss[first:first + WINDOW + 1], START))
    return out


def launches(model, tosses):
    """Starts (n, nx) fitted to the free flight before the first contact."""
    flights = [recording(toss[:max(2, contact(toss))], LAUNCH) for toss in tosses]
    return costate.identify(model, flights, [], FLIGHT, substeps=SUBSTEPS, iterations=8, threads=1).starts


def predict(model, tosses, starts):
    """Means over each toss (n, 3): error of position and penetration as shares of the edge, error of angle in
    degrees."""
    recordings = [recording(toss, 0)._replace(start=start) for toss, start in zip(tosses, starts)]
    found = costate.evaluate(model, recordings, NOISE, substeps=SUBSTEPS, threads=1)
    return numpy.array([(numpy.linalg.norm(d[POSE][:, :3], axis=1).mean() / EDGE,
                         numpy.degrees(numpy.linalg.norm(d[POSE][:, 3:], axis=1)).mean(),
                         numpy.maximum(0, -lowest(states)).mean() / EDGE)
                        for states, d in zip(found.states, found.differences)])


class Searched:
    """The numbers that CMA-ES varies for an Unknown, in units of a first standard deviation: a third with "log", a
    fifth of the range of other bounded ones, 5 mm."""

    def __init__(self, unknown, model):
        paths = [unknown.path] if isinstance(unknown.path, str) else unknown.path
        patterns = [re.escape(path).replace("\\*", ".*") for path in paths]
        at = [i for i, name in enumerate(model.parameter_names) if any(re.fullmatch(it, name) for it in patterns)]
        self.groups = [at] if unknown.tied else [[i] for i in at]
        self.log = unknown.scale == "log"
        ranged = numpy.isfinite(unknown.upper - unknown.lower)
        self.unit = 1 / 3 if self.log else (unknown.upper - unknown.lower) / 5 if ranged else 0.005
        firsts = model.parameters[[group[0] for group in self.groups]]
        ends = numpy.array([[max(unknown.lower, 0), unknown.upper]] if self.log else [[unknown.lower, unknown.upper]])
        with numpy.errstate(divide="ignore"):
            self.bounds = (numpy.log(ends / firsts[:, None]) if self.log else ends - firsts[:, None]) / self.unit

    def put(self, y, theta):
        for number, group in zip(y, self.groups):
            change = self.unit * number
            theta[group] = theta[group] * numpy.exp(change) if self.log else theta[group] + change


def search(model, unknowns, tosses, evaluations, predict=predict):
    """Parameters that minimize the mean error of position, in edges, and of angle, in 100 degrees, of predictions from
    the first measured states. By CMA-ES, in so many evaluations, from those of the model."""
    try:
        import cmaes
    except ImportError as error:
        raise SystemExit("--search needs the package cmaes: install Debian's python3-cmaes") from error

    parts, start = [Searched(unknown, model) for unknown in unknowns], model.parameters
    firsts = [toss[0, 1:] for toss in tosses]
    bounds = numpy.concatenate([part.bounds for part in parts])
    optimizer = cmaes.CMA(numpy.clip(numpy.zeros(len(bounds)), *bounds.T), 1.0, bounds=bounds, seed=1)
    best = numpy.inf, start
    for _ in range(evaluations // optimizer.population_size):
        told = []
        for _ in range(optimizer.population_size):
            y, theta, first = optimizer.ask(), start.copy(), 0
            for part in parts:
                part.put(y[first:first + len(part.groups)], theta)
                first += len(part.groups)
            model.parameters = theta
            position, degrees, _ = predict(model, tosses, firsts).mean(0)
            told.append((y, position + degrees / 100))
            best = min(best, (told[-1][1], theta), key=lambda pair: pair[0])
        optimizer.tell(told)
    return best[1]


def contact_friction(law, model):
    """The coefficient of a contact of the cube, whose own friction is 1, or 0 by MuJoCo's law: the product of the
    coefficients of its shapes, or the square of the larger one."""
    friction = model.parameters[list(model.parameter_names).index(FRICTION)]
    return friction**2 if law == "mujoco" else friction


def add_predictions(row, model, test, predict=predict):
    """Adds the mean errors of predictions from the measured starts, and from those of the flight."""
    for start, states in (("measured", [toss[0, 1:] for toss in test]), ("flight", launches(model, test))):
        errors = predict(model, test, states)
        row[start] = {"position": errors[:, 0].mean(), "degrees": errors[:, 1].mean(),
                      "penetration": errors[:, 2].mean(), "other face": int((errors[:, 1] > 30).sum())}


def row_of(law, k, train, test, theta, iterations, evaluations):
    """A row of the table, and the parameters found from the first k tosses, starting at theta."""
    began, model = time.process_time(), model_of(law)
    if theta is not None:
        model.parameters = theta
    row = {"law": law, "tosses": k}
    if evaluations > 0:
        model.parameters = search(model, BODY + LAWS[law][4], train[:k], evaluations)
        row["law"] = f"{law}, CMA-ES"
    elif k > 0:
        found = costate.identify(model, windows(train[:k]), BODY + LAWS[law][4], NOISE, substeps=SUBSTEPS,
                                 iterations=iterations, outliers=3, threads=1)
        model.parameters = found.parameters
        row.update({"misfit": found.misfit, "iterations": found.iterations, "names": found.names,
                    "values": found.values.tolist(), "standard errors": found.standard_errors.tolist()})
    row["friction"] = contact_friction(law, model)
    add_predictions(row, model, test)
    row["seconds"] = time.process_time() - began
    return row, model.parameters


def table(rows):
    """The rows in Markdown."""
    heads = ["law", "tosses", "friction", "position", "degrees", "penetration", "above 30 degrees", "position, flight",
             "degrees, flight", "above 30 degrees, flight", "seconds"]
    lines = [heads, ["---"] * len(heads)]
    for row in rows:
        a, b = row["measured"], row["flight"]
        tosses = str(row["tosses"]) if row["tosses"] else "authors' parameters"
        lines.append([row["law"], tosses, f"{row['friction']:.3f}",
                      f"{a['position']:.3f}", f"{a['degrees']:.1f}", f"{a['penetration']:.3f}", f"{a['other face']}",
                      f"{b['position']:.3f}", f"{b['degrees']:.1f}", f"{b['other face']}", f"{row['seconds']:.0f}"])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("tosses"), help="folder of the results")
    parser.add_argument("--laws", nargs="+", choices=LAWS, default=list(LAWS))
    parser.add_argument("--tosses", nargs="+", type=int, default=[0, 4, 8, 16, 32, 64, 128, 256],
                        help="numbers of tosses to fit; 0: the authors' parameters")
    parser.add_argument("--test", type=int, default=TEST, help="number of tosses to predict")
    parser.add_argument("--search", type=int, default=0, metavar="N",
                        help="fit by N evaluations of CMA-ES, from the nominal parameters")
    parser.add_argument("--minutes", type=float, default=numpy.inf, help="start no row after this time")
    options = parser.parse_args()
    train, test = split_tosses(options.test)
    options.out.mkdir(parents=True, exist_ok=True)
    began, file = time.monotonic(), options.out / "rows.json"
    rows = json.loads(file.read_text()) if file.exists() else []
    for k in sorted(options.tosses):
        for law in options.laws:
            name = f"{law}, CMA-ES" if options.search else law
            if any((row["law"], row["tosses"]) == (name, k) for row in rows) or k == 0 and law not in AUTHORS:
                continue
            if time.monotonic() - began > 60 * options.minutes:
                return
            before = [] if options.search else [row for row in rows if row["law"] == law and 0 < row["tosses"] < k]
            theta = before[-1]["parameters"] if before else None
            row, theta = row_of(law, k, train, test, theta, 4 if before else 12, options.search)
            laws = [name for law in LAWS for name in (law, f"{law}, CMA-ES")]
            rows = sorted([*rows, {**row, "parameters": theta.tolist()}],
                          key=lambda row: (laws.index(row["law"]), row["tosses"]))
            file.write_text(json.dumps(rows, indent=1))
            (options.out / "table.md").write_text(table(rows))
            print(table([row]).splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
