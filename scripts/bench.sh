#!/usr/bin/env bash
# Times what planners do (simulate at many sizes, what-if, plan, validate) on one core and prints a table.
# Builds first what is missing. Run it on a quiet machine; nothing passes or fails.
#   --json FILE   the same as JSON
#   --only WORD   the rows whose name holds the word
#   --repeat N    the least of N runs each (1)
#   --brute       instead, as the first word: every strategy of small problems simulated, on twice as
#                 many accelerators as the test has, and whether the plan of each missed the best
#   --peers DIR   instead, as the first words: the same work by the other simulators that DIR holds
#                 (calculon, astra-sim; tests/bench/peers.py says as what), and ratios
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

install_missing "${required_packages[@]}" python3
if [ ! -f build/release/build.ninja ]; then configure release; fi
if [ "${1-}" = --brute ]; then
  build release plan_test
  exec python3 tests/bench/bench.py build/release/tests/sim/plan_test "$@"
fi
build release headway
if [ "${1-}" = --peers ]; then
  shift
  exec python3 tests/bench/peers.py build/release/sim/cli/headway "$@"
fi
exec python3 tests/bench/bench.py build/release/sim/cli/headway "$@"
