#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim run` runs the load of a scenario on its detailed adapters. Results are the same
# twice, with each engine and from the effective configuration. Hosts may differ. Expectations
# decide the exit code. The bottleneck is named. A trace explains latencies. A sweep writes a table.
# Cores respond to requests, and the limiting stage is named. READs beyond the cache of WQEs slow
# down. One queue pair fills the link of each preset. Contention of atomics and of threads is named
# as the limit. Messages have sizes in turn. Keys without a meaning for a load are refused. Arguments:
# the hcasim program, the top of the source tree.
hcasim=$1
source=$2
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/load.yaml" <<'EOF2'
seed: 3
hosts:
  fast: {hca: connectx5-edr}
  slow: {hca: {preset: connectx5-edr, pcie: {lanes: 4}}}
fabric: {link_layer: infiniband, topology: single-switch, switch: sb7700, link: cable-edr}
load: {verb: write, bytes: 4KiB, qps: 4, tx_depth: 8, order: random, operations: 4000, warm_up: 1000}
expect: [{metric: gbps, at_most: 31.5}, {counter: fast.hca.port.packets_sent, at_least: 5000}]
sweep: {load.bytes: [64B, 4KiB]}
EOF2

for run in native again systemc systemc-reference; do
  "$hcasim" run "$folder/load.yaml" --engine "${run/again/native}" --out "$folder/$run" >"$folder/$run.txt" 2>&1 ||
    fail "run --engine $run: exit code $?: $(cat "$folder/$run.txt")"
  diff -r "$folder/native" "$folder/$run" || fail "$run differs from native"
  cmp "$folder/native.txt" "$folder/$run.txt" || fail "what $run printed differs"
done
"$hcasim" run "$folder/native/scenario.yaml" --out "$folder/effective" >/dev/null 2>&1 || fail "the effective configuration does not run"
diff -r "$folder/native" "$folder/effective" || fail "the effective configuration gives other results"
grep -q '^bottleneck slow.hca.pcie' "$folder/native.txt" || fail "four lanes are not the limit: $(cat "$folder/native.txt")"
"$hcasim" explain "$folder/native" --bottleneck | grep -q '^bottleneck: slow.hca.pcie' || fail "not so afterwards"

# Four lanes of PCIe 3 let the least through, and are used to the full.
"$hcasim" explain "$folder/native" --bounds >"$folder/bounds.txt" || fail "explain --bounds"
grep -Eq '^measured: .* M/s of work requests, (9[0-9][.][0-9]|100[.]0) % of the lowest bound' "$folder/bounds.txt" || fail "bounds: $(cat "$folder/bounds.txt")"
"$hcasim" explain "$folder/native" --bounds --json >"$folder/bounds.json" || fail "explain --bounds --json"
python3 - "$folder/bounds.json" <<'END' || fail "bounds are not as expected: $(cat "$folder/bounds.json")"
import json, sys
told = json.load(open(sys.argv[1]))
rates = [resource["bound"] for resource in told["resources"]]
assert rates == sorted(rates) and told["measured"] <= rates[0], rates
link = next(r for r in told["resources"] if r["name"] == "slow.hca.pcie.to_host")
# 4 KiB per request: a link of 4 lanes bounds the requests.
assert abs(link["bound"] * link["demand_ps"] - 1e6) < 1, link
assert link["bound"] * 4096 * 8 < 31500 and told["waits_in"] == "", told
END
# Messages have a list of sizes in turn: the same with each engine, in threads, and from the effective
# configuration. A sweep has a list of lists. What is wrong is refused with its line.
cat >"$folder/sizes.yaml" <<'END'
hosts: {count: 3, hca: connectx5-edr}
fabric: {link_layer: infiniband, topology: single-switch, switch: sb7700, link: cable-edr}
load:
  pattern: all
  bytes: [64B, 64KiB, 1KiB]
  qps: 2
  operations: 3000
sweep: {load.bytes: [64B, [64B, 1KiB]]}
END
for run in native systemc threads effective; do
  file=$folder/sizes.yaml options=()
  case $run in
    systemc) options=(--engine systemc) ;;
    threads) options=(--threads 2) ;;
    effective) file=$folder/sizes-native/scenario.yaml ;;
  esac
  "$hcasim" run "$file" "${options[@]}" --out "$folder/sizes-$run" >"$folder/log" 2>&1 || fail "sizes, $run: $(cat "$folder/log")"
  diff -r "$folder/sizes-native" "$folder/sizes-$run" || fail "sizes: $run differs"
