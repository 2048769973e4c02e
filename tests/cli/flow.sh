#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `fabric: {fidelity: flow}` runs the same scenario as packets do. A single flow takes
# its ideal time to the picosecond. Long flows of a dumbbell, an incast and permutations on fat
# trees end within 5 % of the time that packets take. The bytes are the same twice, with each
# engine, and
# in a sweep. Features without a flow model are refused. Arguments: the hcasim program, the top of
# the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

# scenario NAME LINK_LAYER TOPOLOGY WORKLOAD
scenario() {
  cat >"$folder/$1.yaml" <<EOF
seed: 3
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {link_layer: $2, topology: {$3}, link: {rate: 100Gbps}}
workload: {$4}
EOF
}

# flows NAME OUT [option...]: runs it and leaves OUT.csv
flows() {
  local name=$1 out=$2
  shift 2
  "$hcasim" run "$folder/$name.yaml" --out "$folder/$out" "$@" >"$folder/log" 2>&1 || fail "$name $*: exit code $?: $(cat "$folder/log")"
}

# within NAME PERCENT: each flow's completion time with flows, against that with packets
within() {
  flows "$1" "$1-packet"
  flows "$1" "$1-flow" --set fabric.fidelity=flow
  paste -d, "$folder/$1-packet/flows.csv" "$folder/$1-flow/flows.csv" | awk -F, -v percent="$2" -v name="$1" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "fct_us") column[++found] = i; next }
    { p = $column[1]; f = $column[2]; off = (f - p) / p * 100; if (off < 0) off = -off
      if (!(p > 0 && f > 0 && off <= percent)) { print name ": flow " NR - 2 ": " p " us with packets, " f " us with flows"; bad = 1 } }
    END { exit bad || NR < 2 }' || fail "$1: not within $2 %"
}

scenario dumbbell roce "kind: dumbbell, left: 4, right: 4" "pattern: shift, stride: 4, bytes: 10MB"
scenario incast infiniband "kind: leaf-spine, leaves: 1, spines: 1, hosts: 16" "pattern: incast, fan_in: 15, bytes: 1MB"
scenario permutation roce "kind: fat-tree, arity: 4" "pattern: permutation, bytes: 10MB"
scenario shift infiniband "kind: fat-tree, arity: 8" "pattern: shift, stride: 64, bytes: 10MB"
for name in dumbbell incast permutation shift; do
  within $name 5
done

# A single flow: the ideal time, for any verb, size and number of messages.
for operation in write send read atomic; do
  for bytes in 1B 4096B 4097B 10MB; do
    [ $operation != atomic ] || bytes=8B
    for layer in roce infiniband; do
      scenario alone $layer "kind: leaf-spine, leaves: 2, spines: 1, hosts: 1" \
        "pattern: request_response, count: 1, operation: $operation, request: $bytes, bytes: $bytes"
      rm -rf "$folder/alone"
      flows alone alone --set fabric.fidelity=flow
      awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { off = $at["fct_us"] - $at["ideal_us"]; if (off < -0.0000015 || off > 0.0000015) { print; bad = 1 } }
        END { exit bad || NR < 2 }' "$folder/alone/flows.csv" || fail "$operation of $bytes, $layer: not the ideal time"
    done
  done
done

# The same queue pair: one after the other, the second's transfer begins when the first's ends.
scenario pair roce "kind: leaf-spine, leaves: 2, spines: 1, hosts: 1" "pattern: shift, bytes: 1MB, count: 2, queue_pairs: 1"
within pair 1

# A share of the run: the rates of flows in progress.
scenario endless roce "kind: dumbbell, left: 2, right: 2, uplink_rate: 40Gbps" "pattern: shift, stride: 2, bytes: 1GB"
flows endless endless --set fabric.fidelity=flow --until 1ms --set run.warm_up=200us --set record.series=100us \
  --set 'expect=[{metric: flow0.goodput_gbps, equals: 19.5, tolerance: 1%}, {metric: left.port2.utilisation, at_least: 0.98}]'

# Both runs give the same bytes.
scenario poisson roce "kind: fat-tree, arity: 4" "pattern: poisson, sizes: web_search, offered_load: 0.5, arrivals_until: 3ms"
for run in native again systemc systemc-reference; do
  flows poisson $run --engine ${run/again/native} --set fabric.fidelity=flow --set fabric.switch.balance=ecmp --set record.series=100us
  diff -r "$folder/native" "$folder/$run" || fail "$run differs from native"
done
flows poisson threads --threads 2 --set fabric.fidelity=flow --set fabric.switch.balance=ecmp --set record.series=100us
diff -r "$folder/native" "$folder/threads" || fail "--threads 2 differs from one"
grep -q "in one thread: fidelity: flow" "$folder/log" || fail "--threads 2: $(cat "$folder/log")"
flows native/scenario effective
cmp "$folder/native/flows.csv" "$folder/effective/flows.csv" || fail "the effective configuration gives other flows"
"$hcasim" sweep "$folder/poisson.yaml" -j 2 --out "$folder/sweep" \
  --set 'sweep={fabric.fidelity: [packet, flow], workload.offered_load: [0.2, 0.4]}' 2>"$folder/log" || fail "sweep: $(cat "$folder/log")"
[ "$(grep -c '^[^#]' "$folder/sweep/results.csv")" -eq 5 ] || fail "results.csv: $(cat "$folder/sweep/results.csv")"

# refused OPTION TEXT
refused() {
  "$hcasim" run "$folder/permutation.yaml" --set fabric.fidelity=flow --set "$1" >/dev/null 2>"$folder/log"
  local code=$?
  [ $code -eq 2 ] || fail "$1: exit code $code"
  grep -q "fidelity: flow does not support $2" "$folder/log" || fail "$1: $(cat "$folder/log")"
}
refused fabric.switch.balance=spray "load balancing per packet or flowlet; expected switches with balance: destination or ecmp"
refused fabric.switch.stores=true "switches that store packets; expected switches with stores: false"
refused hosts.hca.send_rate=10Gbps "slow hosts"
refused 'faults=[{drop: {probability: 1%}}]' "faults of packets and ports; expected no faults"
refused record.packets=true "records of packets"
"$hcasim" run "$folder/permutation.yaml" --set fabric.fidelity=flow --pcap "$folder/pcap" >/dev/null 2>"$folder/log"
[ $? -eq 2 ] || fail "--pcap: $(cat "$folder/log")"

[ $failures -eq 0 ]
