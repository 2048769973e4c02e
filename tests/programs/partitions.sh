#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that programs see the P_Keys of the scenario's partitions (pkeys.c). Programs with matching
# P_Keys communicate. Packets of other programs are dropped by the switch's filters, or without
# filters by the adapter, which counts them. Arguments: the hcasim program, the top of the source
# tree, a program of this folder's.
hcasim=$1
pkeys=$(dirname "$3")/pkeys
command -v ib_send_lat >/dev/null || exit 77
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*"; cat "$folder/out"; exit 1; }

# scenario NAME ENFORCEMENT COUNTER: host0 is a full member of partition 1, host1 and host2 are limited ones
scenario() {
  cat >"$folder/$1.yaml" <<YAML
seed: 1
hosts: {host0: {hca: connectx4-edr}, host1: {hca: connectx4-edr}, host2: {hca: connectx4-edr}}
fabric:
  topology: single-switch
  switch: sb7700
  partition_enforcement: $2
  partitions: [{pkey: 1, full: [host0], limited: ["*"]}]
$3
YAML
}
talk() { # talk SCENARIO HOST HOST INDEX
  timeout 100 "$hcasim" exec "$folder/$1.yaml" -- "$2:" ib_send_lat -F -n 10 --pkey_index="$4" : "$3:" ib_send_lat -F -n 10 --pkey_index="$4" "$2" >"$folder/out" 2>&1
}

scenario both both 'expect: [{counter: switch0.pkey_inbound_drops, equals: 0}]'
"$hcasim" exec "$folder/both.yaml" -- host0: "$pkeys" : host1: "$pkeys" >"$folder/out" 2>&1 || fail "pkeys: exit code $?"
sort -o "$folder/out" "$folder/out"
[ "$(tr -s ' ' <"$folder/out")" = 'host0| 0 of 128 wrong
host0| 0: 0x7fff
host0| 1: 0x8001
host1| 0 of 128 wrong
host1| 0: 0x7fff
host1| 1: 0x0001' ] || fail "other P_Keys"
talk both host0 host1 1 || fail "a full and a limited member: exit code $?"
grep -q 't_typical' "$folder/out" || fail "no figures"
for pair in "host1 host2 1" "host0 host1 0"; do
  talk both $pair && fail "$pair: they talked"
  grep -q 'Failed status 12' "$folder/out" || fail "$pair: not for want of an answer"
done
scenario in in 'expect: [{counter: host1.hca.receive.pkey_violations, equals: 8}, {counter: switch0.pkey_*, equals: 0}]' # 8 attempts
talk in host1 host2 1
grep -q 'Failed status 12' "$folder/out" || fail "without filters: not for want of an answer"
grep -q '^expected' "$folder/out" && fail "without filters"
echo "partitions are apart"
