"""Pages that replay states, written by the program `costate`."""
from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import tempfile
import webbrowser
from pathlib import Path
from typing import List, Optional

import numpy

from ._arrays import Array, ArrayLike, check_type, numbers
from .errors import BadFile
from .model import Model, PathLike

_here = Path(__file__).resolve().parent


def program() -> str:
    """The path of the program: $COSTATE_PROGRAM, the one in the wheel or the source tree, or the one on the
    PATH."""
    own = os.environ.get("COSTATE_PROGRAM")
    places = [Path(own)] if own else [_here / "costate", _here.parents[2] / "build/costate"]
    for path in places:
        if path.is_file():
            return str(path)
    found = None if own else shutil.which("costate")
    if found is None:
        raise FileNotFoundError(
            f"costate: there is no program at {', '.join(map(str, places))}"
            f"{'' if own else ' or on the PATH'}; build it (cmake --build build --target costate), or say "
            "where it is: COSTATE_PROGRAM=/path/to/costate")
    return found


def view(model: Model, states: ArrayLike, controls: Optional[ArrayLike] = None, *,
         time_step: Optional[float] = None, out: Optional[PathLike] = None, png: Optional[PathLike] = None,
         open_page: bool = False) -> str:
    """Writes one HTML page that replays states of a model, and returns its path. The page needs no network.

    states: (n, nx) or (n, nq + nv), in time; of a rollout of a batch, states[:, i] is environment i.
    controls: (n, nu) or (n - 1, nu), those of the step from each state; with them, the page also shows contacts
        and their forces.
    time_step: seconds between two states; None: that of the model.
    out: the name of the page; None: the name of the model in a new temporary folder.
    png: also write an image of the first state, which needs Chromium.
    open_page: also open the page in a browser.

    The program `costate` makes the page; FileNotFoundError if there is none. Parameters that were changed in
    Python do not change what is drawn. A scene from a string may name JSON files of models, but no other files, by
    relative paths."""
    check_type("model", model, Model, "costate.Model(file or name) loads one")
    rows = _trajectory(model, states, controls)
    if time_step is None:
        time_step = float(model.parameters[model.parameter_names.index("world/time_step")])
    if out is None:
        out = Path(tempfile.mkdtemp(prefix="costate-")) / (Path(model.source).stem + ".html")
    with tempfile.TemporaryDirectory(prefix="costate-") as folder:
        scene, run = _scene(model, Path(folder)), Path(folder) / "states.csv"
        _run("simulate", *scene, "--out", str(run))  # for the names of the columns
        with run.open(newline="") as file:
            names = next(csv.reader(file))
        with run.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names[: 1 + rows.shape[1]])
            writer.writerows([repr(i * time_step), *map(repr, row)] for i, row in enumerate(rows.tolist()))
        image = [] if png is None else ["--png", os.fspath(png)]
        _run("view", *scene, "--run", str(run), "--overlays", "contacts", "--out", os.fspath(out), *image)
    if open_page:
        webbrowser.open(Path(out).resolve().as_uri())
    return os.fspath(out)


def _trajectory(model: Model, states: ArrayLike, controls: Optional[ArrayLike]) -> Array:
    """Rows of a trajectory: coordinates alone, or (q, v, u) if there are controls for them."""
    x = numpy.asarray(states)
    if x.ndim != 2 or x.shape[1] not in (model.nx, model.nq + model.nv) or len(x) == 0:
        raise ValueError(f"states must have shape (n, {model.nx}), not {x.shape}")
    x = numbers("states", x, x.shape)
    if controls is None and model.nu > 0:
        return x[:, : model.nq]
    u = numpy.zeros((len(x), 0)) if controls is None else numbers("controls", controls, (None, model.nu))
    if len(u) == len(x) - 1:
        u = numpy.concatenate([u, u[-1:] if len(u) > 0 else numpy.zeros((1, model.nu))])
    if len(u) != len(x):
        raise ValueError(f"controls must have {len(x)} or {len(x) - 1} rows, not {len(u)}")
    return numpy.concatenate([x[:, : model.nq + model.nv], u], 1)


def _scene(model: Model, folder: Path) -> List[str]:
    """The arguments of the program that load the model: its file if it is as it was loaded, otherwise a copy."""
    source, name = model._source, model._source.name
    if source.text is not None and not (os.path.isfile(name) and Path(name).read_bytes() == source.text):
        path = folder / (Path(name).stem + (".xml" if source.text.lstrip().startswith(b"<") else ".json"))
        path.write_bytes(_with_models(source.text, Path(name).parent))
        name = str(path)
    options = ["--steps", "1"]  # a scene may have no steps of its own
    options += [] if source.base is None else ["--base", source.base]
    options += ["--search", ":".join(source.search)] if source.search else []
    options += ["--self-collision"] if source.self_collision else []
    options += [] if source.hull_vertices is None else ["--hull-vertices", str(source.hull_vertices)]
    options += [] if source.law is None else ["--law", source.law]
    return [name, *options]


def _with_models(text: bytes, folder: Path) -> bytes:
    """A scene in JSON with the JSON files of its models in place of their names, which are relative to `folder`; other
    texts as they are."""
    try:
        scene = json.loads(text)
        for instance in scene["models"]:
            if str(instance.get("file")).endswith(".json") and (folder / instance["file"]).is_file():
                instance["model"] = json.loads((folder / instance.pop("file")).read_bytes())
    except (ValueError, KeyError, TypeError, AttributeError):  # not a scene, or with comments
        return text
    return json.dumps(scene).encode()


def _run(command: str, *arguments: str) -> None:
    done = subprocess.run([program(), command, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise BadFile(done.stderr.strip() or f"costate {command} ended with {done.returncode}")
