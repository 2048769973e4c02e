#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that congestion control without its signal is refused with a place and a remedy: each
# algorithm without its marks, telemetry or ACKs, on RoCE and InfiniBand, with endpoint and detailed
# adapters, built in or loaded. A scenario can permit it explicitly. Arguments: the hcasim program,
# the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

# scenario NAME HCA LINK_LAYER SWITCH TRAFFIC
scenario() {
  printf 'seed: 1\nhosts: {count: 3, hca: {%s}}\nfabric: {link_layer: %s, topology: single-switch, switch: {%s}}\n%s\n' \
    "$2" "$3" "$4" "$5" >"$folder/$1.yaml"
}
refused() {
  "$hcasim" check "$folder/$1.yaml" >"$folder/log" 2>&1
  [ $? -eq 2 ] && grep -qF "$1.yaml:$2" "$folder/log" || fail "$1: expected \"$2\", found: $(cat "$folder/log")"
}
accepted() {
  "$hcasim" check "$folder/$1.yaml" >"$folder/log" 2>&1 || fail "$1: $(cat "$folder/log")"
}

endpoint='fidelity: endpoint, congestion'
writes='workload: {bytes: 1MB}'
roce='needs congestion marks, and nothing marks packets; expected switch: {ecn: {mark: dequeue}}, or {mark: off} if this is intended'
ib='needs congestion marks, and nothing marks packets; expected switch: {fecn: {threshold: 1..15}}, or {threshold: 0} if this is intended'
for algorithm in dcqcn dcqcn-paper dcqcn-vendor dctcp dctcp-hpcc-100g infiniband; do
  name=${algorithm%%-*}
  for marks in '' 'ecn: {}' 'ecn: {mark: dequeue, priorities: 0}'; do
    scenario unmarked "$endpoint: $algorithm" roce "$marks" "$writes"
    refused unmarked "3:9: congestion of host0: $name $roce"
  done
  scenario marked "$endpoint: $algorithm" roce 'ecn: {mark: dequeue}' "$writes"
  accepted marked
  scenario meant "$endpoint: $algorithm" roce 'ecn: {mark: off}' "$writes"
  accepted meant
  scenario silent "$endpoint: $algorithm, notify: none" roce '' "$writes"
  accepted silent
  scenario fault "$endpoint: $algorithm" roce '' "$writes
faults: [{from: host1, mark: {probability: 1%}}]"
  accepted fault
  scenario blind-ib "$endpoint: $algorithm" infiniband '' "$writes"
  refused blind-ib "3:9: congestion of host0: $name $ib"
  scenario fecn "$endpoint: $algorithm" infiniband 'fecn: {threshold: 8}' "$writes"
  accepted fecn
  scenario fecn-off "$endpoint: $algorithm" infiniband 'fecn: {threshold: 0}' "$writes"
  accepted fecn-off
done
scenario detailed 'preset: connectx5-100gbe, congestion: dcqcn-paper' roce '' 'load: {pattern: inbound}'
refused detailed "3:9: congestion of host0: dcqcn $roce"
scenario detailed-none 'preset: connectx5-100gbe, congestion: dcqcn-paper, notification: {notify: none}' roce '' 'load: {pattern: inbound}'
accepted detailed-none
printf 'hosts: {count: 2, hca: {fidelity: endpoint, congestion: dcqcn-paper}}\nfabric: {link_layer: roce, topology: back-to-back}\n%s\n' "$writes" >"$folder/cable.yaml"
refused cable '2:9: congestion of host0: dcqcn needs congestion marks, and nothing marks packets; expected a switch, a fault that marks, or notify: none'

# ---- telemetry ----
for load in "$writes" 'load: {pattern: inbound}'; do
  hca="$endpoint: hpcc-paper"
  [ "$load" = "$writes" ] || hca='preset: connectx5-100gbe, congestion: hpcc-paper'
  scenario blind "$hca" roce '' "$load"
  refused blind '3:9: congestion of host0 needs telemetry, which no switch adds; expected switch: {telemetry: true}'
  scenario sees "$hca" roce 'telemetry: true' "$load"
  accepted sees
done

# ---- ACKs ----
for algorithm in hpcc-paper swift timely-paper dctcp window; do
  scenario reads "$endpoint: $algorithm" roce 'telemetry: true, ecn: {mark: dequeue}' 'workload: {bytes: 1MB, operation: read}'
  refused reads "4:11: congestion of host0: ${algorithm%%-*} needs ACKs, which read responses do not have; expected operation: write or send, or an algorithm that uses marks"
  for transport in uc ud; do
    scenario unreliable "preset: connectx5-100gbe, congestion: $algorithm" roce 'telemetry: true, ecn: {mark: dequeue}' "load: {pattern: inbound, verb: send, transport: $transport}"
    refused unreliable "4:7: congestion of host0: ${algorithm%%-*} needs ACKs, which packets of unreliable queue pairs do not have; expected transport: rc or dc"
  done
done
scenario reads-marked "$endpoint: dcqcn-paper" roce 'ecn: {mark: dequeue}' 'workload: {bytes: 1MB, operation: read}'
accepted reads-marked
scenario none "$endpoint: none" roce '' "$writes"
accepted none
[ $failures -eq 0 ]
