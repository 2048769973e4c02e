#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the files of a workload by numbers calculated by hand. Utilisation is a share of the time
# until the last flow has ended, not until a later idle moment. Values of events that did not occur
# are empty, not 0. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

# 4096 B in one packet of 4138 B, 331.04 ns at 100 Gb/s, and an ACK of 30 B, 2.4 ns: 600 + 331.04 + 10 + 100 + 2.4 + 10 + 100 + 100 ns.
cat >"$folder/one.yaml" <<'END'
hosts: {count: 2, hca: {fidelity: endpoint}}
fabric: {topology: back-to-back, link: {rate: 100Gbps, length: 2m}}
workload: {pattern: incast, bytes: 4096B}
END
"$hcasim" run "$folder/one.yaml" --out "$folder/one" >"$folder/text" 2>&1 || fail "one message: $(cat "$folder/text")"
grep -q '"time_ps": 1253440,' "$folder/one/summary.json" || fail "time: $(grep time_ps "$folder/one/summary.json")"
grep -q '"work_ps": 1253440,' "$folder/one/summary.json" || fail "time with work: $(grep work_ps "$folder/one/summary.json")"
grep -q '^bottleneck none; most used: host1.hca.port.link 26.4 % busy' "$folder/text" || fail "use: $(cat "$folder/text")"
[ "$(cut -d, -f1,5,6 "$folder/one/links.csv" | tail -2 | tr '\n' ' ')" = "host0.hca.port,30,0.001915 host1.hca.port,4138,0.264105 " ] ||
  fail "utilisation: $(cat "$folder/one/links.csv")"

# One flow is done. One flow fails after a timeout of 4.096 us * 2^14. One flow never ends, and one
# never begins. The flow that never ends has sent a packet every 329.76 ns since 1.6 us, and has
# four more
# at its port.
cat >"$folder/four.yaml" <<'END'
hosts: {count: 3, hca: {fidelity: endpoint, retry_count: 0}}
fabric: {topology: single-switch, link: {rate: 100Gbps, length: 2m}}
workload: {pattern: trace, trace: four.csv}
run: {failed: expected}
faults: [{from: host1, to: switch0, drop: {probability: 100%}}]
END
printf 'start_us,source,destination,bytes\n0,0,2,1000\n0,1,2,1000\n1,0,2,5000000000\n90000,0,1,1000\n' >"$folder/four.csv"
"$hcasim" run "$folder/four.yaml" --until 80ms --out "$folder/four" >"$folder/text" 2>&1 || fail "four flows: $(cat "$folder/text")"
[ "$(cut -d, -f1,8-11,13-17,19- "$folder/four/flows.csv" | tail -4 | tr '\n' ' ')" = "\
0,0.000000,0.600000,0.893360,1.205760,1,0,0,0,0.000000,done,1.205760,1.0000 \
1,0.000000,0.600000,,67109.564000,1,0,0,0,0.000000,failed,, \
2,1.000000,1.600000,,,242600,0,0,0,0.000000,under_way,, 3,,,,,,,,,,not_started,, " ] || fail "flows.csv: $(cat "$folder/four/flows.csv")"

# The run ends with its last flow, also if that flow has failed.
printf 'start_us,source,destination,bytes\n0,0,2,1000\n0,1,2,1000\n' >"$folder/four.csv"
"$hcasim" run "$folder/four.yaml" --json >"$folder/summary" 2>&1 || fail "two flows: $(cat "$folder/summary")"
grep -q '"time_ps": 67109564000,' "$folder/summary" || fail "the end of a flow that fails: $(grep time_ps "$folder/summary")"
grep -q '"duration_us": 1.20576,' "$folder/summary" || fail "measured, until the last that is done: $(grep duration_us "$folder/summary")"
grep -q '"measured_ps": 1205760,' "$folder/summary" || fail "measured_ps: $(grep measured_ps "$folder/summary")"
grep -q '"violations": \[\],' "$folder/summary" || fail "violations: $(grep -A3 violations "$folder/summary")"

# A violated law is in the summary and on stderr, with the same text.
"$hcasim" run "$folder/four.yaml" --set 'run={}' --out "$folder/broken" >"$folder/text" 2>"$folder/log"
[ $? -eq 1 ] || fail "a flow that fails is not exit code 1: $(cat "$folder/log")"
grep -A1 '"violations": \[$' "$folder/broken/summary.json" | grep -qF "\"$(grep '^1 of 2 flows failed' "$folder/log")\"" ||
  fail "violations: $(grep -A3 violations "$folder/broken/summary.json"), said: $(cat "$folder/log")"

[ $failures -eq 0 ]
