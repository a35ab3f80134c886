#!/usr/bin/env bash
# Breaks a sample of lines in adjoints, one at a time, and lists those whose operator test does not notice.
# Arguments go to sabotage.py, such as --sample 100 --seed 2, or --file core/dynamics/rnea.hpp.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/install_deps.sh
cmake -S . -B build-sabotage -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
cmake --build build-sabotage --target costate_tests --parallel "$(nproc)"
exec python3 scripts/check/sabotage.py build-sabotage "$@"
