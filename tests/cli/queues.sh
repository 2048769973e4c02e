#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that record.queues writes the queues of ports by priority over time, which add up to those of
# series.csv, that queues.csv has their means, standard deviations and quantiles, as computed from the
# samples by other means, that recording changes nothing else, that threads change no byte, that the
# picture is drawn, and that queues without samples are refused.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/study.yaml" <<'END'
hosts: {count: 9, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {link_layer: roce, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 3}, switch: {preset: red-dcqcn-paper}, link: {rate: 100Gbps, length: 200m}}
workloads:
  one: {hosts: ["host[0-4]"], pattern: incast, bytes: 500KB}
  other: {hosts: [host0, host5, host6], pattern: incast, bytes: 300KB, start: 20us, posting: {service_level: 3}}
run: {warm_up: 10us, measure_until: 150us}
record: {series: 1us}
expect: [{metric: leaf0.port0.queue_sd_bytes, at_least: 1000}]
END
"$hcasim" run "$folder/study.yaml" --out "$folder/plain" >"$folder/log" 2>&1 || fail "plain: $(cat "$folder/log")"
for threads in 1 4; do
  "$hcasim" run "$folder/study.yaml" --set record.queues=true --threads $threads --out "$folder/$threads" >"$folder/log" 2>&1 ||
    fail "with queues: $(cat "$folder/log")"
  for file in flows.csv series.csv summary.json links.csv bins.csv; do
    cmp "$folder/plain/$file" "$folder/$threads/$file" || fail "recording queues changes $file"
  done
done
for file in queues.csv queue_series.csv; do
  cmp "$folder/1/$file" "$folder/4/$file" || fail "$file: other bytes with --threads 4"
done
python3 - "$folder/1" <<'END' || fail "queues: $(head -5 "$folder/1/queues.csv")"
import collections, csv, json, math, statistics, sys
read = lambda name: list(csv.DictReader(open(f"{sys.argv[1]}/{name}")))
series, lines, table = read("series.csv"), read("queue_series.csv"), read("queues.csv")
sums = collections.defaultdict(lambda: [0, 0, 0.0])
for line in lines:
    at = sums[line["time_us"], line["port"]]
    at[0] += int(line["queue_bytes"])
    at[1] += int(line["input_bytes"])
    at[2] += float(line["paused_us"])
for line in series:
    at = sums[line["time_us"], line["port"]]
    assert at[0] == int(line["queue_bytes"]) and at[1] == int(line["input_bytes"]), line
    assert abs(at[2] - float(line["paused_us"])) < 1e-5, line
assert {line["priority"] for line in lines} == {"0", "3"}
times = sorted({line["time_us"] for line in series if 10 < float(line["time_us"]) <= 150}, key=float)
queues = {(line["time_us"], line["port"], line["priority"]): int(line["queue_bytes"]) for line in lines}
def check(line, values):
    values.sort()
    def quantile(share):
        place = share * (len(values) - 1)
        low = int(place)
        return values[low] + (place - low) * (values[min(low + 1, len(values) - 1)] - values[low])
    assert int(line["samples"]) == len(values), (line, len(values))
    assert abs(float(line["mean_bytes"]) - statistics.mean(values)) < 0.01, line
    assert abs(float(line["sd_bytes"]) - statistics.stdev(values)) < 0.01, line
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
        assert abs(float(line[name + "_bytes"]) - quantile(share)) < 0.06, (line, name, quantile(share))
    assert int(line["max_bytes"]) == values[-1], line
used = 0
for line in table:
    if line["priority"] == "all":
        check(line, [int(row["queue_bytes"]) for row in series if row["port"] == line["port"] and row["time_us"] in times])
    else:
        check(line, [queues.get((time, line["port"], line["priority"]), 0) for time in times])
        used += 1
assert used >= 2 and len({line["port"] for line in table}) == len({line["port"] for line in series})
met = json.load(open(sys.argv[1] + "/summary.json"))["expectations"][0]
line = next(line for line in table if line["port"] == "leaf0.port0" and line["priority"] == "all")
assert abs(met["value"] - float(line["sd_bytes"])) < 1, (met, line)
END
"$hcasim" plot "$folder/1" >"$folder/log" 2>&1 || fail "plot: $(cat "$folder/log")"
grep -q 'leaf0.port0, priority 3' "$folder/1/queues-by-priority.svg" || fail "no picture of queues by priority"
"$hcasim" check "$folder/study.yaml" --set 'record={queues: true}' --set 'expect=[]' >"$folder/log" 2>&1
[ $? -eq 2 ] && grep -q 'queues needs the time between two samples; expected series: 10us' "$folder/log" || fail "without series: $(cat "$folder/log")"

[ $failures -eq 0 ]
