#!/usr/bin/env python3
"""check_exports.py NM LIBRARY HEADER: the library shows the functions that the header declares and nothing else, 84 at most, all
with the symbol version of its minor number, so that a program never gets those of another one."""
import pathlib
import re
import subprocess
import sys

nm, library, header = sys.argv[1:]
listing = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
text = pathlib.Path(header).read_text()
number = int(re.search(r"#define COSTATE_VERSION (\d+)", text)[1])
node = f"COSTATE_{number // 10000}.{number // 100 % 100}"
symbols = [line.split()[-1] for line in listing.splitlines()]
symbols.remove(node)  # the version itself
shown = {symbol.split("@")[0] for symbol in symbols}
declared = set(re.findall(r"^COSTATE_API [^(;]*?\b(\w+)\(", text, re.MULTILINE))

errors = [f"{name} is shown and not declared" for name in sorted(shown - declared)]
errors += [f"{name} is declared and not shown" for name in sorted(declared - shown)]
errors += [f"{symbol} has not the version {node}" for symbol in symbols if not symbol.endswith(f"@@{node}")]
errors += [f"{name} does not begin with costate_" for name in sorted(declared) if not name.startswith("costate_")]
if not 0 < len(declared) <= 84:
    errors.append(f"{len(declared)} functions, there may be 84")
sys.exit("\n".join(errors) or 0)
