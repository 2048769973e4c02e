#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that flows.csv has the flows in progress at the end of a run. Packets, retransmissions,
# marks, CNPs and BECNs of all flows add up to the counters of the adapters. Runs have losses, reads
# and several messages of a flow, for each fidelity, for both in one run and for any number of
# threads. The columns of ended flows equal those of a longer run. A flow model reports the
# transferred share. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/congested.yaml" <<'YAML'
seed: 1
hosts: {count: 4, hca: {congestion: {preset: infiniband}}}
fabric:
  topology: single-switch
  switch: {preset: sb7700, fecn: {threshold: 15}}
workload: {pattern: incast, fan_in: 3, bytes: 1MB, queue_pairs: 1}
run: {until: 60us}
YAML
cat >"$folder/lossy.yaml" <<'YAML'
seed: 1
hosts: {count: 4}
fabric: {link_layer: roce, topology: single-switch}
workload: {pattern: permutation, bytes: 300KB, operation: mix, count: 6, queue_pairs: 1, posting: {message: 30000B, outstanding_messages: 2}}
faults: [{from: host1, to: switch0, drop: {probability: 2%}}, {from: host2, to: switch0, drop: {probability: 2%}}]
run: {until: 60us}
YAML

cat >"$folder/sums.py" <<'END'
import csv, json, sys
run, columns = sys.argv[1], "packets retransmitted marked cnps".split()
rows = list(csv.DictReader(open(run + "/flows.csv")))
counters = json.load(open(run + "/counters.json"))
names = {"retransmitted": ["packets_retransmitted"], "marked": ["ecn_marked_packets"], "cnps": ["cnp_received"], "packets": ["data_packets_sent"]}

def total(node, wanted):
    if not isinstance(node, dict):
        return 0
    return sum(value if key in wanted and not isinstance(value, dict) else total(value, wanted) for key, value in node.items())

under_way = [row for row in rows if row["status"] == "under_way"]
assert under_way, "none is under way"
for row in rows:
    assert (row["packets"] == "") == (row["status"] == "not_started"), row
for column in sys.argv[2].split(","):
    told = sum(int(row[column] or 0) for row in rows)
    assert told == total(counters, names[column]), (column, told, total(counters, names[column]))
    assert any(int(row[column]) for row in under_way), column + ": 0 for all that are under way"
if len(sys.argv) > 3:
    found = ";".join(",".join(row[column] for column in columns) for row in rows)
    assert found == sys.argv[3], found
END

play() { # name, scenario, options...
  "$hcasim" run "$folder/$2.yaml" --out "$folder/$1" "${@:3}" >"$folder/log" 2>&1 || fail "$1: exit code $?: $(cat "$folder/log")"
}

sums() { # name, columns, what all flows have
  python3 "$folder/sums.py" "$folder/$1" "${@:2}" || fail "$1"
}

# ---- congestion control of InfiniBand ----
# 60 us are 180 packets of 4,096 B at 100 Gb/s. Packets
# with FECN have returned as two BECNs per flow by then.
play endpoint congested --set hosts.hca.fidelity=endpoint
sums endpoint packets,marked,cnps "96,0,60,2;94,0,60,2;94,0,59,2"
play detailed congested --set hosts.hca.fidelity=detailed
sums detailed marked,cnps "94,0,57,2;92,0,57,2;92,0,57,2"
play both congested --set hosts.hca.fidelity=endpoint --set 'hosts.except={host2: {hca: {fidelity: detailed}}}'
sums both marked,cnps

# ---- losses, reads, several messages of a flow ----
for fidelity in endpoint detailed; do
  run=$fidelity-lossy
  play "$run" lossy --set hosts.hca.fidelity=$fidelity
  sums "$run" retransmitted
  for with in "--threads 2" "--engine systemc" "--engine systemc-reference"; do
    play "$run $with" lossy --set hosts.hca.fidelity=$fidelity $with
    cmp -s "$folder/$run/flows.csv" "$folder/$run $with/flows.csv" || fail "$run: flows.csv with $with"
  done
  # a longer run does not change the flows that ended
  play "$run-longer" lossy --set hosts.hca.fidelity=$fidelity --until 90us
  grep ',done,' "$folder/$run/flows.csv" >"$folder/ended"
  [ -s "$folder/ended" ] || fail "$run: none ended"
  grep -Fxvf "$folder/$run-longer/flows.csv" "$folder/ended" && fail "$run: flows that ended"
done

# ---- a flow model: three flows share 100 Gb/s for 60 us, about 247 KB or 60 packets each ----
play model congested --set hosts.hca.fidelity=endpoint --set hosts.hca.congestion=none --set fabric.fidelity=flow
awk -F, 'NR > 1 && ($13 != 60 || $14 != 0)' "$folder/model/flows.csv" | grep . && fail "model: packets"
awk -F, 'END { exit NR != 4 }' "$folder/model/flows.csv" || fail "model: flows"

exit $((failures > 0))
