#!/usr/bin/env python3
"""check_exports.py NM LIBRARY HEADER: the library shows the functions that the header declares and nothing else, 73 at most."""
import pathlib
import re
import subprocess
import sys

nm, library, header = sys.argv[1:]
listing = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
shown = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
declared = set(re.findall(r"^COSTATE_API [^(;]*?\b(\w+)\(", pathlib.Path(header).read_text(), re.MULTILINE))

errors = [f"{name} is shown and not declared" for name in sorted(shown - declared)]
errors += [f"{name} is declared and not shown" for name in sorted(declared - shown)]
errors += [f"{name} does not begin with costate_" for name in sorted(declared) if not name.startswith("costate_")]
if not 0 < len(declared) <= 73:
    errors.append(f"{len(declared)} functions, there may be 73")
sys.exit("\n".join(errors) or 0)
