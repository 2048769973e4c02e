#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a run is the same each time, byte for byte: output of programs with times, packets, and
# the hash over all interactions. Runs are repeated beside a busy loop on each core, on one core,
# with other quanta, and on each engine.
# Usage: run.sh [-n RUNS] [-a] [-p PATTERN] HCASIM TOP
#   -n RUNS     runs of each pair on each scenario, half of them beside busy loops (default 2)
#   -a          all pairs on InfiniBand and RoCE; otherwise a few
#   -p PATTERN  only pairs that match this regular expression
runs=2
all=
pattern=.
while getopts n:ap: option; do
  case $option in
    n) runs=$OPTARG ;;
    a) all=yes ;;
    p) pattern=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
hcasim=$1
top=$2
[ -x "$hcasim" ] && [ -d "$top/scenarios" ] ||
  { echo "usage: run.sh [-n RUNS] [-a] HCASIM TOP"; exit 2; }
for program in ib_write_lat ibv_rc_pingpong ucx_perftest; do
  command -v $program >/dev/null || { echo "$program is not installed"; exit 77; }
done

folder=$(mktemp -d)
busy=()
calm() {
  for pid in "${busy[@]}"; do kill "$pid"; done 2>/dev/null
  busy=()
  wait 2>/dev/null
}
trap 'calm; rm -rf "$folder"' EXIT
hurry() { # a busy loop for each core
  local core
  for core in $(seq 0 $(($(nproc) - 1))); do
    taskset -c "$core" bash -c 'while :; do :; done' &
    busy+=($!)
  done
}

compared=0
different=0
failed=0
# once NAME HCASIM-ARGUMENTS...: runs $server and $client on $scenario, and writes the results to
# $folder/NAME.*
once() {
  local name=$1 code
  shift
  timeout -s KILL 300 $prefix "$hcasim" exec "$scenario" --verbose \
    --pcap "$folder/$name.pcapng" "$@" -- \
    host0: $server : host1: $client >"$folder/$name.out" 2>"$folder/$name.err"
  code=$?
  if [ $code -ne 0 ]; then
    echo "FAILED $label, $name $*: exit code $code"
    tail -n 5 "$folder/$name.err"
    failed=$((failed + 1))
  fi
}
# again HCASIM-ARGUMENTS...: and compares with the first run
again() {
  local part
  once again "$@"
  compared=$((compared + 1))
  for part in out err pcapng; do
    if ! cmp -s "$folder/first.$part" "$folder/again.$part"; then
      echo "DIFFERS $label ($part; $prefix $*)"
      [ $part = pcapng ] || diff "$folder/first.$part" "$folder/again.$part" | head -n 6
      different=$((different + 1))
      break
    fi
  done
}

few=(
  'ib_write_lat -F -n 500|host0'
  'ib_send_bw -F -e -n 500 -s 4096|host0'
  'ibv_ud_pingpong -g 0 -n 200|host0'
)
many=(
  'ib_write_lat -F -n 1000|host0'
  'ib_write_lat -F -a -n 20|host0'
  'ib_write_bw -F -n 500 -s 16384|host0'
  'ib_write_bw -F -b -q 8 -n 200 -s 4096|host0'
  'ib_read_bw -F -n 300 -s 8192|host0'
  'ib_send_bw -F -e -n 500 -s 4096|host0'
  'ib_send_lat -F -n 500 -c UD|host0'
  'ib_atomic_lat -F -n 500|host0'
  'ibv_rc_pingpong -g 0 -e -n 500|host0'
  'ibv_ud_pingpong -g 0 -n 500|host0'
  'ibv_srq_pingpong -g 0 -n 500|host0'
  'ucx_perftest -d mlx5_0:1 -x ud_verbs -t am_lat -n 1000 -w 10|host0'
)
scenarios=(two-hosts-ib)
pairs=("${few[@]}")
if [ -n "$all" ]; then
  scenarios=(two-hosts-ib two-hosts-roce)
  pairs=("${many[@]}")
fi

for name in "${scenarios[@]}"; do
  scenario=$top/scenarios/$name.yaml
  for pair in "${pairs[@]}"; do
    [[ $pair =~ $pattern ]] || continue
    server=${pair%|*}
    client="$server ${pair#*|}"
    label="$name: $server"
    prefix=
    once first
    for ((i = 1; i < runs; i++)); do
      [ $i -ne $(((runs + 1) / 2)) ] || hurry
      again
    done
    calm
    for engine in systemc systemc-reference; do again --engine $engine; done
    again --set session.quantum=200us
    again --set session.quantum=20ms
    prefix='taskset -c 0'
    again
    prefix="taskset -c $(($(nproc) - 1))"
    again --set session.quantum=1ms
    [ -z "$all" ] || echo "$label: $compared runs compared so far, $different differ"
  done
done
echo "$compared runs compared with the first of their kind, $different differ, $failed failed"
[ $different -eq 0 ] && [ $failed -eq 0 ]
