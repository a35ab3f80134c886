"""The real cube of cube_tosses.py in MuJoCo itself: its predictions of the tosses kept out, as rows of that table.

python3 cube_beside_mujoco.py costate_mujoco_plant --out tosses [--cones elliptic pyramidal] [--search 1200]

A row has MuJoCo's predictions with the parameters that costate found by derivatives for its law "mujoco" from
--tosses tosses (the row of tosses/rows.json). With --search, more rows have parameters that CMA-ES found from
the same tosses by so many evaluations of MuJoCo's predictions. The cone "pyramidal" has condim 3 as the elliptic
one.
"""
import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "examples"))
import cube_tosses as cube
from mujoco_plant import MuJoCo

FILE = """<mujoco>
  <option timestep="{time_step}" cone="{cone}" gravity="0 0 -9.81"/>
  <worldbody>
    <geom type="plane" size="10 10 1" pos="0 0 {height}" {ground}/>
    <body>
      <freejoint/>
      <inertial pos="{com}" mass="0.37" diaginertia="{inertia}"/>
      <geom type="box" size="{size}" {cube}/>
    </body>
  </worldbody>
</mujoco>
"""


def text(numbers):
    return " ".join(f"{number:.17g}" for number in numbers)


def file_of(model, cone):
    """The MJCF of a model with costate's law "mujoco": its parameters, and the square of its friction."""
    theta = dict(zip(model.parameter_names, model.parameters))

    def entries(name, count):
        return text(theta[f"{name}[{i}]"] for i in range(count))

    def contact(shape):
        friction, solref, solimp = (f"shapes/{shape}/{name}" for name in ("friction", "solref", "solimp"))
        return (f'friction="{theta[friction] ** 2:.17g}" solref="{entries(solref, 2)}" '
                f'solimp="{entries(solimp, 5)}"')

    return FILE.format(time_step=f"{theta['world/time_step']:.17g}", cone=cone, ground=contact("ground"),
                       cube=contact("cube"), height=f"{theta['shapes/ground/position[2]']:.17g}",
                       com=entries("bodies/cube/com", 3), inertia=entries("bodies/cube/inertia", 3),
                       size=entries("shapes/cube/size", 3))


def rollouts(program, mjcf, starts, lengths):
    """States (lengths[i], 13) of each toss at the times of its samples."""
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(mjcf)
        file.flush()
        plant = MuJoCo(program, file.name, 1 / cube.RATE, None)
        x, out = numpy.array(starts), [[start] for start in starts]
        for sample in range(1, max(lengths)):
            on = [i for i, length in enumerate(lengths) if sample < length]
            x[on], diverged = plant.step(x[on], numpy.zeros((len(on), 0)))
            if diverged.any():
                x[numpy.array(on)[diverged]] = numpy.nan
            for i in on:
                out[i].append(x[i].copy())
        plant.close()
    return [numpy.array(states) for states in out]


def angles(a, b):
    """Degrees between orientations (n, 4)."""
    cosines = numpy.abs((a * b).sum(1)) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)
    return numpy.degrees(2 * numpy.arccos(numpy.minimum(1, cosines)))


def predictor(program, cone):
    """`cube_tosses.predict` by MuJoCo."""
    def predict(model, tosses, starts):
        found = rollouts(program, file_of(model, cone), starts, [len(toss) for toss in tosses])
        return numpy.array([(numpy.linalg.norm(states[:, :3] - toss[:, 1:4], axis=1).mean() / cube.EDGE,
                             angles(states[:, 3:7], toss[:, 4:8]).mean(),
                             numpy.maximum(0, -cube.lowest(states)).mean() / cube.EDGE)
                            for states, toss in zip(found, tosses)])
    return predict


def processor_seconds():
    """Of this process and of the plants that have ended."""
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


def rows_of(program, cone, fitted, k, evaluations):
    """The row of MuJoCo with fitted parameters, and that of those it finds itself."""
    train, test = cube.split_tosses(cube.TEST)
    for searched in [False, True] if evaluations else [False]:
        began, model, predict = processor_seconds(), cube.model_of("mujoco"), predictor(program, cone)
        model.parameters = fitted
        if searched:
            model = cube.model_of("mujoco")
            model.parameters = cube.search(model, cube.BODY + cube.SOFT, train[:k], evaluations, predict)
        found_by = "CMA-ES" if searched else "parameters of the row mujoco"
        row = {"law": f"libmujoco, {cone}, {found_by}", "tosses": k,
               "friction": cube.contact_friction("mujoco", model)}
        cube.add_predictions(row, model, test, predict)
        row["seconds"] = processor_seconds() - began
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="costate_mujoco_plant")
    parser.add_argument("--out", type=Path, default=Path("tosses"), help="folder of the results of cube_tosses.py")
    parser.add_argument("--tosses", type=int, default=64)
    parser.add_argument("--cones", nargs="+", default=["elliptic", "pyramidal"], choices=["elliptic", "pyramidal"])
    parser.add_argument("--search", type=int, default=0, metavar="N", help="also fit by N evaluations of CMA-ES")
    options = parser.parse_args()
    rows = json.loads((options.out / "rows.json").read_text())
    fitted = [row["parameters"] for row in rows if (row["law"], row["tosses"]) == ("mujoco", options.tosses)]
    if not fitted:
        raise SystemExit(f"{options.out / 'rows.json'} has no row: run first cube_tosses.py --out {options.out} "
                         f"--laws mujoco --tosses {options.tosses}")
    for cone in options.cones:
        for row in rows_of(options.program, cone, numpy.array(fitted[0]), options.tosses, options.search):
            print(cube.table([row]).splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
