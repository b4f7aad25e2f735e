#!/usr/bin/env bash
GPUS=2
NODES=${NODES:-2}
TP=2
MODEL=(
  --num-layers 4 --hidden-size 1024 --num-attention-heads 16
  --seq-length 1024 --swiglu --normalization RMSNorm --position-embedding-type rope
)
TRAINING="--micro-batch-size 2 --global-batch-size $((GPUS * NODES * 4)) --lr 1e-4 --bf16"
torchrun --nproc_per_node $GPUS --nnodes $NODES pretrain_gpt.py "${MODEL[@]}" $TRAINING \
  --tensor-model-parallel-size $TP --use-distributed-optimizer --use-newest-feature "$@"
