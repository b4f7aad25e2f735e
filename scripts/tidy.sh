#!/usr/bin/env bash
# Lets clang-tidy look at sources: bugprone, cert, the static analyzer, performance; .clang-tidy says
# what is left out and why. Hours for everything on two cores, seconds for a file.
#   tidy.sh [REGEX]      sources whose path it matches; all of sim and reports unless it is given
# Exit code 1 if there is something to mend.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

install_missing "${required_packages[@]}" "${fuzz_packages[@]}" "${tidy_packages[@]}"
# Every source by itself, as clang understands it, and nothing is compiled.
say "Configuring (tidy)"
cmake --preset fuzz -B build/tidy -DHEADWAY_UNITY=OFF -DHEADWAY_TESTS=OFF >build/tidy.log 2>&1 || {
  cat build/tidy.log >&2
  exit 3
}
run-clang-tidy-19 -quiet -p build/tidy -j "$(nproc)" "$PWD/(?=sim/|reports/).*${1:-}" >build/tidy.log 2>&1 || {
  grep -E '(warning|error): ' build/tidy.log | sort -u
  say "the whole story is in build/tidy.log"
  exit 1
}
say "$(grep -c clang-tidy-19 build/tidy.log || true) sources, nothing to mend"
