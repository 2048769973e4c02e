#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the order of load balancers in scenarios/studies/balancers.yaml. Balancers that compare
# queues for each packet give the shortest times. ConWeave follows and keeps the order. CONGA is
# next. Hashes and random flowlets give the longest times. links.csv, series.csv and switches.csv
# have the columns of
# docs/explanation/fabric-studies.md. Three engines and two threads give the same bytes. Impossible
# values are refused. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
source=$2
study=$source/scenarios/studies/balancers.yaml
. "$(dirname "$0")/../support/script.sh"

"$hcasim" sweep "$study" -j 2 --out "$folder/sweep" >/dev/null 2>"$folder/log" || fail "sweep: $(cat "$folder/log")"

# value BALANCE COLUMN: of results.csv
value() {
  awk -F, -v balance="$1" -v column="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) { if ($i == column) place = i; if ($i == "fabric.switch.balance") key = i } }
    NR > 1 && $key == balance { print $place }' "$folder/sweep/results.csv"
}
# below METRIC BALANCE...: each less than the next
below() {
  local metric=$1 last=0 now
  shift
  for balance in "$@"; do
    now=$(value "$balance" "$metric")
    awk -v last="$last" -v now="$now" 'BEGIN { exit !(now > last) }' || fail "$metric of $balance is $now, not above $last"
    last=$now
  done
}
below slowdown_mean adaptive conweave conga ecmp
below slowdown_mean drill conweave conga letflow
below slowdown_p99 spray conweave conga ecmp
for balance in ecmp destination drill; do
  [ "$(value "$balance" reroutes)" = 0 ] || fail "$balance has reroutes: $(value "$balance" reroutes)"
done
[ "$(value conweave out_of_order)" = 0 ] || fail "ConWeave: $(value conweave out_of_order) packets out of order"
[ "$(value spray out_of_order)" -gt 1000 ] || fail "spraying: $(value spray out_of_order) packets out of order"
[ "$(value conweave reorder_packets)" -gt 1000 ] || fail "ConWeave reordered $(value conweave reorder_packets) packets"

short="--set workload.arrivals_until=300us --set expect=[]"
for balance in drill conga conweave; do
  for run in native systemc systemc-reference; do
    # shellcheck disable=SC2086 # words on purpose
    "$hcasim" run "$study" $short --set fabric.switch.balance=$balance --engine $run --out "$folder/$balance.$run" >/dev/null 2>&1 ||
      fail "$balance, $run: exit code $?"
    diff -r "$folder/$balance.native" "$folder/$balance.$run" >/dev/null || fail "$balance: $run differs from native"
  done
  # shellcheck disable=SC2086
  "$hcasim" run "$study" $short --set fabric.switch.balance=$balance --threads 2 --out "$folder/$balance.two" >/dev/null 2>&1 ||
    fail "$balance, two threads: exit code $?"
  diff -r "$folder/$balance.native" "$folder/$balance.two" >/dev/null || fail "$balance: two threads differ"
done
head -1 "$folder/conweave.native/switches.csv" | grep -q '^switch,packets_forwarded,.*,flowlets,reroutes,control_packets_sent,.*,reorder_packets_max,' ||
  fail "switches.csv: $(head -1 "$folder/conweave.native/switches.csv")"
[ "$(wc -l <"$folder/conweave.native/switches.csv")" -eq 9 ] || fail "switches.csv has not a line a switch"
grep -q '^leaf0\.port[0-9]*,spine' "$folder/conweave.native/links.csv" || fail "links.csv names no path"
grep -q ',leaf0\.port' "$folder/conweave.native/series.csv" || fail "series.csv names no path"

# refused EXPECTED VALUE...
refused() {
  local expected=$1 words=()
  shift
  for word in "$@"; do words+=(--set "$word"); done
  "$hcasim" run "$study" "${words[@]}" >/dev/null 2>"$folder/log"
  [ $? -eq 2 ] && grep -q "$expected" "$folder/log" || fail "$*: expected \"$expected\", found: $(cat "$folder/log")"
}
refused "expected queueing: arrival" fabric.switch.balance=conweave fabric.switch.queueing=inputs
refused "expected a shared buffer" fabric.switch.balance=conga 'fabric.switch.buffer={}'
refused "is not a mask of ports; expected a number, or 0x" 'fabric.switch.fecn={threshold: 1, victim_mask: "0xports"}'
refused "is not a mask of ports; expected a number, or 0x" 'fabric.switch.fecn={cs_threshold: 1, credit_mask: "12 and 13"}'
refused "expected one of" fabric.switch.balance=flowlet

# Per-packet balancing fills a fat tree, for each way to compare queues. Hosts that send at the same
# rate do not each keep to one path. Late packets are acknowledged, so that no flow waits for a
# timeout, also
# with a window.
cat >"$folder/spray.yaml" <<'END'
hosts: {count: 0, hca: {fidelity: endpoint, recovery: selective_repeat, nak: false}}
fabric:
  link_layer: roce
  topology: {kind: fat-tree, arity: 8}
  switch: {balance: spray, buffer: {size: 12MB}}
  link: {rate: 100Gbps, length: 2m}
workload: {pattern: permutation, bytes: 2MB}
expect:
  - {metric: slowdown_p99, at_most: 1.25}
  - {metric: timeouts, equals: 0}
  - {metric: packets_retransmitted, equals: 0}
END
for balance in spray adaptive drill; do
  "$hcasim" run "$folder/spray.yaml" --set fabric.switch.balance=$balance >"$folder/log" 2>&1 || fail "a fat tree, $balance: $(cat "$folder/log")"
  "$hcasim" run "$folder/spray.yaml" --set fabric.switch.balance=$balance --set 'hosts.hca.congestion={preset: window, factor: 1.5}' \
    --set hosts.hca.base_rtt=8us --set 'expect.0.at_most=1.4' >"$folder/log" 2>&1 || fail "a fat tree, $balance, a window: $(cat "$folder/log")"
done

[ $failures -eq 0 ]
