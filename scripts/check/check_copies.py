#!/usr/bin/env python3
"""What calls the libraries that compute is compiled quickly, with less optimization. Of a template that both instantiate, the
linker keeps one copy, whichever comes first, so the callers must have no large ones: check_copies.py CALLER.a ... --
LIBRARY.a ... compares the sizes that nm tells of archives."""
import re
import subprocess
import sys

LARGEST = 700  # bytes of code; smaller functions are mostly inlined where speed matters


def numeric_templates(symbols):
    """Sizes by name of the weak copies among the lines of nm, of the templates on doubles."""
    found = {}
    for line in symbols.splitlines():
        if match := re.match(r"[0-9a-f]+ ([0-9a-f]+) W (.* )?(costate::[\w:]+<double>\(.*)", line):
            found[match[3]] = max(int(match[1], 16), found.get(match[3], 0))
    return found


def large_copies(of_callers, of_libraries):
    return sorted(name for name, size in of_callers.items() if size > LARGEST and name in of_libraries)


def self_test():
    lines = ("0000 0000000000000400 W void costate::crba<double>(costate::Model const&)\n"
             "0000 0000000000000010 W costate::small<double>(double const&)\n"
             "0000 0000000000000900 W costate::Model::~Model()\n"
             "0000 0000000000000900 T costate::strong<double>(int)\n")
    found = numeric_templates(lines)
    assert found == {"costate::crba<double>(costate::Model const&)": 1024, "costate::small<double>(double const&)": 16}
    assert large_copies(found, found) == ["costate::crba<double>(costate::Model const&)"]
    assert not large_copies(found, {})


def main(callers, libraries):
    def of(archives):
        return numeric_templates(subprocess.run(["nm", "-SC", "--defined-only", *archives], check=True,
                                                capture_output=True, text=True).stdout)
    copies = large_copies(of(callers), of(libraries))
    for name in copies:
        print(f"{name}: compiled in {' or '.join(callers)} too; declare it \"extern template\" in its header, and instantiate "
              "it in one source file of its library")
    return 1 if copies or not libraries else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        split = sys.argv.index("--")
        sys.exit(main(sys.argv[1:split], sys.argv[split + 1:]))
