#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that programs of a run begin together. Three senders to one host share its link, in any
# order of the command line, although perftest's clients sleep for a second and then poll. A program
# with a `start` begins then. A client whose server never waits begins after session.head_start.
# Concurrent pairs cost no more than single pairs. Arguments: the hcasim program, the top of the
# source tree, a program of this folder's.
hcasim=$1
command -v ib_write_bw >/dev/null || { echo 'ib_write_bw is not installed'; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}

cat >"$folder/four.yaml" <<'END'
seed: 1
hosts: {count: 4, hca: connectx4-edr}
fabric: {link_layer: infiniband, topology: single-switch, switch: sb7700, link: cable-edr}
END
server() { echo "host0: ib_write_bw -F -n 1000 -p 1851$1"; }
client() { echo "host$1: ib_write_bw -F -n 1000 -p 1851$1 host0"; }

# 65,536,000 bytes each: alone 11,832 MB/s, a third of that together, within 0.2 % of 3,944, as the last bytes of each have less company.
for order in "$(server 1) : $(client 1) : $(server 2) : $(client 2) : $(server 3) : $(client 3)" \
  "$(server 1) : $(server 2) : $(server 3) : $(client 1) : $(client 2) : $(client 3)"; do
  "$hcasim" exec "$folder/four.yaml" -- $order >"$folder/out" 2>&1 || fail "exit code $?"
  awk '$2 == 65536 {rows++; if ($5 < 3944 || $5 > 3953) bad = 1} END {exit !(rows == 6 && !bad)}' "$folder/out" ||
    fail "not 3,944 to 3,953 MB/s in six rows: $(grep 65536 "$folder/out")"
done

# Pairs that begin together cost four hand-overs a round trip each, however many there are.
handoffs() { # ITERATIONS
  "$hcasim" exec --verbose "$folder/four.yaml" -- host0: ib_send_lat -F -n "$1" : host1: ib_send_lat -F -n "$1" host0 : \
    host2: ib_send_lat -F -n "$1" : host3: ib_send_lat -F -n "$1" host2 2>&1 | sed -n 's/.* \([0-9]*\) hand-offs.*/\1/p'
}
more=$(($(handoffs 400) - $(handoffs 100)))
[ $more -gt 2300 ] && [ $more -lt 2700 ] || fail "300 round trips of two pairs: $more hand-overs, expected 2,400"

# Pairs that begin at different times work, too. A program that only reads clocks, as perftest does
# to measure its processor's frequency, does not return the token at each event of others. 219 ms of
# clock reads are 684 pieces of 320 us, for each of four programs.
skewed() { # ITERATIONS
  "$hcasim" exec --verbose --set session.skew=3ms "$folder/four.yaml" -- host0: ib_send_lat -F -n "$1" : host1: ib_send_lat -F -n "$1" host0 : \
    host2: ib_send_lat -F -n "$1" : host3: ib_send_lat -F -n "$1" host2 2>&1 | sed -n 's/.* \([0-9]*\) hand-offs.*/\1/p'
}
more=$(($(skewed 400) - $(skewed 100)))
[ $more -gt 2300 ] && [ $more -lt 2700 ] || fail "300 round trips of two pairs that begin apart: $more hand-overs, expected 2,400"

# The first one prints at 0 s and 2 s, the second one at 1 s.
{
  cat "$folder/four.yaml"
  echo 'programs:'
  echo '  - {host: host0, command: [sh, -c, "date +%s.%N; sleep 2; date +%s.%N"]}'
  echo '  - {host: host1, start: 1s, command: [date, +%s.%N]}'
} >"$folder/start.yaml"
"$hcasim" run "$folder/start.yaml" >"$folder/out" 2>&1 || fail "exit code $?"
sed 's/\..*//; s/[0-9]* *$/& /; s/| 17000*/|/' "$folder/out" | tr -d ' ' | tr '\n' ' ' | grep -qx 'host0|0* host1|0*1 host0|0*2 ' ||
  fail "not at 0, 1 and 2 s: $(cat "$folder/out")"

# Its server computes for ever: 5 ms.
"$hcasim" exec --set session.head_start=5ms --set session.limit=20ms "$folder/four.yaml" -- \
  host0: sh -c 'while :; do date >/dev/null; done' : host1: sh -c 'date +%N; : host0' >"$folder/out" 2>&1
grep -q 'host1| 00[56]' "$folder/out" || fail "not after 5 ms: $(head "$folder/out")"
exit $failures
