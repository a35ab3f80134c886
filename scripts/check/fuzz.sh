#!/usr/bin/env bash
# Fuzzes the loaders by clang's libFuzzer, under sanitizers: scripts/check/fuzz.sh [SECONDS [LOADER]], LOADER being urdf, mjcf or scene;
# all three, one after the other, if none is named. Inputs gather in build-fuzz/corpus. One that fails is kept in
# build-fuzz/failed, and belongs, made small (-minimize_crash=1), into tests/fuzz/found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds="${1:-600}"
command -v clang++ >/dev/null || { echo "fuzz.sh: there is no clang++; apt-get install clang" >&2 && exit 2; }
cmake -S . -B build-fuzz -G Ninja -DCOSTATE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1 -D_GLIBCXX_ASSERTIONS" -DCOSTATE_BUILD_APPS=OFF -DCOSTATE_BUILD_TESTS=OFF \
    -DCOSTATE_WITH_ASSIMP=OFF >/dev/null

for loader in ${2:-urdf mjcf scene}; do
    corpus="build-fuzz/corpus/$loader" seeds="build-fuzz/seeds/$loader" words="build-fuzz/$loader.dict"
    case "$loader" in
        urdf) extension=urdf sources=(scenes/import/urdf/*.cpp) ;;
        mjcf) extension=xml sources=(scenes/import/mjcf/*.cpp) ;;
        scene) extension=json sources=(scenes/format/known_keys.cpp scenes/read/*_reader.cpp core/model/model.cpp collision/shapes/shape.cpp) ;;
        *) echo "fuzz.sh: no loader is named $loader: urdf, mjcf or scene" >&2 && exit 2 ;;
    esac
    cmake --build build-fuzz --target "fuzz_$loader" --parallel "$(nproc)"

    # Seeds: what tests keep, what is shipped, and other projects' robots where they lie beside this one
    mkdir -p "$corpus" "$seeds" build-fuzz/failed
    find tests/fuzz -name "*.$extension" -exec cp {} "$seeds" \;
    if [ "$loader" = scene ]; then find scenes/library tests/apps tests/readme -name '*.json' ! -name '*.schema.json' -exec cp {} "$seeds" \;; fi
    if [ -n "${COSTATE_REFERENCE_DIR:-}" ]; then find "$COSTATE_REFERENCE_DIR/models" -name "*.$extension" -exec cp {} "$seeds" \;; fi
    # Words: every text in the sources that may be one of the format's
    grep -oh '"[A-Za-z][A-Za-z0-9_/]*"' "${sources[@]}" | sort -u >"$words"

    echo "fuzzing $loader for $seconds s"
    "build-fuzz/tests/fuzz/fuzz_$loader" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -dict="$words" \
        -artifact_prefix="build-fuzz/failed/$loader-" -close_fd_mask=3 -print_final_stats=1 "$corpus" "$seeds"
done
