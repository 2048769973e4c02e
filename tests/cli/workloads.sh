#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that several workloads run side by side: a workload with congestion control of its own gives
# the flows of adapters with that control, workloads that share nothing give the flows that each has
# alone, on adapters of both fidelities, `post_until` ends what is under way, priorities and hosts are each
# workload's own, every table tells them apart, results do not depend on threads, the effective
# configuration is the same run, and mistakes are named at their place.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

fabric='{link_layer: roce, topology: single-switch, switch: {preset: red-dcqcn-paper, telemetry: true}, link: {rate: 100Gbps, length: 20m}}'
study() { # study NAME HCA: then the rest of the scenario on standard input
  { printf 'seed: 3\nhosts: {count: 8, hca: %s}\nfabric: %s\n' "$2" "$fabric"; cat; } >"$folder/$1.yaml"
}
run() { # run NAME [OPTIONS]
  "$hcasim" run "$folder/$1.yaml" --out "$folder/$1" "${@:2}" >"$folder/$1.log" 2>&1 || fail "$1: $(cat "$folder/$1.log")"
}

# Congestion control of a workload is that of its queue pairs alone.
for algorithm in hpcc-paper dcqcn-paper timely-patched dctcp-hpcc-100g; do
  study "own-$algorithm" '{fidelity: endpoint}' <<<"workloads: {one: {pattern: incast, bytes: 500KB, congestion: $algorithm}}"
  study "all-$algorithm" "{fidelity: endpoint, congestion: $algorithm}" <<<'workloads: {one: {pattern: incast, bytes: 500KB}}'
  run "own-$algorithm"
  run "all-$algorithm"
  cmp "$folder/own-$algorithm/flows.csv" "$folder/all-$algorithm/flows.csv" || fail "$algorithm of a workload is not that of the adapters"
done
cmp -s "$folder/own-hpcc-paper/flows.csv" "$folder/own-dcqcn-paper/flows.csv" && fail "two algorithms give the same flows"

# Workloads of different hosts do not disturb each other, and adding one does not change the other.
flows() { # flows RUN WORKLOAD: all columns but the numbers of the flow and of the queue pair
  grep ",$2\$" "$folder/$1/flows.csv" | cut -d, -f2-4,6-
}
for hca in '{fidelity: endpoint, congestion: dcqcn-paper}' '{preset: connectx5-100gbe, congestion: dcqcn-paper}'; do
  name=${hca:1:6}
  left='left: {hosts: ["host[0-3]"], pattern: random, count: 3, sizes: web_search}'
  right='right: {hosts: [host4, host5, host6, host7], pattern: incast, target: 1, bytes: 200KB, posting: {service_level: 3}}'
  study "$name-left" "$hca" <<<"workloads: {$left}"
  study "$name-right" "$hca" <<<"workloads: {$right}"
  study "$name-both" "$hca" <<<"workloads: {$left, $right}"
  for part in left right both; do run "$name-$part"; done
  for part in left right; do
    cmp <(flows "$name-both" $part) <(flows "$name-$part" $part) || fail "$name: $part is disturbed"
  done
  [ "$(flows "$name-both" left | wc -l)" -eq 12 ] || fail "$name: flows of left"
  [ "$(flows "$name-both" right | cut -d, -f1,2 | tr '\n' ' ')" = '6,5 7,5 4,5 ' ] || fail "$name: hosts of right: $(flows "$name-both" right)"
done

# A target by name is the same as by number, also in the effective configuration and in a sweep.
for target in 2 host6; do
  study "target-$target" '{fidelity: endpoint}' <<<"workloads: {one: {hosts: [host1, host4, host6], pattern: incast, target: $target}}"
  run "target-$target"
done
cmp "$folder/target-2/flows.csv" "$folder/target-host6/flows.csv" || fail "target by name"
[ "$(cut -d, -f2,3 "$folder/target-host6/flows.csv" | tail -n +2 | tr '\n' ' ')" = '1,6 4,6 ' ] || fail "target by name: $(cat "$folder/target-host6/flows.csv")"
"$hcasim" check "$folder/target-host6.yaml" --effective >"$folder/named.yaml" 2>"$folder/log" || fail "target by name, effective: $(cat "$folder/log")"
run named
cmp "$folder/named/flows.csv" "$folder/target-host6/flows.csv" || fail "target by name, effective"
study single '{fidelity: endpoint}' <<<'workload: {pattern: incast, bytes: 10KB}'
"$hcasim" sweep "$folder/single.yaml" --set 'sweep={workload.target: [host3, 5]}' --out "$folder/targets" >"$folder/log" 2>&1 || fail "targets: $(cat "$folder/log")"
for target in host3 5; do
  [ "$(cut -d, -f3 "$folder/targets/by-name/target=$target/flows.csv" | sort -u | tr '\n' ' ')" = "${target#host} destination " ] || fail "sweep to $target"
