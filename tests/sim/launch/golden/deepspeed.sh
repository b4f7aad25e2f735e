#!/usr/bin/env bash
# small on 4 x 2 accelerators of small, for DeepSpeed, the same on every node.
# For the training script to do: sequence_length 1024, attention flash.
set -euo pipefail
NODE_RANK="${NODE_RANK:-${PET_NODE_RANK:?this node, counted from 0}}"
MASTER_ADDR="${MASTER_ADDR:-${PET_MASTER_ADDR:?the name of the first node}}"
MASTER_PORT="${MASTER_PORT:-${PET_MASTER_PORT:-29500}}"

cat > headway_deepspeed.json <<'END'
{
  "train_micro_batch_size_per_gpu": 2,
  "train_batch_size": 64,
  "gradient_accumulation_steps": 4,
  "zero_optimization": {
    "stage": 2,
    "overlap_comm": false,
    "reduce_bucket_size": 500000000
  },
  "communication_data_type": "bf16",
  "bf16": {
    "enabled": true
  }
}
END

torchrun --nnodes 4 --nproc-per-node 2 \
  --node-rank "$NODE_RANK" --master-addr "$MASTER_ADDR" --master-port "$MASTER_PORT" \
  "${TRAIN_SCRIPT:?the training script}" --deepspeed --deepspeed_config headway_deepspeed.json "$@"