done
grep -q '^  bytes: \[64B, 64KiB, 1KiB\]' "$folder/sizes-native/scenario.yaml" || fail "the effective configuration lacks the sizes"
"$hcasim" sweep "$folder/sizes.yaml" --out "$folder/sizes-sweep" >"$folder/log" 2>&1 || fail "sweep of sizes: $(cat "$folder/log")"
[ "$(cut -d, -f1-3 "$folder/sizes-sweep/results.csv" | grep -c '^64B,\|^"\[64B, 1KiB\]",')" = 2 ] || fail "results.csv: $(cat "$folder/sizes-sweep/results.csv")"
for sizes in '[]' '[64B, 64]' '[64B, 65MiB]' '{64B: 1}'; do
  sed "s/^  bytes: .*/  bytes: $sizes/" "$folder/sizes.yaml" >"$folder/wrong.yaml"
  "$hcasim" run "$folder/wrong.yaml" >"$folder/log" 2>&1
  [ $? = 2 ] || fail "bytes: $sizes is accepted"
  grep -q 'wrong.yaml:5:.*bytes: .*expected a size' "$folder/log" || fail "bytes: $sizes: $(cat "$folder/log")"
done

# A bound holds for the measured time. Eight busy cores bound the rate, although one of them also
# works before and after that time.
"$hcasim" run "$source/scenarios/lessons/many-queue-pairs.yaml" --out "$folder/cores" >/dev/null 2>&1 || fail "many-queue-pairs"
python3 - "$folder/cores/summary.json" <<'END' || fail "a bound below the rate"
import json, sys
told = json.load(open(sys.argv[1]))
lowest = told["bounds"]["resources"][0]
assert lowest["name"].endswith("load.core") and told["metrics"]["mops"] <= lowest["bound"] * 1.000001, lowest
END
# SENDs leave faster than the receiver writes CQEs while receive work requests are left. This
# exceeds no bound.
"$hcasim" run "$folder/load.yaml" --set load.verb=send --set load.bytes=8B --set 'hosts.*.hca.completion.interval=500ns' \
  --set load.cq_mod=4 --set load.threads=2 --set 'expect=[]' >"$folder/log" 2>&1 || fail "CQEs behind: $(cat "$folder/log")"
# Sixteen queue pairs whose READs end together, with completions in groups of 16. 200 completions
# arrive while the wire carries 71 packets of 4178 B. This is one packet more than 25 Gb/s carry in
# that time, because a packet crosses an edge of the measured time.
cat >"$folder/bunches.yaml" <<'END'
hosts: {count: 2, hca: {preset: connectx6dx-25gbe, pcie: {generation: 4, lanes: 16}}}
fabric: {link_layer: roce, topology: back-to-back, link: {rate: 25Gbps}}
load: {verb: read, bytes: 16384B, threads: 4, qps: 4, tx_depth: 64, cq_mod: 16, warm_up: 20, operations: 200}
END
"$hcasim" run "$folder/bunches.yaml" --out "$folder/bunches" >"$folder/log" 2>&1 || fail "bunches: $(cat "$folder/log")"
python3 - "$folder/bunches/summary.json" <<'END' || fail "the time that is measured is not as expected: $(grep -E 'measured_ps|gbps' "$folder/bunches/summary.json")"
import json, sys
told = json.load(open(sys.argv[1]))
packets = told["metrics"]["mops"] * told["measured_ps"] / 1e6 * 4
assert abs(packets - 71) < 1e-3, packets
assert 70 < told["measured_ps"] / (4178 * 8000 / 25) < 71, told["measured_ps"]
END
mkdir "$folder/nothing"
"$hcasim" explain "$folder/nothing" --bounds 2>/dev/null
[ $? = 2 ] || fail "a folder without a summary has bounds"

"$hcasim" run "$folder/load.yaml" --seed 4 --json >"$folder/json" 2>/dev/null || fail "--json"
python3 - "$folder/json" "$folder/native/summary.json" <<'END' || fail "--json is not as expected"
import json, sys
other, first = (json.load(open(name)) for name in sys.argv[1:])
assert 25 < first["metrics"]["gbps"] < 31.5, first
assert other["time_ps"] != first["time_ps"], "another seed, the same choices"
END
"$hcasim" run "$folder/load.yaml" --set 'expect=[{metric: mops, at_least: 50}]' >/dev/null 2>"$folder/log"
[ $? -eq 1 ] || fail "an expectation that does not hold is not exit code 1"
grep -q '^expected mops in 50 or more: found 0\.' "$folder/log" || fail "the miss is not named: $(cat "$folder/log")"

