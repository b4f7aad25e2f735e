#!/usr/bin/env bash
# Builds Headway and its calibrator, and predicts the training of Llama 3 405B on 16,384 GPUs. Safe to repeat.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

install_missing "${required_packages[@]}" "${calibrator_packages[@]}"
# What GPUs need, calibrate_gpu.sh builds where there are any, for them alone.
configure release -DHEADWAY_CUDA=OFF
build release headway headway_completion headway-calibrate

folder=headway-first-report
mkdir -p "$folder"
say "Simulating scenarios/llama3_405b_16384.json"
build/release/sim/cli/headway simulate scenarios/llama3_405b_16384.json \
  -o "$folder/llama3_405b.html" -o "$folder/llama3_405b.json" --trace "$folder/llama3_405b.trace.json"

cat <<TEXT

Written:
  $folder/llama3_405b.html         the report, for any browser
  $folder/llama3_405b.json         the same, for programs
  $folder/llama3_405b.trace.json   one iteration, for ui.perfetto.dev
Next: build/release/sim/cli/headway --help
TEXT
