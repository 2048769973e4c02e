#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a metric of nothing has no value: the time of no flow, the queue of no sample. It is null in
# summary.json and an empty cell of a sweep. No expectation is met by it, whatever its bounds.
# Arguments: the hcasim program, the top of the source tree.
. "$(dirname "$0")/../support/script.sh"
hcasim=$(realpath "$1")
cd "$folder" || exit 1
cat >late.yaml <<'END'
seed: 1
hosts: {count: 5, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {rate: 100Gbps, length: 5m}}
workload: {pattern: incast, bytes: 100KB}
run: {warm_up: 10us}
END
"$hcasim" run late.yaml --out late >said 2>&1 || fail "late: exit code $?: $(cat said)"
grep -q '^FCT        none: no flow that is done was ready after run.warm_up$' said || fail "late: $(cat said)"
python3 - <<'END' || fail "summary.json"
import json
metrics = json.load(open("late/summary.json"))["metrics"]
whole = ["duration_us", "pause_us"]
times = [name for name in metrics if (name.endswith("_us") or "slowdown" in name) and name not in whole]
assert len(times) > 20 and metrics["flows_done"] == 4 and metrics["goodput_gbps"] > 50
wrong = [name for name in times + ["queue_max_bytes", "queue_p99_bytes", "paused_hosts_max"]
         if metrics[name] is not None]
assert not wrong, wrong
END
# Every metric without a value, with bounds that any number meets.
for metric in $(python3 -c 'import json; print(*[k for k, v in json.load(open("late/summary.json"))["metrics"].items() if v is None])'); do
  "$hcasim" run late.yaml --set "expect=[{metric: $metric, at_least: -1e30, at_most: 1e30}]" >said 2>&1
  code=$?
  [ $code = 1 ] && grep -q "^expected $metric: no value: " said || fail "$metric: exit code $code: $(cat said)"
done
"$hcasim" run late.yaml --set run.warm_up=0ps --set 'expect=[{metric: fct_p99_us, at_most: 100}]' >said 2>&1 ||
  fail "without warm-up: $(cat said)"
"$hcasim" run late.yaml --set run.warm_up=1ms --out warm >said 2>&1 || fail "warm: exit code $?: $(cat said)"
grep -q '^flows      4, done 4, failed 0 in 0.000 us$' said && grep -q '^goodput    none: all flows ended before run.warm_up$' said ||
  fail "warm: $(cat said)"
# The measurement ends with the last flow, whatever the end of the run.
for until in 0ps 40us 1ms 10s; do
  "$hcasim" run late.yaml --set "run={until: $until}" 2>/dev/null | head -2 >"until-$until"
  cmp until-0ps "until-$until" || fail "until: $until: $(cat "until-$until")"
done
"$hcasim" sweep late.yaml --set 'sweep={run.warm_up: [0us, 10us]}' --out swept >said 2>&1 || fail "sweep: $(cat said)"
python3 - <<'END' || fail "results.csv: $(cat swept/results.csv)"
import csv
early, late = csv.DictReader(open("swept/results.csv"))
assert float(early["fct_p99_us"]) > 30 and late["fct_p99_us"] == "" and late["incast_fct_p99_us"] == ""
END

# A load that fails has no value, nor have writes of an experiment that only reads, nor a flow that never joins.
cat >failing.yaml <<'END'
hosts: {count: 2, hca: connectx5-100gbe}
fabric: {link_layer: roce, topology: back-to-back, link: cable-100gbe}
load: {tx_depth: 32, limit: 1us}
expect: [{metric: mops, at_most: 1000}]
END
"$hcasim" run failing.yaml --out failing >said 2>&1
[ $? = 1 ] || fail "failing: $(cat said)"
grep -q '^completed' said && fail "failing: $(cat said)"
cat >reads.yaml <<'END'
hosts: {count: 2, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {rate: 100Gbps, length: 5m}}
workload: {pattern: storage, storage: {read_fraction: 1, operations: 20}}
END
"$hcasim" run reads.yaml --out reads >said 2>&1 || fail "reads: exit code $?: $(cat said)"
cat >never.yaml <<'END'
hosts: {count: 3, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {rate: 100Gbps, length: 5m}}
workload: {pattern: incast, bytes: 10MB}
record: {series: 10us, series_flows: [0]}
expect: [{metric: joined_after_us, at_most: 1000}]
END
"$hcasim" run never.yaml --out never >said 2>&1
[ $? = 1 ] && grep -q '^expected joined_after_us: no value: ' said || fail "never: $(cat said)"
python3 - <<'END' || fail "summary.json of a failed load, of reads, of a lone flow"
import json
def summary(folder):
    return json.load(open(folder + "/summary.json"))
failing = summary("failing")
assert set(failing["metrics"].values()) == {None} and not failing["expectations"][0]["met"], failing
reads = summary("reads")["metrics"]
assert reads["read_iops"] > 0 and reads["write_iops"] == 0 and reads["read_latency_p99_us"] > 0, reads
assert reads["write_latency_mean_us"] is None and reads["write_latency_p999_us"] is None, reads
assert summary("never")["metrics"]["joined_after_us"] is None
END
exit $failures