done

# One scenario with stop times, priorities, a trace with names, and tables.
printf 'start_us,source,destination,bytes\n0,host6,host7,1000000\n2,1,0,500000,send\n' >"$folder/names.csv"
study mixed '{fidelity: endpoint}' <<'END'
workload: {operation: send}
workloads:
  search: {pattern: poisson, offered_load: 0.3, sizes: web_search, arrivals_until: 300us, congestion: dcqcn-paper, incast_load: 0.02, incast_fan_in: 3, incast_bytes: 20KB}
  backup: {hosts: ["host[0-3]"], pattern: incast, bytes: 100MB, start: 100us, post_until: 400us, congestion: hpcc-paper, posting: {service_level: 3, message: 32KB}}
  listed: {hosts: [host6, host7], pattern: trace, trace: names.csv}
faults: [{from: host0, pause_storm: {priorities: [3], begin: 200us, lasts: 10us}}]
expect:
  - {metric: backup.flows_stopped, equals: 3}
  - {metric: backup.flows_done, equals: 0}
  - {metric: listed.flows_done, equals: 2}
  - {metric: search.flows_failed, equals: 0}
END
run mixed
for threads in 2 4; do
  "$hcasim" run "$folder/mixed.yaml" --threads $threads --out "$folder/mixed.$threads" >/dev/null 2>&1 || fail "mixed in $threads threads"
  for file in flows.csv summary.json bins.csv; do
    cmp "$folder/mixed/$file" "$folder/mixed.$threads/$file" || fail "$file in $threads threads"
  done
done
"$hcasim" check "$folder/mixed.yaml" --effective >"$folder/effective.yaml" 2>"$folder/log" || fail "effective: $(cat "$folder/log")"
run effective
grep warning "$folder/effective.log" && fail "the effective configuration has warnings"
cmp "$folder/mixed/flows.csv" "$folder/effective/flows.csv" || fail "the effective configuration is another run"
python3 - "$folder/mixed" <<'END' || fail "mixed: $(cat "$folder/mixed/bins.csv")"
import csv, json, sys
flows = list(csv.DictReader(open(sys.argv[1] + "/flows.csv")))
summary = json.load(open(sys.argv[1] + "/summary.json"))
parts = summary["workloads"]
assert list(parts) == ["search", "backup", "listed"]
assert abs(sum(part["goodput_gbps"] for part in parts.values()) - summary["metrics"]["goodput_gbps"]) < 1e-5
for name, part in parts.items():
    own = [flow for flow in flows if flow["workload"] == name]
    assert part["flows"] == len(own)
    times = [float(flow["fct_us"]) for flow in own if flow["status"] == "done"]
    assert part["flows_done"] == len(times)
    assert not times or abs(part["fct_mean_us"] - sum(times) / len(times)) < 1e-4 * part["fct_mean_us"]
backup = [flow for flow in flows if flow["workload"] == "backup"]
assert all(flow["status"] == "stopped" and flow["arrived_us"] == "" and flow["fct_us"] == "" for flow in backup)
assert all(400 < float(flow["finished_us"]) < 450 for flow in backup), backup
assert all(0 < int(flow["packets"]) < 100000000 / 4096 for flow in backup)
listed = [(flow["source"], flow["destination"], flow["operation"]) for flow in flows if flow["workload"] == "listed"]
assert listed == [("6", "7", "write"), ("7", "6", "send")], listed
pairs = [(flow["source"], flow["destination"], flow["queue_pair"]) for flow in flows]
assert len(set(pairs)) == len(pairs)
bins = list(csv.DictReader(open(sys.argv[1] + "/bins.csv")))
whole = {(line["workload"], line["of"]): line for line in bins if not line["bytes_above_B"] and not line["bytes_to_B"]}
kinds = ("all", "pattern", "incast")
assert set(whole) == {(part, of) for part in ("all", "search") for of in kinds} | {("backup", "all"), ("listed", "all")}
assert int(whole["all", "all"]["flows"]) == sum(part["flows"] for part in parts.values()) == len(flows)
assert sum(flow["incast"] == "1" for flow in flows) == int(whole["search", "incast"]["flows"]) > 0
END
# host0 pauses priority 3, which is that of backup
paused=$(awk -F, '/^switch0.port0,/ { print $7 }' "$folder/mixed/links.csv")
awk -v paused="$paused" 'BEGIN { exit !(paused > 9) }' || fail "the switch was paused for $paused us"