"$hcasim" run "$folder/load.yaml" --trace "$folder/trace" >/dev/null 2>&1 || fail "--trace"
"$hcasim" explain "$folder/trace" | grep -Eq '^mean of 50[0-9][0-9] work requests' || fail "explain: $("$hcasim" explain "$folder/trace" | head -1)"

"$hcasim" sweep "$folder/load.yaml" --out "$folder/sweep" >/dev/null 2>&1 || fail "sweep: exit code $?"
[ "$(cut -d, -f1-8 "$folder/sweep/results.csv" | head -1)" = load.bytes,point,exit_code,name,bottleneck,lowest_bound_of,lowest_bound,mops ] || fail "results.csv: $(cat "$folder/sweep/results.csv")"
[ "$(wc -l <"$folder/sweep/results.csv")" -eq 3 ] || fail "results.csv: $(cat "$folder/sweep/results.csv")"
# A sweep has keys that vary together. Each point has a name and a cost.
sed -e '/^sweep:/d' "$folder/load.yaml" >"$folder/pairs.yaml"
echo 'sweep: {load: [{bytes: 8B, tx_depth: 2}, {bytes: 64B, tx_depth: 4}], ".": [{}, {load.qps: 2}]}' >>"$folder/pairs.yaml"
"$hcasim" sweep "$folder/pairs.yaml" -j 2 --out "$folder/pairs" >/dev/null 2>"$folder/log" || fail "pairs: $(cat "$folder/log")"
python3 - "$folder/pairs" <<'END' || fail "a sweep of maps is not as expected"
import csv, os, sys
folder = sys.argv[1]
lines = list(csv.DictReader(open(folder + "/results.csv")))
names = ["bytes=8B,tx_depth=2", "bytes=8B,tx_depth=2,load.qps=2", "bytes=64B,tx_depth=4", "bytes=64B,tx_depth=4,load.qps=2"]
assert [line["name"] for line in lines] == names, lines
assert lines[0]["load"] == "{bytes: 8B, tx_depth: 2}" and lines[0]["."] == "{}", lines[0]
assert all(line["bottleneck"] for line in lines)
for name, line in zip(names, lines):
    scenario = open(folder + "/by-name/" + name + "/scenario.yaml").read()
    assert "  bytes: " + name[6:name.index("B")] + "B" in scenario, name
costs = {line["point"]: line for line in csv.DictReader(open(folder + "/cost.csv"))}
assert set(costs) == {line["point"] for line in lines}
assert all(0 < float(cost["cpu_seconds"]) < 100 and 1 < float(cost["peak_memory_mb"]) < 1000 for cost in costs.values()), costs
END
"$hcasim" sweep "$folder/load.yaml" --expect --out "$folder/judged" >/dev/null 2>"$folder/log" || fail "sweep --expect: exit code $?"
grep -q '^met expected gbps' "$folder/log" || fail "--expect judges nothing: $(cat "$folder/log")"

# Cores that answer give the same results with each engine. Two cores are the limit. With sixteen
# cores the adapter's link is.
rpc=$source/scenarios/studies/rpc-server.yaml
short=(--set load.warm_up=2000 --set load.operations=8000 --set 'expect=[]')
for run in native systemc systemc-reference; do
  "$hcasim" run "$rpc" "${short[@]}" --engine "$run" --out "$folder/rpc-$run" >"$folder/rpc-$run.txt" 2>&1 || fail "rpc: $(cat "$folder/rpc-$run.txt")"
  diff -r "$folder/rpc-native" "$folder/rpc-$run" || fail "rpc: $run differs from native"
done
grep -q '^bottleneck host0.server[01].core 100.0 % busy' "$folder/rpc-native.txt" || fail "rpc: $(cat "$folder/rpc-native.txt")"
"$hcasim" run "$rpc" "${short[@]}" --set load.server.cores=16 >"$folder/rpc-many.txt" 2>&1 || fail "rpc: $(cat "$folder/rpc-many.txt")"
grep -q '^bottleneck host0.hca.pcie.to_device' "$folder/rpc-many.txt" || fail "rpc: 16 cores: $(cat "$folder/rpc-many.txt")"
# A core is busy only while it has work. This also holds for the cores of servers, while no send
# queue has work.
python3 -c '
import json, sys
uses = [use for use in json.load(open(sys.argv[1]))["uses"] if use["name"].endswith(".core")]
assert uses and all(0 < use["mean"] <= use["capacity"] == 1 for use in uses), uses' "$folder/rpc-native/summary.json" || fail "rpc: a mean above 1"
"$hcasim" params load.server | grep -q 'requests that a core takes' || fail "params load.server"

