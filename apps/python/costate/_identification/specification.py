"""Specifications of an identification: one JSON file that names model, recordings and unknowns."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import numpy

from .._csv import Table, controls_of, samples_of, start_of
from .._nodes import Node, read_json
from .._outputs import Output
from ..errors import BadArgument, BadFile
from ..model import Model
from .instruments import Signal
from .recordings import Recording
from .unknowns import Unknown, Unknowns

_KEYS = ("description", "model", "noise", "recordings", "held_out", "unknowns", "signals", "substeps", "iterations",
         "outliers", "threads", "most_steps")
_MODEL = ("file", "base", "search", "strict", "self_collision", "hull_vertices", "law", "decompose")
_RECORDING = ("file", "controls", "from", "to", "start", "start_noise")
_UNKNOWN = ("path", "scale", "lower", "upper", "prior", "tied", "start")


class Specification(NamedTuple):
    """What a specification says, read and checked as far as possible before the first rollout."""

    model: Model
    recordings: List[Recording]
    files: List[str]  # of the recordings
    held_out: List[Recording]
    held_files: List[str]
    unknowns: List[Unknown]
    noise: Dict[str, Any]
    signals: Dict[str, Signal]
    options: Dict[str, Any]


def read_specification(path: Path) -> Specification:
    """The contents of a file. Raises BadFile with file, place and remedy."""
    spec = Node(read_json(path), str(path))
    spec.check_keys(_KEYS, ("model", "noise", "recordings"))
    model = _model(spec["model"], path.parent)
    outputs, noise = {}, {}
    spec["noise"].check_keys(spec["noise"].value)
    for name in spec["noise"].value:
        node = spec["noise"][name]
        outputs[name], noise[name] = _tried(node, lambda: Output(model, name)), node.numbers()
        if not (noise[name] > 0).all() or noise[name].shape not in ((), (outputs[name].rotations.tangent,)):
            node.fail(f"must be a positive number or {outputs[name].rotations.tangent} of them: standard deviations")
    if not outputs:
        spec["noise"].fail("names no signal; give the standard deviation of each that counts")
    options: Dict[str, Any] = {name: spec[name].integer(least) for name, least in (
        ("substeps", 1), ("iterations", 0), ("threads", 0), ("most_steps", 1)) if name in spec.value}
    if "outliers" in spec.value:
        options["outliers"] = spec["outliers"].number()
    unknowns = [_unknown(node, model) for node in (spec["unknowns"].items() if "unknowns" in spec.value else [])]
    signals, entries = {}, spec.find("signals")
    if entries is not None:
        entries.check_keys(noise)
        signals = {name: _signal(entries[name]) for name in entries.value}
    h = float(model.parameters[model.parameter_names.index("world/time_step")]) * options.get("substeps", 1)
    longest = max([0.0, *(-float(numpy.min(signal.delay)) for signal in signals.values())])
    read: List[Tuple[List[Recording], List[str]]] = []
    for key in ("recordings", "held_out"):
        nodes = spec[key].items() if key in spec.value else []
        read.append(([_recording(node, path.parent, model, outputs, h, longest) for node in nodes],
                     [node["file"].text() for node in nodes]))
    if not read[0][0]:
        spec["recordings"].fail("is empty; name at least one file")
    return Specification(model, *read[0], *read[1], unknowns, noise, signals, options)


def _model(node: Node, folder: Path) -> Model:
    given: Dict[str, Any] = {}
    if isinstance(node.value, dict):
        node.check_keys(_MODEL, ("file",))
        for key, read in (("base", Node.text), ("strict", Node.boolean), ("self_collision", Node.boolean),
                          ("law", Node.text), ("search", Node.texts)):
            if key in node.value:
                given[key] = read(node[key])
        for key, least in (("hull_vertices", 4), ("decompose", 1)):
            if key in node.value:
                given[key] = node[key].integer(least)
        given["search"] = [str(folder / name) for name in given.get("search", [])]
        node = node["file"]
    near = folder / node.text()
    model: Model = _tried(node, lambda: Model(near if near.is_file() else node.text(), **given))
    return model


def _unknown(node: Node, model: Model) -> Unknown:
    if isinstance(node.value, str):
        unknown = Unknown(node.value)
    else:
        node.check_keys(_UNKNOWN, ("path",))
        given: Dict[str, Any] = {key: node[key].number() for key in ("lower", "upper", "start") if key in node.value}
        if given.get("lower", 0.0) > given.get("upper", numpy.inf):
            node.fail("lower is above upper; exchange them")
        if "scale" in node.value:
            given["scale"] = node["scale"].text()
        if "tied" in node.value:
            given["tied"] = node["tied"].boolean()
        if "prior" in node.value:
            given["prior"] = tuple(node["prior"].pair())
            if not given["prior"][1] > 0:
                node["prior"].fail("its second number, a standard deviation, must be positive")
        path = node["path"]
        unknown = Unknown(path.texts() if isinstance(path.value, list) else path.text(), **given)
    _tried(node, lambda: Unknowns(model, [unknown]))
    return unknown


def _signal(node: Node) -> Signal:
    node.check_keys(("offset", "gain", "delay", "each", "priors"))
    given: Dict[str, Any] = {}
    for key in ("offset", "gain"):
        if key in node.value:
            given[key] = node.value[key] if isinstance(node.value[key], bool) else node[key].numbers()
    if "delay" in node.value:
        delay = node["delay"]
        given["delay"] = tuple(delay.pair()) if isinstance(delay.value, list) else delay.number()
    if "each" in node.value:
        given["each"] = node["each"].texts()
    if "priors" in node.value:
        priors = node["priors"]
        priors.check_keys(("offset", "gain", "delay"))
        given["priors"] = {kind: tuple(priors[kind].pair()) for kind in priors.value}
    return Signal(**given)


def _recording(node: Node, folder: Path, model: Model, outputs: Dict[str, Output], step: float,
               longest: float) -> Recording:
    """step: s; longest: s that the motion goes on after its last sample."""
    node.check_keys(_RECORDING, ("file",))
    table = Table(folder / node["file"].text())
    begin, end = node.find("from"), node.find("to")
    first = begin.number() if begin is not None else min(0.0, table.times[0])
    times, signals = samples_of(table, outputs, first, numpy.inf if end is None else end.number(), step)
    start: Any = None
    if "start" in node.value:
        given = node["start"]
        if isinstance(given.value, list):
            start = given.numbers()
            if start.shape != (model.nx,):
                given.fail(f"has {len(start)} numbers, but a state of the model has {model.nx}")
        elif given.text() == "row":
            row = int(numpy.argmin(numpy.abs(table.times - first)))
            if abs(table.times[row] - first) > 1e-6 * step:
                given.fail(f"{table.path} has no row at the start, {first:g} s; choose \"from\" at a row")
            start = start_of(table, row, model)
        else:
            given.fail('may be a list of numbers, or "row" for the state in the first row')
    spread = node["start_noise"].numbers() if "start_noise" in node.value else numpy.array(0.0)
    if spread.shape not in ((), (model.ndx,)) or not (spread >= 0).all():
        node["start_noise"].fail(f"must be a number of at least 0, \"inf\", or {model.ndx} of them")
    other = node.find("controls")
    controls = table if other is None else Table(folder / other.text())
    steps = max(1, int(numpy.ceil((times[-1] + longest) / step + 1e-6)))
    return Recording(times, signals, start, spread, controls_of(controls, first, step, steps, model))


def _tried(node: Node, call: Any) -> Any:
    """The result of a call; its complaint names the place of the node."""
    try:
        return call()
    except (BadArgument, BadFile) as error:
        node.fail(re.sub(r"^costate_\w+: ", "", str(error)))
