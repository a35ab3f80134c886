#!/usr/bin/env python3
"""Refuses C and C++ files that clang-format would change (.clang-format); with --fix, formats them. The style is that of
version 14: other versions format differently, and the check is then skipped with exit code 77."""
import pathlib
import re
import shutil
import subprocess
import sys

VERSION = "14"
FOLDERS = ["core", "collision", "solvers", "adjoint", "scenes", "apps", "tests"]
SUFFIXES = {".c", ".cpp", ".h", ".hpp", ".inl"}


def clang_format():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        program = shutil.which(name)
        if program:
            version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
            if re.search(rf"version {VERSION}\.", version):
                return program
    return None


def main():
    program = clang_format()
    if program is None:
        print(f"clang-format {VERSION} is not installed: skipped; on Debian 12, apt install clang-format")
        return 77
    root = pathlib.Path(__file__).resolve().parents[2]
    files = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*")
                   if path.suffix in SUFFIXES and "node_modules" not in path.parts)
    action = ["-i"] if "--fix" in sys.argv else ["--dry-run", "--Werror", "--ferror-limit=1"]
    return subprocess.run([program, *action, *files], cwd=root).returncode


if __name__ == "__main__":
    sys.exit(main())
