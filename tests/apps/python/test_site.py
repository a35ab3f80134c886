"""The examples of the documentation site: every file is shown by a page, and runs; every line of a page that calls the
program runs; code stands in these two places only."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, SOURCE = Path(os.environ["COSTATE_PROGRAM"]), Path(__file__).resolve().parents[3]
SITE = SOURCE / "apps/site"
PAGES = {page.name: page.read_text() for page in SITE.glob("*.md")}
FILES = sorted((SITE / "examples").glob("*.py")) + [SOURCE / "apps/python/examples/first_gradient.py"]


class SiteTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {**os.environ, "PATH": f"{PROGRAM.parent}:/usr/bin:/bin"}

    def test_every_example_is_shown_and_runs(self):
        shown = re.findall(r"```\{literalinclude\} (\S+)", "".join(PAGES.values()))
        self.assertEqual(sorted((SITE / name).resolve() for name in shown), sorted(FILES))
        self.assertGreaterEqual(len(FILES), 6)
        for file in FILES:
            with self.subTest(file.name):
                done = subprocess.run([sys.executable, file], cwd=self.folder, env=self.environment, capture_output=True,
                                      text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertGreater(len(done.stdout.splitlines()), 1)

    def test_every_command_runs(self):
        lines = [line for page in PAGES.values() for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
                 for line in block.splitlines()]
        self.assertGreaterEqual(len(lines), 5)
        for line in lines:
            with self.subTest(line):
                self.assertTrue(line.startswith("costate "))
                done = subprocess.run(line, shell=True, cwd=self.folder, env=self.environment, capture_output=True, text=True)
                if "no viewer" in done.stderr:
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_pages_hold_no_other_code(self):
        for name, page in PAGES.items():
            self.assertEqual([kind for kind in re.findall(r"^```(\w+)", page, re.MULTILINE) if kind not in ("sh", "text")], [], name)
