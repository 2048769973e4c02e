#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a scenario's partitions isolate workloads. Members of one partition, not both limited,
# communicate. The filters of the scenario drop other packets, exactly (8 attempts of one). Without
# filters, the receiving adapter drops them. The effective configuration is equal. Errors in
# partitions are reported at their place.
#
#   tests/cli/partitions.sh HCASIM
set -u
hcasim=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

printf 'start_us,source,destination,bytes\n0,1,0,1000000\n0,0,2,1000000\n0,3,0,4096\n0,1,2,4096\n' >"$folder/traffic.csv"
# Flow 2 is from a host outside of the partition: all share the default partition, but as limited members. Flow 3 is between limited members.
# scenario ENFORCEMENT INBOUND OUTBOUND ADAPTERS
scenario() {
  cat <<YAML
seed: 1
hosts: {count: 4, hca: {fidelity: endpoint}}
fabric:
  topology: single-switch
  switch: sb7700
  partition_enforcement: $1
  partitions: [{pkey: 0x0001, full: [host0], limited: ["host[012]"]}]
workload: {pattern: trace, trace: $folder/traffic.csv}
expect:
  - {counter: switch0.pkey_inbound_drops, equals: $2}
  - {counter: switch0.pkey_outbound_drops, equals: $3}
  - {counter: "*.pkey_violations", equals: $4}
  - {metric: flow0.goodput_gbps, at_least: 90}
  - {metric: flow1.goodput_gbps, at_least: 90}
YAML
}
for way in "both 0 16 0" "out 0 16 0" "in 0 0 16" "off 0 0 16"; do
  name=${way%% *}
  scenario $way >"$folder/$name.yaml"
  for file in "$name.yaml" "$name/scenario.yaml"; do # the file, then its effective configuration
    out=$folder/$name
    [ "$file" = "$name.yaml" ] || out=$folder/$name.again
    "$hcasim" run "$folder/$file" --out "$out" >"$folder/text" 2>&1
    grep -q '^expected' "$folder/text" && fail "$file: $(cat "$folder/text")"
    grep -q 'flows *4, done 2, failed 2' "$folder/text" || fail "$file: $(cat "$folder/text")"
    cp "$folder/traffic.csv" "$out/" # where the effective configuration looks for it
  done
  cmp "$folder/$name/flows.csv" "$folder/$name.again/flows.csv" || fail "$name: the effective configuration is another run"
done

# wrong PARTITIONS MESSAGE: refused with exit code 2
wrong() {
  scenario both 0 0 0 | sed "s|partitions: .*|partitions: $1|" >"$folder/wrong.yaml"
  "$hcasim" check "$folder/wrong.yaml" >"$folder/text" 2>&1
  [ $? = 2 ] || fail "$1: exit code"
  grep -qF -- "$2" "$folder/text" || fail "$1: $(cat "$folder/text")"
}
wrong '[{pkey: 0x8001, full: [host0]}]' '7:23: "0x8001" is not a P_Key without membership bit; expected 1 to 0x7fff'
wrong '[{pkey: 1, full: [host0]}, {pkey: 1, full: [host1]}]' '7:49: partition 0x1 is defined twice'
wrong '[{pkey: 1}]' '7:16: no members; expected full: or limited:'
wrong '[{pkey: 1, full: [host9]}]' '7:33: no host "host9"; did you mean "'
wrong '[{pkey: 0x7fff, full: [host0]}]' 'host1 is in no partition'
wrong '[{full: [host0]}]' '7:16: no pkey; expected pkey: 1'
sed -i 's/^fabric:/fabric:\n  link_layer: roce/' "$folder/wrong.yaml"
"$hcasim" check "$folder/wrong.yaml" 2>&1 | grep -qF 'partitions: expected link_layer: infiniband' || fail "roce"
echo "partitions are apart"
