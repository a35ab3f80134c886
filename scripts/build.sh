#!/usr/bin/env bash
# Installs what is missing, then builds into build/: everything, or with --program first the program alone, without tests.
# Other arguments go to cmake, such as -DCOSTATE_NATIVE=ON.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=all
if [ "${1:-}" = --program ]; then
    target=costate
    shift
fi
scripts/install_deps.sh
if command -v ninja >/dev/null; then export CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"; fi
cmake --preset release "$@"
cmake --build build --parallel "$(nproc)" --target "$target"
