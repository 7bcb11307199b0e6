#!/bin/sh
# Starts one process for each GPU of this pod; the pods of a job find each other at its first one.
# NODES: pods of the job. GPUS: of each. RANK: this pod's index. MEETING: address of the first.
set -u
exec torchrun --nnodes="$NODES" --nproc-per-node="$GPUS" --node-rank="$RANK" \
    --master-addr="$MEETING" --master-port=29500 "$(dirname "$0")/all_reduce.py"
