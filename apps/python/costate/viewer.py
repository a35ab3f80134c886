"""Pages that replay states, written by the program `costate`."""
from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
import tempfile
import webbrowser
from pathlib import Path
from typing import List, Optional, Tuple

import numpy

from ._arrays import ArrayLike, check_type
from ._png import Image, read_png
from .errors import BadFile
from .model import Model, PathLike
from .trajectories import write_trajectory

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


class Page(str):
    """The path of a page. In a notebook, it shows the page."""

    def _repr_html_(self) -> str:
        content = html.escape(Path(self).read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{content}" style="width: 100%; height: 480px; border: 0"></iframe>'


def view(model: Model, states: ArrayLike, controls: Optional[ArrayLike] = None, *,
         time_step: Optional[float] = None, out: Optional[PathLike] = None, png: Optional[PathLike] = None,
         size: Optional[Tuple[int, int]] = None, open_page: bool = False) -> Page:
    """Writes one HTML page that replays states of a model, and returns its path, a string that shows the page in a
    notebook. The page needs no network.

    states: (n, nx) or (n, nq + nv), in time; of a rollout of a batch, states[:, i] is environment i.
    controls: (n, nu) or (n - 1, nu), those of the step from each state; with them, the page also shows contacts
        and their forces.
    time_step: seconds between two states; None: that of the model.
    out: the name of the page; None: the name of the model in a new temporary folder.
    png: also write an image of the first state, which needs Chromium. size: its width and height, pixels; None: 1280
        and 800.
    open_page: also open the page in a browser.

    The program `costate` makes the page; FileNotFoundError if there is none. Parameters that were changed in
    Python do not change what is drawn. A scene from a string may name JSON files of models, but no other files, by
    relative paths."""
    check_type("model", model, Model, "costate.Model(file or name) loads one")
    if out is None:
        out = Path(tempfile.mkdtemp(prefix="costate-")) / (Path(model.source).stem + ".html")
    _write(model, states, controls, time_step, ["--overlays", "contacts", "--out", os.fspath(out)], png, size)
    if open_page:
        webbrowser.open(Path(out).resolve().as_uri())
    return Page(os.fspath(out))


def image(model: Model, x: ArrayLike, size: Tuple[int, int]) -> Image:
    """An image (height, width, 3) of the state x (nx), without contacts, by Chromium."""
    with tempfile.TemporaryDirectory(prefix="costate-") as folder:
        file = Path(folder) / "image.png"
        _write(model, numpy.asarray(x)[None], None, None, ["--overlays", "none"], file, size)
        return read_png(file)


def _write(model: Model, states: ArrayLike, controls: Optional[ArrayLike], time_step: Optional[float],
           options: List[str], png: Optional[PathLike], size: Optional[Tuple[int, int]]) -> None:
    """Lets the program write a page, an image, or both."""
    with tempfile.TemporaryDirectory(prefix="costate-") as folder:
        run = Path(folder) / "states.csv"
        write_trajectory(run, model, states, controls, time_step=time_step)
        picture = [] if png is None else ["--png", os.fspath(png)]
        picture += [] if size is None else ["--size", f"{size[0]}x{size[1]}"]
        _run("view", *_scene(model, Path(folder)), "--run", str(run), *options, *picture)


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
    options += [] if source.decompose == 1 else ["--decompose", str(source.decompose)]
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
