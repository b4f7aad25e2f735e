#!/usr/bin/env bash
# Lets clang-tidy look at sources: bugprone, cert, the static analyzer, performance; .clang-tidy says
# what is left out and why. Sources are looked at many at once, as they are compiled, so that what
# they include is read once.
#   tidy.sh [REGEX]      sources whose path it matches, and what is compiled with them; all unless given
# Exit code 1 if there is something to mend.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

install_missing "${required_packages[@]}" "${calibrator_packages[@]}" "${fuzz_packages[@]}" "${tidy_packages[@]}"
# As clang understands them, and nothing is compiled.
say "Configuring (tidy)"
cmake --preset fuzz -B build/tidy -DHEADWAY_FUZZ=OFF -DHEADWAY_SANITIZE=OFF -DHEADWAY_TESTS=OFF \
  -DHEADWAY_MPI=AUTO -DHEADWAY_CPU=AUTO >build/tidy.log 2>&1 || {
  cat build/tidy.log >&2
  exit 3
}
# compiled REGEX: what the compiler is given, of which the path or that of a source in it matches.
compiled() {
  sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' build/tidy/compile_commands.json | sort -u |
    while read -r file; do
      { echo "$file" && sed -n "s|^#include \"\(.*\)\"$|\1|p" "$file"; } |
        grep -E "^$PWD/(sim|reports|calibrate|kernels)/" | grep -qE -- "$1" && echo "$file" || true
    done
}
mapfile -t files < <(compiled "${1:-}")
[ ${#files[@]} -gt 0 ] || { say "no source matches $1"; exit 2; }
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy-19 --quiet -p build/tidy >build/tidy.log 2>&1 || {
  grep -E '(warning|error): ' build/tidy.log | sort -u
  say "the whole story is in build/tidy.log"
  exit 1
}
say "${#files[@]} compilations, nothing to mend"
