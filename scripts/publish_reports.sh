#!/usr/bin/env bash
# Makes the reports of reports/published/ again, with their pictures where Chromium is installed.
# Usage: publish_reports.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
headway=$(realpath "${1:-build/release}/sim/cli/headway")
out=reports/published
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# publish NAME SCENARIO [OPTION...]: the paths of this checkout do not belong into a page.
publish() {
  local name=$1 scenario=$2
  shift 2
  "$headway" simulate "scenarios/$scenario.json" -q "$@" -o "$scratch/result.json" >/dev/null
  sed -i "s|$PWD/||g" "$scratch/result.json"
  "$headway" report "$scratch/result.json" -o "$out/$name.html"
}

publish llama3_405b_16384 llama3_405b_16384 --what-if
publish gpt3_175b_1024 gpt3_175b_1024
publish llama3_70b_fsdp_256 llama3_70b_fsdp_256
publish qwen3_235b_a22b_256 qwen3_235b_a22b_256
publish straggler_one_slow_node straggler_one_slow_node --what-if

"$headway" plan scenarios/buy_70b_90_days.json -q -o "$scratch/buy.html" >/dev/null
sed -e "s|$PWD/||g" "$scratch/buy.html" >"$out/buy_70b_90_days.html"

(cd "$scratch" && "$headway" sweep llama3_8b_64 --axis gpus=8..1024*2 \
  --axis tensor_parallel=1,2,4,8 --axis pipeline_parallel=1,2,4,8 --axis micro_batch=1,2 \
  --set /run/replicas=1 -o sweep -q >/dev/null && "$headway" report sweep -o sweep.html)
escaped=${PWD//\//%2F}
sed -e "s|$PWD/||g" -e "s|$escaped%2F||g" "$scratch/sweep.html" >"$out/scaling_llama3_8b.html"

(cd "$scratch" && "$headway" sweep who_wins_where \
  --axis '/choose/model=ResNet-50,Llama 3 8B,DLRM' \
  --axis '/choose/network=10 GbE,100 GbE,400 Gb/s InfiniBand,two sites' \
  --axis '/choose/way=DDP,FSDP,servers in step,servers asynchronous,servers bounded,DiLoCo,asynchronous DiLoCo,8-bit gradients,top-k gradients' \
  -o ways -q >/dev/null && "$headway" report ways -o ways.html)
sed -e "s|$PWD/||g" -e "s|$escaped%2F||g" "$scratch/ways.html" >"$out/who_wins_where.html"

"$headway" validate -q -o "$out/validation.html" -o "$out/validation.md" >/dev/null

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "no pictures: there is no Chromium here" >&2
  exit 0
fi
# picture FILE WIDTH HEIGHT PAGE [OPTION...]
picture() {
  local file=$1 width=$2 height=$3 page=$4
  shift 4
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=5000 \
    --host-resolver-rules="MAP * ~NOTFOUND" --window-size="$width,$height" "$@" \
    --screenshot="$PWD/$out/$file" "file://$page" >/dev/null 2>&1
}
page=$PWD/$out/llama3_405b_16384.html
picture light.png 900 1000 "$page" --blink-settings=preferredColorScheme=1
picture dark.png 900 1000 "$page" --blink-settings=preferredColorScheme=0
picture phone.png 390 1000 "$page" --blink-settings=preferredColorScheme=1
# Paper: what the page looks like under its rules for print.
sed -e 's/@media print/@media all/' -e 's/<html /<html class="printing" /' "$page" >"$scratch/print.html"
picture print.png 794 1123 "$scratch/print.html"
