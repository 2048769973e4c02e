#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim run --threads` writes the same bytes with one thread and with two or three: all
# records of topologies, link layers, congestion controls, balances, faults, fidelities and loads
# below. The runs execute in parallel. A message explains when they do not, or when one thread is
# faster.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

# name, parallel execution (yes or the message), scenario with one line of YAML per line
compare() {
  local name=$1 parallel=$2
  cat >"$folder/$name.yaml"
  for threads in 1 $((2 + ${#name} % 2)); do
    "$hcasim" run "$folder/$name.yaml" --threads "$threads" --out "$folder/$name.$threads" \
      >"$folder/$name.$threads.txt" 2>"$folder/$name.$threads.log" ||
      fail "$name, $threads threads: exit code $?: $(cat "$folder/$name.$threads.log")"
    diff -r "$folder/$name.1" "$folder/$name.$threads" >"$folder/diff" ||
      fail "$name: $threads threads leave other records: $(head -5 "$folder/diff")"
    cmp "$folder/$name.1.txt" "$folder/$name.$threads.txt" || fail "$name: what $threads threads print differs"
    [ "$threads" -eq 1 ] && continue
    if [ "$parallel" = yes ]; then
      grep -q "in one thread" "$folder/$name.$threads.log" && fail "$name was not parallel: $(cat "$folder/$name.$threads.log")"
    else
      grep -q "in one thread: $parallel" "$folder/$name.$threads.log" ||
        fail "$name: expected \"in one thread: $parallel\", found: $(cat "$folder/$name.$threads.log")"
    fi
  done
  grep -q '^load:' "$folder/$name.yaml" || [ "$(wc -l <"$folder/$name.1/flows.csv")" -gt 1 ] || fail "$name: no flows"
}

fabric='link_layer: roce, link: {rate: 100Gbps, length: 200m}'

compare permutation yes <<EOF
seed: 2
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {$fabric, topology: {kind: fat-tree, arity: 4}, switch: {balance: ecmp}}
workload: {pattern: permutation, bytes: 300KB}
record: {series: 5us}
EOF

compare dcqcn yes <<EOF
seed: 3
hosts: {count: 0, hca: {fidelity: endpoint, congestion: dcqcn-paper, cnp_priority: 5, ack_priority: 6}}
fabric: {$fabric, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 4, uplink_rate: 40Gbps},
  switch: {balance: letflow, ecn: {mark: enqueue}}}
workload: {pattern: poisson, sizes: web_search, offered_load: 0.6, arrivals_until: 1ms}
record: {series: 20us}
expect: [{metric: cnps, at_least: 1}]
EOF

compare pfc yes <<EOF
seed: 4
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {$fabric, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 4},
  switch: {balance: spray, buffer: {size: 2MB}}}
workload: {pattern: incast, fan_in: 8, bytes: 500KB}
run: {loss: expected}
expect: [{metric: pauses, at_least: 1}]
EOF

compare hpcc yes <<EOF
seed: 5
hosts: {count: 0, hca: {fidelity: endpoint, congestion: hpcc-paper, ack_interval: 1, base_rtt: 14us}}
fabric: {$fabric, topology: {kind: fat-tree, arity: 4}, switch: {telemetry: true, balance: adaptive}}
workload: {pattern: shuffle, bytes: 30KB, count: 2}
EOF

compare faults yes <<EOF
seed: 6
hosts: {count: 0, hca: {fidelity: endpoint, recovery: selective_repeat}}
fabric: {$fabric, topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts: 4}, switch: {balance: ecmp}}
workload: {pattern: all_to_all, bytes: 40KB, posting: {message: 9000B, outstanding_messages: 2}}
faults:
  - {from: "leaf*", to: "spine*", drop: {probability: 1%}}
  - {from: "spine*", to: "leaf*", reorder: {probability: 1%, by: 3us}}
  - {from: "spine0", to: "leaf1", side: receive, drop: {nth: 7}}
  - {from: "leaf*", to: "host*", delay: {probability: 1%, by: 2us}}
