#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves what the heads of scenarios/comparisons say, by small versions of these sweeps: no run fails,
# and the order of the transports is as stated. A report of such a sweep is one page.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
top=$2
. "$(dirname "$0")/../support/script.sh"

small() { # small NAME SWEEP [OPTIONS]: a sweep of these values alone
  "$hcasim" sweep "$top/scenarios/comparisons/$1.yaml" --set "sweep=$2" "${@:3}" -j 2 --out "$folder/$1" >"$folder/$1.log" 2>&1 ||
    fail "$1: $(tail -3 "$folder/$1.log")"
}
small latency '{workload.storage.block_sizes.0: [64B, 64KiB]}'
small throughput '{workload.posting.outstanding_messages: [1, 16], workload.posting.message: [4KiB]}'
small rates '{fabric.link.rate: [10Gbps, 400Gbps]}' --set workload.bytes=2MB
small loss '{faults.0.drop.probability: [0%, 1%], fabric.link.length: [5m, 2km], seed: [1, 2, 3, 4]}'
small incast '{workload.fan_in: [4, 32]}'
small connections '{workload.count: [1, 2000]}'
small storage '{workload.storage.queue_depth: [1, 64]}' --set workload.storage.operations=300

cat >"$folder/judge.py" <<'END'
import csv, os, sys

folder = sys.argv[1]


def read(name):
    """{(variant, value of the first key): row of means}"""
    path = os.path.join(folder, name, "means.csv")
    if not os.path.exists(path):
        path = os.path.join(folder, name, "results.csv")
    rows = list(csv.DictReader(open(path)))
    keys = list(rows[0])[1:3]
    of = {}
    for row in rows:
        of[row["variant"], row[keys[0]]] = row
        of[row["variant"], row[keys[0]], row[keys[1]]] = row
    return lambda metric, *place: float(of[place][metric])


def holds(what, good):
    if not good:
        print(what)
        holds.failed = True


holds.failed = False
of = read("latency")
holds("short requests over RDMA take less than half of those over TCP", of("latency_mean_us", "roce", "64B") < 0.5 * of("latency_mean_us", "tcp", "64B"))
holds("iWARP is RDMA", of("latency_mean_us", "iwarp", "64B") < 1.05 * of("latency_mean_us", "roce", "64B"))
holds("READs take longer", of("latency_mean_us", "roce-one-sided", "64B") > of("latency_mean_us", "roce", "64B"))
holds("READs take no core of the server", of("target_cpu_us", "roce-one-sided", "64B") == 0)
of = read("throughput")
for variant in "tcp", "iwarp", "roce", "infiniband":
    holds(variant + ": messages in progress fill the link", of("goodput_gbps", variant, "16") > 90 > 30 > of("goodput_gbps", variant, "1"))
of = read("rates")
for variant in "tcp", "iwarp", "roce-lossless", "infiniband":
    for rate in "10", "400":
        holds(f"{variant} fills {rate} Gb/s", of("goodput_gbps", variant, rate + "Gbps") > 0.9 * float(rate))
holds("lossless fabrics lose nothing", of("drops", "roce-lossless", "400Gbps") == of("drops", "infiniband", "400Gbps") == 0)
holds("go-back-N without PFC collapses", of("goodput_gbps", "roce-go-back-n", "400Gbps") < 0.5 * of("goodput_gbps", "roce-selective-repeat", "400Gbps"))
of = read("loss")
for length in "5m", "2km":
    holds(length + ": go-back-N sends more again", of("packets_retransmitted", "roce-go-back-n", "1%", length) > 10 * of("packets_retransmitted", "roce-selective-repeat", "1%", length))
    holds(length + ": selective repeat is faster", of("goodput_gbps", "roce-selective-repeat", "1%", length) > of("goodput_gbps", "roce-go-back-n", "1%", length))
for variant in "tcp", "iwarp":
    holds(variant + " on a short path keeps its rate", of("goodput_gbps", variant, "1%", "5m") > 0.9 * of("goodput_gbps", variant, "0%", "5m"))
    holds(variant + " on a long path does not", of("goodput_gbps", variant, "1%", "2km") < 0.3 * of("goodput_gbps", variant, "0%", "2km"))
of = read("incast")
for variant in "roce-lossless", "infiniband":
    holds(variant + " keeps the packets of an incast", of("drops", variant, "32") == 0)
for variant in "tcp", "iwarp", "roce-go-back-n", "roce-selective-repeat":
    holds(variant + " loses packets", of("drops", variant, "32") > 0)
of = read("connections")
for count in "1", "2000":
    holds("a queue pair has its context", of("connection_state_bytes", "roce", count) == 375 and of("connection_held_bytes", "roce", count) == 0)
    holds("a socket has its kernel objects", of("connection_state_bytes", "tcp", count) == 2368 + 832 + 192 + 192)
    holds("iWARP has receive entries", of("connection_state_bytes", "iwarp", count) == 128 + 128 * 64)
    # 17 FPDUs of 3956 bytes of payload at most, with 20 bytes of overhead each, and 2 of pad at most
    holds("iWARP holds the message", 65536 + 17 * 20 <= of("connection_held_bytes", "iwarp-64k", count) <= 65536 + 17 * 22)
    holds("TCP holds the message", of("connection_held_bytes", "tcp-64k", count) == 65536)
for variant in "roce", "iwarp":
    holds(variant + ": a cache that is large enough costs the first fetch", of("fct_mean_us", variant + "-cache", "1") - of("fct_mean_us", variant, "1") < 1.2)
    holds(variant + ": a small cache costs each message", of("fct_mean_us", variant + "-cache", "2000") > 2 * of("fct_mean_us", variant, "2000"))
of = read("storage")
for protocol in "nvme", "nfs", "smb":
    rdma = "smb-direct" if protocol == "smb" else protocol + "-rdma"
    holds(protocol + ": RDMA has more IOPS per core", of("iops", rdma, "64") > 1.5 * of("iops", protocol + "-tcp", "64"))
    holds(protocol + ": the device rules at depth 1", of("iops", rdma, "1") < 1.5 * of("iops", protocol + "-tcp", "1"))
for protocol, rdma in ("nvme", "nvme-rdma"), ("nfs", "nfs-rdma"), ("smb", "smb-direct"):
    holds(protocol + ": iWARP has the cores of RDMA", of("cpu_us", protocol + "-iwarp", "64") == of("cpu_us", rdma, "64"))
sys.exit(holds.failed)
END
python3 "$folder/judge.py" "$folder" || failures=1

"$hcasim" report "$folder/storage" --out "$folder/page.html" >"$folder/log" 2>&1 || fail "report: $(cat "$folder/log")"
grep -q 'operation_wire_bytes' "$folder/page.html" || fail "the page has no metrics of operations"
grep -q 'Flows by size' "$folder/page.html" && fail "the page has sizes of messages"
echo good
