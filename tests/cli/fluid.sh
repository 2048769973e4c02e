#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim fluid` runs a study with packets and solves the fluid model with the same
# numbers. Queues agree with D-01 and D-04. The model with marks at egress swings where packets
# swing. A table has both over time, with the same bytes twice. Cases that the models do not cover
# are reported. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
source=$2
. "$(dirname "$0")/../support/script.sh"

# near NAME COLUMN LEAST MOST [deviation]: of the line `queue, KB`, or of the one below it
near() {
  awk -v line="${5:-queue}," -v column="$2" -v least="$3" -v most="$4" '$1 == line { exit !($column >= least && $column <= most) }' "$folder/$1" ||
    fail "$1: expected $3 to $4 in column $2: $(cat "$folder/$1")"
}

study=$source/scenarios/studies/dcqcn-fixed-point.yaml
for run in dcqcn again; do
  "$hcasim" fluid "$study" --out "$folder/$run-out" >"$folder/$run" 2>&1 || fail "$run: $(cat "$folder/$run")"
done
near dcqcn 4 121 125 # the fluid model of D-01
near dcqcn 3 98 148  # packets, within 20 % of it
near dcqcn 5 121 125 # marks at egress change nothing there
cmp "$folder/dcqcn" "$folder/again" && cmp "$folder/dcqcn-out/fluid.csv" "$folder/again-out/fluid.csv" || fail "two runs differ"
[ "$(wc -l <"$folder/dcqcn-out/fluid.csv")" -gt 1000 ] || fail "fluid.csv is short"
[ -s "$folder/dcqcn-out/fluid.gp" ] || fail "there is no fluid.gp"

# 64 flows with 85 us in the loop: the published model is stable, the model with marks at egress
# swings as packets do
"$hcasim" fluid "$study" --set hosts.count=65 --set fabric.switch.ecn.kmax=2000KB --set fabric.switch.ecn.pmax=10% --set fabric.link.length=4250m \
  --set fabric.switch.queueing=arrival >"$folder/far" 2>&1 || fail "far: $(cat "$folder/far")"
near far 3 930 1130
near far 3 800 1000 deviation
near far 4 1172 1196
near far 4 0 5 deviation
near far 5 930 1130
near far 5 800 1000 deviation

cat >"$folder/timely.yaml" <<'EOF'
hosts: {count: 3, hca: {fidelity: endpoint, congestion: {preset: timely-patched, start_share: 0.5}, port: {mtu: 920B}}}
fabric:
  link_layer: roce
  topology: single-switch
  switch: {port: {mtu: 920B, input_buffer: 64MiB}}
  link: {rate: 10Gbps, pfc_priorities: 0}
workload: {pattern: incast, bytes: 8GB}
run: {until: 200ms, warm_up: 100ms}
EOF
"$hcasim" fluid "$folder/timely.yaml" >"$folder/timely" 2>&1 || fail "timely: $(cat "$folder/timely")"
near timely 4 77.9 78.3 # 2 delta q' / (beta C) + q' = 78.1 KB
near timely 3 74 80    # packets

# refused TEXT [option...]
refused() {
  local text=$1
  shift
  "$hcasim" fluid "$study" "$@" >/dev/null 2>"$folder/log"
  local code=$?
  [ $code -eq 2 ] || fail "$*: exit code $code"
  grep -qF -- "$text" "$folder/log" || fail "$*: $(cat "$folder/log")"
}
refused "no fluid model of swift" --set hosts.hca.congestion=swift
refused "expected workload: {pattern: incast" --set workload.pattern=permutation
refused "expected run: {until: TIME}" --set run.until=0ps
refused "marks no packets" --set fabric.switch.ecn.mark=off
refused "expected fidelity: packet" --set fabric.fidelity=flow

[ $failures -eq 0 ]
