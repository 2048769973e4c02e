#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that messages to a multicast group reach each program on each attached host once, in order
# and whole, including the sender's own (group.c). No other program gets them. On InfiniBand the
# scenario defines the groups; RoCE also permits other groups. Hosts join and leave. Two runs on
# different engines are equal. Arguments: the hcasim program, the top of the source tree, a program
# of this folder's.
hcasim=$1
source=$2
group=$(dirname "$3")/group
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# scenario LINK_LAYER SWITCH ADAPTER PACKETS GROUPS: host3, which no group has, gets so many packets; each link has them once
scenario() {
  cat <<YAML
seed: 1
hosts: {host0: {hca: $3}, host1: {hca: $3}, host2: {hca: $3}, host3: {hca: $3}, host4: {hca: $3}}
fabric:
  link_layer: $1
  switches: {leaf0: $2, leaf1: $2, spine0: $2}
  links:
    - between: [host0, leaf0]
    - between: [host1, leaf0]
    - between: [host2, leaf1]
    - between: [host3, leaf1]
    - between: [host4, leaf1]
    - between: [leaf0, spine0]
    - between: [leaf1, spine0]
$5
expect:
  - {counter: host3.hca.port.packets_received, equals: $4}
  - {counter: host2.hca.port.packets_received, equals: 32}
  - {counter: leaf1.port3.packets_sent, equals: 16}
  - {counter: spine0.packets_forwarded, equals: 32}
  - {counter: "leaf*.no_route_drops", equals: 0}
YAML
}
scenario infiniband sb7700 connectx4-edr 0 '  multicast: [{mgid: "ff12:401b::7", mlid: 0xc005, members: [host0, host1, host2], senders: [host4]}]' >"$folder/ib.yaml"
scenario roce spectrum-100gbe connectx4-100gbe 0 '  multicast: [{mgid: "ff0e::7", members: [host0, host1, host2], senders: [host4]}]' >"$folder/roce.yaml"
# the same members at the end; one joins, and an earlier member leaves
scenario infiniband sb7700 connectx4-edr 0 '  multicast: [{mgid: "ff12:401b::7", mlid: 0xc005, members: [host0, host1, host3], senders: [host4], changes: [{at: 0ps, leave: host3}, {at: 1ns, join: host2}]}]
' >"$folder/changes.yaml"
scenario roce spectrum-100gbe connectx4-100gbe 32 '' >"$folder/flood.yaml"

# run NAME MGID MLID PROGRAMS: host0 (a member) and host4 (no member) send 16 messages each when all
# programs run. A program starts when the earlier programs wait.
run() {
  local first second name=$1 mgid=$2 mlid=$3
  shift 3
  for engine in native systemc; do
    "$hcasim" exec "$folder/$name.yaml" --engine $engine --counters "$folder/$name.$engine" -- host1: "$group" "$mgid" "$mlid" 1 0 32 : \
      host2: "$group" "$mgid" "$mlid" 1 0 32 : "$@" host0: "$group" "$mgid" "$mlid" 1 16 32 : host4: "$group" "$mgid" "$mlid" 0 16 0 \
      >"$folder/$name.$engine.txt" 2>&1 || { echo "$name: exit code $?"; cat "$folder/$name.$engine.txt"; exit 1; }
  done
  first=$(sort "$folder/$name.native.txt")
  second=$(sort "$folder/$name.systemc.txt")
  [ "$first" = "$second" ] || { echo "$name: $first, then $second"; exit 1; }
  cmp "$folder/$name.native" "$folder/$name.systemc" || { echo "$name: counters differ"; exit 1; }
  for host in 0 1 2; do
    grep -qE "^host$host\| *32 messages received" "$folder/$name.native.txt" || { echo "$name: $first"; exit 1; }
  done
}

run ib ff12:401b::7 0xc005
run changes ff12:401b::7 0xc005
grep -q '"joins": *1' "$folder/changes.native" || { echo "nobody joined"; exit 1; }
run roce ff0e::7 0
# impossible values are refused with their line
refused() {
  sed "s/changes: .*]/changes: [$1]/" "$folder/changes.yaml" >"$folder/refused.yaml"
  "$hcasim" check "$folder/refused.yaml" >"$folder/refused.txt" 2>&1
  [ $? = 2 ] && grep -qE "refused.yaml:[0-9]+.*$2" "$folder/refused.txt" || { echo "$1:"; cat "$folder/refused.txt"; exit 1; }
}
refused "{at: 0ps, leave: host2}]}" "host2 is no member at this time; expected join"
refused "{at: 1ms, leave: host3}, {at: 0ps, join: host2}]}" "do not decrease"
refused "{at: 0ps, join: host9}]}" "no host"
refused "{join: host2}]}" "expected {at: 1ms, join: host3}"
run flood ff0e::8 0 host3: "$group" ff0e::8 0 1 0 32 :
sed 's/received, equals: 0/received, equals: 1/' "$folder/ib.yaml" >"$folder/wrong.yaml" # what is expected is looked at
"$hcasim" exec "$folder/wrong.yaml" -- host4: "$group" ff12:401b::7 0xc005 0 1 0 >/dev/null 2>&1 && { echo "an expectation was not looked at"; exit 1; }
echo "groups are reached"