expect: [{metric: drops, at_least: 1}, {metric: packets_retransmitted, at_least: 1}]
EOF

compare collective yes <<EOF
seed: 7
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {link_layer: infiniband, link: {length: 200m}, topology: {kind: fat-tree, arity: 4}}
workload: {pattern: halving_doubling_allreduce, bytes: 256KB}
EOF

compare torus yes <<EOF
seed: 8
hosts: {count: 0, hca: {fidelity: endpoint, congestion: infiniband}}
fabric: {link_layer: infiniband, link: {length: 200m}, topology: {kind: torus, size_x: 4, size_y: 3, hosts: 1},
  switch: {fecn: {threshold: 15}}}
workload: {pattern: hotspot, hot: 0.5, count: 4, bytes: 200KB}
run: {deadlock: possible}
record: {series: 10us}
EOF

compare lossy-infiniband yes <<EOF
seed: 9
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {link_layer: infiniband, link: {length: 200m}, topology: {kind: dumbbell, left: 3, right: 3}}
workload: {pattern: permutation, bytes: 400KB}
faults: [{from: left, to: right, drop: {probability: 0.5%}}]
expect: [{metric: packets_retransmitted, at_least: 1}]
EOF

compare barrier yes <<EOF
seed: 10
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {$fabric, topology: {kind: fat-tree, arity: 4}}
workload: {pattern: permutation, bytes: 50KB, phases: 3}
EOF

compare barriers-of-steps yes <<EOF
seed: 12
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {link_layer: infiniband, link: {length: 200m}, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 2}}
workload: {pattern: ring_allreduce, bytes: 90KB, phases: 4, gap: 300ns, operation: send, posting: {notification_latency: 0ps}}
EOF

compare barrier-at-once "a flow of one host starts a flow of another without delay" <<EOF
seed: 10
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {$fabric, topology: {kind: fat-tree, arity: 4}}
workload: {pattern: permutation, bytes: 50KB, phases: 3, posting: {notification_latency: 0ps}}
EOF

compare reads yes <<EOF
seed: 13
hosts: {count: 0, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {$fabric, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 4, uplink_rate: 40Gbps},
  switch: {balance: ecmp, ecn: {mark: enqueue}}}
workload: {pattern: shuffle, bytes: 100KB, count: 3, operation: read, posting: {message: 30KB, outstanding_messages: 2}}
faults: [{from: "leaf*", to: "spine*", drop: {probability: 0.5%}}]
expect: [{metric: cnps, at_least: 1}, {metric: drops, at_least: 1}]
EOF

compare mix yes <<EOF
seed: 14
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {link_layer: infiniband, link: {length: 200m}, topology: {kind: fat-tree, arity: 4}}
workload: {pattern: random, bytes: 60KB, count: 8, operation: mix, queue_pairs: 2, phases: 2}
EOF

compare fetched-steps yes <<EOF
seed: 15
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {$fabric, topology: {kind: fat-tree, arity: 4}}
workload: {pattern: ring_allgather, bytes: 40KB, operation: read, phases: 2}
EOF

# routes follow the links that go down and up
compare link-down yes <<EOF
seed: 11
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {$fabric, reroute_delay: 7us, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 2}, switch: {balance: ecmp}}
workload: {pattern: all_to_all, bytes: 300KB}
faults: [{from: "leaf*", to: spine0, link_down: {begin: 10us, lasts: 20us, times: 3, period: 35us}}]
expect: [{metric: drops, at_least: 1}]
EOF

compare storm yes <<EOF
seed: 16
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {$fabric, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 2}, switch: {balance: ecmp}}
workload: {pattern: permutation, bytes: 1MB}
faults:
  - {from: "spine*", to: leaf1, pause_storm: {begin: 10us, lasts: 20us}}
  - {from: host3, to: "leaf*", slow_receiver: {begin: 5us, lasts: 50us, rate: 20Gbps}}
