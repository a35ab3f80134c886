"""Where the library is found, and pip's installation, which takes library and scenes along and asks no package
index."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3] / "apps/python"
LIBRARY = os.environ.get("COSTATE_LIBRARY")
WHERE = "import costate, costate._library; print(costate._library.find(), costate.Model('ant').nq)"


def python(code, cwd, **environment):
    kept = {
        key: value
        for key, value in os.environ.items() if not key.startswith("COSTATE_") and key != "PYTHONPATH"
    }
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, env={**kept, **environment}, capture_output=True,
                          text=True)


class InstallTest(unittest.TestCase):
    def test_an_environment_variable_says_where_the_library_is(self):
        for given in (LIBRARY, str(Path(LIBRARY).parent)):
            out = python(WHERE, "/", PYTHONPATH=str(SOURCE), COSTATE_LIBRARY=given)
            self.assertRegex(out.stdout, r"libcostate\.so\S* 15$", out.stderr)
        bad = python(WHERE, "/", PYTHONPATH=str(SOURCE), COSTATE_LIBRARY="/nowhere")
        self.assertIn("ImportError: costate: $COSTATE_LIBRARY is /nowhere, but libcostate.so is not there",
                      bad.stderr)
        other = python(WHERE, "/", PYTHONPATH=str(SOURCE), COSTATE_LIBRARY="/bin/true")
        self.assertIn("ImportError: costate: ", other.stderr)

    def test_pip_installs_library_and_scenes_without_an_index(self):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "site"
            pip = [
                sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-index",
                "--no-deps", "--disable-pip-version-check", "--target",
                str(target),
                str(SOURCE)
            ]
            out = subprocess.run(pip, capture_output=True, text=True)
            self.assertEqual(out.returncode, 0, out.stderr)
            out = python(WHERE, folder, PYTHONPATH=str(target))
            self.assertEqual(out.stdout.split(), [str(target / "costate/libcostate.so"), "15"], out.stderr)
            self.assertTrue((target / "costate/py.typed").is_file())
            (entry_points,) = target.glob("costate-*.dist-info/entry_points.txt")
            self.assertIn("[gymnasium.envs]\ncostate = costate.gym:_register\n", entry_points.read_text())
            code = ("import costate, costate.viewer, os; path = costate.viewer.program(); "
                    "print(path, os.access(path, os.X_OK), costate.__version__)")
            program = python(code, folder, PYTHONPATH=str(target), PATH="")
            if Path(os.environ.get("COSTATE_PROGRAM", "")).is_file():
                self.assertEqual(program.stdout.split()[:2], [str(target / "costate/costate"), "True"],
                                 program.stderr)
            else:
                self.assertIn("costate: there is no program at", program.stderr)
            scenes = target / "costate/share/costate/scenes"
            (scenes / "only_here.json").write_bytes((scenes / "ant.json").read_bytes())
            out = python("import costate; print(costate.Model('only_here').nq)", folder, PYTHONPATH=str(target))
            self.assertEqual(out.stdout.split(), ["15"], out.stderr)
