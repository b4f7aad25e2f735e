#!/usr/bin/env bash
# Qwen3 235B-A22B on 32 x 8 accelerators of dgx-h100-superpod, for Megatron-LM, the same on every
# node.
# What is no matter of speed is for the command line: --train-iters 100 --lr 1e-4.
set -euo pipefail
NODE_RANK="${NODE_RANK:-${PET_NODE_RANK:?this node, counted from 0}}"
MASTER_ADDR="${MASTER_ADDR:-${PET_MASTER_ADDR:?the name of the first node}}"
MASTER_PORT="${MASTER_PORT:-${PET_MASTER_PORT:-29500}}"

torchrun --nnodes 32 --nproc-per-node 8 \
  --node-rank "$NODE_RANK" --master-addr "$MASTER_ADDR" --master-port "$MASTER_PORT" \
  pretrain_gpt.py \
  --num-layers 94 \
  --hidden-size 4096 \
  --num-attention-heads 64 \
  --group-query-attention \
  --num-query-groups 4 \
  --kv-channels 128 \
  --ffn-hidden-size 12288 \
  --swiglu \
  --normalization RMSNorm \
  --position-embedding-type rope \
  --untie-embeddings-and-output-weights \
  --disable-bias-linear \
  --tokenizer-type NullTokenizer \
  --vocab-size 151936 \
  --num-experts 128 \
  --moe-router-topk 8 \
  --moe-ffn-hidden-size 1536 \
  --moe-grouped-gemm \
  --qk-layernorm \
  --mock-data \
  --tensor-model-parallel-size 2 \
  --sequence-parallel \
  --pipeline-model-parallel-size 8 \
  --num-virtual-stages-per-pipeline-rank 4 \
  --account-for-embedding-in-pipeline-split \
  --account-for-loss-in-pipeline-split \
  --expert-model-parallel-size 32 \
  --expert-tensor-parallel-size 1 \
  --moe-token-dispatcher-type flex \
  --moe-enable-deepep \
  --overlap-moe-expert-parallel-comm \
  --micro-batch-size 1 \
  --global-batch-size 8192 \
  --seq-length 4096 \
  --max-position-embeddings 4096 \
  --use-distributed-optimizer \
  --overlap-grad-reduce \
  --overlap-param-gather \
  --ddp-bucket-size 80000000 \
  --grad-reduce-in-bf16 \
  --bf16 \
  --fp8-format hybrid \
  --fp8-recipe tensorwise \
  --attention-backend fused \
  "$@"
