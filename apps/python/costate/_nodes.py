"""Values of a JSON file with their place in it, so that a complaint names file, place and remedy."""
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Collection, Dict, List, NoReturn, Optional

import numpy

from ._arrays import Array, suggestion
from .errors import BadFile

_COMMENTS = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def read_json(path: Path) -> Any:
    """The JSON value of a file, which may have comments as scenes may. Raises BadFile."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadFile(f"{path}: is not UTF-8; save it as such") from None
    except OSError as error:
        raise BadFile(f"{path}: cannot be read: {error.strerror}; check the path") from None
    blank = _COMMENTS.sub(lambda found: found[1] or re.sub(r"[^\n]", " ", found[0]), text)
    try:
        return json.loads(blank, object_pairs_hook=lambda pairs: _unique(path, pairs))
    except json.JSONDecodeError as error:
        raise BadFile(f"{path}: line {error.lineno}, column {error.colno}: {error.msg}; correct the JSON") from None


def _unique(path: Path, pairs: List[Any]) -> Dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise BadFile(f"{path}: the key {key!r} is given twice in one object; remove one of them")
    return dict(pairs)


class Node:
    """A value and its place, for example "fit.json#/unknowns/0/scale"."""

    def __init__(self, value: Any, place: str) -> None:
        self.value, self.place = value, place

    def fail(self, sentence: str) -> NoReturn:
        raise BadFile(f"{self.place}: {sentence}")

    def check_keys(self, known: Collection[str], required: Collection[str] = ()) -> None:
        """Refuses what is not an object, unknown keys, and missing ones."""
        self._must(isinstance(self.value, dict), "an object")
        for key in self.value:
            if key not in known:
                Node(None, self._below(key)).fail(f"unknown key{suggestion(key, known)}; correct or remove it")
        for key in required:
            if key not in self.value:
                self.fail(f"has no {key!r}; add it")

    def find(self, key: str) -> Optional[Node]:
        return Node(self.value[key], self._below(key)) if key in self.value else None

    def __getitem__(self, key: str) -> Node:
        return Node(self.value[key], self._below(key))

    def items(self) -> List[Node]:
        """The entries of a list."""
        self._must(isinstance(self.value, list), "a list")
        return [Node(value, self._below(str(i))) for i, value in enumerate(self.value)]

    def text(self) -> str:
        self._must(isinstance(self.value, str), "text")
        return str(self.value)

    def boolean(self) -> bool:
        self._must(isinstance(self.value, bool), "true or false")
        return bool(self.value)

    def integer(self, least: int) -> int:
        self._must(isinstance(self.value, int) and not isinstance(self.value, bool) and self.value >= least,
                   f"an integer of at least {least}")
        return int(self.value)

    def number(self) -> float:
        """A number, or the text "inf"."""
        self._must(self._is_number(self.value), 'a number or "inf"')
        return float(self.value)

    def numbers(self) -> Array:
        """A number, or a list of numbers; "inf" may be one."""
        if not isinstance(self.value, list):
            return numpy.array(self.number())
        return numpy.array([item.number() for item in self.items()])

    def pair(self) -> List[float]:
        self._must(isinstance(self.value, list) and len(self.value) == 2, "a list of two numbers")
        return [item.number() for item in self.items()]

    def texts(self) -> List[str]:
        return [item.text() for item in self.items()]

    def _below(self, key: str) -> str:
        return f"{self.place}{'' if '#' in self.place else '#'}/{key}"

    def _must(self, holds: bool, kind: str) -> None:
        if not holds:
            self.fail(f"must be {kind}, not {json.dumps(self.value)[:60]}")

    @staticmethod
    def _is_number(value: Any) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and bool(
            numpy.isfinite(value)) or value == "inf"
