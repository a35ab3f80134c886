#!/usr/bin/env bash
# Builds a wheel for this platform into out/wheels/: the Python package with library, program, scenes and viewer, and the
# libraries that these link, found by relative paths. One wheel serves every Python, because the package uses ctypes.
# The program has no optimizers of others, which have other licenses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/install_deps.sh --wheel
export CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"
cmake --preset release -B build-wheel -DCOSTATE_BUILD_TESTS=OFF -DCOSTATE_WITH_PAGMO=OFF -DCOSTATE_WITH_NLOPT=OFF >/dev/null
cmake --build build-wheel --parallel "${JOBS:-$(nproc)}" --target costate_c costate
mkdir -p out/wheels
python3 scripts/package/make_wheel.py --library build-wheel/apps/c_api/libcostate.so --program build-wheel/costate \
    --viewer-notices build-wheel/apps/view/node_modules --out out/wheels
