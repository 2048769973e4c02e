#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that an unmodified program exchanges real data over the simulated adapters, on both kinds of
# links and under loss. A run and its packets are equal, byte for byte, in a second run and on
# another engine. Arguments: the hcasim program, the top of the source tree. Exit code 77: the
# program is not installed.
hcasim=$1
scenarios=$2/scenarios
command -v ibv_rc_pingpong >/dev/null || exit 77
. "$(dirname "$0")/../support/script.sh"

# pingpong NAME SCENARIO OPTIONS... : 100 messages of 4096 bytes, checked by the program (-c)
pingpong() {
  local name=$1 scenario=$2
  shift 2
  "$hcasim" exec "$scenarios/$scenario.yaml" "$@" --pcap "$folder/$name.pcapng" --counters "$folder/$name.json" -- \
    host0: ibv_rc_pingpong -c -n 100 -g "$index" : host1: ibv_rc_pingpong -c -n 100 -g "$index" host0 >"$folder/$name.out" 2>"$folder/$name.err" ||
    fail "$name: exit code $?: $(tail -3 "$folder/$name.out" "$folder/$name.err")"
  "$hcasim" decode "$folder/$name.pcapng" | tail -1 | grep -q '0 wrong ICRC, 0 wrong VCRC, 0 malformed' ||
    fail "$name: $("$hcasim" decode "$folder/$name.pcapng" | tail -1)"
}

same() {
  local kind
  for kind in out pcapng json; do
    cmp "$folder/$1.$kind" "$folder/$2.$kind" || fail "$1 and $2 differ"
  done
}

# Packets lost by faults, in all of the run.
lost() {
  python3 -c 'import json, sys; print(sum(b["counters"].get("fault_drops", 0) for b in json.load(open(sys.argv[1])).values()))' "$folder/$1.json"
}

index=0
pingpong ib two-hosts-ib
pingpong ib-again two-hosts-ib
pingpong ib-reference two-hosts-ib --engine systemc-reference
same ib ib-again
same ib ib-reference
pingpong back-to-back back-to-back-ib
pingpong loss two-hosts-ib-loss --set 'faults.0.drop.probability=4%'
[ "$(lost ib)" -eq 0 ] || fail "packets were lost with no fault"
[ "$(lost loss)" -gt 0 ] || fail "no packet was lost with a fault"
index=3
pingpong roce two-hosts-roce
[ $failures -eq 0 ]
