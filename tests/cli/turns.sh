#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the order of queue pairs of an endpoint adapter, by time, by number and in bursts. After a
# spurious timeout, only the packet that seemed lost is retransmitted.
#
#   tests/cli/turns.sh HCASIM TOP
set -u
hcasim=$1
top=$2
. "$(dirname "$0")/../support/script.sh"

# Each host numbers its queue pairs in the order in which they first send. Then host1's keeps the
# port busy while host3's gets something to send, and host2's.
cat >"$folder/turns.yaml" <<'EOF'
hosts: {count: 4, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {rate: 100Gbps, length: 20m}}
workload: {pattern: trace, trace: turns.csv, queue_pairs: 1}
EOF
printf '%s,32768\n' 0,0,1 10,0,2 20,0,3 40,0,1 40.01,0,3 40.02,0,2 >"$folder/turns.csv"
for order in time number; do
  "$hcasim" run "$folder/turns.yaml" --set hosts.hca.grant_order=$order --out "$folder/$order" >"$folder/log" 2>&1 || fail "$order: exit code $?: $(cat "$folder/log")"
  python3 - "$folder/$order/flows.csv" $order <<'PYTHON' || fail "$order"
import csv, sys
flows = list(csv.DictReader(open(sys.argv[1])))
arrived = [flow["arrived_us"] for flow in flows[3:]]
expected = {"time": ["45.004400", "48.681040", "49.015280"], "number": ["45.672880", "49.015280", "48.681040"]}[sys.argv[2]]
sys.exit(0 if arrived == expected else f"flows arrive at {arrived}; expected {expected}")
PYTHON
done

# Two flows begin at once. In bursts, each sends all of its data before the other.
cat >"$folder/bursts.yaml" <<'EOF'
hosts: {count: 3, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {rate: 100Gbps, length: 20m}}
workload: {pattern: trace, trace: bursts.csv, queue_pairs: 1}
EOF
printf '0,0,%s,40960\n' 1 2 1 2 >"$folder/bursts.csv"
for order in time burst; do
  "$hcasim" run "$folder/bursts.yaml" --set hosts.hca.grant_order=$order --out "$folder/at-once-$order" >"$folder/log" 2>&1 || fail "$order: exit code $?: $(cat "$folder/log")"
done
python3 - "$folder" <<'PYTHON' || fail "bursts"
import csv, sys
time, burst = ([float(flow["arrived_us"]) for flow in csv.DictReader(open(f"{sys.argv[1]}/at-once-{order}/flows.csv"))] for order in ("time", "burst"))
sys.exit(0 if burst[2] < burst[1] and time[2] > time[1] and abs(max(burst) - max(time)) < 0.1 else f"flows arrive at {burst} in bursts, {time} in turns")
PYTHON

# Every packet is marked. After a rate cut, either the packet that waits for its pace is delayed, or
# it leaves at its earlier time.
cat >"$folder/marked.yaml" <<'EOF'
hosts: {count: 2, hca: {fidelity: endpoint, congestion: dctcp-hpcc-100g, pace_from: departure}}
fabric: {link_layer: roce, topology: back-to-back, link: {rate: 100Gbps, length: 20m}}
faults: [{from: host0, to: host1, mark: {probability: 1}}]
workload: {pattern: trace, trace: marked.csv}
EOF
printf '0,0,1,400000\n' >"$folder/marked.csv"
for update in waiting next; do
  "$hcasim" run "$folder/marked.yaml" --set hosts.hca.pace_update=$update --out "$folder/$update" >"$folder/log" 2>&1 || fail "$update: exit code $?: $(cat "$folder/log")"
done
python3 - "$folder" <<'PYTHON' || fail "pace_update"
import csv, sys
waiting, next = (float(list(csv.DictReader(open(f"{sys.argv[1]}/{update}/flows.csv")))[0]["arrived_us"]) for update in ("waiting", "next"))
sys.exit(0 if 100 < next < waiting else f"{next} us, {waiting} us if the waiting packet obeys")
PYTHON

# Queues of DCTCP delay ACKs of few packets beyond rto_low; nothing is lost.
"$hcasim" run "$top/scenarios/studies/balancers.yaml" --set expect=[] --set hosts.hca.congestion=dctcp --set fabric.switch.balance=destination --set workload.offered_load=0.5 \
  --set workload.arrivals_until=1ms --out "$folder/wrong" >"$folder/log" 2>&1 || fail "wrong timeouts: exit code $?: $(cat "$folder/log")"
python3 - "$folder/wrong/summary.json" <<'PYTHON' || fail "wrong timeouts"
import json, sys
metrics = json.load(open(sys.argv[1]))["metrics"]
timeouts, again, drops = metrics["timeouts"], metrics["packets_retransmitted"], metrics["drops"]
sys.exit(0 if drops == 0 and timeouts >= 10 and again <= timeouts else f"{drops} drops, {timeouts} timeouts, {again} packets sent again")
PYTHON
exit $((failures > 0))
