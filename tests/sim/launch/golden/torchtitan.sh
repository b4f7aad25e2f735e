#!/usr/bin/env bash
# Llama 3 70B on 32 x 8 accelerators of dgx-h100-superpod, for torchtitan, the same on every node.
# torchtitan takes its model by name: add [model] name and flavor, or pass them.
set -euo pipefail
NODE_RANK="${NODE_RANK:-${PET_NODE_RANK:?this node, counted from 0}}"
MASTER_ADDR="${MASTER_ADDR:-${PET_MASTER_ADDR:?the name of the first node}}"
MASTER_PORT="${MASTER_PORT:-${PET_MASTER_PORT:-29500}}"

cat > headway.toml <<'END'
[training]
local_batch_size = 1
global_batch_size = 512
seq_len = 8192
mixed_precision_reduce = "float32"
mixed_precision_param = "bfloat16"

[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = 256
fsdp_reshard_after_forward = "always"

[compile]
enable = true

[activation_checkpoint]
mode = "full"
END

torchrun --nnodes 32 --nproc-per-node 8 \
  --node-rank "$NODE_RANK" --master-addr "$MASTER_ADDR" --master-port "$MASTER_PORT" \
  -m torchtitan.train --job.config_file headway.toml "$@"
