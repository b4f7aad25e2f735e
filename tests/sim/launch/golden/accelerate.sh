#!/usr/bin/env bash
# small on 4 x 2 accelerators of small, for Hugging Face accelerate, the same on every node.
# For the training script to do: sequence_length 1024, attention flash by cuDNN.
# The script is one of transformers' Trainer (run_clm.py, TRL's sft.py), which takes the flags
# behind it.
# Weights are planned in bf16: load the model so (dtype bfloat16).
set -euo pipefail
NODE_RANK="${NODE_RANK:-${PET_NODE_RANK:?this node, counted from 0}}"
MASTER_ADDR="${MASTER_ADDR:-${PET_MASTER_ADDR:?the name of the first node}}"
MASTER_PORT="${MASTER_PORT:-${PET_MASTER_PORT:-29500}}"
accelerate launch --num_machines 4 --num_processes 8 \
  --machine_rank "$NODE_RANK" --main_process_ip "$MASTER_ADDR" --main_process_port "$MASTER_PORT" \
  --use_fsdp \
  --fsdp_version 2 \
  --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP \
  --fsdp_reshard_after_forward true \
  --mixed_precision no \
  "${TRAIN_SCRIPT:?the training script}" \
  --per_device_train_batch_size 2 \
  --gradient_accumulation_steps 4 \
  --optim adamw_torch_fused \
  --gradient_checkpointing true \
  --accelerator_config '{"gradient_accumulation_kwargs": {"sync_each_batch": true}}' \
  "$@"
