#!/usr/bin/env bash
# The tests of the C API under sanitizers, in build folders of their own: scripts/check/sanitize.sh [address|thread], both if none is
# named. "address" finds leaks and undefined behaviour too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for name in ${1:-address thread}; do
    case "$name" in
        address) flags="-fsanitize=address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS" ;;
        thread) flags="-fsanitize=thread" ;;
        *) echo "sanitize.sh: no sanitizer is named $name: address or thread" >&2 && exit 2 ;;
    esac
    cmake -S . -B "build-$name" -G Ninja -DCMAKE_UNITY_BUILD=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="$flags" \
        -DCMAKE_CXX_FLAGS="$flags -Wno-maybe-uninitialized" -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1 -fno-omit-frame-pointer" \
        -DCMAKE_C_FLAGS_DEBUG="-O1 -g -fno-omit-frame-pointer" >/dev/null
    cmake --build "build-$name" --target costate_c_tests --parallel "$(nproc)"
    TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}" ctest --test-dir "build-$name" --output-on-failure --no-tests=error -R '^c_api_'
done
