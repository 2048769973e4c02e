#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that an ended flow leaves little memory: at most FLOW_BYTES for each flow of a run that is
# twice as long, at the same load on few hosts. The tolerance is 15 % over the 653 bytes that are
# measured. Before queue pairs rested, a flow took 1,401 bytes. Results are the same with
# two threads. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"
FLOW_BYTES=750

cat >"$folder/web.yaml" <<'YAML'
seed: 1
hosts:
  count: 8
  hca: {fidelity: endpoint, congestion: dcqcn-paper}
fabric:
  link_layer: roce
  topology: single-switch
  switch: {ecn: {mark: dequeue, kmin: 5000B, kmax: 200000B, pmax: 0.01}, port: {input_buffer: 1MiB}}
  link: {rate: 100Gbps, length: 20m}
workload: {pattern: poisson, bytes: 16KB, offered_load: 0.5}
YAML
cat >"$folder/peak.py" <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
END

# Runs for a time of arrivals, with a number of threads. Sets `peak` and `flows`.
run() {
  peak=$(python3 "$folder/peak.py" "$hcasim" run "$folder/web.yaml" --set workload.arrivals_until="$1" --threads "$2" \
    --out "$folder/out.$1.$2") || fail "run of $1 failed"
  flows=$(($(wc -l <"$folder/out.$1.$2/flows.csv") - 1))
}

run 10ms 1
short=$peak short_flows=$flows
run 20ms 1
[ "$flows" -gt 50000 ] || fail "only $flows flows"
each=$(((peak - short) / (flows - short_flows)))
[ "$each" -le $FLOW_BYTES ] || fail "$each bytes a flow, expected at most $FLOW_BYTES"
[ "$each" -ge 100 ] || fail "$each bytes a flow: the measurement is wrong"
run 10ms 2
cmp -s "$folder/out.10ms.1/flows.csv" "$folder/out.10ms.2/flows.csv" || fail "flows.csv differs with two threads"
exit $failures
