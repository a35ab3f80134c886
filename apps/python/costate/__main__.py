"""Runs the program: `python -m costate info throw`, and the command `costate` of an installed wheel."""
import os
import sys

from .viewer import program


def main() -> None:
    path = program()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
