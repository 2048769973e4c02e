#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that workloads run over iWARP: counters and goodput have the exact bytes of RFC 5044, losses
# change neither what arrives nor, at the same seed, the result, whatever the number of threads.
# tshark decodes each FPDU, finds every CRC good and nothing malformed. Errors name their line and
# column.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1

study() { # study HCA WORKLOAD [MORE]
  printf 'seed: 1\nhosts: {count: 2, hca: {fidelity: endpoint, preset: iwarp-100g, %s}}\n' "$1"
  printf 'fabric: {link_layer: roce, topology: single-switch, switch: spectrum-100gbe, link: cable-100gbe}\n'
  printf 'workload: {pattern: shift, %s}\n%s\n' "$2" "$3"
}
count() { # count FOLDER BLOCK COUNTER
  grep "\"$2\"" "$1/counters.json" | grep -o "\"$3\": [0-9]*" | grep -o '[0-9]*$'
}
equal() { # equal NAME FOUND EXPECTED
  [ "$2" = "$3" ] || fail "$1: $2; expected $3"
}

# 695 FPDUs of 1440 bytes of payload and 20 of overhead, the last one of 640.
study 'port: {}' 'operation: write, bytes: 1MB, count: 1' >write.yaml
"$hcasim" run write.yaml --out write >log || fail "write: $(cat log)"
equal fpdus "$(count write host0.hca.iwarp fpdus)" 695
equal payload "$(count write host0.hca.iwarp payload_bytes)" 1000000
equal overhead "$(count write host0.hca.iwarp overhead_bytes)" 13900
equal received "$(count write host1.hca data_bytes_received)" 1000000
equal segments "$(count write host0.hca.tcp data_sent)" 695
# Two connections, as each host sends: 128 bytes of the control block, and 128 entries of 64 bytes.
equal "states of connections" "$(count write host0.hca.iwarp state_bytes)" $((2 * (128 + 128 * 64)))
equal "held by a connection" "$(count write host0.hca.iwarp connection_held_bytes)" 131072

# 10,000 connections, each with an FPDU of 64 bytes of payload
"$hcasim" run write.yaml --set workload.pattern=incast --set workload.bytes=64B --set workload.count=10000 --set hosts.hca.context_cache.entries=1024 --out many >log || fail "many: $(cat log)"
equal connections "$(count many host1.hca.iwarp connections)" 10000
equal "states of 10,000 connections" "$(count many host1.hca.iwarp state_bytes)" 83200000
equal "held by 10,000 connections" "$(count many host1.hca.tcp held_bytes)" 840000
equal "memory of a connection" "$(grep -o '"connection_bytes": [0-9.]*' many/summary.json | grep -o '[0-9.]*$')" 65748
[ "$(count many host1.hca.contexts misses)" -ge 10000 ] || fail "10,000 connections fit a cache of 1024"
"$hcasim" check write.yaml --set hosts.hca.context_cache.entries=1022 >log 2>&1
grep -q '1022 entries are not a multiple of 4 ways' log || fail "no error for entries and ways: $(cat log)"

# The shares of the link: 1440 of 1538 bytes, and 8940 of 9038 with jumbo frames.
study 'tcp: {receive_buffer: 4MiB}' 'operation: write, bytes: 100MB, count: 1' >rate.yaml
for mtu in 1500:93.6 9000:98.8; do
  "$hcasim" run rate.yaml --set "hosts.hca.tcp.mtu=${mtu%:*}B" --set workload.pattern=incast >log || fail "rate: $(cat log)"
  grep -q "goodput  *${mtu#*:}" log || fail "MTU ${mtu%:*}: $(grep goodput log); expected ${mtu#*:}"
done

