#!/usr/bin/env bash
# Installs, builds and tests. Arguments go to ctest, such as -R operators. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Reads ctest's closing lines: "90% tests passed, 1 tests failed out of 10", where skipped tests count as passed,
# and then "  3 - name (Skipped)" for each of those.
summary='
    / tests failed out of / { failed = $4; total = $NF; skipped = 0 }
    / \(Skipped\)$/ { ++skipped }
    END { printf "%d passed, %d failed", total - failed - skipped, failed; if (skipped) printf ", %d skipped", skipped; print "" }'

scripts/install_deps.sh --tests
scripts/build.sh
status=0
ctest --test-dir build --output-on-failure --no-tests=error -j2 "$@" 2>&1 | tee build/ctest.log || status=$?
awk "$summary" build/ctest.log
exit "$status"
