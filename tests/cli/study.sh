#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim run` of a workload writes the same bytes twice and with each engine.
# Expectations decide its exit code. `hcasim sweep` runs the missing points and no others after any
# interruption. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
source=$2
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/study.yaml" <<'EOF'
seed: 3
hosts: {count: 0, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric:
  link_layer: roce
  topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts: 3, uplink_rate: 40Gbps}
  switch: {balance: ecmp, ecn: {mark: enqueue}}
  link: {rate: 100Gbps}
workload: {pattern: poisson, sizes: web_search, offered_load: 0.6, arrivals_until: 3ms}
record: {series: 10us}
faults: [{from: leaf0, to: "spine*", drop: {probability: 0.2%}}]
expect: [{metric: flows_done, at_least: 10}, {metric: drops, at_least: 1}]
sweep: {workload.offered_load: [0.2, 0.4], seed: {from: 1, to: 2, step: 1}}
EOF

for run in native again systemc systemc-reference; do
  engine=${run/again/native}
  "$hcasim" run "$folder/study.yaml" --engine "$engine" --out "$folder/$run" >"$folder/$run.txt" 2>&1 ||
    fail "run --engine $engine: exit code $?: $(cat "$folder/$run.txt")"
  diff -r "$folder/native" "$folder/$run" || fail "$run differs from native"
  cmp "$folder/native.txt" "$folder/$run.txt" || fail "what $run printed differs"
done
for file in scenario.yaml summary.json counters.json flows.csv series.csv links.csv; do
  [ -s "$folder/native/$file" ] || fail "$file is missing"
done
"$hcasim" run "$folder/native/scenario.yaml" --out "$folder/effective" >/dev/null 2>&1 ||
  fail "the effective configuration does not run"
cmp "$folder/native/flows.csv" "$folder/effective/flows.csv" || fail "the effective configuration gives other flows"

"$hcasim" run "$folder/study.yaml" --set 'expect=[{metric: flows_done, at_most: 1, row: X-1}]' >/dev/null 2>"$folder/wrong"
[ $? -eq 1 ] || fail "an expectation that does not hold is not exit code 1"
grep -q '^X-1: expected flows_done in 1 or less: found' "$folder/wrong" || fail "the miss is not named: $(cat "$folder/wrong")"

"$hcasim" sweep "$folder/study.yaml" -j 2 --out "$folder/sweep" 2>"$folder/log" || fail "sweep: $(cat "$folder/log")"
[ "$(wc -l <"$folder/sweep/results.csv")" -eq 5 ] || fail "results.csv: $(cat "$folder/sweep/results.csv")"
cp "$folder/sweep/results.csv" "$folder/first.csv"
point=$(cd "$folder/sweep" && ls -d ????????????????  | head -1)
mv "$folder/sweep/$point" "$folder/sweep/$point.part" # as if it had been killed
rm "$folder/sweep/$point.part/summary.json" "$folder/sweep/results.csv"
"$hcasim" sweep "$folder/study.yaml" --out "$folder/sweep" 2>"$folder/log" || fail "sweep again: $(cat "$folder/log")"
grep -q '^3 of 4 points are finished already$' "$folder/log" || fail "not resumed: $(cat "$folder/log")"
[ "$(grep -c '^[0-9]*/4 ' "$folder/log")" -eq 1 ] || fail "more than the missing point ran: $(cat "$folder/log")"
cmp "$folder/first.csv" "$folder/sweep/results.csv" || fail "the table differs"

# A point's name depends on the contents of the scenario's files, not on their folder.
mkdir "$folder/here"
cat >"$folder/here/study.yaml" <<'EOF'
hosts: {count: 2, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {rate: 100Gbps}}
workload: {pattern: trace, trace: files/flows.csv}
sweep: {seed: [1, 2]}
EOF
mkdir "$folder/here/files"
printf '%s\n' start_us,source,destination,bytes 0,0,1,1000 >"$folder/here/files/flows.csv"
"$hcasim" sweep "$folder/here/study.yaml" --out "$folder/here/sweep" 2>"$folder/log" || fail "sweep of a trace: $(cat "$folder/log")"
mv "$folder/here" "$folder/elsewhere"
"$hcasim" sweep "$folder/elsewhere/study.yaml" --out "$folder/elsewhere/sweep" 2>"$folder/log" || fail "sweep elsewhere: $(cat "$folder/log")"
grep -q '^2 of 2 points are finished already$' "$folder/log" || fail "not found again elsewhere: $(cat "$folder/log")"
echo 5,1,0,1000 >>"$folder/elsewhere/files/flows.csv"
"$hcasim" sweep "$folder/elsewhere/study.yaml" --out "$folder/elsewhere/sweep" 2>"$folder/log" || fail "sweep of another trace: $(cat "$folder/log")"
[ "$(grep -c '^[0-9]*/2 ' "$folder/log")" -eq 2 ] || fail "another trace is taken for the first: $(cat "$folder/log")"

[ $failures -eq 0 ]
