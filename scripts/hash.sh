#!/usr/bin/env bash
# Hashes of six scenes in contact after 100 000 steps, and of a mean gradient over 64 environments: one line for each, "scene state
# gradient Jacobian", SHA-256. Equal lines of two machines, compilers or builds mean equal bits.
#     hash.sh [PROGRAM]           prints them for PROGRAM (default: the costate on the PATH)
#     hash.sh --check [PROGRAM]   compares them with tests/apps/hashes.txt; the exit code is 1 if one differs
# The mean gradient is computed in several ways, with and without lanes, by threads, with few checkpoints, as shards, and by ranks where
# there is an mpirun; each has a line if their hashes differ. $COSTATE_RUNNER starts the program, for example qemu-aarch64 -L FOLDER.
# $COSTATE_HASH_STEPS replaces the 100 000. Each number is written with as many digits as tell it from all others, so the hash is one
# of bits.
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
steps=${COSTATE_HASH_STEPS:-100000}
sha() { sha256sum | cut -d ' ' -f 1; }
# shellcheck disable=SC2086
costate() { ${COSTATE_RUNNER:-} "$program" "$@" >/dev/null; }

mean_gradient() {
    rm -f "$folder/gradient.json"
    costate gradient go1_jump --out "$folder/gradient.json" "$@"
    sha <"$folder/gradient.json"
}
by_shards() {
    local i
    for i in 1 2 3; do
        costate gradient go1_jump --shard $i/3 --out "$folder/shard$i"
    done
    costate merge "$folder"/shard? --out "$folder/gradient.json"
    sha <"$folder/gradient.json"
}
by_ranks() {
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none PMIX_MCA_gds=hash OMPI_ALLOW_RUN_AS_ROOT=1 \
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -q -n 3 "$program" gradient go1_jump --out "$folder/gradient.json" >/dev/null
    sha <"$folder/gradient.json"
}
mean_gradients() {
    local width
    mean_gradient --threads 1
    for width in 1 2 4 8; do  # those that were not built are refused
        if COSTATE_LANES=$width costate gradient go1_jump --threads 1 --out "$folder/lanes.json" 2>/dev/null; then sha <"$folder/lanes.json"; fi
    done
    mean_gradient --threads 5
    mean_gradient --memory 1M
    by_shards
    if [ -z "${COSTATE_RUNNER:-}" ] && command -v mpirun >/dev/null && [ -e "$(dirname "$program")/libcostate_mpi.so" ]; then
        by_ranks
    fi
}

hashes() {
    local scene
    for scene in quadruped_stand go1_stand atlas_stand racecar half_cheetah walker; do
        costate simulate "$scene" --steps "$steps" --every "$steps" --out "$folder/states.csv" --jacobian "$folder/jacobian.json"
        costate gradient "$scene" --steps "$steps" --horizon 1000 --out "$folder/gradient.json"
        echo "$scene $(tail -n 1 "$folder/states.csv" | sha) $(sha <"$folder/gradient.json") $(sha <"$folder/jacobian.json")"
    done
    mean_gradients | sort -u | sed 's/.*/go1_jump - & -/'
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
