"""The table of cases: a row has a title, a source, what went wrong there, what is compared here, and a check."""
import warnings
from typing import Callable, List, NamedTuple, Tuple

import numpy

import costate

TOLERANCE = 1e-8  # relative to the largest number of the truth


class Comparison(NamedTuple):
    what: str
    got: numpy.ndarray  # from costate
    truth: numpy.ndarray

    def error(self) -> float:
        scale = numpy.abs(self.truth).max() or 1.0
        return float(numpy.abs(numpy.asarray(self.got) - self.truth).max() / scale)


class Case(NamedTuple):
    title: str
    source: str  # repository and number, for example google/brax#387
    pull: bool  # a pull request
    wrong: str  # what went wrong there
    here: str  # the scene here, and the truth
    check: Callable[[], List[Tuple[str, numpy.ndarray, numpy.ndarray]]]

    @property
    def url(self) -> str:
        repository, number = self.source.split("#")
        return f"https://github.com/{repository}/{'pull' if self.pull else 'issues'}/{number}"

    def compare(self) -> List[Comparison]:
        return [Comparison(*row) for row in self.check()]


CASES: List[Case] = []


def case(source, title, wrong, here, pull=False):
    def add(check):
        CASES.append(Case(title, source, pull, wrong, here, check))
        return check

    return add


def scene(bodies, model=(), name="r", **keys):
    """A model of one instance `name` with these bodies and further sections of the model; keys of the scene."""
    instance = {"name": name, "model": {"bodies": bodies, **dict(model)}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", costate.ModelWarning)  # about a start that the case does not use
        return costate.Model.from_string({"models": [instance], **keys})


def ball(name="ball", radius=0.1, mass=1.0, joint="free", **shape):
    return {"name": name, "joint": {"type": joint}, "mass": mass,
            "inertia": [0.4 * mass * radius**2] * 3 + [0] * 3,
            "shapes": [{"type": "sphere", "radius": radius, **shape}]}


def rollout_gradient(model, x, controls, final_bar, parameters=False):
    """(gradient by x, by controls (n, nu), by parameters) of a function of the final state with gradient final_bar
    there, through all steps."""
    with costate.Batch(model, 1, threads=1) as batch:
        u = numpy.asarray(controls, float).reshape(len(controls), 1, model.nu)
        states, _ = batch.rollout(x[None], u)
        bars = numpy.zeros((len(u), 1, model.ndx))
        bars[-1, 0] = final_bar(states[-1, 0]) if callable(final_bar) else final_bar
        before = numpy.concatenate([x[None, None], states[:-1]])
        g = batch.backward(before, u, bars)
        return g.x[0], g.u[:, 0], g.parameters


def parameter(model, name):
    return model.parameter_names.index(name)
