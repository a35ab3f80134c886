#!/usr/bin/env python3
"""The simulator's libraries call no function of the C library whose last bit differs between machines: core/math/elementary.hpp
and core/math/random.hpp stand in. Reads the undefined symbols of the given archives."""
import re
import subprocess
import sys

# sqrt, fmod, ldexp, frexp and roundings are exact and may be called.
INEXACT = re.compile(
    r"^(a?(sin|cos|tan)h?|sincos|atan2|exp(2|10|m1)?|log(2|10|1p)?|pow|cbrt|hypot|[lt]gamma|erfc?)[fl]?$")


def called(symbols):
    """The inexact functions among the lines of nm."""
    return sorted({name for name in symbols.split() if INEXACT.match(name.split("@")[0])})


def self_test():
    assert called("  U sincos\n  U atan2@GLIBC_2.2.5\n  U hypotf\n") == ["atan2@GLIBC_2.2.5", "hypotf", "sincos"]
    assert not called("  U sqrt\n  U ldexp\n  U _ZN7costate10elementary6binaryE\n  U exponent\n")


def main(archives):
    wrong = False
    for archive in archives:
        symbols = subprocess.run(["nm", "--undefined-only", archive], check=True, capture_output=True, text=True).stdout
        for name in called(symbols):
            wrong = True
            print(f"{archive}: calls {name}; use core/math/elementary.hpp, whose bits are the same on every machine")
    return 1 if wrong or not archives else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        sys.exit(main(sys.argv[1:]))
