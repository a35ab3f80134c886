"""Scenes with random settings of the solver, of contact, of the ground and of the medium, around the model of a file,
and a loop that tries them."""
import json
import pathlib
import random
import time


def try_seeds(options, check, shown):
    """Tries seeds from options.seed on with one of options.files each, options.count of them or for options.seconds.
    Prints those with faults and the keys `shown` of their scene; check(file, seed) returns (faults, scene), and None
    for faults if it checks nothing. Returns true, the exit code, if there are faults or nothing was checked."""
    seed, checked, failed, end = options.seed, 0, 0, time.monotonic() + options.seconds
    while seed < options.seed + options.count if options.count else time.monotonic() < end:
        file = random.Random(-seed).choice(options.files)
        faults, scene = check(file, seed)
        checked += faults is not None
        if faults:
            failed += 1
            values = json.dumps({key: scene[key] for key in shown if key in scene})
            print(f"seed {seed}, {file}: {'; '.join(faults[:4])}\n    {values}", flush=True)
        seed += 1
    print(f"{checked} scenes of seeds {options.seed} to {seed - 1}, {failed} with faults")
    return failed > 0 or checked == 0


def add_arguments(parser):
    """The options of try_seeds."""
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int, help="number of seeds, instead of --seconds")
    parser.add_argument("files", nargs="+", type=pathlib.Path)


def random_scene(draw, file):
    """A scene (dict) with the file as a model `m`."""
    def chance(p):
        return draw.random() < p

    soft = chance(0.35)
    solver = {"type": draw.choice(("pgs", "lcp", "ncp") if soft else ("pgs", "lcp", "ncp", "ncp", "apgd"))}
    if solver["type"] == "pgs":
        solver["gradient"] = draw.choice(("automatic", "swept", "implicit"))
        solver["sweeps"] = draw.choice((5, 50, 400))
    if solver["type"] == "ncp" and not soft:
        solver["relaxed"] = chance(0.3)
    solver["warm_start"] = chance(0.3)
    solver["forward_dynamics"] = draw.choice(("automatic", "aba", "crba"))
    contact, ground = {}, {"friction": draw.choice((0, 0.3, 1)), "normal": [draw.uniform(-0.2, 0.2), 0, 1]}
    if soft:
        contact = {"law": "mujoco", "cone": draw.choice(("elliptic", "pyramidal")), "impratio": draw.choice((1, 5))}
        solver["integrator"] = draw.choice(
            ("semi_implicit", "mujoco_euler", "mujoco_implicitfast", "mujoco_explicit", "mujoco_rk4"))
        solver["warm_start"] = solver["warm_start"] and solver["integrator"] != "mujoco_rk4"
    else:
        contact = {"compliance": draw.choice((1e-6, 1e-3, 0.1)), "erp": draw.choice((0, 0.2, 1))}
        solver["gyroscopic"] = draw.choice(("explicit", "midpoint"))
        solver["impact"] = draw.choice(("start", "start", "located"))
        ground |= draw.choice(({}, {"restitution": 0.8}, {"stiffness": 1e4, "damping": 10}))
    if chance(0.4):
        ground |= {"condim": draw.choice((1, 4, 6)), "torsional_friction": 0.01, "rolling_friction": 0.001}
    scene = {"time_step": draw.choice((0.0005, 0.001, 0.004)), "steps": 1,
             "solver": solver, "contact": contact, "ground": ground,
             "models": [{"name": "m", "file": file.name, "position": [0, 0, draw.uniform(-0.1, 0.3)]}]}
    if chance(0.3):
        scene["medium"] = {"density": 1.2, "viscosity": draw.choice((0, 0.1)), "wind": [1, 2, 0.3]}
    own = random.Random(json.dumps(scene))
    if own.random() < 0.2:
        ground |= {"surface_velocity": [own.uniform(-1, 1) for _ in range(3)],
                   "surface_angular_velocity": [own.uniform(-2, 2) for _ in range(3)]}
    return scene