# READs whose lists are read again for their responses: beyond the cache of WQEs they slow down by
# at least an eighth, equally with each engine. Without the cache, and for WRITEs, the rate is
# unchanged.
wqes=$source/scenarios/studies/wqe-cache.yaml
short=(--set load.warm_up=20000 --set load.operations=20000 --set load.tx_depth=512)
reads=(--set 'expect=[{metric: mops, at_most: 67}, {counter: host0.hca.transport.list_waits, at_least: 20000}]')
for run in native systemc systemc-reference; do
  "$hcasim" run "$wqes" "${short[@]}" "${reads[@]}" --engine "$run" --out "$folder/wqes-$run" >"$folder/wqes-$run.txt" 2>&1 || fail "wqes: $(cat "$folder/wqes-$run.txt")"
  diff -r "$folder/wqes-native" "$folder/wqes-$run" || fail "wqes: $run differs from native"
done
for same in hosts.hca.send_cache.entries=0 load.tx_depth=16; do
  "$hcasim" run "$wqes" "${short[@]}" --set "$same" --set 'expect=[{metric: mops, at_least: 76}]' >"$folder/wqes.txt" 2>&1 || fail "wqes: $same: $(cat "$folder/wqes.txt")"
done
"$hcasim" run "$wqes" "${short[@]}" --set load.verb=write --set load.inline_data=true --set 'expect=[{metric: mops, at_least: 84}]' >"$folder/wqes.txt" 2>&1 || fail "wqes: WRITEs: $(cat "$folder/wqes.txt")"

# Doorbells at most as fast as they are decoded: beyond its queue and the credits of stores, cores
# wait. Each WQE has its own doorbell in this load.
slow=(--set load.threads=8 --set load.cq_mod=1 --set hosts.hca.doorbell.interval=1us --set load.operations=400 --set load.warm_up=700)
"$hcasim" run "$source/scenarios/studies/small-messages.yaml" "${slow[@]}" --set 'expect=[{metric: mops, equals: 1, tolerance: 0.1%}, {counter: host0.hca.pcie.store_stalls, at_least: 100}, {counter: host0.hca.doorbell.stalls, at_least: 100}]' \
  --out "$folder/doorbells" >"$folder/doorbells.txt" 2>&1 || fail "doorbells: $(cat "$folder/doorbells.txt")"
"$hcasim" explain "$folder/doorbells" --bottleneck >"$folder/doorbells.txt" || fail "doorbells: explain"
# Waiting doorbells and stores count as work, although no send queue has their WQEs. They are busy
# for at most all of the time, within the capacity.
awk '$2 == "%" && ($1 > 100 || ($6 ~ /^[0-9]+$/ && $4 > $6)) { exit 1 }' "$folder/doorbells.txt" || fail "doorbells: used more than there is: $(cat "$folder/doorbells.txt")"
grep -q '^bottleneck: host0.hca.doorbell.decoder' "$folder/doorbells.txt" || fail "doorbells: $(cat "$folder/doorbells.txt")"
grep -qE '^ +([5-9][0-9]|100)\.. % +host0.hca.pcie.stores ' "$folder/doorbells.txt" || fail "doorbells: $(cat "$folder/doorbells.txt")"

# A host whose costs are zero changes no figure. Otherwise the slowest resource decides:
# the link, or, without DDIO, the core that polls memory.
cat >"$folder/messages.yaml" <<'END'
seed: 1
hosts: {count: 2, hca: connectx5-100gbe}
fabric: {link_layer: roce, topology: back-to-back, link: cable-100gbe}
load: {verb: write, bytes: 64B, threads: 8, qps: 1, tx_depth: 32, outstanding: 128}
END
"$hcasim" run "$folder/messages.yaml" >"$folder/messages.txt" 2>&1 || fail "messages: $(cat "$folder/messages.txt")"
hca=hosts.hca # of all hosts
free_dram=(--set $hca.dram.latency=0ps --set $hca.dram.rate=100Tbps)
free_socket=(--set $hca.numa.memory_node=remote --set $hca.numa.remote_read_latency=0ps --set $hca.numa.link_rate=100Tbps)
for free in "--set $hca.iommu.enabled=true --set $hca.iommu.walk_latency=0ps" "--set $hca.llc.enabled=true ${free_dram[*]}" "${free_socket[*]} ${free_dram[*]}"; do
  # shellcheck disable=SC2086 # words on purpose
  "$hcasim" run "$folder/messages.yaml" $free >"$folder/free.txt" 2>&1 || fail "messages: $free: $(cat "$folder/free.txt")"
  diff "$folder/messages.txt" "$folder/free.txt" || fail "messages: $free costs nothing and changes figures"
