#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests a scenario's VLs and forwarding tables. VL arbitration shares a link by its weights (row
# C-08). SL to VL maps flows to one VL or two. Packets follow a file of linear forwarding tables.
# Manual routes lead to their next hops, in a circle, and nowhere. Flooded packets are counted one
# by one. Errors are reported at their line.
#
#   tests/cli/vls.sh HCASIM
set -u
hcasim=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

# run NAME, of $folder/NAME.yaml: all expectations hold, and the effective configuration gives the same results
run() {
  "$hcasim" run "$folder/$1.yaml" --out "$folder/$1" >"$folder/$1.txt" 2>&1 || fail "$1: exit code $?: $(cat "$folder/$1.txt")"
  "$hcasim" run "$folder/$1/scenario.yaml" --out "$folder/$1.again" >/dev/null 2>&1 || fail "$1: its effective configuration fails"
  cmp "$folder/$1/flows.csv" "$folder/$1.again/flows.csv" || fail "$1: its effective configuration is another run"
}

# Two senders, one a service level, to one receiver: weights of 17 and 51 blocks are one packet of 1050 B to three.
arbitrated() {
  cat <<YAML
hosts: {count: 3, hca: {fidelity: endpoint}}
fabric:
  topology: single-switch
  switch: sb7700
  link: {mtu: 1024B}
$1
workload: {pattern: incast, bytes: 100MB, posting: {service_levels: 2}}
run: {until: 2ms, warm_up: 200us}
expect:
  - {metric: flow0.goodput_gbps, equals: $2, tolerance: 1%}
  - {metric: flow1.goodput_gbps, equals: $3, tolerance: 1%}
YAML
}
# 1024 of 1050 bytes on the wire and 100 Gb/s: 97.5 Gb/s
arbitrated '  vl_arbitration: [{from: switch0, to: host0, low: [[0, 17], [1, 51]]}]' 24.38 73.14 >"$folder/weights.yaml"
run weights
arbitrated '  vl_arbitration: [{from: "*", high: [[1, 255]], low: [[0, 255]], high_limit: 0}]' 48.76 48.76 >"$folder/limit.yaml"
run limit
arbitrated '  vl_arbitration: [{from: switch0, to: host0, low: [[0, 17], [1, 51]]}]
  service_levels: [{at: switch0, from: "host*", to: host0, vls: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}]' 48.76 48.76 >"$folder/one-vl.yaml"
run one-vl

# All packets use the second spine, and then the first, as the file says. The number of the
# destination would select the other spine.
tables() {
  for leaf in 0 1; do
    echo "Unicast lids [0x0-0x4] of switch Lid 9 guid 0x0002c90300000001 (leaf$leaf):"
    echo "  Lid  Out   Destination"
    for lid in 1 2 3 4; do
      printf '0x%04x %03d : (Channel Adapter portguid 0x0002c90300000000: host)\n' "$lid" "$(((lid - 1) / 2 == leaf ? (lid - 1) % 2 + 1 : 2 + $1))"
    done
    echo "4 valid lids dumped"
  done
}
for spine in 1 2; do
  tables $spine >"$folder/spine$spine.lft"
  cat >"$folder/forward$spine.yaml" <<YAML
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts: 2}, switch: sb7700, forwarding: $folder/spine$spine.lft}
workload: {pattern: shift, stride: 2, bytes: 1MB}
expect:
  - {counter: "spine$((spine - 1)).packets_forwarded", at_least: 980}
  - {counter: "spine$((2 - spine)).packets_forwarded", equals: 0}
YAML
  run forward$spine
done

