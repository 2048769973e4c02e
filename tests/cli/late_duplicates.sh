#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests a run whose responder still sends responses to repeated reads after the last flow is done. The bytes after
# the last flow break no invariant, and no port is busier than its link allows.
# Arguments: the hcasim program, the top of the source tree.
. "$(dirname "$0")/../support/script.sh"
hcasim=$(realpath "$1")
cd "$folder" || exit 1
cat >reads.yaml <<'END'
seed: 394
hosts:
  count: 6
  hca: {fidelity: endpoint, send_rate: 1Tbps, receive_rate: 1Tbps, port: {mtu: 1024B}}
fabric:
  link_layer: roce
  topology: {kind: leaf-spine, spines: 2, hosts: 3}
  link: {rate: 50Gbps, xoff: 90KiB, xon: 80KiB}
  switch: {balance: spray, port: {mtu: 1024B}}
workload: {pattern: trace, trace: flows.csv}
END
printf '%s\n' 1.907,3,0,43668,read 4.018,5,2,44618,write >flows.csv
"$hcasim" run reads.yaml --out results >said 2>&1 || fail "exit code $?: $(cat said)"
grep -q '^flows      2, done 2, failed 0 ' said || fail "flows: $(cat said)"
grep -q '^bottleneck host3.hca.port.link 100.0 % busy ' said || fail "bottleneck: $(cat said)"
python3 - <<'END' || fail "links.csv"
import csv
ports = list(csv.DictReader(open("results/links.csv")))
used = {row["port"]: float(row["utilisation"]) for row in ports if row["utilisation"]}
assert 0.8 < used["host3.hca.port"] == max(used.values()) <= 1, used
END
exit $failures
