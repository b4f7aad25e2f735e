#!/usr/bin/env bash
# Calibrates this machine, really trains on it, calibrates again, and shows how right the predictions
# are: 12 networks on 2 ranks, and 6 with emulated accelerators (a straggler and jitter among them) on
# 4 and on 8 ranks. Usage: validate_cpu.sh [BUILD_FOLDER] [option of headway-calibrate, as --seed 2]...
# Exit code 0: every verdict is ok or inconclusive; 1: a prediction is off; 2, 3: it could not run.
set -euo pipefail
source_folder=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$source_folder/build}
[ $# -eq 0 ] || shift
calibrate=$build/calibrate/cli/headway-calibrate
[ -x "$calibrate" ] || { echo "no $calibrate; build first" >&2; exit 3; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
steps=$source_folder/calibrate/train

calibrate_all() { # before|after OPTION...
  local when=$1
  shift
  for ranks in 2 8; do "$calibrate" --quick --ranks $ranks "$@" -o "$scratch/${ranks}_$when.json"; done
}

calibrate_all before "$@"
"$calibrate" --ranks 2 --steps "$steps/real_steps.json" "$@" -o "$scratch/real.json"
for ranks in 4 8; do
  "$calibrate" --ranks $ranks --steps "$steps/emulated_steps.json" "$@" -o "$scratch/emulated_$ranks.json"
done
calibrate_all after "$@"

status=0
compare() { # TITLE MEASURED RANKS_OF_PROFILE
  local code=0
  printf '\n%s\n' "$1"
  "$calibrate" --measured "$scratch/$2.json" --against "$scratch/$3_before.json" \
    --against "$scratch/$3_after.json" || code=$?
  [ "$code" -le 1 ] || exit "$code"
  [ "$code" -eq 0 ] || status=1
}
compare "Real compute, 2 ranks" real 2
compare "Emulated accelerators, 4 ranks" emulated_4 8
compare "Emulated accelerators, 8 ranks" emulated_8 8
exit $status
