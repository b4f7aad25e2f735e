#!/usr/bin/env bash
# Builds the calibrator alone, measures the GPUs of this machine and writes OUTPUT (default:
# gpu.json), in less than eight minutes altogether. Beside it, as gpu.points.json, is what was
# measured, of which `headway-calibrate --from` makes the profile again without a GPU.
#
#   scripts/calibrate_gpu.sh [OUTPUT] [option of headway-calibrate]...
#
# Needs no network, no SimGrid and no MPI and installs nothing. There must be a compiler, CMake, the
# CUDA toolkit, Boost.Program_options, nlohmann/json and fmt. Without NCCL no collective is measured,
# without cuDNN no fused attention (CUDACXX, NCCL_ROOT and CUDNN_ROOT say where to look). Settings:
#   HEADWAY_SECONDS       what building and measuring may take together (480)
#   HEADWAY_ARCHITECTURE  compute capability to build for, as 90 (that of the device here)
#   HEADWAY_CALIBRATE     a calibrator that is built already; nothing is built then
#
# Exit codes: 0 done; 2 wrong option; 3 nothing could be built or measured, or not all within the
# time: what was measured is in OUTPUT, which names the rest; 70 a bug of ours; 130 interrupted.
set -euo pipefail

end_with() {
  echo "calibrate_gpu.sh: $2" >&2
  exit "$1"
}

output=gpu.json
case ${1:-} in
-h | --help)
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
  exit 0
  ;;
-* | '') ;;
*)
  output=$1
  shift
  ;;
esac
output=$(realpath -m "$output")
points=${output%.json}.points.json
seconds=${HEADWAY_SECONDS:-480}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || end_with 2 "HEADWAY_SECONDS is '$seconds'; write whole seconds"
calibrator=${HEADWAY_CALIBRATE:-}
[ -z "$calibrator" ] || calibrator=$(realpath -m "$calibrator")
cd "$(dirname "$0")/.."

if [ -z "$calibrator" ]; then
  command -v cmake >/dev/null || end_with 3 "cmake was not found"
  build=build/gpu
  log=build/gpu.log
  mkdir -p build
  # Only this machine's architecture, and no other backend: the build is a good part of the time.
  if ! { cmake -S . -B $build -DCMAKE_BUILD_TYPE=Release -DHEADWAY_SIM=OFF -DHEADWAY_TESTS=OFF \
    -DHEADWAY_CPU=OFF -DHEADWAY_MPI=OFF -DHEADWAY_CUDA=ON \
    "-DCMAKE_CUDA_ARCHITECTURES=${HEADWAY_ARCHITECTURE:-native}" &&
    cmake --build $build --target headway-calibrate -j "$(nproc)"; } >$log 2>&1; then
    tail -n 20 $log >&2
    end_with 3 "the calibrator could not be built; the whole story is in $PWD/$log"
  fi
  calibrator=$build/calibrate/cli/headway-calibrate
  echo "calibrate_gpu.sh: built in $SECONDS s" >&2
fi
[ -x "$calibrator" ] || end_with 3 "there is no calibrator $calibrator"

# A build that took nearly all of the time leaves an eighth of it: half of a profile is worth more
# than none.
left=$((seconds - SECONDS))
least=$(((seconds + 7) / 8))
[ "$left" -ge "$least" ] || left=$least
# A profile is written anew, as another file of the same name, whenever a part is measured.
earlier=$(stat -c %i "$output" 2>/dev/null || true)
code=0
timeout --foreground --kill-after=60 "$left" \
  "$calibrator" --backend cuda --quick --block "$@" --points "$points" -o "$output" || code=$?
if [ $code -eq 124 ] || [ $code -eq 137 ]; then
  [ "$(stat -c %i "$output" 2>/dev/null || true)" != "$earlier" ] ||
    end_with 3 "time was up after $SECONDS s, before anything was measured"
  end_with 3 "time was up after $SECONDS s; $output has what was measured until then, and what is \
missing under not_measured"
fi
exit $code
