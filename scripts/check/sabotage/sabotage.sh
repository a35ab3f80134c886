#!/usr/bin/env bash
# Breaks a sample of lines of the libraries, one at a time, and lists those whose change no test notices.
# Arguments go to sabotage.py, such as --sample 100 --seed 2, or --only core/dynamics/rnea.hpp.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

scripts/install_deps.sh
exec python3 scripts/check/sabotage/sabotage.py build-sabotage "$@"
