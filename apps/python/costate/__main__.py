"""Runs the program: `python -m costate info throw`, and the command `costate` of an installed wheel. The command
`identify` is written in Python."""
import os
import sys

from ._identification.command import main as identify
from .viewer import program


def main() -> None:
    if sys.argv[1:2] == ["identify"]:
        sys.exit(identify(sys.argv[2:]))
    path = program()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
