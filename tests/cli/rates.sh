#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that no printed rate of a run exceeds its links, for any window and any spacing of ACKs and
# completions: goodput, series.csv, links.csv and the metrics of loads. Scenarios have both
# fidelities. Each run also checks its own counts (hcasim/run/experiment_check.c), and fails if they
# are wrong. Arguments: the hcasim program, the top of the source tree.
hcasim=$1 top=$2
. "$(dirname "$0")/../support/script.sh"

# study NAME HOSTS_THAT_RECEIVE RATE_GBPS FILE OPTION...: no rate above, and no port above its own.
study() {
  local name=$1 receivers=$2 rate=$3 file=$4
  shift 4
  rm -rf "$folder/out"
  "$hcasim" run "$file" --out "$folder/out" --set expect=[] --set 'record={series: 2us}' "$@" >"$folder/text" 2>&1 ||
    fail "$name: $(cat "$folder/text")"
  python3 - "$folder/out/" "$receivers" "$rate" <<'PYTHON' || fail "$name $*: $(cat "$folder/text")"
import csv, json, sys
out, receivers, rate = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
goodput = json.load(open(out + "summary.json"))["metrics"]["goodput_gbps"]
good = 0 < goodput <= receivers * rate
links = {row["port"]: row for row in csv.DictReader(open(out + "links.csv"))}
good = good and all(float(row["utilisation"]) <= 1 for row in links.values())
for row in csv.DictReader(open(out + "series.csv")):
    if float(row["rate_gbps"]) > float(links[row["port"]]["rate_gbps"]) + 0.004:  # a byte
        print(row)
        good = False
print(goodput, max(float(row["utilisation"]) for row in links.values())) if not good else None
sys.exit(not good)
PYTHON
}

studies=$top/scenarios/studies
for until in 20us 100us; do
  for fidelity in endpoint detailed; do
    study arbitration 1 100 "$studies/vl-arbitration.yaml" --set "run={until: $until}" --set hosts.hca.fidelity=$fidelity
    study warm 1 100 "$studies/vl-arbitration.yaml" --set "run={until: $until, warm_up: 7us}" --set hosts.hca.fidelity=$fidelity
    cat >"$folder/shift.yaml" <<'END'
seed: 1
hosts: {count: 4, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, switch: spectrum-100gbe}
workload: {pattern: shift, bytes: 3MB}
END
    for bytes in 64KB 3MB; do
      study "shift $bytes" 4 100 "$folder/shift.yaml" --set "run={until: $until, warm_up: 5us}" \
        --set "workload={pattern: all_to_all, bytes: $bytes}" --set hosts.hca.fidelity=$fidelity
    done
  done
  study loss 1 100 "$folder/shift.yaml" --set "run={until: $until, warm_up: 5us}" --set 'workload={pattern: incast, bytes: 3MB}' \
    --set hosts.hca.recovery=selective_repeat --set 'faults=[{from: host1, to: switch0, drop: {probability: 2%}}]'
done

# Loads with completions in groups of 64, with 8 messages that alternate on the wire, and with few
# work requests.
cat >"$folder/load.yaml" <<'END'
seed: 1
hosts: {count: 2, hca: connectx5-100gbe}
fabric: {link_layer: roce, topology: back-to-back, link: cable-100gbe}
load: {verb: write, bytes: 64KiB, threads: 8, tx_depth: 32, warm_up: 100, operations: 200}
END
for verb in write read send; do
  for signal in 1 16; do
    for bytes in 64B 4KiB 64KiB 1MiB; do
      "$hcasim" run "$folder/load.yaml" --json --set load.verb=$verb --set load.cq_mod=$signal --set load.bytes=$bytes \
        >"$folder/text" 2>&1 || fail "load $verb $signal $bytes: $(cat "$folder/text")"
      python3 - "$folder/text" $bytes <<'PYTHON' || fail "load $verb $signal $bytes: $(cat "$folder/text")"
import json, sys
metrics = json.load(open(sys.argv[1]))["metrics"]
size = {"64B": 64, "4KiB": 4096, "64KiB": 65536, "1MiB": 1 << 20}[sys.argv[2]]
# MTU 4096 leaves 98.0 for data, minus ACKs; a full link, within a packet of 200 messages at the
# edges
least, most = 0 if size == 64 else 97.5, 98.1 * (1 + min(size, 4096) / (200 * size))
sys.exit(not least <= metrics["gbps"] <= most)
PYTHON
    done
  done
done

[ $failures -eq 0 ]
