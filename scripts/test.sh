#!/usr/bin/env bash
# Builds everything and runs all tests. As root, asks the package its first question in a bare Debian
# too, and does there what the README tells a newcomer. Safe to repeat, and quick when nothing changed.
#   --long   adds the long tier: sanitizers, many more mutated dumps, more sweeps killed at random,
#            thousands of broken inputs through whole commands, every write that may fail
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

long=$(only_option --long "$@")

install_missing "${required_packages[@]}" "${test_packages[@]}" "${module_packages[@]}" \
  "${calibrator_packages[@]}"
configure release -DHEADWAY_TESTS=ON -DHEADWAY_CUDA=AUTO
build release all
ctest --preset release
if [ "$(id -u)" -eq 0 ] && [ "${HEADWAY_SKIP_INSTALL:-}" != 1 ]; then
  for proof in "package.sh --prove" prove_readme.sh; do
    bash scripts/$proof || [ $? -eq 3 ]  # 3: no other system can be made here, and it says so
  done
fi
if [ "$long" = yes ]; then
  configure sanitize -DHEADWAY_TESTS=ON
  build sanitize all
  HEADWAY_MUTATIONS=2000 ctest --preset sanitize
  HEADWAY_KILL_TRIALS=500 build/release/tests/sim/sweep_test --gtest_filter='KillTrials*'
  HEADWAY_ROAD_INPUTS=10000 HEADWAY_PHYSICS_JOBS=10000 HEADWAY_READER_INPUTS=10000 HEADWAY_DETERMINISM=200 \
    HEADWAY_OTHER_PROGRAM=$PWD/build/sanitize/sim/cli/headway build/release/tests/fuzz/fuzz_test
  HEADWAY_FAULT_STEP=1 build/release/tests/faults/faults_test
fi
