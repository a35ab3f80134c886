#!/usr/bin/env bash
# Fuzzes what reads files and requests, and the C API, by clang's libFuzzer under sanitizers:
# scripts/check/fuzz.sh [SECONDS [TARGET...]]; all targets of tests/fuzz/targets.hpp, one after the other, if none is named.
# Inputs gather in build-fuzz/corpus. One that fails is kept in build-fuzz/failed, and belongs, made small
# (-minimize_crash=1), into tests/fuzz/found/TARGET.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds="${1:-600}"
shift || true
command -v clang++ >/dev/null || { echo "fuzz.sh: there is no clang++; apt-get install clang" >&2 && exit 2; }
mapfile -t all < <(sed -n 's/^ *{"\([a-z_]*\)", [a-z_]*},$/\1/p' tests/fuzz/targets.hpp)
[ $# -gt 0 ] || set -- "${all[@]}"
for target in "$@"; do
    [[ " ${all[*]} " == *" $target "* ]] || { echo "fuzz.sh: no target is named $target: ${all[*]}" >&2 && exit 2; }
done
# Warnings are those of the compiler that builds releases; a unity build takes half the time
cmake -S . -B build-fuzz -G Ninja -DCOSTATE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=ON \
    -DCMAKE_CXX_FLAGS=-w -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1 -D_GLIBCXX_ASSERTIONS" \
    -DCOSTATE_BUILD_TESTS=OFF -DCOSTATE_WITH_ASSIMP=OFF >/dev/null
cmake --build build-fuzz --target costate_fuzz --parallel "${JOBS:-$(nproc)}"

for target in "$@"; do
    corpus="build-fuzz/corpus/$target" seeds="build-fuzz/seeds/$target" words="build-fuzz/$target.dict"
    # The endings of seeds, and the sources whose quoted texts may be words of the format
    extension="" sources=()
    case "$target" in
        urdf) extension=urdf sources=(scenes/import/urdf/*.cpp) ;;
        mjcf) extension=xml sources=(scenes/import/mjcf/*.cpp) ;;
        sdf) extension=sdf sources=(scenes/import/sdf/*.cpp) ;;
        scene | model) extension=json
            sources=(scenes/format/known_keys.cpp scenes/read/*/*_reader.cpp core/model/model_builder.cpp collision/shapes/shape.cpp) ;;
        result | replay | trajectory_json) sources=(apps/io/*.cpp apps/cli/replay.cpp scenes/read/task/control_file.cpp) ;;
        http) sources=(apps/viewer/event_server.cpp) ;;
    esac

    # Seeds: what tests keep, what is shipped, and other projects' robots where they lie beside this one
    mkdir -p "$corpus" "$seeds" build-fuzz/failed
    for kept in "tests/fuzz/seeds/$target" "tests/fuzz/found/$target"; do
        if [ -d "$kept" ]; then find "$kept" -type f -exec cp {} "$seeds" \;; fi
    done
    case "$target" in
        scene) find scenes/library tests/apps tests/readme -name '*.json' ! -name '*.schema.json' -exec cp {} "$seeds" \; ;;
        model) find scenes/library/models -name '*.json' -exec cp {} "$seeds" \; ;;
    esac
    if [ -n "${COSTATE_REFERENCE_DIR:-}" ] && [ -n "$extension" ]; then
        find "$COSTATE_REFERENCE_DIR/models" -name "*.$extension" -exec cp {} "$seeds" \;
    fi
    printf '"\\x0A"\n' >"$words"
    if [ ${#sources[@]} -gt 0 ]; then grep -oh '"[A-Za-z][A-Za-z0-9_/]*"' "${sources[@]}" | sort -u >>"$words"; fi

    echo "fuzzing $target for $seconds s"
    COSTATE_FUZZ_TARGET="$target" build-fuzz/tests/fuzz/costate_fuzz -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -max_len=16384 -dict="$words" -artifact_prefix="build-fuzz/failed/$target-" -close_fd_mask=3 -print_final_stats=1 \
        "$corpus" "$seeds"
done
