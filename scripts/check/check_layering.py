#!/usr/bin/env python3
"""Refuses an #include that breaks the order of the folders, subfolders that include each other in a circle, or a
package outside the one place that may know it."""
import pathlib
import re
import sys
import tempfile

FOLDERS = ["core", "collision", "solvers", "adjoint", "scenes", "apps", "tests"]  # each may include those to its left
PACKAGES = [  # name, its headers, where they may be included
    ("Bullet", re.compile(r"bt[A-Z]|[Bb]ullet|LinearMath/"), ("collision/detect/detect.cpp", "tests/")),
    ("nlohmann_json", re.compile(r"nlohmann/"), ("scenes/", "apps/", "tests/")),
    ("TinyXML-2", re.compile(r"tinyxml2"), ("scenes/import/xml/xml.cpp",)),
    ("libsdformat", re.compile(r"sdf/|ignition/"), ("scenes/import/sdf/",)),
    ("libpng", re.compile(r"png\.h"), ("scenes/import/mesh/png_file.cpp",)),
    ("cxxopts", re.compile(r"cxxopts"), ("apps/",)),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
SUFFIXES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc", ".inl"}


def complaint(file, header):
    """Why `file` (relative to the root) may not include `header`, or None."""
    folder, target = file.split("/")[0], header.split("/")[0]
    if ".." in header.split("/"):
        return "includes are written from the root of the repository"
    if target in FOLDERS and FOLDERS.index(target) > FOLDERS.index(folder):
        return f"{folder} may not know {target}"
    for name, headers, places in PACKAGES:
        if headers.match(header) and not file.startswith(places):
            return f"{name} belongs to {', '.join(places)} alone"
    return None


def circle(includes):
    """Folders that include each other in a circle, in order, or None. includes: folder -> folders."""
    done = set()

    def search(folder, path):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return None
        done.add(folder)
        for target in sorted(includes.get(folder, ())):
            found = search(target, path + [folder])
            if found:
                return found
        return None

    return next(filter(None, (search(folder, []) for folder in sorted(includes))), None)


def check(root):
    errors = []
    includes = {}
    for path in sorted(p for folder in FOLDERS for p in (root / folder).rglob("*") if p.suffix in SUFFIXES):
        file = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            reason = include and complaint(file, include[1])
            if reason:
                errors.append(f"{file}:{number}: {include[1]}: {reason}")
            elif include and file.split("/")[0] != "tests" and (root / include[1]).is_file():
                here, there = (pathlib.PurePosixPath(name).parent.as_posix() for name in (file, include[1]))
                if here != there:
                    includes.setdefault(here, set()).add(there)
    found = circle(includes)
    if found:
        errors.append("folders include each other: " + " -> ".join(found))
    return errors


def self_test():
    cases = [  # file, the line in it, is it refused?
        ("core/a.hpp", '#include "core/b.hpp"', False),
        ("core/a.hpp", "#include <Eigen/Core>", False),
        ("core/a.hpp", '#include "collision/b.hpp"', True),
        ("core/a.hpp", "#  include <scenes/b.hpp>", True),
        ("core/a.hpp", '// #include "scenes/b.hpp"', False),
        ("core/a.hpp", '#include "../solvers/b.hpp"', True),
        ("adjoint/a.cpp", '#include "solvers/b.hpp"', False),
        ("adjoint/deep/a.cpp", '#include "apps/b.hpp"', True),
        ("apps/a.cpp", '#include "tests/b.hpp"', True),
        ("tests/a.cpp", '#include "apps/b.hpp"', False),
        ("collision/detect/detect.cpp", "#include <BulletCollision/b.h>", False),
        ("collision/a.cpp", "#include <btBulletCollisionCommon.h>", True),
        ("solvers/a.cpp", "#include <LinearMath/btVector3.h>", True),
        ("tests/a.cpp", "#include <btBulletCollisionCommon.h>", False),
        ("adjoint/a.cpp", "#include <nlohmann/json.hpp>", True),
        ("scenes/a.cpp", "#include <nlohmann/json.hpp>", False),
        ("scenes/a.cpp", "#include <cxxopts.hpp>", True),
        ("scenes/a.cpp", "#include <tinyxml2.h>", True),
        ("scenes/import/xml/xml.cpp", "#include <tinyxml2.h>", False),
        ("apps/a.cpp", "#include <cxxopts.hpp>", False),
    ]
    for file, line, refused in cases:
        with tempfile.TemporaryDirectory() as root:
            path = pathlib.Path(root, file)
            path.parent.mkdir(parents=True)
            path.write_text(line + "\n")
            errors = check(pathlib.Path(root))
            assert bool(errors) == refused, (file, line, errors)


    with tempfile.TemporaryDirectory() as root:
        for file, header in ("core/a/x.hpp", "core/b/y.hpp"), ("core/b/y.hpp", "core/c/z.hpp"), ("core/c/z.hpp", "core/a/x.hpp"):
            path = pathlib.Path(root, file)
            path.parent.mkdir(parents=True)
            path.write_text(f'#include "{header}"\n')
        assert check(pathlib.Path(root)) == ["folders include each other: core/a -> core/b -> core/c -> core/a"]


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        self_test()
    else:
        sys.exit("\n".join(check(pathlib.Path(__file__).resolve().parents[2])) or 0)
