#!/usr/bin/env bash
# small on 4 x 2 accelerators of small, for Horovod.
# For the training script to do: micro_batch 2, global_batch 64, sequence_length 1024,
# gradient_precision fp32, precision bf16, attention flash.
set -euo pipefail
horovodrun -np 8 --hostfile "${HOSTFILE:?a line a node: NAME slots=2}" \
  --fusion-threshold-mb 64 \
  --cycle-time-ms 1 \
  python "${TRAIN_SCRIPT:?the training script}" "$@"
