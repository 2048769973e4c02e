#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves pattern storage from the file to the results: one operation on an idle fabric takes the sum
# of its parts, the rate times the latency is the queue depth, a device, a core and a link bound the
# rate, metrics are in summary.json, in stats, in a sweep's table and in expectations, several workloads have
# metrics each, time ends the workload between operations, results do not depend on threads, and
# mistakes are named at their place.
# Arguments: the hcasim program.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

study() { # study NAME HCA: then the rest of the scenario on standard input
  { printf 'seed: 5\nhosts: {count: 4, hca: %s}\n' "$2"
    printf 'fabric: {link_layer: roce, topology: single-switch, switch: {forwarding_latency: 300ns, port: {mtu: 4096B}}, link: {rate: 100Gbps, length: 2m}}\n'
    cat; } >"$folder/$1.yaml"
}
run() { # run NAME [OPTIONS]
  rm -rf "$folder/$1"
  "$hcasim" run "$folder/$1.yaml" --out "$folder/$1" "${@:2}" >"$folder/$1.log" 2>&1 || fail "$1: $(cat "$folder/$1.log")"
}
metric() { # metric NAME METRIC
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1] + "/summary.json"))["metrics"][sys.argv[2]])' "$folder/$1" "$2"
}
holds() { # holds NAME WHAT EXPRESSION: of the metrics of the run, by name
  python3 -c 'import json, sys; sys.exit(not eval(sys.argv[2], json.load(open(sys.argv[1] + "/summary.json"))["metrics"]))' "$folder/$1" "$3" || fail "$1: $2: $3"
}
rdma='{fidelity: endpoint, port: {mtu: 4096B}}'
tcp='{fidelity: endpoint, transport: tcp, congestion: cubic, tcp: {mtu: 4096B}, port: {mtu: 4096B}}'

# ---- one operation, by hand ----
# Times in ns. A message: 600 to send, 100 to receive, two cables of 10, 300 in the switch, and its
# bits at 100 Gb/s. The switch is cut-through, so that bits count once, and the preamble of 8 bytes on
# both cables. A RoCE packet has 62 bytes of headers and trailers; RETH is 16 more; a gap of 12 is
# between two packets.
study one "$rdma" <<'END'
workload: {pattern: storage, initiators: [host0], targets: [host1], storage: {operations: 3}}
END
run one
python3 - "$(metric one latency_mean_us)" <<'END' || fail "one operation is no sum of its parts"
import sys
leg = 600 + 100 + 2 * 10 + 300 + 8 * 8 / 100
bits = lambda *packets: (sum(packets) + 12 * (len(packets) - 1)) * 8 / 100
command = 1000 + 150 + leg + bits(64 + 70)
serve = 150 + 1500 + 10000 + 2 * 150
answer = leg + bits(4096 + 86, 16 + 70) + 150 + 1000
expected = (command + serve + answer) / 1000
got = float(sys.argv[1])
print(expected, got)
sys.exit(abs(expected - got) > 1e-6)
END
holds one "messages of a read" "operation_messages == 3"
holds one "bytes of a read" "operation_message_bytes == 4176"
holds one "cores of a read" "cpu_us == 4.25"
holds one "rate times latency is the depth" "abs(iops * latency_mean_us / 1e6 - 1) < 1e-6"
# packets of 64, 4096 and 16 bytes, and their three ACKs
holds one "wire bytes of a read" "operation_wire_bytes == 64 + 62 + 4096 + 78 + 16 + 62 + 3 * 66"
head -2 "$folder/one/operations.csv" | tail -1 | grep -q '^0,0,1,read,4096,0.000000,' || fail "operations.csv: $(head -2 "$folder/one/operations.csv")"

# ---- Little's law, and what bounds the rate ----
mixed='workload:
  pattern: storage
  initiators: [host0, host2]
  targets: [host1, host3]
  storage: {queue_depth: 16, operations: 1500, block_sizes: [4KiB, 16KiB], read_fraction: 0.7}
  device: {latency: 80us}
  operation_cpu: {cores: 8}'
# At the end fewer than all are in progress, which costs up to 5 % of the rate of chains of 94.
for hca in rdma tcp; do
  study depth "${!hca}" <<<"$mixed"
  for protocol in nvme_of nfs smb kv_rpc; do
    run depth --set "workload.storage.protocol=$protocol"
    holds depth "$hca $protocol: the law of Little" "abs(iops * latency_mean_us / 1e6 - 32) < 0.05 * 32"
    holds depth "$hca $protocol: reads and writes" "abs(read_iops + write_iops - iops) < 1e-6 * iops"
    holds depth "$hca $protocol: operations" "operations_done == 3000"
  done
