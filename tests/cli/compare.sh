#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim compare` prints the different settings of two runs and their effects. Half the
# PCIe lanes make DMA slower and keep the link to the host busier, as stages, metrics and counters
# show. A run does not differ from itself. The JSON output agrees with the files of the runs.
# `hcasim counters` lists each counter of a run. Folders without a run are refused by name.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/load.yaml" <<'EOF2'
hosts: {host0: {hca: connectx5-edr}, host1: {hca: connectx5-edr}}
fabric: {link_layer: infiniband, topology: single-switch, switch: sb7700, link: cable-edr}
load: {verb: write, bytes: 4KB, threads: 1, qps: 1, outstanding: 1, operations: 200}
EOF2
cat >"$folder/study.yaml" <<'EOF2'
hosts: {count: 4, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {link_layer: roce, topology: single-switch, switch: red-dcqcn-paper, link: {rate: 40Gbps}}
workload: {pattern: incast, count: 1, bytes: 100KB}
EOF2
"$hcasim" run "$folder/load.yaml" --out "$folder/wide" >/dev/null 2>&1 || fail "wide: exit code $?"
"$hcasim" run "$folder/load.yaml" --set 'hosts.*.hca.pcie.lanes=8' --out "$folder/narrow" >/dev/null 2>&1 || fail "narrow: exit code $?"
"$hcasim" run "$folder/study.yaml" --out "$folder/study" >/dev/null 2>&1 || fail "study: exit code $?"

"$hcasim" compare "$folder/wide" "$folder/wide" >"$folder/out" || fail "itself: exit code $?"
grep -qx 'nothing differs' "$folder/out" || fail "itself: $(cat "$folder/out")"
"$hcasim" compare "$folder/wide" "$folder/narrow" >"$folder/out" || fail "exit code $?"
grep -Eq '^  hosts\.\*\.hca\.pcie\.lanes +16 +8 +-50\.0 %  in 2 places$' "$folder/out" || fail "settings: $(cat "$folder/out")"
grep -Eq '^  latency +ns +[0-9.]+ +[0-9.]+ +\+[0-9.]+$' "$folder/out" || fail "stages: $(cat "$folder/out")"
"$hcasim" run "$folder/study.yaml" --set 'expect=[{metric: drops, equals: 0}]' --out "$folder/expecting" >/dev/null 2>&1 || fail "expecting: exit code $?"
"$hcasim" compare "$folder/study" "$folder/expecting" | grep -qx 'nothing differs' || fail "what is expected: $("$hcasim" compare "$folder/study" "$folder/expecting")"
"$hcasim" compare "$folder/wide" "$folder/narrow" --json >"$folder/json" || fail "--json: exit code $?"
python3 - "$folder" <<'END' || fail "--json: $(cat "$folder/json")"
import json, sys
folder = sys.argv[1]
report = json.load(open(folder + "/json"))
runs = [{name: json.load(open(f"{folder}/{run}/{name}.json")) for name in ("summary", "counters")} for run in ("wide", "narrow")]
assert report["settings"] == [{"name": "hosts.*.hca.pcie.lanes", "unit": "", "values": [16, 8], "places": 2}], report["settings"]
metrics = {row["name"]: row for row in report["metrics"]}
assert metrics["mean_ns"]["values"] == [run["summary"]["metrics"]["mean_ns"] for run in runs]
assert metrics["mops"]["unit"] == "M/s" and metrics["mops"]["values"][1] < metrics["mops"]["values"][0]
stages = {row["name"]: row["values"] for row in report["sends"]}
for i, run in enumerate(runs):
    blocks = [block["counters"] for block in run["counters"].values() if block["type"] == "latency"]
    mean = sum(w["latency"] for w in blocks) / sum(w["completions"] for w in blocks) / 1000
    assert abs(stages["latency"][i] - mean) < 0.0011, (stages, mean)
grown = {name: values[1] - values[0] for name, values in stages.items()}
assert abs(grown["latency"] - sum(grown.values()) / 2) < 0.02, grown  # the stages that differ make up the difference
assert grown["dma"] > 100 and report["sends"][0]["name"] == "latency" and report["sends"][1]["name"] == "dma", grown
uses = {row["name"]: row["values"] for row in report["uses"]}
assert uses["host0.hca.pcie.to_device"][1] > 1.5 * uses["host0.hca.pcie.to_device"][0], uses
for row in report["counters"]:
    block, name = row["name"].rsplit(".", 1)
    assert row["values"] == [run["counters"][block]["counters"][name] for run in runs] and row["unit"], row
END

# Of several workloads, each has its metrics, with the values and units of the summaries. One that
# the other run lacks has no value there.
cat >"$folder/several.yaml" <<'EOF2'
hosts: {count: 6, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {link_layer: roce, topology: single-switch, switch: red-dcqcn-paper, link: {rate: 40Gbps}}
workloads:
  steady: {hosts: ["host[0-2]"], pattern: incast, bytes: 100KB}
  moved: {hosts: ["host[3-5]"], pattern: incast, bytes: 100KB}
EOF2
"$hcasim" run "$folder/several.yaml" --out "$folder/several" >/dev/null 2>&1 || fail "several: exit code $?"
"$hcasim" run "$folder/several.yaml" --set workloads.moved.bytes=300KB --set 'workloads.added={hosts: [host0, host5], pattern: shift, start: 1ms}' --out "$folder/changed" >/dev/null 2>&1 || fail "changed: exit code $?"
"$hcasim" compare "$folder/several" "$folder/several" | grep -qx 'nothing differs' || fail "several: differ from themselves"
"$hcasim" compare "$folder/several" "$folder/changed" >"$folder/out" || fail "several: exit code $?"
grep -Eq '^  moved\.fct_mean_us +us +[0-9.]+ +[0-9.]+ +\+[0-9.]+ %$' "$folder/out" || fail "several: $(cat "$folder/out")"
grep -Eq '^  steady\.(fct|slowdown)' "$folder/out" && fail "steady differs: $(cat "$folder/out")"
"$hcasim" compare "$folder/several" "$folder/changed" --json >"$folder/json" || fail "several, --json: exit code $?"
python3 - "$folder" <<'END' || fail "several, --json: $(cat "$folder/json")"
import json, sys
folder = sys.argv[1]
rows = {row["name"]: row for row in json.load(open(folder + "/json"))["metrics"]}
summaries = [json.load(open(f"{folder}/{run}/summary.json")) for run in ("several", "changed")]
for workload in ("steady", "moved", "added"):
    for name in summaries[1]["workloads"][workload]:
        values = [summary["workloads"].get(workload, {}).get(name) for summary in summaries]
        row = rows.pop(f"{workload}.{name}", None)
        assert (row is None) == (values[0] == values[1]), (workload, name, values, row)
        assert row is None or row["values"] == values, (row, values)
        assert row is None or name not in rows or row["unit"] == rows[name]["unit"], row
assert "fct_mean_us" in rows and all("." not in name for name in rows), rows.keys()
END

# Of blocks of all kinds that these runs have: each counter has a meaning, and the lists are in the same order.
"$hcasim" counters --json >"$folder/counters" || fail "counters: exit code $?"
python3 - "$folder" <<'END' || fail "counters"
import json, sys
folder = sys.argv[1]
lists = {}
for row in json.load(open(folder + "/counters")):
    assert row["meaning"] and (row["unit"] or row["block"].endswith("metrics")), row
    lists.setdefault(row["block"], []).append(row["name"])
for run in ("wide", "study"):
    for name, block in json.load(open(f"{folder}/{run}/counters.json")).items():
        if block["counters"]:
            assert list(block["counters"]) == lists[block["type"]], (name, block["type"])
END
# And of all others: the lists that blocks go by are those of counter_lists.c.
(cd "$2" && grep -rhoE '\<[A-Z_]+_COUNTERS\(COUNTER_ENTRY\)' --include=*.c sim fabric switch hca traffic hcasim verbs-shim) | sed 's/(.*//' | sort -u >"$folder/lists"
[ "$(wc -l <"$folder/lists")" -gt 20 ] || fail "no lists of counters: $(cat "$folder/lists")"
while read -r list; do
  grep -q "COUNTERS($list)" "$2/hcasim/record/counter_lists.c" || fail "hcasim counters does not know $list"
done <"$folder/lists"
"$hcasim" counters pcie | grep -q '^  reads  *transactions ' || fail "counters pcie"
"$hcasim" counters pcei >"$folder/out" 2>&1
[ $? = 2 ] && grep -q 'no block of type "pcei" has counters; did you mean "pcie"?' "$folder/out" || fail "counters pcei: $(cat "$folder/out")"

mkdir "$folder/empty"
"$hcasim" compare "$folder/wide" "$folder/empty" >"$folder/out" 2>&1
[ $? = 2 ] && grep -q 'empty/summary.json: cannot be read' "$folder/out" || fail "no run: $(cat "$folder/out")"
cp -r "$folder/study" "$folder/old"
sed -i 's/"metrics"/"figures"/' "$folder/old/summary.json"
"$hcasim" compare "$folder/study" "$folder/old" >"$folder/out" 2>&1
[ $? = 2 ] && grep -q 'old/summary.json: an older version of hcasim wrote this folder ("figures"); expected "metrics"' "$folder/out" ||
  fail "an old folder: $(cat "$folder/out")"
"$hcasim" compare "$folder/wide" >"$folder/out" 2>&1
[ $? = 2 ] && grep -q 'RUN OTHER is missing' "$folder/out" || fail "one run: $(cat "$folder/out")"

# Metrics of `expect` are listed in the same way as counters.
"$hcasim" counters metrics | grep -q '^  slowdown_p99 .*99th percentile' || fail "counters metrics: $("$hcasim" counters metrics)"
"$hcasim" counters port_metrics | grep -q '^  queue_mean_bytes  *bytes ' || fail "counters port_metrics: $("$hcasim" counters port_metrics)"
exit $((failures > 0))
