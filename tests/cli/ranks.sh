#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `mpirun -n N hcasim run` writes and prints the same bytes for N = 1, 2 and 4 as one
# process: PFC, ECN, loss, selective repeat, reads, barriers, samples, unfinished flows. What cannot
# be divided is refused. A lost rank ends the run and leaves no result.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"
command -v mpirun >/dev/null || exit 77
[ -e "$(dirname "$hcasim")/../lib/libhcasim-ranks.so" ] || exit 77

export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" # of MPI
unset "${!OMPI_@}" "${!PMIX_@}"

# ranks N COMMAND...; concurrent mpirun need folders of their own for their sockets
ranks() {
  local number=$1 sockets
  shift
  sockets=$(mktemp -d -p "$folder")
  TMPDIR=$sockets timeout 100 mpirun --allow-run-as-root --oversubscribe -n "$number" "$@"
}

fabric='link_layer: roce, link: {rate: 100Gbps, length: 200m}'

cat >"$folder/fat-tree.yaml" <<END
seed: 2
hosts: {count: 0, hca: {fidelity: endpoint, congestion: dcqcn-paper, cnp_priority: 5}}
fabric: {$fabric, topology: {kind: fat-tree, arity: 4}, switch: {balance: ecmp, ecn: {mark: enqueue, kmin: 20KB, kmax: 80KB}}}
workload: {pattern: shuffle, bytes: 150KB, count: 4}
record: {series: 10us, queues: true}
expect: [{metric: cnps, at_least: 1}, {metric: pauses, at_least: 1}]
END

# packets are lost and come out of order; the run ends, and its measurement begins, amid flows
cat >"$folder/leaf-spine.yaml" <<END
seed: 3
hosts: {count: 0, hca: {fidelity: endpoint, recovery: selective_repeat, congestion: hpcc, cnp_priority: 5}}
fabric: {$fabric, topology: {kind: leaf-spine, leaves: 4, spines: 2, hosts: 3, uplink_rate: 40Gbps},
  switch: {balance: spray, telemetry: true}}
workload: {pattern: poisson, sizes: web_search, offered_load: 0.8, arrivals_until: 250us}
run: {until: 250us, warm_up: 100us}
faults:
  - {from: "leaf*", to: "spine*", drop: {probability: 0.5%}}
  - {from: leaf1, to: spine0, link_down: {begin: 120us, lasts: 20us, times: 2, period: 50us}}
expect: [{metric: drops, at_least: 1}, {metric: packets_retransmitted, at_least: 1}]
END

cat >"$folder/infiniband.yaml" <<END
seed: 4
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {link_layer: infiniband, link: {length: 200m}, topology: {kind: fat-tree, arity: 4}}
workload: {pattern: random, bytes: 60KB, count: 6, operation: mix, queue_pairs: 2, phases: 2}
faults: [{from: host3, to: "*", drop: {nth: 40}}]
END

compare() {
  local name=$1 number=$2 out="$folder/$1.$2"
  ranks "$number" "$hcasim" run "$folder/$name.yaml" --verbose --out "$out" >"$out.txt" 2>"$out.log" ||
    fail "$name, $number processes: exit code $?: $(cat "$out.log")"
  diff -r "$folder/$name.0" "$out" >"$out.diff" || fail "$name: $number processes leave other records: $(head -5 "$out.diff")"
  cmp "$folder/$name.0.txt" "$out.txt" || fail "$name: what $number processes print differs"
  [ "$number" -eq 1 ] && return
  grep -Eq "^hcasim: $number processes: [0-9]+ windows of at most 1000.000 ns$" "$out.log" ||
    fail "$name was not divided: $(cat "$out.log")"
  [ "$(grep -Ec '^hcasim: rank [0-9]: [1-9][0-9]* events; [0-9.]+ messages of [1-9][0-9]* bytes a window' "$out.log")" -eq "$number" ] ||
    fail "$name: messages of $number ranks: $(cat "$out.log")"
}

for name in fat-tree leaf-spine infiniband; do
  "$hcasim" run "$folder/$name.yaml" --out "$folder/$name.0" >"$folder/$name.0.txt" 2>"$folder/log" || fail "$name: exit code $?: $(cat "$folder/log")"
done
grep -q ',under_way,' "$folder/leaf-spine.0/flows.csv" || fail "leaf-spine: no flow is under way at the end"
pids=()
compare fat-tree 1 & pids+=($!)
for number in 2 4; do
  for name in fat-tree leaf-spine infiniband; do
    (compare "$name" "$number"; exit "$failures") & pids+=($!)
  done
done

# ---- refusals ----

