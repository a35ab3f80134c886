#!/usr/bin/env bash
# Builds a wheel into out/wheels/: the Python package with library, program, scenes and viewer, and the libraries that these
# link, found by relative paths. One wheel serves every Python, because the package uses ctypes. The program has no optimizers
# of others, which have other licenses. It does not read SDFormat: libsdformat and what it links would add 10 MB for one format.
#     wheel.sh             for this machine
#     wheel.sh --aarch64   for aarch64, compiled on this one (Debian's cross compiler, and libraries of arm64)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=build-wheel options=()
if [ "${1:-}" = --aarch64 ]; then
    build=build-aarch64 options=(--toolchain scripts/cmake/aarch64.cmake)
    scripts/install_deps.sh --aarch64
else
    scripts/install_deps.sh --wheel
fi
export CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"
cmake --preset release -B $build "${options[@]}" -DCOSTATE_BUILD_TESTS=OFF -DCOSTATE_WITH_PAGMO=OFF -DCOSTATE_WITH_NLOPT=OFF \
    -DCOSTATE_WITH_MPI=OFF -DCOSTATE_WITH_SDFORMAT=OFF >/dev/null
cmake --build $build --parallel "${JOBS:-$(nproc)}" --target costate_c costate
mkdir -p out/wheels
python3 scripts/package/make_wheel.py --library $build/apps/c_api/libcostate.so --program $build/costate \
    --viewer-notices $build/apps/view/node_modules --out out/wheels
