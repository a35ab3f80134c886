"""Models of tests/apps/settings_scene.json under the settings that change what a step does or how it is pulled back."""
import json
import tempfile
from pathlib import Path

import costate

SOLVERS = {
    "pgs": {"type": "pgs", "sweeps": 20},
    "pgs implicit": {"type": "pgs", "sweeps": 500, "gradient": "implicit"},
    "lcp": {"type": "lcp"},
    "ncp": {"type": "ncp"},
    "ncp admm": {"type": "ncp", "method": "admm"},
}
GROUNDS = {
    "rigid": {"friction": 0.7, "restitution": 0.4},
    "stiffness": {"friction": 0.7, "stiffness": 5000, "damping": 20},
}
CASES = (("start", "rigid"), ("elastic", "rigid"), ("located", "rigid"), ("start", "stiffness"))


def model(**changes):
    """The model of the scene with these of its keys changed."""
    scene = json.loads((Path(__file__).parent.parent / "settings_scene.json").read_text())
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({**scene, **changes}, file)
        file.flush()
        return costate.Model(file.name)


def models():
    """(name, model) of all that make sense: with a stiffness nothing bounces."""
    for name, solver in SOLVERS.items():
        for warm in (False, True):
            for impact, ground in CASES:
                settings = {**solver, "warm_start": warm, "warm_contacts": 4, "impact": impact}
                yield f"{name}, warm {warm}, {impact}, {ground}", model(solver=settings, ground=GROUNDS[ground])
