"""Type hints: all of them are there, and mypy accepts them."""
import importlib.util
import inspect
import subprocess
import sys
import typing
import unittest
from pathlib import Path

import costate
import costate.gym

MODULES = [costate, costate.gym]
if importlib.util.find_spec("torch"):
    import costate.learn

    MODULES.append(costate.learn)
PACKAGE = Path(__file__).resolve().parents[3] / "apps/python"


def public(module):
    """(name, function) of all that a module exports, with the methods of its classes."""
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isfunction(thing):
            yield name, thing
        own = [kind for kind in thing.__mro__ if kind.__module__.startswith("costate")] if inspect.isclass(thing) else []
        for method, of in (item for kind in own for item in vars(kind).items()):
            function = getattr(of, "__func__", getattr(of, "fget", of))
            if inspect.isfunction(function) and function.__module__.startswith("costate") and not issubclass(
                    thing, tuple):
                if not method.startswith("_") or method == "__init__":
                    yield f"{name}.{method}", function


class TypesTest(unittest.TestCase):
    def test_every_public_function_has_all_its_hints(self):
        seen = 0
        for module in MODULES:
            for name, function in public(module):
                with self.subTest(name):
                    hints = typing.get_type_hints(function)
                    wanted = {p
                              for p in inspect.signature(function).parameters
                              if p not in ("self", "cls")} | {"return"}
                    self.assertEqual(wanted - set(hints), set())
                    seen += 1
        self.assertGreater(seen, 70)
        self.assertTrue((PACKAGE / "costate/py.typed").is_file())

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed (apt-get install python3-mypy)")
    def test_mypy_accepts_the_package_strictly(self):
        mypy = [
            sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml", "--cache-dir=/dev/null",
            "costate"
        ]
        out = subprocess.run(mypy, cwd=PACKAGE, capture_output=True, text=True)
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed (apt-get install python3-mypy)")
    def test_mypy_knows_what_users_get(self):
        code = "\n".join(("import costate", "m = costate.Model('ant', base=3)", "q, v = m.initial_state()",
                          "reveal_type(q)", "m.body_pose(q, 1.5)"))
        mypy = [
            sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml", "--cache-dir=/dev/null",
            "-c", code
        ]
        out = subprocess.run(mypy, cwd=PACKAGE, capture_output=True, text=True).stdout
        for expected in ('"base" to "Model" has incompatible type "int"', "numpy.floating",
                         '"body_pose" of "Model"'):
            self.assertIn(expected, out)
