#!/usr/bin/env python3
"""Packs the Python package, libcostate.so, the program, the scenes, and the libraries that these link into a wheel
(PEP 427) without pip and without a package index. Needs patchelf and Debian's dpkg, which knows the licenses. The binaries
may be of another architecture than this machine, whose libraries Debian keeps beside those of this one."""
import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Every Linux with the C library of the tag has these, and two copies in one process harm (PEP 600). libz is Python's own.
OF_THE_SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so|ld-linux")
MACHINES = {62: "x86_64", 183: "aarch64"}  # of ELF


def run(*command):
    return subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True, check=True).stdout


def needed(file):
    return run("patchelf", "--print-needed", file).split()


def machine(file):
    """The architecture a binary is for, as uname names it (e_machine of its ELF header)."""
    with open(file, "rb") as binary:
        number = int.from_bytes(binary.read(20)[18:], "little")
    if number not in MACHINES:
        sys.exit(f"make_wheel.py: {file} is for the ELF machine {number}: add it to MACHINES")
    return MACHINES[number]


def linked(file):
    """Libraries to bring along, by name, with those that they link."""
    folders = [Path(f"/usr/{lib}/{machine(file)}-linux-gnu") for lib in ("local/lib", "lib")] + [Path("/usr/local/lib")]
    found, waiting = {}, needed(file)
    while waiting:
        name = waiting.pop()
        if OF_THE_SYSTEM.match(name) or name in found:
            continue
        # a folder for all architectures may hold one of another
        paths = [folder / name for folder in folders if (folder / name).exists() and machine(folder / name) == machine(file)]
        if not paths:
            sys.exit(f"make_wheel.py: {name}, which {file.name} links, is in none of {', '.join(map(str, folders))}")
        found[name] = paths[0].resolve()
        waiting += needed(found[name])
    return found


def platform_tag(files):
    """The oldest C library that has all symbols, at least that of the distribution of the compiler's C++ library."""
    (architecture,) = {machine(file) for file in files}
    text = "".join(run(f"{architecture}-linux-gnu-objdump", "-T", file) for file in files)
    versions = [int(v) for v in re.findall(r"GLIBC_2\.(\d+)", text)]
    if max(int(v) for v in re.findall(r"GLIBCXX_3\.4\.(\d+)", text)) >= 30:
        versions.append(36)  # GCC 12 and glibc 2.36 of Debian 12
    return f"manylinux_2_{max(versions)}_{architecture}"


def vendor(package, binaries):
    """Copies what the binaries link into libs/, under names that no other package has, and has them found there."""
    libraries = {name: path for file in binaries for name, path in linked(file).items()}
    folder = package / "libs"
    folder.mkdir()
    new_names = {}
    for name, path in libraries.items():
        stem, _, rest = name.partition(".so")
        new_names[name] = f"{stem}-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}.so{rest}"
        shutil.copy(path, folder / new_names[name])
    for file in [*binaries, *folder.iterdir()]:
        for name in needed(file):
            if name in new_names:
                run("patchelf", "--replace-needed", name, new_names[name], file)
        inside = file.parent == folder
        if inside:
            run("patchelf", "--set-soname", file.name, file)
        run("patchelf", "--set-rpath", "$ORIGIN" if inside else "$ORIGIN/libs", file)
    return libraries


def notices(libraries, viewer_packages):
    """Licenses of what is brought along, by the name of the file."""
    found = {"LICENSE": ROOT / "LICENSE", "LICENSES.md": ROOT / "apps/LICENSES.md"}
    packages = ["libeigen3-dev", "nlohmann-json3-dev", "libcxxopts-dev"]
    for path in libraries.values():
        # by its name alone: dpkg may know a path without /usr
        owners = re.findall(rf"(?m)^([^:,\s]+):.* /\S*{re.escape(path.name)}$", run("dpkg", "-S", path.name))
        packages.append(owners[0])
    for name in sorted(set(packages)):
        found[f"third_party/{name}.txt"] = Path("/usr/share/doc") / name / "copyright"
    if viewer_packages and (viewer_packages / "three/LICENSE").is_file():
        found["third_party/three.js.txt"] = viewer_packages / "three/LICENSE"
    return found


def metadata(project):
    lines = ["Metadata-Version: 2.1", "Name: costate", f"Version: {version()}", f"Summary: {project['description']}",
             "License: MIT", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {need}" for need in project["dependencies"]]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need}; extra == "{extra}"' for need in needs)]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", (ROOT / "apps/python/README.md").read_text()])


def write_info(folder, scripts):
    """Writes folder/costate-*.dist-info: what pip and gymnasium know of the package. Returns its path."""
    config = tomllib.loads((ROOT / "apps/python/pyproject.toml").read_text())["project"]
    info = folder / f"costate-{version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(metadata(config))
    entry_points = {**config["entry-points"], **({"console_scripts": config["scripts"]} if scripts else {})}
    (info / "entry_points.txt").write_text("\n".join(
        "\n".join([f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()), ""])
        for group, entries in entry_points.items()))
    return info


def version():
    return re.search(r"project\(costate VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def write_wheel(folder, path):
    """A zip of the folder with its RECORD. Times and order are fixed, so that the same files make the same wheel."""
    (info,) = folder.glob("*.dist-info")
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    record = info / "RECORD"
    lines = []
    for file in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()
        lines.append(f"{file.relative_to(folder)},sha256={digest},{file.stat().st_size}")
    record.write_text("\n".join([*lines, f"{record.relative_to(folder)},,", ""]))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in [*files, record]:
            entry = zipfile.ZipInfo(str(file.relative_to(folder)), (2024, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if os.access(file, os.X_OK) else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def make(library, program, viewer_packages, out):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = folder / "costate"
        shutil.copytree(ROOT / "apps/python/costate", package, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        binaries = [package / "libcostate.so"]
        shutil.copy(library.resolve(), binaries[0])
        if program:
            binaries.append(package / "costate")
            shutil.copy(program, binaries[1])
        for file in binaries:
            run(f"{machine(file)}-linux-gnu-strip", "--strip-unneeded", file)
        libraries = vendor(package, binaries)
        tag = "py3-none-" + platform_tag([*binaries, *(package / "libs").iterdir()])
        scenes = package / "share/costate/scenes"
        shutil.copytree(ROOT / "scenes/library", scenes, ignore=shutil.ignore_patterns("CMakeLists.txt"))
        info = write_info(folder, scripts=True)
        for file, source in notices(libraries, viewer_packages).items():
            (info / "licenses" / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, info / "licenses" / file)
        (info / "WHEEL").write_text(
            f"Wheel-Version: 1.0\nGenerator: make_wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n")
        path = out / f"costate-{version()}-{tag}.whl"
        write_wheel(folder, path)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--info", type=Path, metavar="FOLDER", help="write the metadata alone into this folder, for packages of "
                        "distributions, and end")
    parser.add_argument("--library", type=Path)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--viewer-notices", type=Path, help="folder of the viewer's packages, for their licenses")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if arguments.info:
        sys.exit(not write_info(arguments.info, scripts=False))  # distributions have the program itself
    if not arguments.library or not arguments.out:
        parser.error("--library and --out are required")
    print(make(arguments.library, arguments.program, arguments.viewer_notices, arguments.out))