# A sweep may vary a key of one workload.
study swept '{fidelity: endpoint}' <<'END'
workloads:
  a: {hosts: [host0, host1], pattern: shift, bytes: 100KB}
  b: {hosts: [host2, host3], pattern: shift, bytes: 100KB}
sweep: {workloads.a.bytes: [100KB, 200KB], seed: [1, 2]}
END
"$hcasim" sweep "$folder/swept.yaml" --out "$folder/swept" >"$folder/log" 2>&1 || fail "sweep: $(cat "$folder/log")"
python3 - "$folder/swept" <<'END' || fail "sweep: $(cat "$folder/swept/results.csv")"
import csv, sys
lines = list(csv.DictReader(open(sys.argv[1] + "/results.csv")))
assert len(lines) == 4 and len({line["b.fct_p99_us"] for line in lines}) == 1 and len({line["a.fct_p99_us"] for line in lines}) == 2
means = list(csv.DictReader(open(sys.argv[1] + "/bin_means.csv")))
assert {line["workload"] for line in means} == {"all", "a", "b"} and all(line["runs"] == "2" for line in means)
END
"$hcasim" sweep "$folder/swept.yaml" --set 'variants={one: {}, two: {workloads.c: {pattern: shift}}}' --out "$folder/other" >"$folder/log" 2>&1
[ $? -eq 2 ] && grep -q 'the workloads have other names' "$folder/log" || fail "another workload in a variant: $(cat "$folder/log")"

wrong() { # wrong TEXT SCENARIO [HCA]: the last line of the scenario is wrong
  study wrong "${3:-"{fidelity: endpoint}"}" <<<"$2"
  "$hcasim" check "$folder/wrong.yaml" >"$folder/log" 2>&1
  [ $? -eq 2 ] && grep -q "wrong.yaml:$(wc -l <"$folder/wrong.yaml"):[0-9]*: .*$1" "$folder/log" || fail "$2: $(cat "$folder/log")"
}
wrong 'found 0 workloads; expected 1..64' 'workloads: {}'
wrong 'all has another meaning' 'workloads: {all: {pattern: shift}}'
wrong 'did you mean "pattern"' 'workloads: {a: {patern: shift}}'
wrong 'no host "hots1"; did you mean "host1"' 'workloads: {a: {pattern: shift, hosts: [hots1]}}'
wrong 'found 1 host; a workload needs two' 'workloads: {a: {pattern: shift, hosts: [host1]}}'
wrong 'post_until is not after start' 'workloads: {a: {pattern: shift, start: 1ms, post_until: 1ms}}'
wrong 'target: no host 7; expected 0..2' 'workloads: {a: {pattern: incast, hosts: ["host[0-2]"], target: 7}}'
wrong 'target: no host "host5"; did you mean' 'workloads: {a: {pattern: incast, hosts: ["host[0-2]"], target: host5}}'
wrong 'one value for all workloads' 'workloads: {a: {pattern: shift, posting: {notification_latency: 2us}}}'
wrong 'requires trace: FILE' 'workloads: {a: {pattern: shift, trace: x.csv}}'
wrong 'host applies to all workloads' 'workloads: {a: {pattern: shift, host: {cores: 4}}}'
wrong 'no workload "b"' 'workloads: {a: {pattern: shift}}
expect: [{metric: b.fct_p99_us, at_most: 1}]'
wrong 'has fidelity: detailed' 'workloads: {a: {pattern: shift, congestion: swift}}' '{preset: connectx5-100gbe}'
wrong 'sends with TCP' 'workloads: {a: {pattern: shift, congestion: cubic}}' '{fidelity: endpoint, transport: tcp, congestion: cubic}'
printf '0,host6,hosst7,10\n' >"$folder/names.csv"
"$hcasim" check "$folder/mixed.yaml" >"$folder/log" 2>&1
[ $? -eq 2 ] && grep -q 'names.csv:1: no host "hosst7"; did you mean "host7"' "$folder/log" || fail "a name in a trace: $(cat "$folder/log")"

[ $failures -eq 0 ]