expect: [{metric: pauses, at_least: 1}]
EOF

compare restart yes <<EOF
seed: 17
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {link_layer: infiniband, link: {length: 200m}, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 2}}
workload: {pattern: all_to_all, bytes: 200KB}
faults: [{from: leaf1, to: "spine*", link_down: {begin: 10us, lasts: 20us}}]
EOF

# one fault reads a counter of its own switch, one reads a counter of a host in another LP
compare conditions yes <<EOF
seed: 18
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {$fabric, reroute_delay: 0ps, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 3}, switch: {balance: ecmp}}
workload: {pattern: permutation, bytes: 1MB}
faults:
  - {from: leaf0, to: spine0, link_down: {lasts: 20us, when: {counter: leaf0.port0.packets_sent, reaches: 20}}}
  - {from: leaf0, to: host2, drop: {probability: 10%, when: {counter: host3.hca.port.packets_sent, reaches: 50}}}
expect: [{counter: faults.0.begun, at_least: 1}, {metric: drops, at_least: 1}]
EOF

compare all-together "links without latency, or faults, connect all hosts and switches, so they cannot be divided" <<EOF
seed: 18
hosts: {count: 4, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {length: 0m}}
workload: {pattern: permutation, bytes: 10KB}
EOF

# ---- detailed adapters ----

compare detailed-mix yes <<EOF
seed: 20
hosts: {count: 0, hca: {fidelity: detailed}}
fabric: {link_layer: infiniband, link: {length: 20m}, topology: {kind: fat-tree, arity: 4}}
workload: {pattern: random, bytes: 60KB, count: 8, operation: mix, queue_pairs: 2, phases: 2, posting: {message: 30000B, outstanding_messages: 2}}
EOF

compare detailed-sends yes <<EOF
seed: 21
hosts: {count: 0, hca: connectx5-edr}
fabric: {link_layer: infiniband, link: {length: 20m}, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 2}}
workload: {pattern: ring_allreduce, bytes: 90KB, phases: 2, gap: 300ns, operation: send, host: {rx_depth: 32}}
EOF

# lost data is read again; CNPs with their own priority; samples
compare detailed-reads yes <<EOF
seed: 13
hosts: {count: 0, hca: {fidelity: detailed, congestion: dcqcn-paper, notification: {cnp_priority: 5}}}
fabric: {$fabric, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 4, uplink_rate: 40Gbps},
  switch: {balance: ecmp, ecn: {mark: enqueue}}}
workload: {pattern: shuffle, bytes: 100KB, count: 3, operation: read, posting: {message: 30KB, outstanding_messages: 2}}
record: {series: 10us}
faults: [{from: "leaf*", to: "spine*", drop: {probability: 0.5%}}]
expect: [{metric: cnps, at_least: 1}, {metric: drops, at_least: 1}, {metric: packets_retransmitted, at_least: 1}]
EOF

# adapters of both fidelities: lost data is sent and read again; receive work requests run out
compare both-fidelities yes <<EOF
seed: 23
hosts: {count: 0, hca: {fidelity: endpoint, congestion: dcqcn-paper, cnp_priority: 5},
  except: {host4: {hca: {fidelity: detailed, congestion: dcqcn-paper}}, host9: {hca: {fidelity: detailed, congestion: timely-patched}}}}
fabric: {$fabric, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 4, uplink_rate: 40Gbps},
  switch: {balance: ecmp, ecn: {mark: enqueue}}}
workload: {pattern: shuffle, bytes: 100KB, count: 3, operation: mix, posting: {message: 30KB, outstanding_messages: 2}, host: {rx_depth: 32}, cpu: {poll: 3us}}
record: {series: 10us}
faults: [{from: "leaf*", to: "spine*", drop: {probability: 0.5%}}]
expect: [{metric: drops, at_least: 1}, {metric: packets_retransmitted, at_least: 1}]
EOF