done
study bound "$rdma" <<'END'
workload: {pattern: storage, initiators: [host0], targets: [host1], storage: {queue_depth: 64, operations: 2000}, operation_cpu: {cores: 64}}
END
run bound --set workload.device.iops=200000
holds bound "a device bounds the rate" "abs(iops / 200000 - 1) < 0.02"
grep -q '^bottleneck workload.1.device.units' "$folder/bound.log" || fail "a busy device is no bottleneck: $(cat "$folder/bound.log")"
run bound --set workload.device.iops=0 --set workload.device.rate=6.5536Gbps
holds bound "a device bounds the data" "abs(iops / 200000 - 1) < 0.02"
run bound --set workload.device.iops=0 --set workload.operation_cpu.cores=1 --set workload.device.rate=1Tbps
grep -q '^bottleneck workload.0.cores.units' "$folder/bound.log" || fail "a busy core is no bottleneck: $(cat "$folder/bound.log")"
holds bound "a core bounds the rate" "abs(iops * initiator_cpu_us / 1e6 - 1) < 0.02"
run bound --set workload.device.iops=0 --set workload.device.rate=1Tbps --set workload.operation_cpu.submit=0ps --set workload.operation_cpu.complete=0ps --set workload.operation_cpu.serve=0ps --set 'workload.storage.block_sizes=[64KiB]'
holds bound "a link bounds the data" "data_gbps > 90 and data_gbps < 100"

# ---- metrics in stats, sweeps and reports ----
"$hcasim" stats "$folder/depth" >"$folder/stats" 2>&1 || fail "stats: $(cat "$folder/stats")"
grep -q '^latency_us: 3000 ' "$folder/stats" || fail "stats: $(cat "$folder/stats")"
"$hcasim" stats "$folder/depth" --metric write_latency_us >"$folder/stats" 2>&1 || fail "stats: $(cat "$folder/stats")"
"$hcasim" sweep "$folder/one.yaml" --set 'sweep={workload.storage.queue_depth: [1, 2]}' --out "$folder/sweep" >"$folder/log" 2>&1 || fail "sweep: $(cat "$folder/log")"
python3 - "$folder/sweep/results.csv" <<'END' || fail "sweep's table"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
sys.exit(not (float(rows[1]["iops"]) > 1.4 * float(rows[0]["iops"]) and float(rows[0]["read_latency_p99_us"]) > 10))
END
study expected "$rdma" <<'END'
workload: {pattern: storage, initiators: [host0], targets: [host1], storage: {operations: 3}}
expect:
  - {metric: iops, at_least: 1000}
  - {metric: latency_p99_us, at_most: 100}
END
run expected
"$hcasim" run "$folder/expected.yaml" --set workload.device.latency=200us >"$folder/log" 2>&1
[ $? -eq 1 ] || fail "an expectation of latency is not judged: $(cat "$folder/log")"

# ---- several workloads ----
study several "$rdma" <<'END'
workloads:
  disks: {pattern: storage, hosts: [host0, host1], targets: [host1], storage: {operations: 200, queue_depth: 4}}
  store: {pattern: storage, hosts: [host2, host3], targets: [host3], storage: {protocol: kv_one_sided, operations: 300, block_sizes: [256B]}}
  bulk:  {hosts: [host0, host2], bytes: 1MB}
expect:
  - {metric: disks.iops, at_least: 1000}
  - {metric: store.target_cpu_us, at_most: 0}
  - {metric: bulk.flows_done, equals: 2}
END
run several
python3 - "$folder/several/summary.json" <<'END' || fail "metrics of several workloads"
import json, sys
of = json.load(open(sys.argv[1]))
each = of["workloads"]
sys.exit(not (each["disks"]["operations"] == 200 and each["store"]["operations"] == 300 and
              each["store"]["operation_messages"] == 2 and "iops" not in each["bulk"] and
              each["disks"]["operation_wire_bytes"] is None and of["metrics"]["operations"] == 500))
END
"$hcasim" check "$folder/several.yaml" --effective >"$folder/again.yaml" 2>"$folder/log" || fail "effective: $(cat "$folder/log")"
run again
cmp "$folder/again/flows.csv" "$folder/several/flows.csv" || fail "effective configuration"
"$hcasim" check "$folder/depth.yaml" --effective >"$folder/again.yaml" 2>"$folder/log" || fail "effective: $(cat "$folder/log")"
grep -A2 'targets:' "$folder/again.yaml" | grep -q host3 || fail "effective configuration has no targets"

# ---- the end, threads ----
study time "$rdma" <<'END'
workload: {pattern: storage, initiators: [host0], targets: [host1], storage: {duration: 100us, queue_depth: 2}}
END
run time
python3 - "$folder/time/operations.csv" "$(metric time operations_done)" <<'END' || fail "duration"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
last = max(float(row["started_us"]) for row in rows)
sys.exit(not (80 < last < 100 and len(rows) == float(sys.argv[2]) and
              max(float(row["finished_us"]) for row in rows) > 100))
