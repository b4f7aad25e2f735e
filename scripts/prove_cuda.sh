#!/usr/bin/env bash
# Configures and builds the calibrator with a CUDA toolkit that is not installed here: that of another
# Debian release, CUDA 12.4 of trixie. Its packages (1.2 GB) stand over /usr in a mount namespace of their
# own, whatever is under /usr/local is hidden, and nothing of this machine changes.
#   scripts/prove_cuda.sh [FOLDER]   where packages and build stay for the next time (build/prove_cuda)
#
# Exit codes: 0 built, and the program says what it lacks: a device; 1 not; 3 asks for root, or apt has
# no such packages.
set -euo pipefail
cd "$(dirname "$0")/.."

release=trixie
packages=(nvidia-cuda-toolkit nvidia-cuda-dev libcudart12 libcublaslt12 libnvvm4 libcu++-dev)
folder=$(realpath -m "${1:-build/prove_cuda}")

if [ "$(id -u)" -ne 0 ]; then
  echo "prove_cuda.sh asks for root: it mounts another /usr for itself alone" >&2
  exit 3
fi
mkdir -p "$folder"/{lists/partial,cache/archives/partial,packages,toolkit,upper,work}
# The mirror of this machine.
read -r mirror < <(apt-get indextargets --format '$(SITE)' "Created-By: Packages" | head -1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main non-free" \
  >"$folder/sources.list"
apt=(-o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o Dir::Etc::sourceparts=-
  -o "Dir::Etc::sourcelist=$folder/sources.list")
if ! (apt-get "${apt[@]}" update && cd "$folder/packages" && apt-get "${apt[@]}" download "${packages[@]}") \
  >"$folder/apt.log" 2>&1; then
  echo "prove_cuda.sh: no CUDA of Debian $release can be had: see $folder/apt.log" >&2
  exit 3
fi
for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder/toolkit"; done
nvcc=$folder/toolkit/usr/lib/nvidia-cuda-toolkit/bin
rm -f "$nvcc/nvcc.profile"  # a link into /etc
cp "$folder/toolkit/etc/nvcc.profile" "$nvcc"

exec unshare -m bash -euo pipefail -s "$folder" <<'INSIDE'
folder=$1
mount -t overlay overlay -o "lowerdir=$folder/toolkit/usr:/usr,upperdir=$folder/upper,workdir=$folder/work" /usr
mount -t tmpfs none /usr/local
export PATH=/usr/bin:/bin
unset CUDACXX CUDA_PATH
nvcc --version | tail -1
rm -rf "$folder/build"
cmake -S . -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEADWAY_CUDA=ON -DHEADWAY_WERROR=ON \
  -DHEADWAY_SIM=OFF -DHEADWAY_TESTS=OFF | grep -E "CUDA:|Configuring done"
ninja -C "$folder/build" headway-calibrate | tail -1
status=0
said=$("$folder/build/calibrate/cli/headway-calibrate" --backend cuda -o /dev/null 2>&1) || status=$?
echo "$said"
[[ $status -eq 3 && $said == *"no CUDA device can be used"* ]]
INSIDE
