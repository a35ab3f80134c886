#!/usr/bin/env bash
# The tests under sanitizers, in build folders of their own: scripts/check/sanitize.sh [address|thread|all [PATTERN]], where
# PATTERN selects names of tests as ctest -R does. "address" finds leaks and undefined behaviour too, and checks the assertions of
# the standard library and of Eigen; "thread" runs what has threads. TARGETS="NAME..." builds less: the C API alone is
# TARGETS=costate_c_tests scripts/check/sanitize.sh all '^c_api_'.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

which="${1:-all}" pattern="${2:-.}"
case "$which" in
    all) which="address thread" ;;
    address | thread) ;;
    *) echo "sanitize.sh: no sanitizer is named $which: address, thread or all" >&2 && exit 2 ;;
esac

# Not under "address", besides what CMake leaves out of builds with sanitizers: Python, which is not instrumented, counts of the
# allocator, faults of it, and the hashes.
left_out=(
    large_islands objective_passes sensors  # minutes without sanitizers
    every_scene_gradient scene_gradients    # half an hour with them
    limits                                  # measures time
    gallery                                 # an experiment of minutes, by commands that other tests run
    viewer watch                            # a browser that waits for the program
    install_consumer                        # builds the project again
    format readme layering adjoint_pairs version '.*_self_test'  # read the source only
)
# Under "thread": C programs with threads, ranks in one process, checkpoints that are written while steps run, watch's server, and the
# program with several threads
threaded='^(c_api_.*|batch|batch_scenes|expected_loss|disk_store|checkpointing|sum_plan|fuzz_replay|cli_batch|cli_commands|gradient)$'

for name in $which; do
    targets=(all) selected=(-R "$pattern" -E "^($(IFS='|' && echo "${left_out[*]}"))$") tests=()
    if [ "$name" = address ]; then
        preset=(--preset debug)
        # the sanitizer opens libcostate_mpi.so in the program's place, and does not know where that looks
        export LD_LIBRARY_PATH="$PWD/build-address${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        export ASAN_OPTIONS="detect_stack_use_after_return=1:${ASAN_OPTIONS:-}" UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
    else
        flags="-fsanitize=thread"
        preset=(-S . -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags -Wno-maybe-uninitialized -Wno-tsan"
            "-DCOSTATE_TESTS=adjoint/batch;adjoint/checkpointing;adjoint/disk_store;adjoint/expected_loss;adjoint/sum_plan;scenes/batch_scenes")
        targets=(costate costate_tests costate_c_tests costate_fuzz_replay)
        selected=(-R "$threaded")
        [ "$pattern" = . ] || selected=(-R "$pattern")
        export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:${TSAN_OPTIONS:-}"
    fi
    read -ra given <<<"${TARGETS:-}"
    [ ${#given[@]} -eq 0 ] || targets=("${given[@]}")
    # -O1 builds and runs in the shortest time together; a unity build takes half the time
    cmake "${preset[@]}" -B "build-$name" -G Ninja -DCMAKE_UNITY_BUILD=ON "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1 -fno-omit-frame-pointer" \
        "-DCMAKE_C_FLAGS_DEBUG=-O1 -g -fno-omit-frame-pointer" >/dev/null
    cmake --build "build-$name" --target "${targets[@]}" --parallel "${JOBS:-$(nproc)}"
    ctest --test-dir "build-$name" --output-on-failure --no-tests=error --timeout 3600 -j "${JOBS:-$(nproc)}" "${selected[@]}"
done
