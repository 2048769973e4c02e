#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that detailed adapters with congestion control share a marked port. Two senders under the
# driver `load` converge to equal shares with DCQCN, and PFC has at most a twentieth of its pauses.
# Endpoint adapters get the same goodput within 1 %, and the same CNPs per packet within 20 %. Runs
# repeat, with each engine and from the effective configuration. tshark reads marks and CNPs on the
# wire. `explain` has the stage `pacing`, and its sums. Other algorithms, and InfiniBand's, react,
# too. Errors are refused with the right message. Arguments: the hcasim program, the top of the
# source tree.
hcasim=$1
source=$2
. "$(dirname "$0")/../support/script.sh"
study=$source/scenarios/studies/shared-port.yaml
short=(--set load.warm_up=200 --set load.operations=600 --set 'expect=[]')

# value FILE NAME: of a metric in a summary, or of a counter (block.counter)
value() {
  python3 - "$1" "$2" <<'END'
import json, sys
data = json.load(open(sys.argv[1]))
block, _, counter = sys.argv[2].rpartition(".")
print(data[block]["counters"][counter] if block else data["metrics"][counter])
END
}
holds() { python3 -c "import sys; sys.exit(not ($1))" || fail "not so: $1"; }

# ---- shares, pauses, endpoint adapters ----
"$hcasim" run "$study" --out "$folder/on" >"$folder/log" 2>&1 || fail "DCQCN: exit code $?: $(cat "$folder/log")"
"$hcasim" run "$study" --set 'hosts.*.hca.congestion=none' --set 'expect=[]' --out "$folder/off" >/dev/null 2>&1 || fail "off: exit code $?"
on=$folder/on/counters.json
holds "$(value "$folder/off/summary.json" paused) > 0.4"
holds "$(value "$folder/on/summary.json" paused) < $(value "$folder/off/summary.json" paused) / 20"
holds "$(value "$on" switch0.port1.pause_sent) + $(value "$on" switch0.port2.pause_sent) < ($(value "$folder/off/counters.json" switch0.port1.pause_sent) + $(value "$folder/off/counters.json" switch0.port2.pause_sent)) / 20"
holds "$(value "$on" target.hca.congestion.cnp_sent) == $(value "$on" one.hca.congestion.cnp_received) + $(value "$on" other.hca.congestion.cnp_received)"
holds "$(value "$on" target.hca.congestion.ecn_marked_packets) == $(value "$on" switch0.ecn_marks)"
grep -q 'hca.congestion"' "$folder/off/counters.json" && fail "off: there is a block for it"
cat >"$folder/endpoint.yaml" <<'YAML'
seed: 1
hosts: {count: 3, hca: {fidelity: endpoint, congestion: dcqcn-paper, port: {mtu: 4096B}}}
fabric: {link_layer: roce, topology: single-switch, switch: {preset: spectrum-100gbe, ecn: {mark: dequeue}}, link: cable-100gbe}
workload: {pattern: incast, bytes: 8GB}
run: {until: 214ms, warm_up: 107ms}
YAML
"$hcasim" run "$folder/endpoint.yaml" --out "$folder/endpoint" >/dev/null 2>&1 || fail "endpoint: exit code $?"
holds "abs($(value "$folder/on/summary.json" gbps) / $(value "$folder/endpoint/summary.json" goodput_gbps) - 1) < 0.01"
packets=$(value "$folder/endpoint/counters.json" host0.hca.data_packets_received)
holds "abs($(value "$on" target.hca.congestion.cnp_sent) / $(value "$on" switch0.port0.packets_sent) / ($(value "$folder/endpoint/counters.json" host0.hca.cnp_sent) / $packets) - 1) < 0.2"

# ---- the same every time ----
for run in native again systemc systemc-reference; do
  "$hcasim" run "$study" "${short[@]}" --engine "${run/again/native}" --out "$folder/$run" >/dev/null 2>&1 || fail "$run: exit code $?"
  diff -r "$folder/native" "$folder/$run" || fail "$run differs from native"
done
"$hcasim" run "$folder/native/scenario.yaml" --out "$folder/effective" >/dev/null 2>&1 || fail "the effective configuration does not run"
diff -r "$folder/native" "$folder/effective" || fail "the effective configuration gives other results"

