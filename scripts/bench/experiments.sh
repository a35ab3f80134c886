#!/usr/bin/env bash
# Installs, builds, and runs experiments of the literature, each beside CMA-ES, into out/gallery/index.html.
# Arguments: throw, golf, racecar_friction, pendulum, swing_up, catapult, jump, take_off, cube, inverse_dynamics, or all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/install_deps.sh --tests  # its pictures are made by Chromium
scripts/build.sh
exec python3 scripts/bench/experiments.py --program build/costate --out out/gallery "$@"
