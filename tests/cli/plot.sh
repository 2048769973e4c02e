#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim plot` draws the results of a run and a sweep. Pictures are valid SVG with a
# curve for each port or combination of swept values, with the same bytes twice. A sweep over seeds
# has means with intervals. Impossible plots are refused by name. Arguments: the hcasim program, the
# top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"
command -v gnuplot >/dev/null || exit 77

cat >"$folder/study.yaml" <<'EOF2'
hosts: {count: 0, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric:
  link_layer: roce
  topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts: 3, uplink_rate: 40Gbps}
  switch: {balance: ecmp, ecn: {mark: enqueue}}
  link: {rate: 100Gbps}
workload: {pattern: poisson, sizes: web_search, offered_load: 0.6, arrivals_until: 1ms}
record: {series: 10us, series_ports: ["leaf*"]}
sweep: {fabric.switch.balance: [ecmp, spray], workload.offered_load: [0.2, 0.4], seed: {from: 1, to: 3, step: 1}}
EOF2

# whole PICTURE TEXT...: it is XML, and has these texts
whole() {
  python3 - "$@" <<'END' || fail "$1: not whole, or without $*"
import sys, xml.dom.minidom
text = open(sys.argv[1]).read()
xml.dom.minidom.parseString(text)
assert all(word in text for word in sys.argv[2:]), sys.argv
END
}

"$hcasim" run "$folder/study.yaml" --out "$folder/run" >/dev/null 2>&1 || fail "run: exit code $?"
"$hcasim" plot "$folder/run" 2>"$folder/log" || fail "plot: $(cat "$folder/log")"
grep -q '^9 pictures in ' "$folder/log" || fail "$(cat "$folder/log")"
whole "$folder/run/queues.svg" 'queue (KB)' leaf0.port0
whole "$folder/run/rates.svg" 'rate (Gb/s)' leaf1.port0
whole "$folder/run/slowdown.svg" 'share of the flows'
whole "$folder/run/fct.svg" 'flow completion time (us)'
whole "$folder/run/sizes.svg" "99th percentile"
whole "$folder/run/links.svg" leaf0.port0 'use of the link (%)'
for picture in queues rates slowdown fct sizes links uses; do
  [ "$(head -c 4 "$folder/run/$picture.png" | tail -c 3)" = PNG ] || fail "$picture.png is no PNG"
done
cp "$folder/run/queues.svg" "$folder/first.svg"
"$hcasim" plot "$folder/run" 2>/dev/null && cmp "$folder/first.svg" "$folder/run/queues.svg" || fail "another picture the second time"

"$hcasim" sweep "$folder/study.yaml" -j 2 --out "$folder/sweep" >/dev/null 2>&1 || fail "sweep: exit code $?"
[ "$(cut -d, -f1-3 "$folder/sweep/means.csv" | tr '\n' ' ')" = "fabric.switch.balance,workload.offered_load,runs ecmp,0.2,3 ecmp,0.4,3 spray,0.2,3 spray,0.4,3 " ] ||
  fail "means.csv: $(cut -d, -f1-6 "$folder/sweep/means.csv")"
"$hcasim" plot "$folder/sweep" --metric slowdown_mean --metric goodput_gbps --x workload.offered_load 2>"$folder/log" || fail "plot: $(cat "$folder/log")"
whole "$folder/sweep/slowdown_mean.svg" balance=ecmp balance=spray workload.offered_load
whole "$folder/sweep/goodput_gbps.svg" 'goodput_gbps (Gb/s)'
[ "$(grep -c '^0\.[24] [0-9.e+]* [-0-9.e+]* [-0-9.e+]*$' "$folder/sweep/slowdown_mean.dat")" -eq 4 ] || fail "$(cat "$folder/sweep/slowdown_mean.dat")"

# The plot of a load shows its used resources. The picture of its sweep has labels at all values of
# a logarithmic axis, no error bars without means, and a complete title.
cat >"$folder/load.yaml" <<'EOF2'
hosts: {count: 2, hca: connectx5-edr}
fabric: {link_layer: infiniband, topology: back-to-back}
load: {bytes: 64B, threads: 2, warm_up: 100, operations: 500}
sweep: {load.bytes: [8B, 64B, 512B, 4096B]}
EOF2
"$hcasim" run "$folder/load.yaml" --out "$folder/load" >/dev/null 2>&1 && "$hcasim" plot "$folder/load" 2>"$folder/log" || fail "load: $(cat "$folder/log")"
whole "$folder/load/uses.svg" 'share of the time with work (%)' load.core
"$hcasim" sweep "$folder/load.yaml" --out "$folder/loads" >/dev/null 2>&1 && "$hcasim" plot "$folder/loads" --metric p99_ns 2>"$folder/log" || fail "loads: $(cat "$folder/log")"
whole "$folder/loads/p99_ns.svg" 'p99_ns: ' '4096' '512'
grep -q 'set xtics (8, 64, 512, 4096)' "$folder/loads/p99_ns.gp" && ! grep -q filledcurves "$folder/loads/p99_ns.gp" || fail "$(cat "$folder/loads/p99_ns.gp")"

# If all flows have one size, there is no picture by size.
"$hcasim" run "$folder/study.yaml" --set 'workload={pattern: incast, count: 1, bytes: 20KB}' --out "$folder/alike" >/dev/null 2>&1 || fail "alike: exit code $?"
"$hcasim" plot "$folder/alike" 2>"$folder/log" || fail "alike: $(cat "$folder/log")"
grep -q '^6 pictures in ' "$folder/log" && [ ! -e "$folder/alike/sizes.svg" ] || fail "alike: $(cat "$folder/log")"

# refused TEXT ARGUMENT...
refused() {
  local text=$1
  shift
  "$hcasim" plot "$@" >"$folder/log" 2>&1
  [ $? -eq 2 ] || fail "$*: not exit code 2"
  grep -qF -- "$text" "$folder/log" || fail "$*: $(cat "$folder/log")"
}
refused 'is not a result folder' "$folder"
refused 'expected --metric NAME' "$folder/sweep"
refused 'did you mean "slowdown_mean"?' "$folder/sweep" --metric slowdown_meen
refused 'no swept key "workload.load"; it is now "offered_load"' "$folder/sweep" --metric jain --x workload.load
refused 'has no swept key "fabric"' "$folder/sweep" --metric jain --x fabric
refused '--metric and --x are for sweeps' "$folder/run" --metric jain
echo 'time_us,port' >"$folder/run/series.csv"
refused "not the columns of a run's series" "$folder/run"

[ $failures -eq 0 ]
