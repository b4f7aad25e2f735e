#!/usr/bin/env bash
# Calibrates this machine, really trains on it, calibrates again, and shows how right the predictions
# are: 12 configurations on 2 ranks, and 8 with emulated accelerators (a straggler, jitter and
# pipelines among them) on 4 and on 8 ranks; every rank behind a link of limited rate, where the
# kernel allows it. Some minutes; leave the machine alone meanwhile.
# Usage: validate_cpu.sh [BUILD_FOLDER] [option of headway-calibrate, as --seed 2]...
# Exit code 0: every verdict is ok or inconclusive; 1: a prediction is off; 2, 3: it could not run.
set -euo pipefail
source_folder=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$source_folder/build/release}
[ $# -eq 0 ] || shift
calibrate=$build/calibrate/cli/headway-calibrate
headway=$build/sim/cli/headway
for program in "$calibrate" "$headway"; do
  [ -x "$program" ] || { echo "no $program; build first" >&2; exit 3; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
steps=$source_folder/calibrate/train

# A tiny step shows whether ranks can have links of their own here.
real_net=(--net "400 Mb/s")
emulated_net=(--net "200 Mb/s")
echo '{"schema": "headway/steps/1",
 "steps": [{"id": "tiny", "layers": 1, "width": 16, "batch": 16, "steps": 3}]}' >"$scratch/tiny.json"
if ! "$calibrate" --steps "$scratch/tiny.json" --ranks 2 "${real_net[@]}" -o "$scratch/tiny_out.json" \
  2>"$scratch/why"; then
  echo "ranks talk through this machine's memory, whose times repeat badly:" >&2
  cat "$scratch/why" >&2
  real_net=() emulated_net=()
fi

# Each calibration stands as close as it can to the steps that it brackets: other guests of the same
# host change how fast a virtual machine moves data within minutes.
calibrate_real() { # before|after OPTION...
  local when=$1
  shift
  "$calibrate" --quick --only memory --only all_reduce --only send_receive --ranks 2 \
    "${real_net[@]}" "$@" -o "$scratch/2_$when.json"
}
calibrate_real before "$@"
"$calibrate" --ranks 2 --steps "$steps/real_steps.json" "${real_net[@]}" "$@" -o "$scratch/real.json"
calibrate_real after "$@"

calibrate_emulated() { # before|after OPTION...
  local when=$1
  shift
  "$calibrate" --quick --passes 1 --only all_reduce --only send_receive --ranks 8 \
    "${emulated_net[@]}" "$@" -o "$scratch/8_$when.json"
}
calibrate_emulated before "$@"
for ranks in 4 8; do
  "$calibrate" --ranks $ranks --steps "$steps/emulated_steps.json" "${emulated_net[@]}" "$@" \
    -o "$scratch/emulated_$ranks.json"
done
calibrate_emulated after "$@"

status=0
compare() { # TITLE RANKS_OF_PROFILE MEASURED...
  local code=0 title=$1 profile=$2
  shift 2
  printf '\n%s\n' "$title"
  "$headway" validate "${@/#/--measured=}" --profile "$scratch/${profile}_before.json" \
    --profile "$scratch/${profile}_after.json" || code=$?
  [ "$code" -le 1 ] || exit "$code"
  [ "$code" -eq 0 ] || status=1
}
compare "Real compute on 2 ranks" 2 "$scratch/real.json"
compare "Emulated accelerators, 4 and 8 ranks" 8 "$scratch/emulated_4.json" "$scratch/emulated_8.json"
exit $status