# READs: a request of 52 bytes, and the FPDUs of an RDMA Write. The ideal time is exact.
"$hcasim" run write.yaml --set workload.operation=read --set workload.pattern=incast --set workload.bytes=10KB --out read >log || fail "read: $(cat log)"
equal "READ's slowdown" "$(sed -n 2p read/flows.csv | grep -o '1.0000$')" 1.0000
equal "Read Requests" "$(count read host0.hca.iwarp reads)" 1
equal "overhead of a Read Request" "$(count read host0.hca.iwarp overhead_bytes)" 52
equal "Read Responses" "$(count read host1.hca.iwarp read_responses)" 1
equal "payload of Read Responses" "$(count read host1.hca.iwarp payload_bytes)" 10000
equal "received by a READ" "$(count read host0.hca data_bytes_received)" 10000

# Losses of both directions.
study 'tcp: {rto_min: 1ms, handshake: true}' 'operation: send, bytes: 300KB, count: 3' \
  'faults: [{from: host0, to: switch0, drop: {probability: 1%}}, {from: host1, to: switch0, drop: {probability: 1%}}]' >lossy.yaml
for threads in 1 2; do
  "$hcasim" run lossy.yaml --threads $threads --out lossy$threads >log 2>&1 || fail "lossy: $(cat log)"
done
for file in flows.csv summary.json counters.json; do
  cmp lossy1/$file lossy2/$file || fail "$file differs between threads"
done
equal "received under loss" "$(count lossy1 host1.hca data_bytes_received)" 900000
[ "$(count lossy1 host0.hca.tcp retransmissions)" -gt 5 ] || fail "nothing was lost"
# 3 requests and 3 replies of 24 bytes; each Send has 208 full FPDUs of 1436 bytes and one of 1312
equal "overhead of Sends" "$(count lossy1 host0.hca.iwarp overhead_bytes)" $((3 * (2 * 24 + 209 * 24)))

# The capture has each packet at two ports. tshark takes the second for a retransmission, and skips it.
if command -v tshark >/dev/null; then
  "$hcasim" run lossy.yaml --set faults=[] --pcap packets.pcapng >log || fail "capture: $(cat log)"
  tshark -r packets.pcapng -V 2>/dev/null >decoded
  equal "frames with a good CRC" "$(grep -c 'Good CRC32' decoded)" $((2 * 3 * 209))
  equal "frames with a bad CRC" "$(grep -c 'Bad CRC32' decoded)" 0
  equal "Sends" "$(grep -c 'OpCode: Send (0x3)' decoded)" $((2 * 3 * 209))
  equal "requests" "$(tshark -r packets.pcapng -Y iwarp_mpa.req 2>/dev/null | wc -l)" 6
  equal "replies" "$(tshark -r packets.pcapng -Y iwarp_mpa.rep 2>/dev/null | wc -l)" 6
  equal "malformed" "$(tshark -r packets.pcapng -Y _ws.malformed 2>/dev/null | wc -l)" 0
  "$hcasim" run lossy.yaml --set workload.operation=write --pcap writes.pcapng >log || fail "capture: $(cat log)"
  tshark -r writes.pcapng -V 2>/dev/null >decoded
  equal "bad CRCs of writes" "$(grep -c 'Bad CRC32' decoded)" 0
  equal "malformed writes" "$(tshark -r writes.pcapng -Y _ws.malformed 2>/dev/null | wc -l)" 0
  [ "$(grep -c 'OpCode: Write (0x0)' decoded)" -gt 1000 ] || fail "too few writes"

  # Markers in both directions. tshark knows of them by the startup frames. It loses a stream after an
  # FPDU that ends where a marker is due, which these lengths avoid.
  "$hcasim" run lossy.yaml --set faults=[] --set hosts.hca.tcp.markers=true --set workload.bytes=150KB --out marked --pcap marked.pcapng >log || fail "markers: $(cat log)"
  tshark -r marked.pcapng -V 2>/dev/null >decoded
  # a full FPDU has 1442 bytes of ULPDU, with 18 of header: 106 FPDUs for 150 KB
  equal "FPDUs with markers" "$(count marked host0.hca.iwarp fpdus)" $((3 * 106))
  equal "frames with markers and a good CRC" "$(grep -c 'Good CRC32' decoded)" $((2 * 3 * 106))
  equal "frames with markers and a bad CRC" "$(grep -c 'Bad CRC32' decoded)" 0
  equal "Sends with markers" "$(grep -c 'OpCode: Send (0x3)' decoded)" $((2 * 3 * 106))
  equal "malformed with markers" "$(tshark -r marked.pcapng -Y _ws.malformed 2>/dev/null | wc -l)" 0

  # 9 NVMe writes of 16 KiB: commands and responses are Sends, each target READs with one request
  # and a response of 12 FPDUs.
  sed 's/^workload.*/workload: {pattern: storage, initiators: [host0], targets: [host1], storage: {operations: 9, block_sizes: [16KiB], read_fraction: 0}}/' lossy.yaml >storage.yaml
  "$hcasim" run storage.yaml --set faults=[] --out storage --pcap storage.pcapng >log || fail "storage: $(cat log)"
  tshark -r storage.pcapng -V 2>/dev/null >decoded
  equal "Read Requests" "$(grep -c 'OpCode: Read Request (0x1)' decoded)" 9
  equal "Read Responses" "$(grep -c 'OpCode: Read Response (0x2)' decoded)" $((9 * 12))
  equal "lengths of READs" "$(grep -c 'RDMA Read Message Size: 16384' decoded)" 9
  equal "bad CRCs of READs" "$(grep -c 'Bad CRC32' decoded)" 0
  equal "malformed READs" "$(tshark -r storage.pcapng -Y _ws.malformed 2>/dev/null | wc -l)" 0
