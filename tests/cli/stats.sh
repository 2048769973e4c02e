#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that `hcasim stats` prints the mean and quantiles of a run's flows as other means calculate
# them, merges the flows of all seeds of a sweep, pairs equal points, and refuses what is not there. The
# JSON has the figures of the text.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1
cat >study.yaml <<'END'
seed: 1
hosts: {count: 9, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {link_layer: roce, topology: single-switch, switch: red-dcqcn-paper, link: {rate: 100Gbps}}
workload: {pattern: poisson, sizes: storage, offered_load: 0.4, arrivals_until: 300us}
run: {until: 50ms}
sweep: {workload.offered_load: [0.2, 0.5], seed: [1, 2, 3, 4]}
END
"$hcasim" sweep study.yaml -j 2 --out sweep >log 2>&1 || fail "sweep: $(tail -3 log)"
run=$(ls -d sweep/by-name/*load=0.5,seed=1*)
"$hcasim" stats "$run" --metric slowdown >one || fail "run: exit code $?"
grep -Eq '^slowdown: [0-9]+ flows, the first [0-9]+ left out as warm-up$' one || fail "$(cat one)"
grep -Eq '^  mean [0-9.]+ \+- [0-9.]+ \((20|10) batches' one || fail "$(cat one)"
"$hcasim" stats sweep >all || fail "sweep: exit code $?"
[ "$(grep -c '^workload.offered_load=0.[25]: fct_us of [0-9]* flows in 4 runs$' all)" = 2 ] || fail "$(cat all)"
python3 - sweep all <<'END' || fail "not as calculated again: $(cat all)"
import csv, math, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/results.csv")))
blocks = open(sys.argv[2]).read().split("workload.offered_load=")[1:]
for block in blocks:
    load, lines = block.split(":")[0], block.splitlines()
    flows, means = [], []
    for row in rows:
        if row["workload.offered_load"] == load:
            times = [float(flow["fct_us"]) for flow in csv.DictReader(open(f"{sys.argv[1]}/{row['point']}/flows.csv")) if flow["fct_us"]]
            flows += times
            means.append(sum(times) / len(times))
    assert f" {len(flows)} flows" in lines[0], lines[0]
    mean = sum(means) / 4
    half = 3.1824 * math.sqrt(sum((m - mean) ** 2 for m in means) / 3) / 2
    printed = [float(word) for word in lines[1].replace("+-", "").split()[1:]]
    assert abs(printed[1] / half - 1) < 0.26 and abs(printed[0] - mean) <= half, (printed, mean, half)
    flows.sort()
    median = float(lines[2].split()[1])
    reach = float(lines[2].split()[3])
    assert abs(median - flows[math.ceil(len(flows) / 2) - 1]) <= 0.6 * reach, (median, reach)
END
"$hcasim" stats sweep --by workload.offered_load --metric slowdown_mean --metric fct_p50_us >pairs || fail "pairs: exit code $?"
[ "$(grep -c ', workload.offered_load: 0.2 to 0.5$' pairs)" = 2 ] || fail "$(cat pairs)"
[ "$(grep -Ec '^  difference -?[0-9.]+ \+- [0-9.]+ \(-?[0-9.]+ \+- [0-9.]+ %\), effect size -?[0-9.]+, p [0-9.e-]+, 4 pairs$' pairs)" = 2 ] ||
  fail "$(cat pairs)"
"$hcasim" stats "$run" --metric slowdown --metric fct_us --json >one.json || fail "--json of a run: exit code $?"
"$hcasim" stats "$run" --metric slowdown --metric fct_us >one
"$hcasim" stats sweep --json >all.json || fail "--json of a sweep: exit code $?"
"$hcasim" stats sweep --by workload.offered_load --metric slowdown_mean --metric fct_p50_us --json >pairs.json || fail "--json of pairs: exit code $?"
"$hcasim" sweep study.yaml --set 'sweep={workload.offered_load: [0.2]}' --set workload.arrivals_until=20us --out few >log 2>&1 || fail "few: $(tail -3 log)"
"$hcasim" stats few >few.txt || fail "few: exit code $?"
"$hcasim" stats few --json >few.json || fail "--json of few flows: exit code $?"
python3 - <<'END' || fail "--json: $(cat one.json all.json pairs.json few.json)"
import json

def text_of(results):  # digits as they are written
    lines = []
    for it in results["results"]:
        def show(name, unknown="-"):
            if it[name] is None:
                return unknown
            return it[name]["value"] + (f" +- {it[name]['half']}" if it[name]["half"] is not None else "")
        if it["kind"] == "pair":
            percent = f" ({show('difference_percent')} %)" if it["difference_percent"] else ""
            effect = f", effect size {it['effect_size']}, p {it['p']}" if it["effect_size"] is not None else ""
            lines += [f"{it['metric']}, {it['key']}: {it['first']} to {it['second']}", f"  difference {show('difference')}{percent}{effect}, {it['pairs']} pairs"]
            continue
        if it["kind"] == "run":
            remark = "; the batches are correlated, and the interval is too narrow: run longer" if it["correlated"] else ""
            lines += [f"{it['metric']}: {it['flows']} flows, the first {it['warm_up_flows']} left out as warm-up",
                      f"  mean {show('mean')} ({it['batches']} batches{remark})"]
        else:
            values = " ".join(f"{key}={value}" for key, value in it["values"].items()) or "all"
            lines += [f"{values}: {it['metric']} of {it['flows']} flows in {it['runs']} runs", f"  mean {show('mean')}"]
        lines += [f"  {name} {show(name, 'unknown')}" for name in ("p50", "p95", "p99", "p999")]
    return "\n".join(lines) + "\n"

for name, text in (("one", "one"), ("all", "all"), ("pairs", "pairs"), ("few", "few.txt")):
    results = json.load(open(name + ".json"), parse_float=str, parse_int=str)
    assert text_of(results) == open(text).read(), (name, text_of(results), open(text).read())
assert json.load(open("few.json"))["results"][0]["mean"]["half"] is None and json.load(open("few.json"))["results"][0]["p999"] is None
assert [it["kind"] for it in json.load(open("one.json"))["results"]] == ["run", "run"]
END
refused() { # refused TEXT ARGUMENTS
  "$hcasim" stats "${@:2}" >log 2>&1
  [ $? -eq 2 ] && grep -qF "$1" log || fail "expected '$1': $(cat log)"
}
refused 'has no column x' "$run" --metric x
refused 'has no column x' sweep --by seed --metric x
refused 'is not swept; expected a swept key' sweep --by flows
refused 'is not a sweep; --by compares points' "$run" --by seed
refused 'has no column x' "$run" --metric slowdown --metric x --json
[ -z "$("$hcasim" stats "$run" --metric slowdown --metric x --json 2>/dev/null)" ] || fail "output beside an error"
refused 'nowhere/flows.csv' nowhere
[ $failures -eq 0 ]
