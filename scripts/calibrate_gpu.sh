#!/usr/bin/env bash
# Builds the calibrator alone, measures the GPUs of this machine and writes OUTPUT (default:
# gpu.json); planned for less than eight minutes, which no GPU has shown yet. Needs no SimGrid and installs nothing: a compiler, CMake, the
# CUDA toolkit, NCCL, Boost.Program_options, nlohmann/json and fmt must be there (NCCL_ROOT and
# CUDACXX say where). Usage: calibrate_gpu.sh [OUTPUT] [option of headway-calibrate]...
# Exit code 3: no toolkit, no device, or the measurement ended early (what was measured is kept).
set -euo pipefail
cd "$(dirname "$0")/.."
output=$(realpath -m "${1:-gpu.json}")
[ $# -eq 0 ] || shift
build=build/gpu
mkdir -p build
log=build/gpu.log
# Only this machine's architecture: the build is a good part of the time.
if ! { cmake -S . -B $build -DCMAKE_BUILD_TYPE=Release -DHEADWAY_SIM=OFF -DHEADWAY_TESTS=OFF \
  -DHEADWAY_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=${HEADWAY_ARCHITECTURE:-native}" &&
  cmake --build $build --target headway-calibrate -j "$(nproc)"; } >$log 2>&1; then
  tail -n 20 $log >&2
  exit 3
fi
exec $build/calibrate/cli/headway-calibrate --backend cuda --quick --block "$@" -o "$output"
