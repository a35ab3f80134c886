"""The command `costate identify SPEC.json`: identification from files, without a line of Python."""
from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, Dict, List, NoReturn, Optional, Sequence

import numpy

from .._files import write_whole
from .._nodes import read_json
from ..errors import BadFile, Diverged, Error
from ..identify import evaluate, identify
from ..model import Model
from ..viewer import program
from .fit_page import page
from .results import Evaluation, Identification
from .specification import Specification, read_specification

DONE, BAD_INPUT, DIVERGED, INTERRUPTED = 0, 2, 3, 130  # exit statuses, as of the program


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"costate: identify: {message}; see costate identify --help", file=sys.stderr)
        sys.exit(BAD_INPUT)


def main(arguments: Sequence[str]) -> int:
    """Runs the command with its arguments, those after its name, and returns the exit status."""
    parser = _Parser(prog="costate identify", description="Finds parameters of a model from recordings.")
    parser.add_argument("spec", metavar="SPEC.json", type=Path, help="model, recordings, unknowns; see the guide")
    parser.add_argument("--out", metavar="FOLDER", type=Path,
                        help="folder of result.json and report.html (default: the name of SPEC without its end)")
    parser.add_argument("--write-model", metavar="FILE", type=Path, help="write the scene with the values found")
    options = parser.parse_args(arguments)
    try:
        _run(options.spec, options.out or Path(options.spec.stem), options.write_model)
    except (Error, OSError) as error:
        print(f"costate: {error}", file=sys.stderr)
        return DIVERGED if isinstance(error, Diverged) else BAD_INPUT
    except KeyboardInterrupt:
        print("costate: interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    return DONE


def _run(path: Path, out: Path, write_model: Optional[Path]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        spec = read_specification(path)
    for warning in caught:
        print(f"costate: warning: {warning.message}", file=sys.stderr)
    scene = None if write_model is None else _scene(path, spec.model)
    found = _placed(path, spec.files, lambda: identify(spec.model, spec.recordings, spec.unknowns, spec.noise,
                                                       signals=spec.signals, **spec.options))
    kept = {name: spec.options[name] for name in ("substeps", "threads", "most_steps") if name in spec.options}
    held = None if not spec.held_out else _placed(path, spec.held_files, lambda: evaluate(
        spec.model, spec.held_out, spec.noise, found.parameters, signals=found.signals, **kept))
    texts = {out / "result.json": json.dumps(_result(found, held, spec), indent=2, allow_nan=False) + "\n",
             out / "report.html": page(found, held, path.stem)}
    if write_model is not None and scene is not None:
        texts[write_model] = _with_values(write_model, scene, found, spec.model)
    if out.exists() and not out.is_dir():
        raise BadFile(f"{out}: is no folder; name another by --out")
    made = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        write_whole(texts)
    except BadFile:
        if made:
            out.rmdir()
        raise
    print(found)
    if held is not None:
        print(f"held-out recordings: misfit {held.misfit:.3g} of the noise")
    print(f"wrote {', '.join(map(str, texts))}")


def _placed(path: Path, files: List[str], call: Any) -> Any:
    """The result of a call; its complaints name the specification and the file of a recording."""
    try:
        return call()
    except (Error, ValueError, TypeError) as error:
        said = re.sub(r"^recording (\d+): ", lambda found: f"{files[int(found[1])]}: ", _plain(error))
        said = re.sub(r"^signals: '(.*?)'", r"#/signals/\1", said)
        raise (Diverged if isinstance(error, Diverged) else BadFile)(
            f"{path}{'' if said.startswith('#') else ': '}{said}") from None


def _result(found: Identification, held: Optional[Evaluation], spec: Specification) -> Dict[str, Any]:
    """The contents of result.json, in which null stands for what is not finite."""
    rows = zip(found.names, found.values, found.standard_errors, found.first, found.lower, found.upper, found.at_bounds)
    return {
        "unknowns": [{"name": name, "value": float(value), "standard_error": _finite(error), "start": float(first),
                      "lower": _finite(lower), "upper": _finite(upper), "at_bound": bool(at)}
                     for name, value, error, first, lower, upper, at in rows],
        "parameters": found.entries(spec.model),
        "undetermined": found.undetermined,
        "no_better_than_bounds": found.loose,
        "correlation": found.correlation.tolist(),
        "misfit": _finite(found.misfit),
        "errors": _errors(found.fit, spec.files),
        "held_out": None if held is None else {"misfit": _finite(held.misfit),
                                               "errors": _errors(held, spec.held_files)},
        "starts": found.starts.tolist(),
        "losses": found.losses.tolist(),
        "iterations": found.iterations,
        "stopped": found.stopped,
    }


def _errors(one: Evaluation, files: List[str]) -> List[Dict[str, Any]]:
    return [{"file": file, "root_mean_squares": {name: _finite(size) for name, size in one.errors(i).items()}}
            for i, file in enumerate(files)]


def _plain(error: Exception) -> str:
    """The sentence of a complaint, without the function of the library that it comes from."""
    return re.sub(r"^costate_\w+: ", "", str(error))


def _finite(value: float) -> Optional[float]:
    return float(value) if numpy.isfinite(value) else None


def _scene(path: Path, model: Model) -> Dict[str, Any]:
    """The scene that --write-model completes."""
    file = Path(model.source)
    if model._source.text is None:  # an included scene
        done = subprocess.run([program(), "info", model.source, "--json"], capture_output=True, text=True)
        file = Path(json.loads(done.stdout)["file"]) if done.returncode == 0 else file
    scene = None if model._source.text is not None and model._source.text.lstrip().startswith(b"<") else read_json(file)
    if not isinstance(scene, dict) or "models" not in scene:
        raise BadFile(f"{path}#/model: --write-model writes scenes, and {file} is the model of one robot; name it in a "
                      f"scene: {{\"ground\": true, \"models\": [{{\"name\": \"robot\", \"file\": \"{file.name}\"}}]}}")
    return scene


def _with_values(target: Path, scene: Dict[str, Any], found: Identification, model: Model) -> str:
    """The text of the scene with the values found, without terms that compare it with recordings; checked by loading
    it."""
    entries = {entry["path"]: entry for entry in found.entries(model)}
    kept = [dict(entry) for entry in scene.get("parameters", [])]
    for entry in kept:
        if entry.get("path") in entries:
            entry["value"] = entries.pop(entry["path"])["value"]
    scene = {**scene, "parameters": kept + list(entries.values())}
    terms = [term for term in scene.get("objective", []) if term.get("term") != "recording"]
    if "objective" in scene and not terms:  # there was nothing to optimize but what has been found
        scene = {key: value for key, value in scene.items() if key not in ("objective", "optimize")}
        scene["parameters"] = [{key: value for key, value in entry.items() if key in ("path", "value")}
                               for entry in scene["parameters"] if "value" in entry]
    elif "objective" in scene:
        scene["objective"] = terms
    text = json.dumps(scene, indent=2, ensure_ascii=False) + "\n"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = Model.from_string(text, "json", target.absolute(), law=model._source.law)
    except Error as error:
        raise BadFile(f"{target}: the scene would not load there, because files that it names are relative to its "
                      f"folder; write it into the folder of the old scene ({_plain(error)})") from None
    same = again.parameter_names == model.parameter_names
    if not same or not numpy.allclose(again.parameters, found.parameters, 1e-12, 0):
        raise BadFile(f"{target}: a later entry of \"parameters\" in the scene overrides what was found; remove it")
    return text
