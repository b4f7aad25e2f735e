#!/usr/bin/env bash
# Types the README's commands for calibration in a bare Debian that has this machine's CUDA toolkit and
# nothing else of it, on devices that are not there: one, then eight; then predicts every scenario that
# ships from the profiles that these gave. Before, scripts/calibrate_gpu.sh builds the calibrator for a
# real device there, and says that there is none.
#   scripts/prove_calibration.sh [FOLDER]   where that Debian stays for the next time (build/prove_calibration)
#
# Where CCACHE_DIR names a compiler's cache, what is compiled there comes from it.
#
# Exit codes: 0 every command gave what it should; 1 not; 3 asks for root, or something to do it with
# is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

bare=$(realpath -m "${1:-build/prove_calibration}")
if [ "$(id -u)" -ne 0 ]; then
  say "prove_calibration.sh asks for root: it makes a system of its own"
  exit 3
fi
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [ -z "$nvcc" ]; then
  say "no CUDA toolkit was found: put nvcc on the path"
  exit 3
fi
toolkit=$(dirname "$(dirname "$(realpath "$nvcc")")")
mkdir -p build
[ -x "$bare/usr/bin/apt-get" ] || make_bare_debian "$bare"
# The sources as they are committed, at the same place, which a compiler's cache goes by.
rm -rf "$bare$PWD" && mkdir -p "$bare$PWD" && git archive HEAD | tar -x -C "$bare$PWD"

exec unshare -m bash -euo pipefail -s "$bare" "$toolkit" "$PWD" <<'INSIDE'
bare=$1 toolkit=$2 here=$3
. scripts/lib_setup.sh
mount -t proc proc "$bare/proc"
mount --rbind /dev "$bare/dev"
mkdir -p "$bare$toolkit" && mount --bind -o ro "$toolkit" "$bare$toolkit"
[ "$toolkit" = /usr/local/cuda ] || ln -sfn "$toolkit" "$bare/usr/local/cuda"
packages=("${required_packages[@]}" "${test_packages[@]}")
settings=(PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive)
if [ -n "${CCACHE_DIR:-}" ]; then
  mkdir -p "$bare/var/cache/ccache" && mount --bind "$CCACHE_DIR" "$bare/var/cache/ccache"
  packages+=(ccache)
  settings+=(CCACHE_DIR=/var/cache/ccache CMAKE_{CXX,CUDA}_COMPILER_LAUNCHER=ccache)
fi
there() { chroot "$bare" env -i "${settings[@]}" bash -euo pipefail -c "cd $here && $1" </dev/null; }

say "Installing what the build needs"
there "apt-get update -qq && apt-get install -y -qq --no-install-recommends ${packages[*]}" >build/prove_install.log 2>&1 || {
  tail -5 build/prove_install.log >&2
  exit 3
}
say "scripts/calibrate_gpu.sh, on a machine without a GPU"
status=0
said=$(there "HEADWAY_ARCHITECTURE=90 HEADWAY_SECONDS=3600 scripts/calibrate_gpu.sh gpu.json" 2>&1) || status=$?
echo "$said"
[[ $status -eq 3 && $said == *"no CUDA device can be used"* ]] || exit 1
say "The README's commands on one device and on eight that are not there, and every scenario"
there "cmake --preset release -DHEADWAY_CUDA=OFF >/dev/null && cmake --build --preset release --target calibrate_readme_test | tail -1"
there build/release/tests/calibrate/readme/calibrate_readme_test
INSIDE
