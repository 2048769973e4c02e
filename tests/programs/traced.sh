#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a trace of programs shows their requests to the kernel: queue pairs with their states,
# regions with their pages, connections, and each wait of a thread with its end. The virtual times
# are the same with and without a trace. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
command -v ibv_rc_pingpong >/dev/null && command -v rping >/dev/null || exit 77
. "$(dirname "$0")/../support/script.sh"

# points BLOCK: prints the trace points of the block, with their values
points() { "$hcasim" trace "$folder/trace" | awk -v block="$1" '$3 == block { $1 = $2 = $3 = ""; print }' | sed 's/^ *//'; }

program=(ibv_rc_pingpong -s 20000 -n 3)
"$hcasim" exec --trace "$folder/trace" "$scenario" -- host0: "${program[@]}" : host1: "${program[@]}" host0 >"$folder/with" || fail "exit code $?"
"$hcasim" exec "$scenario" -- host0: "${program[@]}" : host1: "${program[@]}" host0 >"$folder/without" || fail "exit code $?"
cmp "$folder/with" "$folder/without" || fail 'a trace changes what programs print'
diff - <(points host0.kernel | sed -E 's/(key|cqn)=[0-9]+/\1=N/') <<'END_OF_POINTS' || fail 'not what the program asks of the kernel'
MR_REGISTER key=N pages=5
CQ_CREATE cqn=N entries=512
QP_CREATE qpn=64 type=2
QP_INIT qpn=64 from=0
QP_RTR qpn=64 from=1
QP_RTS qpn=64 from=2
QP_DESTROY qpn=64
CQ_DESTROY cqn=N
MR_DEREGISTER key=N pages=5
END_OF_POINTS

# Each wait ends exactly once.
points host0.programs | awk '{ split($2, thread, "="); t = thread[2] }
  $1 ~ /POLL|WAIT|SLEEP|LOAD/ { if (waits[t]) bad = 1; waits[t] = 1; polls += $1 == "POLL" }
  $1 == "WAKE" { if (!waits[t]) bad = 1; waits[t] = 0 }
  $1 == "STORE" { stores++ }
  END { exit bad || polls < 3 || stores < 3 }' || fail "waits and their ends: $(points host0.programs | head -50)"

# The program connects by rdma_cm.
"$hcasim" exec --trace "$folder/trace" "$scenario" -- host0: rping -s -C 1 : host1: rping -c -a host0 -C 1 >/dev/null 2>&1
seen=$(points host0.kernel | grep -o '^CM_[A-Z]*' | paste -sd' '), other=$(points host1.kernel | grep -o '^CM_[A-Z]*' | paste -sd' ')
[[ $seen == 'CM_REQ CM_RTU '* ]] || fail "server: $seen"
[[ $other == *'CM_ADDRESS CM_REP'* ]] || fail "client: $other"
[ $failures -eq 0 ]
