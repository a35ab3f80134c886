#!/usr/bin/env python3
"""Makes the recordings that scenes compare with, and says how well parameters can be found from the noisy ones.

Usage: scripts/bench/make_recordings.py [build/costate]. The files are in the tree; this is for whoever changes a scene.

Of cube_throw every step is recorded as it is; its true start is here. The models of an *_identification scene hold the true values and its "parameters" the wrong ones from which a search starts. Without "parameters" its motion
is the true one; rows of it, with Gaussian noise of a stated size and seed, are the recording. The search minimises the sum over steps
of |m(p) - A y|^2, A y being the rows y interpolated to the steps, so for small noise the estimate of p = log(parameter) is off by
(J^T J)^-1 J^T (A y - m(p)), J = dm/dp. Noise sigma gives the standard error, the root of the diagonal of
sigma^2 (J^T J)^-1 (J^T A)(J^T A)^T (J^T J)^-1; what straight lines between rows leave out gives the bias."""
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# scene: every which step is recorded, standard deviation of the noise in the columns' unit, seed
RECORDINGS = {"double_pendulum_identification": (5, 2e-3, 1), "box_slide_identification": (10, 1e-3, 2)}
EXACT = {"cube_throw": {"velocities": {"cube": {"linear": [2, 0.5, 1], "angular": [0.3, -0.5, 3]}}}}  # scene: its true start


def simulate(program, scene, columns):
    """Times, and rows of the columns at every step."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scene.json"
        path.write_text(json.dumps({k: v for k, v in scene.items() if k != "objective"}))
        run = subprocess.run([program, "simulate", str(path), "--out", "-", "--columns", ",".join(columns)],
                             capture_output=True, text=True, check=True)
    header, *rows = csv.reader(run.stdout.splitlines())
    assert sorted(header[1:]) == sorted(columns), header
    order = [header.index(c) for c in columns]
    return [float(row[0]) for row in rows], [[float(row[i]) for i in order] for row in rows]


def weights(step, every, last):
    """The rows and their weights that the value at a step is made of."""
    row, share = step // every, step % every / every
    return [(row, 1 - share)] + ([(row + 1, share)] if share else []) if step < last else [(last // every, 1.0)]


def solve(matrix, right):
    """x with matrix x = right, by elimination with pivots."""
    n = len(right)
    rows = [list(matrix[i]) + [right[i]] for i in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def value_of(scene, path):
    """What a model of the scene says of the parameter."""
    kind, *_, quantity = path.split("/")
    names = [n for n in path.split("/")[1:-1] if n not in [m["name"] for m in scene["models"]]]
    for model in scene["models"]:
        for body in model["model"]["bodies"]:
            items = {"bodies": [body], "joints": [body["joint"]] if "joint" in body else body["joints"], "shapes": body.get("shapes", [])}
            for item in items[kind]:
                if not names or item.get("name", body["name"]) == names[-1]:
                    return item[quantity]
    raise KeyError(path)


def expected_errors(program, scene, columns, every, sigma):
    """Path -> relative standard error and bias of its estimate."""
    truth = {k: v for k, v in scene.items() if k != "parameters"}
    _, exact = simulate(program, truth, columns)
    last = len(exact) - 1
    sensitivities = []  # by parameter: d m / d log p by step and column
    for p in scene["parameters"]:
        value, e = value_of(scene, p["path"]), 1e-4
        plus, minus = (simulate(program, truth | {"parameters": [{"path": p["path"], "value": value * math.exp(s)}]}, columns)[1]
                       for s in (e, -e))
        sensitivities.append([[(a - b) / (2 * e) for a, b in zip(x, y)] for x, y in zip(plus, minus)])
    n, width = len(sensitivities), len(columns)
    JTJ = [[0.0] * n for _ in range(n)]
    JTA = [[[0.0] * (last // every + 1) for _ in range(width)] for _ in range(n)]
    JTb = [0.0] * n
    for t in range(last):  # the loss is a sum over the beginnings of steps
        near = weights(t, every, last)
        for c in range(width):
            j = [s[t][c] for s in sensitivities]
            gap = sum(w * exact[row * every][c] for row, w in near) - exact[t][c]
            for a in range(n):
                JTb[a] += j[a] * gap
                for b in range(n):
                    JTJ[a][b] += j[a] * j[b]
                for row, w in near:
                    JTA[a][c][row] += w * j[a]
    noise = [[sum(x * y for c in range(width) for x, y in zip(JTA[a][c], JTA[b][c])) for b in range(n)] for a in range(n)]
    columns_of = [solve(JTJ, [noise[i][b] for i in range(n)]) for b in range(n)]  # (J^T J)^-1 noise
    bias = solve(JTJ, JTb)
    return {p["path"]: (sigma * math.sqrt(solve(JTJ, [columns_of[b][a] for b in range(n)])[a]), bias[a])
            for a, p in enumerate(scene["parameters"])}


def write_exact(program, name, start):
    """The recording of the motion from a start, to the last bit."""
    scene = json.loads((ROOT / "scenes/library" / f"{name}.json").read_text())
    term = scene["objective"][0]
    with tempfile.TemporaryDirectory() as folder:
        path, out = pathlib.Path(folder) / "scene.json", ROOT / "scenes/library" / term["file"]
        path.write_text(json.dumps({k: v for k, v in scene.items() if k != "objective"} | {"initial": start}))
        subprocess.run([program, "simulate", str(path), "--out", str(out), "--columns", ",".join(term["columns"])], check=True,
                       stdout=subprocess.DEVNULL)
    print(f"{name}: every step, without noise")


def main(program):
    for name, start in EXACT.items():
        write_exact(program, name, start)
    for name, (every, sigma, seed) in RECORDINGS.items():
        scene = json.loads((ROOT / "scenes/library" / f"{name}.json").read_text())
        term = scene["objective"][0]
        columns = term["columns"]
        times, rows = simulate(program, {k: v for k, v in scene.items() if k != "parameters"}, columns)
        generator = random.Random(seed)
        with open(ROOT / "scenes/library" / term["file"], "w", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(["time"] + columns)
            for time, row in list(zip(times, rows))[::every]:
                writer.writerow([f"{time:.10g}"] + [f"{x + generator.gauss(0, sigma):.6f}" for x in row])
        print(f"{name}: every {every} steps, noise {sigma:g}, seed {seed}")
        for path, (error, bias) in expected_errors(program, scene, columns, every, sigma).items():
            print(f"  {path}: {value_of(scene, path)}, standard error {100 * error:.3f} %, bias {100 * bias:+.4f} %")


main(sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build" / "costate"))