# ---- on the wire ----
if command -v tshark >/dev/null; then
  "$hcasim" run "$study" "${short[@]}" --pcap "$folder/packets.pcapng" >/dev/null 2>&1 || fail "--pcap"
  tshark -r "$folder/packets.pcapng" -T fields -e infiniband.bth.opcode -e ip.dsfield.ecn -e ip.src 2>/dev/null >"$folder/fields"
  count() { awk -v opcode="$1" -v ecn="$2" '$1 == opcode && $2 == ecn' "$folder/fields" | wc -l; }
  [ "$(count 129 0)" -eq $((2 * $(value "$folder/native/counters.json" target.hca.congestion.cnp_sent))) ] || fail "CNPs: $(count 129 0), on two links each"
  [ "$(count 129 0)" -ge 2 ] || fail "no CNPs"
  [ "$(count 7 2)" -gt 1000 ] || fail "data packets are not ECT(0)"
  marked=$(awk '$2 == 3' "$folder/fields" | wc -l)
  [ "$marked" -eq "$(value "$folder/native/counters.json" switch0.ecn_marks)" ] || fail "CE: $marked packets, on the last link each"
fi

# ---- where the time went ----
"$hcasim" run "$study" "${short[@]}" --trace "$folder/trace" >/dev/null 2>&1 || fail "--trace"
"$hcasim" explain "$folder/trace" --json >"$folder/explain" || fail "explain: exit code $?"
python3 - "$folder/explain" <<'END' || fail "explain: $(head -c 600 "$folder/explain")"
import json, sys
mean = json.load(open(sys.argv[1]))
text = json.dumps(mean)
assert '"pacing"' in text, text[:500]
END

# ---- other algorithms ----
for congestion in 'hpcc-paper' 'swift' '{preset: timely-patched, rtt_low: 5us, rtt_high: 50us, rtt_min: 2us}' 'dctcp' '{preset: window, cwnd: 64KiB}'; do
  "$hcasim" run "$study" "${short[@]}" --set "hosts.*.hca.congestion=$congestion" --set fabric.switch.telemetry=true --out "$folder/other" >"$folder/log" 2>&1 || fail "$congestion: exit code $?: $(cat "$folder/log")"
  holds "$(value "$folder/other/counters.json" one.hca.congestion.holds) > 50"
  holds "$(value "$folder/other/summary.json" gbps) > 60"
  rm -r "$folder/other"
done
cat >"$folder/ib.yaml" <<'YAML'
seed: 1
hosts: {count: 3, hca: {preset: connectx5-edr, congestion: infiniband, notification: {notify: ack}}}
fabric: {link_layer: infiniband, topology: single-switch, switch: {preset: sb7700, fecn: {threshold: 8}}, link: cable-edr}
load: {pattern: inbound, verb: write, bytes: 64KiB, tx_depth: 32, warm_up: 200, operations: 600}
YAML
for notify in ack cnp; do
  "$hcasim" run "$folder/ib.yaml" --set "hosts.hca.notification.notify=$notify" --out "$folder/ib-$notify" >"$folder/log" 2>&1 || fail "InfiniBand: exit code $?: $(cat "$folder/log")"
  counters=$folder/ib-$notify/counters.json
  holds "$(value "$counters" host0.hca.congestion.ecn_marked_packets) > 100"
  holds "$(value "$counters" host1.hca.congestion.cnp_received) > 10 and $(value "$counters" host1.hca.congestion.holds) > 100"
  holds "($(value "$counters" host0.hca.congestion.cnp_sent) == 0) == ('$notify' == 'ack')"
done

# ---- refused scenarios ----
# refused TEXT OPTION...
refused() {
  local text=$1
  shift
  "$hcasim" check "$study" "$@" >"$folder/log" 2>&1
  [ $? -eq 2 ] || fail "$*: not exit code 2"
  grep -qF "$text" "$folder/log" || fail "$*: $(cat "$folder/log")"
}
refused 'no congestion control `dcqn` (did you mean `dcqcn`?); expected one of none window dcqcn' --set 'hosts.*.hca.congestion=dcqn'
refused 'dcqcn has no parameter `gian`' --set 'hosts.*.hca.congestion={preset: dcqcn, gian: 1}'
refused 'recovery: a detailed adapter supports go_back_n only' --set 'hosts.one.hca.transport={recovery: selective_repeat}'
refused 'a detailed adapter has transport: {recovery: ...}' --set 'hosts.one.hca.recovery=selective_repeat'
refused 'a detailed adapter has notification: {cnp_interval: ...}' --set 'hosts.one.hca.cnp_interval=4us'
refused 'auto' --set 'hosts.one.hca.notification={notify: ecn}'
"$hcasim" params hca.notification | grep -q cnp_interval || fail "params does not know hca.notification"
[ $failures -eq 0 ]
