#!/usr/bin/env bash
# Llama 3 8B on 8 x 8 accelerators of dgx-h100-and-a100, for Megatron-LM, the same on every node.
# What is no matter of speed is for the command line: --train-iters 100 --lr 1e-4.
# Nodes are of several kinds: node ranks have to be in the topology's order.
set -euo pipefail
NODE_RANK="${NODE_RANK:-${PET_NODE_RANK:?this node, counted from 0}}"
MASTER_ADDR="${MASTER_ADDR:-${PET_MASTER_ADDR:?the name of the first node}}"
MASTER_PORT="${MASTER_PORT:-${PET_MASTER_PORT:-29500}}"
export CUDA_DEVICE_MAX_CONNECTIONS=1

torchrun --nnodes 8 --nproc-per-node 8 \
  --node-rank "$NODE_RANK" --master-addr "$MASTER_ADDR" --master-port "$MASTER_PORT" \
  pretrain_gpt.py \
  --num-layers 32 \
  --hidden-size 4096 \
  --num-attention-heads 32 \
  --group-query-attention \
  --num-query-groups 8 \
  --kv-channels 128 \
  --ffn-hidden-size 14336 \
  --swiglu \
  --normalization RMSNorm \
  --position-embedding-type rope \
  --untie-embeddings-and-output-weights \
  --disable-bias-linear \
  --tokenizer-type NullTokenizer \
  --vocab-size 128256 \
  --mock-data \
  --tensor-model-parallel-size 2 \
  --sequence-parallel \
  --pipeline-model-parallel-size 2 \
  --pipeline-model-parallel-layout "Et*24|t*8L" \
  --no-overlap-p2p-communication \
  --micro-batch-size 1 \
  --global-batch-size 512 \
  --seq-length 8192 \
  --max-position-embeddings 8192 \
  --use-distributed-optimizer \
  --overlap-grad-reduce \
  --overlap-param-gather \
  --ddp-bucket-size 40000000 \
  --bf16 \
  --attention-backend fused \
  "$@"
