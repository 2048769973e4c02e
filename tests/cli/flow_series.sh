#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that flow_series.csv has rate, window and data in flight of selected flows on adapters of
# both fidelities. Its goodput adds up to the flow's bytes. Recording changes nothing else in a run.
# Unknown flows are refused. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

study() { # study NAME HCA: two flows into one host
  cat >"$folder/$1.yaml" <<EOF
seed: 1
hosts: {count: 3, hca: $2}
fabric: {link_layer: roce, topology: single-switch, switch: {preset: red-dcqcn-paper, telemetry: true}, link: {rate: 100Gbps, length: 20m}}
workload: {pattern: incast, bytes: 2MB}
EOF
}
check() { # check NAME WINDOW: flow 1's goodput is its bytes; WINDOW: does it have a window and round-trip times?
  "$hcasim" run "$folder/$1.yaml" --set record.series=10us --out "$folder/$1.plain" >"$folder/log" 2>&1 ||
    fail "$1: $(cat "$folder/log")"
  "$hcasim" run "$folder/$1.yaml" --set record.series=10us --set 'record.series_flows=[1]' --out "$folder/$1" >"$folder/log" 2>&1 ||
    fail "$1 with series_flows: $(cat "$folder/log")"
  for file in flows.csv series.csv links.csv bins.csv; do
    cmp "$folder/$1.plain/$file" "$folder/$1/$file" || fail "$1: recording changes $file"
  done
  python3 - "$folder/$1" "$2" <<'END' || fail "$1: $(cat "$folder/$1/flow_series.csv")"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/flow_series.csv")))
flow = list(csv.DictReader(open(sys.argv[1] + "/flows.csv")))[1]
window = sys.argv[2] == "window"
assert len(rows) > 10 and all(row["flow"] == "1" for row in rows)
sent, last = 0, 0
for row in rows:
    time = float(row["time_us"])
    sent += float(row["goodput_gbps"]) * 1e3 * (time - last) / 8
    last = time
    assert 0 <= float(row["goodput_gbps"]) <= 100 and 0 < float(row["rate_gbps"]) <= 100, row
    assert (row["cwnd_bytes"] != "") == window, row
assert abs(sent - 2e6) < 1, sent
assert last - float(flow["finished_us"]) < 10.001, (last, flow["finished_us"])
assert not window or all(float(row["rtt_us"]) > 0 for row in rows[3:]), rows[3]
assert any(int(row["inflight_bytes"]) > 0 for row in rows)
END
}
study dcqcn '{fidelity: endpoint, congestion: dcqcn-paper}'
check dcqcn no
study hpcc '{fidelity: endpoint, congestion: hpcc-paper}'
check hpcc window
study swift '{fidelity: endpoint, congestion: swift}'
check swift window
study detailed '{preset: connectx5-100gbe, congestion: swift}'
check detailed window

"$hcasim" check "$folder/dcqcn.yaml" --set record.series=10us --set 'record.series_flows=[2]' >"$folder/log" 2>&1
[ $? -eq 2 ] && grep -q 'no flow 2; the last one is 1' "$folder/log" || fail "flow 2: $(cat "$folder/log")"
"$hcasim" check "$folder/dcqcn.yaml" --set 'record.series_flows=[1]' >"$folder/log" 2>&1
[ $? -eq 2 ] && grep -q 'expected series: 10us' "$folder/log" || fail "without series: $(cat "$folder/log")"

[ $failures -eq 0 ]
