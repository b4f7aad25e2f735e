#!/usr/bin/env bash
# Measures which lines and branches the tests go through, and prints a table by folder. Branches that
# only exceptions take are not counted: the compiler makes one of nearly every call.
#   coverage.sh [PROGRAM...]    test programs, such as base_test; all tests unless some are given
# The table is also in build/coverage/table.md, the files behind it in build/coverage/files.csv.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

install_missing "${required_packages[@]}" "${test_packages[@]}" "${calibrator_packages[@]}" \
  "${coverage_packages[@]}"
configure coverage -DHEADWAY_TESTS=ON
build coverage "${@:-all}"
find build/coverage -name '*.gcda' -delete
say "Running tests"
failed=no
if [ $# -eq 0 ]; then
  ctest --preset coverage >build/coverage/tests.log 2>&1 || failed=yes
else
  for program in "$@"; do
    "$(find build/coverage/tests -name "$program" -type f)" || failed=yes
  done >build/coverage/tests.log 2>&1
fi
say "Counting"
# Without its assertions: gcovr 5.2 stops at a function that two sources have at different lines, as
# those made of macros are.
/usr/bin/python3 -O "$(command -v gcovr)" --root . --object-directory build/coverage --filter '(sim|reports|calibrate|kernels)/' \
  --exclude-throw-branches --exclude-unreachable-branches --gcov-ignore-parse-errors \
  --csv build/coverage/files.csv build/coverage >build/coverage/gcovr.log 2>&1
awk -F, -v all="all but calibrate/cuda" '
  function add(room) {
    lines[room] += $column["line_total"]; lines_met[room] += $column["line_covered"]
    ways[room] += $column["branch_total"]; ways_met[room] += $column["branch_covered"]
  }
  function share(met, of) { return of > 0 ? sprintf("%.1f", 100 * met / of) : "" }
  NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
  {
    n = split($column["filename"], part, "/")
    room = n > 2 ? part[1] "/" part[2] : part[1]
    add(room)
    if (room != "calibrate/cuda") add(all)
  }
  END {
    print "| folder | lines | met, % | branches | met, % |"
    print "|---|---:|---:|---:|---:|"
    for (room in lines) {
      line = sprintf("| %s | %d | %s | %d | %s |", room, lines[room], share(lines_met[room], lines[room]),
                     ways[room], share(ways_met[room], ways[room]))
      if (room == all) last = line; else print line | "sort"
    }
    close("sort")
    print last
  }' build/coverage/files.csv | tee build/coverage/table.md
[ "$failed" = no ] || { say "tests failed: build/coverage/tests.log"; exit 1; }
