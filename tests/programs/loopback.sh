#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the report of WRITEs over loopback that were acknowledged before their data were visible
# with PCIe. The report has at least as many as the program saw old data of. With ACKs after the
# data, the program sees no old data, and the run reports nothing. Arguments: the hcasim program,
# the top of the source tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
loopback=$(dirname "$3")/loopback
fail() { echo "$*"; exit 1; }

early=$("$hcasim" exec "$scenario" -- host0: "$loopback" 2>&1) || fail "exit code $?: $early"
[[ $early =~ 'host0| '([0-9]+)' of 50 held old data' ]] || fail "$early"
old=${BASH_REMATCH[1]}
[[ $early =~ 'host0: '([0-9]+)' messages over loopback were acknowledged before' ]] || fail "nothing said: $early"
[ "${BASH_REMATCH[1]}" -ge "$old" ] || fail "$early"
posted=$("$hcasim" exec "$scenario" --set hosts.host0.hca.transport.ack_when=posted -- host0: "$loopback" 2>&1) || fail "exit code $?: $posted"
[ "$posted" = 'host0| 0 of 50 held old data' ] || fail "$posted"
