"""Scenes with random settings of the solver, of contact, of the ground and of the medium, around the model of a file."""


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
        solver["integrator"] = draw.choice(("semi_implicit", "mujoco_euler", "mujoco_implicitfast"))
    else:
        contact = {"compliance": draw.choice((1e-6, 1e-3, 0.1)), "erp": draw.choice((0, 0.2, 1))}
        solver["gyroscopic"] = draw.choice(("explicit", "midpoint"))
        solver["impact"] = draw.choice(("start", "start", "located"))
        ground |= draw.choice(({}, {"restitution": 0.8}, {"stiffness": 1e4, "damping": 10}))
    if chance(0.4):
        ground |= {"condim": draw.choice((1, 4, 6)), "torsional_friction": 0.01, "rolling_friction": 0.001}
    scene = {"time_step": draw.choice((0.0005, 0.001, 0.004)), "steps": 1, "solver": solver, "contact": contact, "ground": ground,
             "models": [{"name": "m", "file": file.name, "position": [0, 0, draw.uniform(-0.1, 0.3)]}]}
    if chance(0.3):
        scene["medium"] = {"density": 1.2, "viscosity": draw.choice((0, 0.1)), "wind": [1, 2, 0.3]}
    return scene
