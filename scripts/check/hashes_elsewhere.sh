#!/usr/bin/env bash
# The hashes of scripts/hash.sh by other compilers, levels of optimization and processors, each in a build folder of its own, beside
# those of this machine's build/costate: a table of what is equal, and the exit code 1 if something differs.
#     hashes_elsewhere.sh [VARIANT...]     of gcc-O2, clang-O2, clang-O3, aarch64 (under qemu), windows (mingw-w64, under wine)
# What aarch64 and windows need is installed by scripts/install_deps.sh and, Bullet for Windows, scripts/check/windows_packages.sh.
# $COSTATE_HASH_STEPS is the number of steps, 2000 by default: of 100 000, the hashes of tests/apps/hashes.txt are expected, and
# qemu takes a quarter of an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

variants=("$@")
all=(gcc-O2 clang-O2 clang-O3 aarch64 windows)
[ $# -gt 0 ] || variants=("${all[@]}")
export COSTATE_HASH_STEPS=${COSTATE_HASH_STEPS:-2000} CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"
if [ "$COSTATE_HASH_STEPS" != 100000 ] && [ ! -x build/costate ]; then
    echo "hashes_elsewhere.sh: there is no build/costate to compare with: run scripts/build.sh" >&2
    exit 2
fi
without=(-DCOSTATE_WITH_NLOPT=OFF -DCOSTATE_WITH_PAGMO=OFF -DCOSTATE_WITH_MPI=OFF -DCOSTATE_WITH_SDFORMAT=OFF)
plain=(-S . -DCMAKE_UNITY_BUILD=ON -DCMAKE_BUILD_TYPE=Release -DCOSTATE_BUILD_TESTS=OFF -DCOSTATE_WITH_VIEWER=OFF
    -DCOSTATE_WERROR=OFF "${without[@]}")
headers_alone=(-DCOSTATE_WITH_HTTPLIB=OFF -DCOSTATE_WITH_TINYXML2=OFF -DCOSTATE_WITH_ASSIMP=OFF -DCOSTATE_WITH_PNG=OFF
    -DCOSTATE_WITH_ZSTD=OFF)
level() { echo "-DCMAKE_CXX_FLAGS_RELEASE=-O$1 -DNDEBUG"; }

build() {  # the variant: sets program and COSTATE_RUNNER
    local folder=build-hash/$1
    export COSTATE_RUNNER=
    case "$1" in
        gcc-O2) cmake -B "$folder" "${plain[@]}" "$(level 2)" -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ ;;
        clang-O?) cmake -B "$folder" "${plain[@]}" "$(level "${1: -1}")" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ ;;
        aarch64)
            folder=build-aarch64  # also of the wheel
            COSTATE_RUNNER=qemu-aarch64-static
            scripts/install_deps.sh --aarch64
            cmake --preset release -B "$folder" --toolchain scripts/cmake/aarch64.cmake -DCOSTATE_BUILD_TESTS=OFF "${without[@]}"
            ;;
        windows)
            folder=build-windows/program
            COSTATE_RUNNER=/usr/lib/wine/wine64
            export WINEPREFIX=$PWD/build-windows/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
            scripts/check/windows_packages.sh
            cmake -B "$folder" --toolchain scripts/cmake/windows.cmake "${plain[@]}" "$(level 2)" "${headers_alone[@]}"
            ;;
        *) echo "hashes_elsewhere.sh: there is no variant $1: ${all[*]}" >&2 && exit 2 ;;
    esac >/dev/null
    program=$folder/costate
    [ "$1" != windows ] || program+=.exe
    cmake --build "$folder" --parallel "${JOBS:-$(nproc)}" --target costate >/dev/null 2>&1 || {
        echo "hashes_elsewhere.sh: $1 cannot be built: cmake --build $folder --target costate says why" >&2
        exit 2
    }
}

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
if [ "$COSTATE_HASH_STEPS" = 100000 ]; then cp tests/apps/hashes.txt "$results/expected"; else scripts/hash.sh build/costate >"$results/expected"; fi
format="%-16s %-10s %-10s %-10s %-10s\n" differs=0
# shellcheck disable=SC2059
row() { printf "$format" "$@"; }
echo "$COSTATE_HASH_STEPS steps"
row scene build state gradient Jacobian
for variant in "${variants[@]}"; do
    build "$variant"
    scripts/hash.sh "$program" >"$results/$variant"
    while read -r scene expected; do
        words=() own=$(grep "^$scene " "$results/$variant" | cut -d ' ' -f 2- || true)
        for i in 1 2 3; do
            here=$(cut -d ' ' -f $i <<<"$own" | sort -u)  # one for each way of computing it
            there=$(cut -d ' ' -f $i <<<"$expected")
            if [ "$there" = - ]; then words+=(-); elif [ "$here" = "$there" ]; then words+=(equal); else words+=(DIFFERS) differs=1; fi
        done
        row "$scene" "$variant" "${words[@]}"
    done <"$results/expected"
done
exit $differs
