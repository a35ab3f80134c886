#!/usr/bin/env bash
# Installs, builds, and compares with tools of automatic differentiation: tables, plots and CSV in out/compare/.
# Arguments: one, ten, checkpoints, or options of compare.py.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/install_deps.sh --compare
scripts/build.sh -DCOSTATE_COMPARE=ON
exec python3 scripts/bench/compare.py --build build --out out/compare "$@"
