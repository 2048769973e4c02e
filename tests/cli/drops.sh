#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that each lost packet is in exactly one column of links.csv or switches.csv, under its
# reason. The sum of the columns, the sum of the reasons in the summary and the metric `drops` are
# equal, for losses of all kinds. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

# sums NAME REASON OPTION...: runs NAME.yaml; REASON is the name that the summary gives with all that was lost, "": several.
sums() {
  local name=$1 reason=$2
  shift 2
  rm -rf "$folder/out"
  "$hcasim" run "$folder/$name.yaml" --out "$folder/out" "$@" >"$folder/text" 2>&1
  [ $? -le 1 ] || fail "$name: $(cat "$folder/text")"
  python3 - "$folder" "$reason" <<'PYTHON' || fail "$name $*: $(cat "$folder/text")"
import csv, json, re, sys
out, reason = sys.argv[1] + "/out/", sys.argv[2]
drops = json.load(open(out + "summary.json"))["metrics"]["drops"]
tables = 0
for file in "links.csv", "switches.csv":
    for row in csv.DictReader(open(out + file)):
        tables += sum(int(row[key]) for key in row if key.endswith("_drops") and key != "queue_drops")
line = re.search(r"^drops +(\d+)(?: \((.*)\))?$", open(sys.argv[1] + "/text").read(), re.M)
said = dict(re.fullmatch(r"(.*) (\d+)", part).groups() for part in line[2].split(", "))
good = drops > 0 and tables == drops == int(line[1]) == sum(map(int, said.values()))
sys.exit(not (good and (not reason or list(said) == [reason]) and "were lost" not in open(sys.argv[1] + "/text").read()))
PYTHON
}

cat >"$folder/roce.yaml" <<'END'
seed: 1
hosts: {count: 4, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, switch: spectrum-100gbe}
workload: {pattern: incast, bytes: 1MB}
run: {loss: expected}
END
sed 's/, switch: spectrum-100gbe//; s/roce/infiniband/' "$folder/roce.yaml" >"$folder/infiniband.yaml"

fault() { echo "faults=[{from: host1, to: switch0, $1}]"; }
sums roce icrc --set "$(fault 'corrupt_icrc: {probability: 1%}')"
sums roce icrc --set "$(fault 'corrupt_icrc: {probability: 1%}')" --set hosts.hca.fidelity=detailed
sums roce fault --set "$(fault 'drop: {probability: 1%}')"
sums roce damage --set "$(fault 'corrupt_vcrc: {probability: 1%}')"
sums roce '' --set "$(fault 'link_down: {begin: 20us, lasts: 10us}')"
sums roce overflow --set fabric.link.pfc_priorities=0
sums infiniband '' --set 'faults=[{from: switch0, link_down: {begin: 50us, lasts: 30us}}]'
sums infiniband hoq_life --set 'faults=[{from: host0, slow_receiver: {rate: 10Mbps}}]' --set fabric.link.hoq_life=20us

[ $failures -eq 0 ]
