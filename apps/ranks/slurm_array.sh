#!/usr/bin/env bash
# One shard of a gradient for each task of a Slurm array; needs no MPI:
#     job=$(sbatch --parsable slurm_array.sh)
#     sbatch --dependency="afterok:$job" --wrap 'costate merge shards/* --out gradient.json'
# A task that failed is submitted again alone, for example with sbatch --array=17 --export=ALL,SHARDS=64 slurm_array.sh.
#SBATCH --job-name=go1_jump
#SBATCH --array=1-64
#SBATCH --cpus-per-task=4
#SBATCH --time=00:10:00
set -euo pipefail

shards=${SHARDS:-$SLURM_ARRAY_TASK_COUNT}
mkdir -p shards
costate gradient go1_jump --environments 4096 --threads "${SLURM_CPUS_PER_TASK:-1}" --shard "$SLURM_ARRAY_TASK_ID/$shards" \
    --out "shards/$SLURM_ARRAY_TASK_ID"