fi

refused() { # refused TEXT OPTION...
  "$hcasim" check write.yaml "${@:2}" >log 2>&1
  equal "exit code of ${*:2}" $? 2
  grep -qF "$1" log || fail "${*:2}: $(cat log); expected $1"
}
refused 'transport: iwarp does not support operation: atomic' --set workload.operation=atomic
refused 'transport: iwarp does not support handshake: true' --set workload.operation=read --set hosts.hca.tcp.handshake=true
refused 'transport: tcp does not support operations that fetch data' --set workload.operation=read --set hosts.hca.transport=tcp
refused 'transport: iwarp does not support congestion: none' --set hosts.hca.congestion=none
refused 'expected one of rdma|tcp|iwarp' --set hosts.hca.transport=iwrap
"$hcasim" check write.yaml --set hosts.hca.tcp.nagle=classic >log 2>&1
grep -q 'nagle has no effect' log || fail "no warning for nagle: $(cat log)"

# Adapters for programs.
cat >siw.yaml <<'END'
hosts: {count: 2, hca: {preset: connectx4-100gbe, device: {driver: siw}}}
fabric: {link_layer: roce, topology: single-switch, switch: spectrum-100gbe, link: cable-100gbe}
END
refused_siw() { # refused_siw TEXT OPTION...
  "$hcasim" check siw.yaml "${@:2}" >log 2>&1
  equal "exit code of ${*:2}" $? 2
  grep -qF "$1" log || fail "${*:2}: $(cat log); expected $1"
}
refused_siw 'siw.yaml:1:' --set 'workload={pattern: shift}'
refused_siw 'driver: siw is for programs' --set 'workload={pattern: shift}'
refused_siw 'expected one of mlx5|siw' --set hosts.hca.device.driver=siv
refused_siw 'the adapter of host1 has another driver' --set 'hosts.except={host1: {hca: connectx4-100gbe}}'
refused_siw 'driver: siw needs Ethernet' --set fabric='{link_layer: infiniband, topology: single-switch, switch: sb7700, link: cable-edr}'
"$hcasim" check siw.yaml --set hosts.hca.device.driver=mlx5 --set hosts.hca.rnic.mtu=9000B >log 2>&1
grep -q 'has no effect' log || fail "no warning for rnic: $(cat log)"
exit $failures
