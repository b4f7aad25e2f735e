#!/usr/bin/env bash
# The check list of a release, a line for each thing that holds or does not. Hours in all.
#   release.sh [CHECK...]    all of them unless some are named
# Exit code 1 if anything does not hold; what a check said is in build/release_checks/CHECK.log.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

logs=$PWD/build/release_checks
version=$(sed -n 's/^project(headway VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

# Nothing but what is committed is built and packed.
check_clean() { [ -z "$(git status --porcelain | tee /dev/stderr)" ]; }
# The version is a new one, and the program and the package say it.
check_version() {
  [ -n "$version" ] && ! git rev-parse -q --verify "refs/tags/v$version" &&
    build/release/sim/cli/headway --version | grep -F "$version"
}
# Nothing is left to be done.
check_words() { ! git grep -nwE '[T]ODO|[F]IXME|[X]XX' -- ':!*.html'; }
check_quickstart() { bash scripts/quickstart.sh; }
check_tests() { bash scripts/test.sh --long; }
check_fuzz() { bash scripts/fuzz.sh 600; }
check_tidy() { bash scripts/tidy.sh; }
check_package() { bash scripts/package.sh --prove; }
# Published pages are what this version makes of their scenarios.
check_reports() { bash scripts/publish_reports.sh && git diff --stat --exit-code -- reports/published; }
# The README's errors are those of this version.
check_accuracy() {
  python3 tests/validation/readme_table.py build/release/sim/cli/headway &&
    git diff --stat --exit-code -- README.md
}

all=(clean words quickstart version tests fuzz tidy package reports accuracy)
[ $# -gt 0 ] || set -- "${all[@]}"
mkdir -p "$logs"
failed=no
for check in "$@"; do
  declare -F "check_$check" >/dev/null || { say "there is no check $check: ${all[*]}"; exit 2; }
  if ("check_$check") >"$logs/$check.log" 2>&1; then
    echo "holds      $check"
  else
    echo "does not   $check ($logs/$check.log)"
    failed=yes
  fi
done
[ "$failed" = no ]