# refuse MESSAGE N ARGUMENTS...: exit code 2, the message once, and no result
refuse() {
  local message=$1 number=$2 log="$folder/refuse.$BASHPID"
  shift 2
  ranks "$number" "$hcasim" run --out "$log.out" "$@" >"$log.txt" 2>"$log"
  [ $? -eq 2 ] || fail "$message: exit code is not 2"
  [ "$(grep -c "$message" "$log")" -eq 1 ] || fail "expected \"$message\" once, found: $(cat "$log")"
  [ ! -e "$log.out" ] && [ ! -e "$log.out.part" ] || fail "$message: a result is left"
}

scenarios=$2/scenarios
only='cannot be divided over processes; expected a workload on adapters of fidelity endpoint'
(refuse "adapters of fidelity detailed $only" 2 "$scenarios/studies/all-to-all-detailed.yaml"; exit "$failures") & pids+=($!)
(refuse "mpirun: --threads 2 and 2 processes; expected one of the two" 2 "$folder/fat-tree.yaml" --threads 2; exit "$failures") & pids+=($!)
(refuse "mpirun: links without latency, or faults, connect all hosts" 2 "$folder/fat-tree.yaml" --set fabric.link.length=0m; exit "$failures") & pids+=($!)
(refuse "fat-tree.0 exists and is not an empty folder" 2 "$folder/fat-tree.yaml" --out "$folder/fat-tree.0"; exit "$failures") & pids+=($!)

(refuse "a trace, capture or waveform $only" 2 "$folder/fat-tree.yaml" --pcap "$folder/ranks.pcapng"; exit "$failures") & pids+=($!)

# Processes with a scenario of their own each are refused: they would divide different runs.
differ() {
  local log="$folder/differ.$BASHPID"
  # shellcheck disable=SC2016
  ranks 2 bash -c "$1" "$hcasim" "$folder/fat-tree.yaml" >"$log.txt" 2>"$log"
  [ $? -eq 2 ] && grep -q "$2" "$log" || fail "$1: $(cat "$log.txt" "$log")"
}
(differ 'exec "$0" run "$1" --seed $((OMPI_COMM_WORLD_RANK + 1))' 'processes have different scenarios'; exit "$failures") & pids+=($!)
(differ 'exec "$0" run "$1" --threads $((OMPI_COMM_WORLD_RANK + 1))' 'processes have different scenarios'; exit "$failures") & pids+=($!)
(differ 'exec "$0" run "$1" $([ $OMPI_COMM_WORLD_RANK -eq 0 ] || echo --set sede=1)' 'processes have different scenarios'; exit "$failures") & pids+=($!)
(differ 'exec "$0" run "$1" $([ $OMPI_COMM_WORLD_RANK -eq 1 ] || echo --set sede=1)' 'unknown key "sede"'; exit "$failures") & pids+=($!)

# Other refusals are the same before MPI begins: one process that believes to be a rank is enough.
mkdir -p "$folder/alone/bin"
ln "$hcasim" "$folder/alone/bin/hcasim" 2>/dev/null || cp "$hcasim" "$folder/alone/bin/hcasim"
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "$folder/alone/bin/hcasim" run "$folder/fat-tree.yaml" >/dev/null 2>"$folder/log"
[ $? -eq 2 ] && grep -q "libhcasim-ranks.so not found, because hcasim was built without MPI" "$folder/log" || fail "without the shared object: $(cat "$folder/log")"

# ---- a lost rank ----

lose() {
  local out="$folder/lost"
  ranks 2 bash -c 'echo $$ >"$0.$OMPI_COMM_WORLD_RANK.pid"; exec "$@"' "$out" \
    "$hcasim" run "$folder/fat-tree.yaml" --set workload.bytes=1GB --out "$out" >/dev/null 2>"$out.log" &
  local run=$!
  for _ in {1..200}; do
    [ -e "$out.part" ] && [ -s "$out.1.pid" ] && break
    sleep 0.05
  done
  [ -e "$out.part" ] || fail "a lost rank: the run has not begun: $(cat "$out.log")"
  kill -9 "$(cat "$out.1.pid")"
  wait "$run" && fail "a lost rank: exit code 0"
  grep -q "rank 1 .*exited on signal 9" "$out.log" || fail "a lost rank: $(cat "$out.log")"
  [ ! -e "$out" ] && [ ! -e "$out.part" ] || fail "a lost rank: a result is left"
}
(lose; exit "$failures") & pids+=($!)

for pid in "${pids[@]}"; do
  wait "$pid" || failures=$((failures + 1))
done
exit "$((failures > 0))"
