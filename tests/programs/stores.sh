#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that stores to doorbells wait for the next request only if no one can notice. A ping-pong
# needs four hand-offs per round trip (two completions on each side) instead of six. If a store
# takes longer than its path to the HCA, it needs six, and each doorbell arrives. Three pairs need
# three times as many. A thread that falls asleep where nobody sees it takes no store along.
# Arguments: the hcasim program, the top of the source tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
asleep=$(dirname "$3")/asleep
command -v ibv_rc_pingpong >/dev/null || { echo 'ibv_rc_pingpong is not installed'; exit 77; }
. "$(dirname "$0")/../support/script.sh"

counts() { # ROUNDS OPTIONS...: hand-overs and doorbells of a whole run
  local rounds=$1
  shift
  "$hcasim" exec "$scenario" --verbose "$@" -- host0: ibv_rc_pingpong -n "$rounds" : host1: ibv_rc_pingpong -n "$rounds" host0 \
    2>&1 >/dev/null | sed -nE 's/.* ([0-9]+) hand-offs, ([0-9]+) doorbells.*/\1 \2/p'
}

check() { # HAND-OVERS OPTIONS...: of 100 round trips, with 200 doorbells
  local expected=$1 short long
  shift
  read -ra short <<<"$(counts 100 "$@")"
  read -ra long <<<"$(counts 200 "$@")"
  [ "$((long[0] - short[0])) $((long[1] - short[1]))" = "$expected 200" ] ||
    fail "$* 100 round trips: $((long[0] - short[0])) hand-overs, expected $expected, $((long[1] - short[1])) doorbells, expected 200"
}

check 400
check 600 --set cpu.mmio_store=200ns

# Pairs on hosts of their own cost one another nothing: four hand-overs a round trip of each.
if command -v ib_send_lat >/dev/null; then
  many=$folder/many.yaml
  {
    echo 'hosts:'
    printf '  host%d: {hca: connectx4-edr}\n' 0 1 2 3 4 5
    echo 'fabric: {link_layer: infiniband, topology: single-switch, switch: sb7700, link: cable-edr}'
  } >"$many"
  of_pairs() { # ROUNDS: hand-overs of three pairs
    "$hcasim" exec "$many" --verbose -- host0: ib_send_lat -F -n "$1" : host1: ib_send_lat -F -n "$1" host0 : host2: ib_send_lat -F -n "$1" : \
      host3: ib_send_lat -F -n "$1" host2 : host4: ib_send_lat -F -n "$1" : host5: ib_send_lat -F -n "$1" host4 2>&1 >/dev/null |
      sed -nE 's/.* ([0-9]+) hand-offs.*/\1/p'
  }
  more=$(($(of_pairs 200) - $(of_pairs 100)))
  [ $more = 1200 ] || fail "three pairs, 100 round trips each: $more hand-overs, expected 1200"
fi

said=$("$hcasim" exec "$scenario" -- host0: "$asleep" 2>&1) || fail "asleep: exit code $?"
[[ $said == *'untracked system call'*'woken by a completion: transport retry counter exceeded'* ]] || fail "asleep: $said"
[ $failures -eq 0 ]
