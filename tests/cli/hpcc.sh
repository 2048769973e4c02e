#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that HPCC uses telemetry of its data path only, and counters of one port at a time. A flow
# whose ACKs cross a crowded link keeps its own idle link, with adapters of either fidelity. With
# each of the eight balancers, and when a link fails, all flows end. Flows end sooner with
# per-packet balancing than with hashes. Three engines and two threads give the same bytes.
# Arguments: the hcasim
# program, the top of the source tree.
hcasim=$1
source=$2
. "$(dirname "$0")/../support/script.sh"

# ---- congestion on the path of ACKs ----
# Host 0 sends 10 MB to host 1. Hosts 2 and 3 fill the link
# to host 0, which the ACKs use. The flow takes less than 3 % longer than alone.
echo 0,0,1,10000000 >"$folder/alone.csv"
cat >"$folder/reverse.csv" <<'CSV'
0,0,1,10000000
0,2,0,10000000
0,3,0,10000000
CSV
cat >"$folder/endpoint.yaml" <<'YAML'
seed: 1
hosts: {count: 4, hca: {fidelity: endpoint, congestion: hpcc-paper, base_rtt: 6us}}
fabric:
  link_layer: roce
  topology: single-switch
  switch: {telemetry: true, buffer: {size: 32MiB}}
  link: {rate: 100Gbps, length: 200m}
workload: {pattern: trace, trace: reverse.csv}
YAML
sed 's/{fidelity: endpoint.*6us}/{preset: connectx5-100gbe, congestion: hpcc-paper, notification: {base_rtt: 8us}}/' "$folder/endpoint.yaml" >"$folder/detailed.yaml"
# first FIDELITY TRACE: time of the first flow
first() {
  "$hcasim" run "$folder/$1.yaml" --set "workload.trace=$2.csv" --out "$folder/$1-$2" >"$folder/log" 2>&1 || fail "$1, $2: $(cat "$folder/log")"
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "fct_us") place = i } NR == 2 { print $place }' "$folder/$1-$2/flows.csv"
}
for fidelity in endpoint detailed; do
  alone=$(first $fidelity alone)
  beside=$(first $fidelity reverse)
  awk -v alone="$alone" -v beside="$beside" 'BEGIN { exit !(alone > 850 && beside < 1.03 * alone) }' ||
    fail "$fidelity: a flow with a link of its own takes $beside us, alone $alone"
done

# ---- other paths ----
study=$source/scenarios/studies/balancers.yaml
hpcc=(--set hosts.hca.congestion=hpcc-paper --set fabric.switch.telemetry=true --set 'expect=[{metric: flows_failed, equals: 0}]' --set run.until=20ms)
# slowdown FOLDER, sweep FOLDER OPTION...: mean slowdown by balance
slowdown() {
  awk -F, -v balance="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i }
    NR > 1 && $place["fabric.switch.balance"] == balance { print $place["flows"] == $place["flows_done"] ? $place["slowdown_mean"] : "unfinished" }' "$folder/$1/results.csv"
}
sweep() {
  local name=$1
  shift
  "$hcasim" sweep "$study" "${hpcc[@]}" "$@" -j 2 --out "$folder/$name" >/dev/null 2>"$folder/log" || fail "$name: $(cat "$folder/log")"
}
# no_more FOLDER BALANCE LIMIT
no_more() {
  local found
  found=$(slowdown "$1" "$2")
  awk -v found="$found" -v limit="$3" 'BEGIN { exit !(found + 0 > 1 && found + 0 <= limit) }' || fail "$1: slowdown of $2 is $found, not up to $3"
}
sweep paths --set workload.arrivals_until=1ms
for balance in spray adaptive drill; do
  no_more paths $balance 1.25
done
for balance in destination ecmp letflow conweave; do
  no_more paths $balance 1.4
done
no_more paths conga 1.5 # 50 B in each packet between two leaves
sweep failure --set workload.arrivals_until=1ms --set 'faults=[{from: spine0, to: leaf1, link_down: {begin: 300us, lasts: 300us}}]'
for balance in destination ecmp letflow conga conweave drill adaptive spray; do
  no_more failure $balance 4
done

# ---- the same every time ----
short=(--set workload.arrivals_until=200us --set fabric.switch.balance=spray)
for run in native systemc systemc-reference two; do
  option=(--engine "$run")
  [ $run = two ] && option=(--threads 2)
  "$hcasim" run "$study" "${hpcc[@]}" "${short[@]}" "${option[@]}" --out "$folder/$run" >"$folder/log" 2>&1 || fail "$run: $(cat "$folder/log")"
  diff -r "$folder/native" "$folder/$run" >/dev/null || fail "$run differs from native"
done
[ $failures -eq 0 ]
