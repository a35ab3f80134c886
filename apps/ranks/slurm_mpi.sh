#!/usr/bin/env bash
# One optimization over all tasks of a Slurm job: sbatch slurm_mpi.sh. Submitted again after it was cut off, it goes on from the
# last save, with any number of nodes.
#SBATCH --job-name=go1_jump
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=16
#SBATCH --time=01:00:00
set -euo pipefail
export PMIX_MCA_gds=hash  # so that mpirun ends if a rank is killed

go_on=(--save run)
[ -e run ] && go_on=(--resume run)
mpirun costate optimize go1_jump --environments 4096 "${go_on[@]}" --save-every 60 --out jump