END
run depth --set workload.storage.operations=200
cp "$folder/depth/operations.csv" "$folder/serial.csv"
run depth --set workload.storage.operations=200 --threads 2
cmp "$folder/depth/operations.csv" "$folder/serial.csv" || fail "results depend on threads"

# ---- detailed adapters, and InfiniBand ----
study detailed '{preset: connectx5-100gbe}' <<'END'
workload: {pattern: storage, initiators: [host0], targets: [host1], storage: {operations: 20, block_sizes: [16KiB], read_fraction: 0.5}}
END
run detailed
holds detailed "detailed adapters" "operations_done == 20"
holds detailed "detailed adapters" "15 < latency_mean_us < 40"

# ---- failures: host1 sends nothing, so that each chain ends at its first operation ----
study silent "$rdma" <<'END'
faults: [{from: host1, to: switch0, drop: {probability: 100%}}]
workload: {pattern: storage, initiators: [host0], targets: [host1], storage: {operations: 30, queue_depth: 3}}
END
"$hcasim" run "$folder/silent.yaml" --set hosts.hca.retry_count=1 --out "$folder/silent" >"$folder/log" 2>&1
[ $? -eq 1 ] || fail "failed operations: exit code: $(cat "$folder/log")"
grep -q '^operations 30, done 0, failed 3, 0 IOPS' "$folder/log" || fail "failed operations: $(cat "$folder/log")"
run silent --set hosts.hca.retry_count=1 --set 'expect=[{metric: operations_failed, equals: 3}]'
holds silent "failed operations" "operations_failed == 3 and operations_done == 0"

# ---- mistakes ----
refused() { # refused NAME EXPECTED-TEXT [OPTIONS]
  "$hcasim" run "$folder/$1.yaml" "${@:3}" >"$folder/log" 2>&1
  [ $? -eq 2 ] || fail "$1 ${*:3}: exit code: $(cat "$folder/log")"
  grep -q "$2" "$folder/log" || fail "$1 ${*:3}: $(cat "$folder/log")"
}
study kv "$tcp" <<'END'
workload: {pattern: storage, initiators: [host0], targets: [host1], storage: {protocol: kv_one_sided}}
END
refused kv '4:79: .*expected protocol: kv_rpc'
study iwarp '{fidelity: endpoint, transport: iwarp, congestion: cubic}' <<'END'
workload: {pattern: storage, initiators: [host0], targets: [host1], storage: {operations: 9}}
END
run iwarp
holds iwarp "messages over iWARP" "operation_messages == 3"
for protocol in nvme_of nfs smb kv_one_sided kv_rpc; do
  run iwarp --set workload.storage.protocol=$protocol --set workload.storage.read_fraction=0.5 --set 'workload.storage.block_sizes=[16KiB]'
  holds iwarp "$protocol over iWARP" "operations_done == 9"
done
refused iwarp 'does not support handshake: true' --set workload.storage.protocol=kv_one_sided --set hosts.hca.tcp.handshake=true
refused one 'did you mean "nvme_of"' --set workload.storage.protocol=nvme_off
refused one 'unknown key "queue_dept"; did you mean "queue_depth"' --set workload.storage.queue_dept=3
refused one 'no host "host9"' --set 'workload.targets=[host9]'
refused one 'is an initiator, too' --set 'workload.targets=[host0]'
refused one 'expected posting: {message: 0B}' --set workload.posting.message=4KB
refused one 'expected no more than operations' --set workload.storage.queue_depth=5
refused one '(1B..16MiB)' --set 'workload.storage.block_sizes=[0B]'
refused one 'expected fewer operations' --set workload.storage.operations=10000000
refused one 'no metric "iop"; did you mean "iops"' --set 'expect=[{metric: iop, at_least: 1}]'
study other "$rdma" <<'END'
workload: {pattern: incast, initiators: [host0]}
END
refused other '4:29: .*pattern: storage'
refused other 'expected pattern: storage' --set 'workload={pattern: incast}' --set 'expect=[{metric: iops, at_least: 1}]'
"$hcasim" check "$folder/one.yaml" --set workload.bytes=3KB >"$folder/log" 2>&1
grep -q 'bytes has no effect here' "$folder/log" || fail "bytes has an effect: $(cat "$folder/log")"
"$hcasim" check "$folder/one.yaml" --set workload.storage.protocol=kv_rpc --set workload.device.iops=3 >"$folder/log" 2>&1
grep -q 'iops has no effect here' "$folder/log" || fail "a key-value store has a device: $(cat "$folder/log")"
echo good
