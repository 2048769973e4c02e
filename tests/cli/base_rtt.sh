#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that congestion control gets the round trip of each queue pair's own empty path: the exact
# time of a single packet and its ACK. Links have one rate or several, on both link layers. With it,
# Swift fills the links of a fabric with long cables. Runs in several threads agree. The summary
# reports a configured
# value below it.
#
#   tests/cli/base_rtt.sh HCASIM TOP
set -u
hcasim=$1
top=$2
. "$(dirname "$0")/../support/script.sh"

# alone NAME [ARGUMENT...]: one packet of 4,096 B from host 0 to the last; send_latency and complete_latency are 700 ns
cat >"$folder/alone.yaml" <<'EOF'
hosts: {count: 0, hca: {fidelity: endpoint, congestion: swift}}
fabric: {link_layer: roce, topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts: 2}, link: {rate: 100Gbps, length: 200m}}
workload: {pattern: trace, trace: alone.csv}
EOF
echo "0,0,3,4096" >"$folder/alone.csv"
alone() {
  local name=$1
  shift
  "$hcasim" run "$folder/alone.yaml" --out "$folder/$name" "$@" >"$folder/log" 2>&1 || fail "$name: exit code $?: $(cat "$folder/log")"
  python3 - "$folder/$name" <<'PYTHON' || fail "$name: the empty path's round trip is not the packet's"
import csv, json, sys
flow = next(csv.DictReader(open(sys.argv[1] + "/flows.csv")))
counters = json.load(open(sys.argv[1] + "/counters.json"))["host0.hca"]["counters"]
took = round(float(flow["fct_us"]) * 1e6) - 700000
known = int(counters["empty_rtt_max"], 0) if isinstance(counters["empty_rtt_max"], str) else counters["empty_rtt_max"]
sys.exit(0 if took == known else f"the packet took {took} ps; the empty path {known} ps")
PYTHON
}
alone roce
alone infiniband --set fabric.link_layer=infiniband --set hosts.hca.congestion=swift
alone slow_uplinks --set 'fabric.topology={kind: leaf-spine, leaves: 2, spines: 2, hosts: 2, uplink_rate: 40Gbps}'
alone fast_uplinks --set 'fabric.topology={kind: leaf-spine, leaves: 2, spines: 2, hosts: 2, uplink_rate: 400Gbps}'
alone fat_tree --set 'fabric.topology={kind: fat-tree, arity: 4}' --set fabric.switch.balance=spray
alone stores --set fabric.switch.stores=true
# Three switches store a packet of some 4.2 kB (1,000 to 1,060 ns in all at 100 Gb/s) and its ACK.
python3 - "$folder/roce" "$folder/stores" <<'PYTHON' || fail "stores: not three packet times more"
import csv, sys
took = [float(next(csv.DictReader(open(folder + "/flows.csv")))["fct_us"]) for folder in sys.argv[1:]]
sys.exit(0 if 1.0 <= took[1] - took[0] <= 1.06 else f"{took}")
PYTHON
alone one_switch --set 'fabric.topology={kind: leaf-spine, leaves: 1, spines: 1, hosts: 4}'

# Four pairs of leaves are 1.2 km apart. Each flow shares its path with one other, so each gets half
# of the line rate, not a fortieth.
study=$top/scenarios/studies/balancers.yaml
long=(--set 'workload={pattern: shift, bytes: 1MB}' --set hosts.hca.congestion=swift --set fabric.link.length=400m --set fabric.switch.balance=destination)
"$hcasim" run "$study" "${long[@]}" --set 'expect=[{metric: slowdown_mean, at_least: 2, at_most: 2.2}]' >"$folder/summary" 2>&1 || fail "Swift: $(cat "$folder/summary")"
grep -q '^base_rtt' "$folder/summary" && fail "auto: $(cat "$folder/summary")"
"$hcasim" run "$study" "${long[@]}" --set 'expect=[]' --set hosts.hca.base_rtt=8us >"$folder/summary" 2>&1
grep -q '^base_rtt   below the round-trip time on the idle path of 32 queue pairs, which is up to 16\.' "$folder/summary" || fail "8 us: $(cat "$folder/summary")"
for threads in 1 2; do
  "$hcasim" run "$study" "${long[@]}" --set 'expect=[]' --threads $threads --out "$folder/threads$threads" >/dev/null 2>&1 || fail "$threads threads"
done
diff -r "$folder/threads1" "$folder/threads2" >"$folder/diff" || fail "two threads leave other records: $(head -5 "$folder/diff")"

# Detailed adapters measure from their own port. Lookups and PCIe reads are excluded. They are at
# most 300 ns when contexts are cached.
"$hcasim" run "$folder/alone.yaml" --out "$folder/detailed" --set hosts.hca.fidelity=detailed >/dev/null 2>&1 || fail "detailed: exit code $?"
python3 - "$folder/detailed" "$folder/roce" <<'PYTHON' || fail "detailed"
import json, sys
known = [json.load(open(folder + "/counters.json")) for folder in sys.argv[1:]]
value = lambda block: int(str(block["counters"]["empty_rtt_max"]), 0)
# 2 * 185 ns at receivers, 20 ns until the ACK, 155 ns to its port; endpoints have 2 * 100 ns
sys.exit(0 if value(known[0]["host0.hca.congestion"]) == value(known[1]["host0.hca"]) - 200000 + 545000 else "not by what adapters add")
PYTHON
"$hcasim" check "$folder/alone.yaml" --set hosts.hca.base_rtt=0ps >"$folder/log" 2>&1 && fail "base_rtt 0ps: $(cat "$folder/log")"
exit $((failures > 0))