# flows of an isolated host fail; pending packets at the end are dropped
compare detailed-broken yes <<EOF
seed: 22
hosts: {count: 0, hca: {fidelity: detailed}}
fabric: {$fabric, topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts: 2}, switch: {balance: ecmp}}
workload: {pattern: all_to_all, bytes: 300KB, host: {timeout: 1, retry_count: 1}}
run: {until: 2ms, loss: expected}
faults:
  - {from: host1, to: "leaf*", link_down: {begin: 10us}}
  - {from: leaf1, to: host2, drop: {probability: 20%, when: {counter: host2.hca.port.packets_received, reaches: 1}}}
expect: [{metric: flows_failed, at_least: 1}, {metric: drops, at_least: 1}]
EOF

# ---- loads: cores of all hosts stop at the same event ----

loads="hosts: {count: 4, hca: {fidelity: detailed}}
fabric: {link_layer: infiniband, topology: single-switch, link: {length: 100m}}"

compare load-all yes <<EOF
seed: 24
$loads
load: {pattern: all, qps: 2, tx_depth: 8, threads: 2, order: random, warm_up: 300, operations: 3000}
expect: [{metric: mops, at_least: 10}, {metric: share_least, at_least: 0.9}]
EOF
for engine in systemc systemc-reference; do
  "$hcasim" run "$folder/load-all.yaml" --engine $engine --out "$folder/load-$engine" >/dev/null 2>&1 || fail "load, $engine: exit code $?"
  diff -r "$folder/load-all.1" "$folder/load-$engine" || fail "load: the $engine engine leaves other records"
done
"$hcasim" run "$folder/load-all.yaml" --threads 2 --verbose >/dev/null 2>"$folder/log"
grep -Eq '2 threads: [0-9]+ windows of at most 500.000 ns' "$folder/log" || fail "load: $(cat "$folder/log")"

# Windows can be too short for several threads. If the rates of the links show this, the run uses
# one thread, and says so at its start.
cat >"$folder/load-short.yaml" <<EOF
hosts: {count: 3, hca: {fidelity: detailed}}
fabric: {link_layer: infiniband, topology: single-switch, link: {length: 50cm}}
load: {pattern: all, qps: 2, warm_up: 100, operations: 2000}
EOF
for threads in 1 2 3; do
  "$hcasim" run "$folder/load-short.yaml" --threads "$threads" --verbose --out "$folder/load-short.$threads" >/dev/null 2>"$folder/log" ||
    fail "short cables, $threads threads: exit code $?"
  diff -r "$folder/load-short.1" "$folder/load-short.$threads" >"$folder/diff" || fail "short cables: $threads threads leave other records: $(head -5 "$folder/diff")"
  [ "$threads" -eq 1 ] && continue
  grep -q "load-short.yaml: runs in one thread: the shortest link between logical processes gives windows of 2.500 ns" "$folder/log" ||
    fail "short cables, $threads threads: $(cat "$folder/log")"
done

# If only the run shows it, one thread fires all events after some window, and the run says so at
# its end.
sed -e 's/50cm/10m/' -e 's/operations: 2000/tx_depth: 1, operations: 6000/' "$folder/load-short.yaml" >"$folder/load-light.yaml"
for threads in 1 2 3; do
  "$hcasim" run "$folder/load-light.yaml" --threads "$threads" --verbose --out "$folder/load-light.$threads" >/dev/null 2>"$folder/log" ||
    fail "a light load, $threads threads: exit code $?"
  diff -r "$folder/load-light.1" "$folder/load-light.$threads" >"$folder/diff" || fail "a light load: $threads threads leave other records: $(head -5 "$folder/diff")"
  [ "$threads" -eq 1 ] && continue
  grep -q "load-light.yaml: runs mostly in one thread: the shortest link between the logical processes gives windows of 50.000 ns" "$folder/log" ||
    fail "a light load, $threads threads: $(cat "$folder/log")"
done

