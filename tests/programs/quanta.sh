#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a run depends neither on real time nor on the places of addresses: on the ends of quanta,
# on the way in which the token is handed over, on the number of environment variables. UCX posts
# receives in each iteration of its loop over UD, so an additional iteration before the loop is found
# polling changes the run's hash. UCX also fills memory for longer than a quantum. Arguments: the
# hcasim program, the top of the source tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
command -v ucx_perftest >/dev/null || { echo 'ucx_perftest is not installed'; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0

latency='ucx_perftest -d mlx5_0:1 -x ud_verbs -t am_lat -n 300 -w 10'
# run QUANTUM VARIABLES HANDOFF: writes the output of a run into a file, and compares it with the first.
run() {
  local name=$1-$2-$3 variables=()
  for ((i = 0; i < $2; i++)); do variables+=("HCASIM_TEST_$i=x"); done
  env "${variables[@]}" "$hcasim" exec "$scenario" --verbose --set session.quantum=$1 \
    --set session.handoff=$3 -- host0: $latency : host1: $latency host0 >"$folder/$name" 2>&1 ||
    { echo "$name: exit code $?"; failures=1; }
  grep -q 'host1| Final: *300 ' "$folder/$name" || { cat "$folder/$name"; failures=1; }
  first=${first:-$name}
  cmp "$folder/$first" "$folder/$name" || { diff "$folder/$first" "$folder/$name"; failures=1; }
}

run 20ms 0 auto
for quantum in 100us 300us 700us; do
  run $quantum 0 auto
done
for variables in 1 4 12 500; do
  run 150us $variables auto
done
run 150us 0 spin
run 20ms 6 futex
exit $failures
