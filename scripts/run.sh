#!/usr/bin/env bash
# Installs, builds, and lets the arm learn to throw: result.json, loss.svg, motion.svg, before.csv and after.csv in out/throw/.
# Arguments go to `costate optimize`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh --program
build/costate optimize throw --out out/throw "$@"