compare load-background yes <<EOF
seed: 25
$loads
load: {pattern: inbound, verb: read, qps: 4, bytes: 4KiB, cq_mod: 4, post_list: 4, cores_per_thread: 2, background: {threads: 1, verb: write}, warm_up: 100, operations: 2000}
expect: [{metric: gbps, at_least: 10}, {metric: background_mops, at_least: 0.01}]
EOF

compare load-received yes <<EOF
seed: 26
$loads
load: {pattern: all, verb: send, transport: ud, qps: 4, threads: 2, counts: received, warm_up: 300, operations: 3000}
expect: [{metric: received_mops, at_least: 5}]
EOF

compare load-responses "with server.cores all nodes share the state of the servers" <<EOF
$loads
load: {pattern: inbound, server: {cores: 2}, warm_up: 100, operations: 1000}
EOF

compare load-inline "the bytes of inline data belong to the packets of one node" <<EOF
$loads
load: {pattern: inbound, inline_data: true, warm_up: 100, operations: 1000}
EOF

# A failure at any host ends the load on all hosts, at the same time.
cat >"$folder/load-broken.yaml" <<EOF
hosts: {count: 4, hca: {fidelity: detailed}}
fabric: {link_layer: roce, topology: single-switch, link: {length: 100m}}
load: {pattern: inbound, operations: 100000, limit: 100s}
faults: [{from: host0, to: switch0, link_down: {begin: 20us}}]
EOF
for threads in 1 2 3; do
  "$hcasim" run "$folder/load-broken.yaml" --threads "$threads" --out "$folder/load-broken.$threads" >/dev/null 2>"$folder/load-broken.$threads.log"
  [ $? -eq 1 ] && grep -q "the load failed: a work request failed" "$folder/load-broken.$threads.log" || fail "a broken load, $threads threads: $(cat "$folder/load-broken.$threads.log")"
  diff -r "$folder/load-broken.1" "$folder/load-broken.$threads" >"$folder/diff" && cmp "$folder/load-broken.1.log" "$folder/load-broken.$threads.log" ||
    fail "a broken load: $threads threads leave other records: $(head -5 "$folder/diff")"
done

# The default is auto: one thread first, and several if they are faster. It says nothing.
cat >"$folder/auto.yaml" <<EOF
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {$fabric, topology: {kind: fat-tree, arity: 8}, switch: {balance: spray}}
workload: {pattern: permutation, bytes: 1MB}
EOF
for threads in 1 auto; do
  "$hcasim" run "$folder/auto.yaml" --threads "$threads" --out "$folder/auto.$threads" >/dev/null 2>"$folder/log" || fail "auto: exit code $?"
  [ -s "$folder/log" ] && fail "--threads $threads: $(cat "$folder/log")"
done
"$hcasim" run "$folder/auto.yaml" --out "$folder/auto.default" >/dev/null 2>"$folder/log" || fail "auto: exit code $?"
diff -r "$folder/auto.1" "$folder/auto.auto" && diff -r "$folder/auto.1" "$folder/auto.default" || fail "auto leaves other records"
"$hcasim" run "$folder/load-short.yaml" >/dev/null 2>"$folder/log" && [ ! -s "$folder/log" ] || fail "auto: $(cat "$folder/log")"

"$hcasim" run "$folder/permutation.yaml" --threads 2 --engine systemc-reference >/dev/null 2>"$folder/log" || fail "reference: $?"
grep -q "in one thread: only the native engine" "$folder/log" || fail "--engine systemc-reference: $(cat "$folder/log")"
for number in 0 -1 17 two; do
  "$hcasim" run "$folder/permutation.yaml" --threads "$number" >/dev/null 2>"$folder/log"
  [ $? -eq 2 ] || fail "--threads $number is not exit code 2"
  grep -q "is not a number of threads; expected --threads auto, or --threads NUMBER, 1 to 16" "$folder/log" || fail "--threads $number: $(cat "$folder/log")"
done
exit "$((failures > 0))"