done
for costs in $hca.iommu.enabled=true $hca.numa.memory_node=remote $hca.jitter.median=10ns $hca.llc.enabled=true; do
  "$hcasim" run "$folder/messages.yaml" --set $costs --set 'expect=[{metric: mops, equals: 77.16, tolerance: 0.1%}]' >"$folder/costs.txt" 2>&1 || fail "messages: $costs: $(cat "$folder/costs.txt")"
done
"$hcasim" run "$folder/messages.yaml" --set $hca.llc.enabled=true --set $hca.llc.ddio=false --set 'expect=[{metric: mops, equals: 54.44, tolerance: 0.1%}]' >"$folder/costs.txt" 2>&1 || fail "messages: no DDIO: $(cat "$folder/costs.txt")"
grep -q '^bottleneck load.core' "$folder/costs.txt" || fail "messages: no DDIO: $(cat "$folder/costs.txt")"

# One queue pair is enough for the whole link of every adapter that runs loads, out and in. Both ports
# of a Connect-IB carry 5 % more than its PCIe, which is then full.
for preset in $(grep -l '^kind: hca' "$source"/scenarios/presets/*.yaml | xargs grep -L '^  driver: siw'); do
  adapter=$(basename "$preset" .yaml) layer=infiniband
  [[ $adapter == *gbe ]] && layer=roce
  full='port.link (9[7-9]|100)\.'
  [ "$adapter" = connect-ib-dual ] && full='(port.link 9[5-9]|pcie.to_device 100)\.'
  cat >"$folder/stream.yaml" <<END
hosts: {count: 2, hca: $adapter}
fabric: {link_layer: $layer, topology: back-to-back}
load: {bytes: 64KiB, tx_depth: 32, operations: 100}
END
  for verb in write read; do
    "$hcasim" run "$folder/stream.yaml" --set load.verb=$verb >"$folder/stream.txt" 2>&1 || fail "$adapter, $verb: $(cat "$folder/stream.txt")"
    grep -qE "^bottleneck host[01].hca.$full" "$folder/stream.txt" || fail "$adapter, $verb: the link is not full: $(cat "$folder/stream.txt")"
  done
done

# Contention for one address or one lock is named.
cat >"$folder/meet.yaml" <<'END'
hosts: {count: 2, hca: connectx6-hdr}
fabric: {link_layer: infiniband, topology: single-switch, switch: qm8700, link: cable-hdr}
load: {bytes: 8B, threads: 8, operations: 4000}
END
# limited NAME OPTION...
limited() {
  local name=$1
  shift
  "$hcasim" run "$folder/meet.yaml" "$@" >"$folder/meet.txt" 2>&1 || fail "$*: $(cat "$folder/meet.txt")"
  grep -qE "^bottleneck $name 9[0-9]|^bottleneck $name 100" "$folder/meet.txt" || fail "$*: $name is not the limit: $(cat "$folder/meet.txt")"
}
limited host1.hca.transport.atomics --set load.verb=fetch_add
limited host1.hca.transport.atomic_unit --set load.verb=fetch_add --set load.addresses_per_region=4096 --set load.address_stride=8B --set load.threads=16
limited load.lock --set load.threads=1 --set load.cores_per_thread=8 --set load.verb=read
limited load.lock --set load.threads=48 --set load.bfregs=11 --set load.verb=read

# refused TEXT OPTION...
refused() {
  local text=$1
  shift
  "$hcasim" run "$folder/load.yaml" "$@" --out "$folder/refused" >"$folder/log" 2>&1
  [ $? -eq 2 ] || fail "$*: not exit code 2"
  grep -qF "$text" "$folder/log" || fail "$*: $(cat "$folder/log")"
  [ ! -e "$folder/refused" ] || fail "$*: something was written"
}
refused 'did you mean "bytes"?' --set load.bites=3
refused 'did you mean "mops"?' --set 'expect=[{metric: mobs, at_least: 3}]'
refused 'verb fetch_add needs bytes 8' --set load.verb=fetch_add
refused 'inline_data: true needs verb: write or send' --set load.verb=read --set load.inline_data=true
refused 'server.cores needs pattern inbound' --set load.server.cores=2
refused 'did you mean "cores"?' --set load.server.core=2
refused 'run and load exclude each other; remove one' --set run.until=1ms
refused 'workload and load exclude each other; remove one' --set workload.pattern=incast
refused 'the HCA of slow is endpoint' --set 'hosts.slow.hca={fidelity: endpoint}'
refused 'record.series needs a workload' --set record.series=1us

[ $failures -eq 0 ]
