"""Runs the unittests of one file here. Usage: run.py FILE PACKAGE... Exits with 77 and a sentence where a package that they need is
missing, both for this interpreter and for the system's."""
import importlib.util
import os
import sys
import unittest

SYSTEM = "/usr/bin/python3"  # has what apt-get installed

file, *packages = sys.argv[1:]
missing = [package for package in packages if importlib.util.find_spec(package) is None]
if missing and os.path.exists(SYSTEM) and not os.path.samefile(sys.executable, SYSTEM):
    os.execv(SYSTEM, [SYSTEM, *sys.argv])
if missing:
    print(f"skipped: {sys.executable} has no {', '.join(missing)} (apt-get install {' '.join('python3-' + name for name in missing)})")
    sys.exit(77)
result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromName(file))
sys.exit(not result.wasSuccessful() or result.testsRun == 0)
