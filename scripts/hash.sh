#!/usr/bin/env bash
# Hashes of the last states and of the gradients of six scenes in contact after 100 000 steps, and of a mean gradient over 64
# environments: one line for each, "scene state gradient", SHA-256. Equal lines of two machines, compilers or builds mean equal bits.
#     hash.sh [PROGRAM]           prints them for PROGRAM (default: the costate on the PATH)
#     hash.sh --check [PROGRAM]   compares them with tests/apps/hashes.txt; the exit code is 1 if one differs
# Each number is written with as many digits as tell it from all others, so the hash is one of bits.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

check=
[ "${1:-}" = --check ] && check=1 && shift
program=$(command -v "${1:-costate}") || {
    echo "hash.sh: there is no program '${1:-costate}': build it, or give its path" >&2
    exit 2
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sha() { sha256sum | cut -d ' ' -f 1; }

hashes() {
    local scene steps=100000
    for scene in quadruped_stand go1_stand atlas_stand racecar half_cheetah walker; do
        "$program" simulate "$scene" --steps $steps --every $steps --out "$folder/states.csv" >/dev/null
        "$program" gradient "$scene" --steps $steps --horizon 1000 --out "$folder/gradient.json" >/dev/null
        echo "$scene $(tail -n 1 "$folder/states.csv" | sha) $(sha <"$folder/gradient.json")"
    done
    "$program" gradient go1_jump --out "$folder/gradient.json" >/dev/null
    echo "go1_jump - $(sha <"$folder/gradient.json")"
}

if [ -z "$check" ]; then
    hashes
else
    hashes >"$folder/hashes.txt"
    diff "$here/../tests/apps/hashes.txt" "$folder/hashes.txt" || {
        echo "hash.sh: these lines differ, the expected ones first; after an intended change of results write them to tests/apps/hashes.txt" >&2
        exit 1
    }
    echo "$(wc -l <"$folder/hashes.txt") lines are those of tests/apps/hashes.txt"
fi
