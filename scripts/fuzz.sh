#!/usr/bin/env bash
# Gives every reader anything for a while, under libFuzzer and the sanitizers, and prints what came
# of it. What ended badly stays in build/fuzz/readers/found; the corpus grows from run to run.
#   fuzz.sh [SECONDS [READER...]]      60 s for each reader unless it is said
# Exit code 1 if anything crashed, took more than 10 s or more than 2 GiB.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { say "SECONDS is a whole number, not $seconds"; exit 2; }
shift $(($# > 0 ? 1 : 0))

install_missing "${required_packages[@]}" "${test_packages[@]}" "${fuzz_packages[@]}"
configure release
build release headway  # some texts to begin with are made by it
configure fuzz -DHEADWAY_TESTS=ON
build fuzz reader_fuzzer
fuzzer=$PWD/build/fuzz/tests/fuzz/reader_fuzzer
program=$PWD/build/release/sim/cli/headway
work=$PWD/build/fuzz/readers
mkdir -p "$work"
"$fuzzer" --dictionary >"$work/dictionary"
mapfile -t known < <("$fuzzer" --readers)
[ $# -gt 0 ] || set -- "${known[@]}"

# road_texts: scenarios of all families, small ones.
road_texts() {
  rm -rf "$work/road" && mkdir "$work/road"
  "$fuzzer" --road | (cd "$work/road" && split -t '\0' -l 1 -a 3 --filter='tr -d "\0" >$FILE' - road_)
  ls "$work/road"/*
}
# seeds READER: what ships, what is made from it, and what once ended badly.
seeds() {
  case $1 in
  # Most of what ships of an accelerator is read again for each text that names it.
  scenario)
    grep -lE '"(candidates|alternatives)"' scenarios/*.json
    road_texts
    ;;
  model) ls scenarios/models/*.json ;;
  topology) find topologies -name '*.json' ;;
  profile) ls tests/transcripts/files/tiny_profile.json ;;
  ibnetdiscover) find tests/samples/infiniband -name 'ibnetdiscover*.txt' ;;
  lldp) ls tests/samples/lldp/*.json ;;
  road) road_texts ;;
  result)
    "$program" simulate llama3_8b_64 --set /run/replicas=1 --json >"$work/result.json"
    echo "$work/result.json"
    ;;
  store)
    rm -rf "$work/store"
    "$program" sweep llama3_8b_64 --axis micro_batch=1,3 --set /run/replicas=1 -q -o "$work/store" >/dev/null
    echo "$work/store/sweep.db"
    ;;
  esac
  ls tests/fuzz/seeds/"$1"_* tests/fuzz/regressions/readers/"$1"_* 2>/dev/null || true
}

# What a text becomes a file in belongs in memory: folders on a disk are removed slower than read.
scratch=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "$work")")
trap 'rm -rf "$scratch"' EXIT
# ended KIND: how many texts of the reader ended so.
ended() { find "$found" -newer "$work/begun" -name "$1-*" | wc -l; }

row='%-14s %12s %9s %8s %8s %8s\n'
table=$(printf "$row" reader executions edges crashed slow large)
ended_badly=no
for reader in "$@"; do
  corpus=$work/corpus/$reader found=$work/found/$reader log=$work/$reader.log
  mkdir -p "$corpus" "$found"
  while read -r file; do
    cp "$file" "$corpus/$(echo "$file" | tr / _)"
  done < <(seeds "$reader")
  say "$reader: $(ls "$corpus" | wc -l) texts to begin with, $seconds s"
  : >"$log"
  : >"$work/begun"
  # One process as long as nothing ends badly: starting others, following comparisons and telling
  # the names of functions took more than half of the time.
  end=$((SECONDS + seconds))
  while [ "$SECONDS" -lt "$end" ]; do
    TMPDIR=$scratch HEADWAY_READER=$reader "$fuzzer" "$corpus" -max_total_time=$((end - SECONDS)) \
      -max_len=65536 -timeout=10 -rss_limit_mb=2048 -use_cmp=0 -reload=0 -print_funcs=0 \
      -print_final_stats=1 -dict="$work/dictionary" -artifact_prefix="$found/" >>"$log" 2>&1 </dev/null || true
    grep -q '^#[1-9]' "$log" || break
  done
  edges=$(grep -oE '^#[0-9]+.* cov: [0-9]+' "$log" | tail -1 | grep -oE '[0-9]+$' || true)
  if [ -z "$edges" ]; then
    tail -5 "$log" >&2
    say "$reader did not run; the whole story is in $log"
    exit 3
  fi
  executions=$(awk '/^stat::number_of_executed_units/ { sum += $2 } END { print sum }' "$log")
  large=$(ended oom) slow=$(ended timeout) crashed=$(($(ended crash) + $(ended leak)))
  [ $((large + slow + crashed)) -eq 0 ] || ended_badly=yes
  table+=$'\n'$(printf "$row" "$reader" "$executions" "$edges" "$crashed" "$slow" "$large")
done
printf '%s\n' "$table"
[ "$ended_badly" = no ] || { say "what ended badly is in $work/found"; exit 1; }
