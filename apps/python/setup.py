"""Packs the library (from $COSTATE_LIBRARY or the source tree's build/), the program if it is there (from
$COSTATE_PROGRAM or build/), and the included scenes into the wheel."""
import os
import re
import shutil
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parents[2]


def version():
    return re.search(r"project\(costate VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def library():
    given = Path(os.environ.get("COSTATE_LIBRARY", ROOT / "build/apps/c_api"))
    path = given / "libcostate.so" if given.is_dir() else given
    if not path.is_file():
        sys.exit(
            f"costate: {path} does not exist; build it (cmake --build build --target costate_c), or say where "
            "it is: COSTATE_LIBRARY=/path/to/libcostate.so")
    return path


def program():
    """The path of the program, which draws the pages of costate.view; None if it is not built."""
    path = Path(os.environ.get("COSTATE_PROGRAM", ROOT / "build/costate"))
    return path if path.is_file() else None


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        package = Path(self.build_lib) / "costate"
        shutil.copyfile(library(), package / "libcostate.so")
        if program():
            shutil.copy(program(), package / "costate")  # with its permission to be executed
        scenes = package / "share/costate/scenes"  # where the library looks for them
        shutil.rmtree(scenes, ignore_errors=True)
        library_of_scenes = ROOT / "scenes/library"
        for file in (path for pattern in ("*.json", "models/*", "recordings/*")
                     for path in library_of_scenes.glob(pattern)):
            target = scenes / file.relative_to(library_of_scenes)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


class BinaryDistribution(Distribution):
    def has_ext_modules(self):  # the wheel is for this platform
        return True


setup(version=version(), cmdclass={"build_py": BuildWithLibrary}, distclass=BinaryDistribution)
