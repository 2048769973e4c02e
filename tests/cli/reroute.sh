#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that switches route around links that are known to be down, on RoCE and InfiniBand, with
# each balancer and adapters of both fidelities. Results are the same with each number of threads
# and engine. Failed flows fail the run, unless they are expected.
#
#   tests/cli/reroute.sh HCASIM
set -u
hcasim=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
value() { sed -nE "s/.*\"$1\": ([0-9.]+).*/\1/p" "$folder/out/summary.json"; }

# play NAME EXIT_CODE [ARGUMENT...]: leaves results in $folder/out, complaints in $folder/log
play() {
  local name=$1 code=$2
  shift 2
  rm -rf "$folder/out"
  "$hcasim" run "$folder/$name.yaml" --out "$folder/out" "$@" >"$folder/summary" 2>"$folder/log"
  [ $? -eq "$code" ] || fail "$name $*: exit code is not $code: $(cat "$folder/log")"
}

# From 20 us on, only spine1 reaches leaf1. Flows retry for at least 8 * 100 us.
cat >"$folder/roce.yaml" <<'EOF'
hosts: {count: 0, hca: {fidelity: endpoint, recovery: selective_repeat, nak: false}}
fabric:
  link_layer: roce
  topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 2}
  switch: {balance: ecmp, queueing: arrival, buffer: {size: 9MB}}
  link: {rate: 100Gbps, length: 20m}
workload: {pattern: all_to_all, bytes: 300KB}
faults: [{from: spine0, to: leaf1, link_down: {begin: 20us, lasts: 20ms}}]
run: {loss: expected}
EOF
play roce 1
grep -Eqx '[0-9]+ of 30 flows failed: they ran out of retries; .*run.failed: expected' "$folder/log" || fail "failed flows: $(cat "$folder/log")"
grep -q 'route around them 10000 us later: fabric.reroute_delay' "$folder/log" || fail "no reason: $(cat "$folder/log")"
failed=$(value flows_failed)
[ "$failed" -gt 0 ] && [ "$(value flows_done)" -eq $((30 - failed)) ] || fail "$failed failed, $(value flows_done) done"
grep -q "of the $((30 - failed)) flows done; $failed that failed are omitted" "$folder/summary" || fail "the summary does not say whose times it has"
play roce 0 --set run.failed=expected
play roce 0 --set "expect=[{metric: flows_failed, equals: $failed}]"
play roce 1 --set 'expect=[{metric: flows_failed, equals: 0}]'
play roce 1 --set fabric.reroute_delay=0ps
[ "$(value flows_failed)" -eq "$failed" ] || fail "10 ms: others fail than without rerouting"
play roce 0 --set run.until=150us --set run.failed=expected
grep -q 'that were incomplete are omitted' "$folder/summary" || fail "flows that are cut off: $(cat "$folder/summary")"

for balance in destination ecmp letflow spray adaptive drill conga conweave; do
  play roce 0 --set "fabric.switch.balance=$balance" --set fabric.reroute_delay=100us
  [ "$(value flows_done)" -eq 30 ] || fail "$balance: $(value flows_done) done"
  mv "$folder/out" "$folder/one"
  play roce 0 --set "fabric.switch.balance=$balance" --set fabric.reroute_delay=100us --threads 2
  grep -q 'in one thread: ' "$folder/log" && fail "$balance: $(cat "$folder/log")"
  diff -r "$folder/one" "$folder/out" || fail "$balance: two threads leave other records"
  rm -rf "$folder/one"
done

# 100 us after it goes down, spine0 gets no more packets for leaf1. 100 us after it comes up, it
# gets them again.
play roce 0 --set fabric.reroute_delay=100us --set 'faults=[{from: spine0, to: leaf1, link_down: {begin: 20us, lasts: 20us}}]'
grep -q '"changes": 2' "$folder/out/counters.json" || fail "not two changes of routes"
python3 - "$hcasim" "$folder" <<'PYTHON' || fail "the times of changes"
import json, subprocess, sys
hcasim, folder = sys.argv[1:]
def run(until):
    out = f"{folder}/until{until}"
    subprocess.run([hcasim, "run", f"{folder}/roce.yaml", "--out", out, "--until", until, "--set", "fabric.reroute_delay=100us", "--set",
                    "faults=[{from: spine0, to: leaf1, link_down: {begin: 20us, lasts: 40us}}]", "--set", "run.failed=expected"],
                   check=True, stdout=subprocess.DEVNULL)
    counters = json.load(open(f"{out}/counters.json"))
    return counters["reroute"]["counters"]["changes"]
found = [run(t) for t in ("119us", "121us", "159us", "161us")]
sys.exit(0 if found == [0, 1, 1, 2] else f"changes of routes are {found}; expected [0, 1, 1, 2]")
PYTHON

# A link that goes down on a condition: the run uses one thread, and says why.
condition='faults=[{from: spine0, to: leaf1, link_down: {lasts: 20ms, when: {counter: spine0.port1.packets_sent, reaches: 20}}}]'
play roce 0 --set fabric.reroute_delay=100us --set "$condition" --threads 2
[ "$(value flows_done)" -eq 30 ] || fail "a condition: $(value flows_done) done"
grep -q 'in one thread: link_down with a condition changes routes in all logical processes' "$folder/log" || fail "a condition: $(cat "$folder/log")"

# A fat tree on InfiniBand: the routes to a destination, adapters of either fidelity; on each engine.
cat >"$folder/tree.yaml" <<'EOF'
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric:
  link_layer: infiniband
  topology: {kind: fat-tree, arity: 4}
  link: {length: 20m}
  reroute_delay: 50us
workload: {pattern: permutation, bytes: 200KB, host: {timeout: 5, retry_count: 7}}
faults:
  - {from: core0, to: "agg*", link_down: {begin: 10us}}
run: {loss: expected}
EOF
"$hcasim" check "$folder/tree.yaml" >"$folder/log" 2>&1 || fail "tree: $(cat "$folder/log")"
for fidelity in endpoint detailed; do
  timeout=$([ $fidelity = endpoint ] && echo --set hosts.hca.timeout=5)
  play tree 1 --set hosts.hca.fidelity=$fidelity $timeout --set fabric.reroute_delay=0ps
  for engine in native systemc systemc-reference; do
    play tree 0 --set hosts.hca.fidelity=$fidelity $timeout --engine $engine
    [ "$(value flows_done)" -eq 16 ] || fail "tree, $fidelity: $(value flows_done) done"
    [ -d "$folder/one" ] && { diff -r "$folder/one" "$folder/out" || fail "tree, $fidelity, $engine: other records"; }
    rm -rf "$folder/one"
    mv "$folder/out" "$folder/one"
  done
  rm -rf "$folder/one"
done
echo "switches route around links that are down"