# wrong NAME MESSAGE: a run of it is refused with exit code 2
wrong() {
  "$hcasim" run "$folder/$1.yaml" >"$folder/$1.txt" 2>&1
  [ $? = 2 ] || fail "$1: exit code"
  grep -qF -- "$2" "$folder/$1.txt" || fail "$1: $(cat "$folder/$1.txt")"
}
sed 's/spine1.lft/circle.lft/' "$folder/forward1.yaml" >"$folder/circle.yaml"
{ tables 1; echo "Unicast lids [0x0-0x4] of switch Lid 9 guid 0x1 (spine0):"; echo "0x0001 002 : (host)"; } >"$folder/circle.lft"
wrong circle "to host0: the routes form a circle"
sed 's/spine1.lft/nobody.lft/' "$folder/forward1.yaml" >"$folder/nobody.yaml"
{ tables 1; echo "0x0001 77 : (host)"; } >"$folder/nobody.lft"
wrong nobody "nobody.lft:15: leaf1 has no port 77; it has 1..4"
sed 's/spine1.lft/sw.lft/' "$folder/forward1.yaml" >"$folder/sw.yaml"
echo "0x0001 1" >"$folder/sw.lft"
wrong sw 'sw.lft:1: expected a line "Unicast lids'
arbitrated '  vl_arbitration: [{from: switch1, low: [[0, 17]]}]' 1 1 >"$folder/where.yaml"
wrong where '6:27: from: no host or switch is called "switch1"'
arbitrated '  vl_arbitration: [{low: [[15, 17]]}]' 1 1 >"$folder/vl.yaml"
wrong vl '6:28: '
arbitrated '  service_levels: [{vls: [0, 1]}]' 1 1 >"$folder/levels.yaml"
wrong levels 'expected a VL for each of 16 service levels; found 2'
arbitrated '  dscp: [{priorities: {26: 3}}]' 1 1 >"$folder/dscp-ib.yaml"
wrong dscp-ib 'dscp: expected link_layer: roce'

cat >"$folder/dscp.yaml" <<YAML
hosts: {count: 2, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, switch: {preset: spectrum-100gbe}, dscp: [{priorities: {0: 5}}, {priorities: {1: 2, 46: 6}}]}
workload: {pattern: permutation, bytes: 100KB}
YAML
run dscp
grep -q 'priorities: {1: 2, 46: 6}' "$folder/dscp/scenario.yaml" || fail "dscp: not in the effective configuration"

# Packets go from host2 to host1 by spine1. A circle that ends with the hop limit. A host unknown to
# its switch, reached by flooding: 100 packets become 300, of which two hosts drop their copies.
routes() {
  cat <<YAML
hosts: {count: 0, hca: {fidelity: endpoint, window_packets: 64, hop_limit: 6, port: {mtu: 1024B}}}
fabric:
  link_layer: roce
  topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts: 2}
  switch: {routes: true, port: {mtu: 1024B}}
  routes: [$1]
workload: {pattern: incast, fan_in: 1, target: 1, bytes: 102400B}
run: {until: 1ms}
expect: [$2]
YAML
}
routes '{at: leaf1, to: host1, via: spine1}' \
  '{counter: spine1.packets_forwarded, equals: 100}, {counter: spine0.packets_forwarded, equals: 2}' >"$folder/by-hand.yaml"
run by-hand
routes '{at: leaf1, to: host1, via: spine0}, {at: "spine*", to: host1, via: leaf1}' \
  '{counter: spine0.hop_limit_drops, equals: 64}, {counter: leaf1.packets_forwarded, equals: 192}' | sed 's/^run: .*/run: {until: 1ms, deadlock: possible}/' >"$folder/loop.yaml"
run loop
cat >"$folder/flood.yaml" <<YAML
hosts: {count: 4, hca: {fidelity: endpoint, port: {mtu: 1024B}}}
fabric:
  link_layer: roce
  topology: single-switch
  switch: {unknown: flood, buffer: {size: 12MB}, port: {mtu: 1024B}}
  routes: [{at: switch0, to: host1, via: none}]
workload: {pattern: incast, fan_in: 1, target: 1, bytes: 102400B}
expect:
  - {counter: switch0.copies, equals: 200}
  - {counter: host0.hca.foreign_drops, equals: 100}
  - {counter: host3.hca.foreign_drops, equals: 100}
  - {metric: flows_done, equals: 1}
  - {metric: drops, equals: 0}
YAML
run flood
for unknown in drop flood_lossy; do
  sed -e "s/unknown: flood/unknown: $unknown/" -e '/counter/d' -e '/metric/d' "$folder/flood.yaml" >"$folder/$unknown.yaml"
  printf '  - {counter: switch0.no_route_drops, equals: 100}\n  - {counter: switch0.copies, equals: 0}\nrun: {until: 1ms}\n' >>"$folder/$unknown.yaml"
  run $unknown
done
sed 's/buffer: {size: 12MB}, //' "$folder/flood.yaml" >"$folder/own-memory.yaml"
run own-memory
sed 's/via: none/via: host9/' "$folder/flood.yaml" >"$folder/no-neighbour.yaml"
wrong no-neighbour 'via: no host or switch is called "host9"'
sed 's/via: spine1/via: leaf0/' "$folder/by-hand.yaml" >"$folder/no-link.yaml"
wrong no-link 'routes: leaf1 has no link to "leaf0"'
echo "VLs and tables are as the scenario says"
