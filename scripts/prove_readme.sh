#!/usr/bin/env bash
# Does in a bare Debian what the README tells a newcomer: builds with scripts/quickstart.sh, measures that
# machine with the calibrator, installs with cmake, and types every command that the documents show. Needs
# the test of these commands, which scripts/test.sh builds.
#
# Exit codes: 0 every command gave what it should; 1 not; 3 asks for root, or something to do it with
# is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

if [ "$(id -u)" -ne 0 ]; then
  say "prove_readme.sh asks for root: it makes a system of its own"
  exit 3
fi
typist=build/release/tests/transcripts/transcripts_test
if [ ! -x "$typist" ]; then
  say "there is no $typist: scripts/test.sh builds it"
  exit 3
fi
if ! unshare -m true 2>/dev/null; then
  say "no system of its own can be made here: the README was not tried"
  exit 3
fi
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
if [ "$(df --output=avail -k "$bare" | tail -1)" -lt 4000000 ]; then
  say "less than 4 GB are free in $(dirname "$bare"): the README was not tried"
  exit 3
fi
make_bare_debian "$bare" || {
  say "No bare Debian can be made here: the README was not tried"
  exit 3
}
# The sources as they would be committed, at the same place, which the test of the commands goes by.
mkdir -p "$bare$PWD"
git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | tar -x -C "$bare$PWD"

unshare -m bash -euo pipefail -s "$bare" "$PWD" "$typist" <<'INSIDE'
bare=$1 here=$2 typist=$3
. scripts/lib_setup.sh
mount -t proc proc "$bare/proc" && mount --rbind /dev "$bare/dev" || exit 3
mount -t sysfs sysfs "$bare/sys" || true  # who measures looks there for cores, and does without
there() {
  chroot "$bare" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    bash -euo pipefail -c "cd $here && $1" </dev/null
}
start=$(date +%s)
there "scripts/quickstart.sh" >build/prove_readme.log 2>&1 || {
  tail -20 build/prove_readme.log >&2
  grep -q "^==> Building" build/prove_readme.log && exit 1
  exit 3  # what it builds with could not be had
}
say "From nothing to the first answer, compiled: $(($(date +%s) - start)) s"
say "The calibrator, on what there is"
there "build/release/calibrate/cli/headway-calibrate --backend cpu --quick --progress never -o here.json"
there "build/release/sim/cli/headway check here.json"
say "cmake --install, and the program from where it put it"
there "cmake --install build/release --prefix /usr/local >/dev/null"
there "cd / && headway simulate llama3_8b_64 -q | tail -1"
say "Every command that the documents show"
mkdir -p "$bare$here/$(dirname "$typist")" && cp "$typist" "$bare$here/$typist"
there "$typist --gtest_filter='Shown/*' --gtest_brief=1"
INSIDE
