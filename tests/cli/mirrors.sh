#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that a port mirror copies the packets of the chosen ports and directions to the analyser, loses copies when its buffer is
# full, changes no flow, keeps the laws of a run, works on InfiniBand with detailed adapters, and that mistakes are refused.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
study=$2/scenarios/studies/mirror.yaml
. "$(dirname "$0")/../support/script.sh"
mirror() { # NAME KEY: a counter of the first mirror
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["switch0.mirror0"]["counters"][sys.argv[2]])' "$folder/$1/counters.json" "$2"
}
run() { # NAME OPTION...
  local name=$1
  shift
  "$hcasim" run "$study" --out "$folder/$name" --set 'expect=[]' "$@" >"$folder/$name.txt" 2>&1 || fail "$name: exit code $?: $(cat "$folder/$name.txt")"
}

"$hcasim" run "$study" >"$folder/study.txt" 2>&1 || fail "the study: $(cat "$folder/study.txt")"
run none --set 'mirrors=[]'
# 2,000,000 bytes are 489 packets. Each link has two flows in and one out, and their ACKs.
for direction in ingress egress both; do
  run $direction --set mirrors.0.direction=$direction --set mirrors.0.buffer=1GiB
  cmp -s "$folder/none/flows.csv" "$folder/$direction/flows.csv" || fail "$direction: the mirror changed flows"
  [ "$(mirror $direction lost)" = 0 ] || fail "$direction: copies are lost in an endless buffer"
done
[ $(($(mirror ingress packets) + $(mirror egress packets))) = "$(mirror both packets)" ] || fail 'both directions are not the sum of each'
sent=$(python3 - "$folder/egress/counters.json" <<'END'
import json, sys
counters = json.load(open(sys.argv[1]))
print(sum(counters[f'switch0.port{i}']['counters']['packets_sent'] for i in (0, 1)))
END
)
[ "$(mirror egress packets)" = "$sent" ] || fail "$(mirror egress packets) copies of $sent packets that left"

# With sampling, and with a buffer that is too small, copies sent and copies lost add up to all
# copies.
run sample --set mirrors.0.sample=7 --set mirrors.0.buffer=1GiB
[ "$(mirror sample packets)" = $((($(mirror both packets) + 6) / 7)) ] || fail 'not each seventh packet'
run full --set mirrors.0.buffer=64KiB
[ $(($(mirror full packets) + $(mirror full lost))) = "$(mirror both packets)" ] || fail 'copies are neither sent nor lost'
[ "$(mirror full waiting_bytes_max)" -le 65536 ] || fail 'more bytes wait than the buffer has'
run dscp --set mirrors.0.dscp=1
[ "$(mirror dscp packets)" = 0 ] || fail 'packets of another DSCP are mirrored'

# Drops: a switch without PFC, whose memory is too small.
lossy=(--set fabric.switch.buffer.size=1MB --set fabric.switch.buffer.lossless=0 --set hosts.hca.congestion=none --set run.loss=expected)
run drops --set mirrors.0.direction=drops --set 'mirrors.0.from=["host*"]' "${lossy[@]}"
dropped=$(python3 -c 'import json, sys; print(sum(v for k, v in json.load(open(sys.argv[1]))["switch0"]["counters"].items() if k in ("egress_drops", "pool_drops")))' \
  "$folder/drops/counters.json")
[ "$dropped" -gt 0 ] && [ $(($(mirror drops packets) + $(mirror drops lost))) = "$dropped" ] || fail "$dropped drops, $(mirror drops packets) copies"

# InfiniBand, detailed adapters. The analyser counts packets of others.
cat >"$folder/infiniband.yaml" <<'END'
seed: 1
hosts: {count: 5, hca: connectx4-edr}
fabric: {link_layer: infiniband, topology: single-switch, switch: sb7700, link: cable-edr}
load: {pattern: inbound, verb: write, bytes: 4KiB, tx_depth: 8, warm_up: 100, operations: 500}
mirrors: [{from: [host0], direction: egress, to: host4}]
record: {packets: true, only: {ports: ["*.port4"]}}
END
"$hcasim" run "$folder/infiniband.yaml" --out "$folder/infiniband" >"$folder/infiniband.txt" 2>&1 || fail "InfiniBand: $(cat "$folder/infiniband.txt")"
foreign=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["host4.hca.receive"]["counters"]["foreign_drops"])' "$folder/infiniband/counters.json")
[ "$foreign" -gt 500 ] && [ "$foreign" = "$(mirror infiniband packets)" ] || fail "InfiniBand: $foreign packets of others arrived"
if command -v tshark >/dev/null; then
  seen=$(tshark -r "$folder/infiniband/packets.pcapng" -Y 'infiniband.lrh.dlid == 1' 2>/dev/null | wc -l)
  [ "$seen" -gt 500 ] || fail "InfiniBand: the capture has $seen packets to host0"
fi

refuse() { # MESSAGE OPTION...
  local message=$1
  shift
  "$hcasim" check "$study" "$@" >"$folder/refused" 2>&1
  [ $? = 2 ] && grep -qF "$message" "$folder/refused" || fail "expected '$message': $(cat "$folder/refused")"
}
refuse 'no host "host77"; did you mean "host7"?' --set mirrors.0.to=host77
refuse 'switch0 has no other neighbour "hosT0"' --set 'mirrors.0.from=[hosT0]'
refuse 'switch0 has no other neighbour "host7"' --set 'mirrors.0.from=[host7]'
refuse 'unknown key "sampel"; did you mean "sample"?' --set mirrors.0.sampel=2
refuse 'found a text; expected a list of neighbours of the switch' --set mirrors.0.from=host0
refuse 'dscp: expected link_layer: roce' --set mirrors.0.dscp=3 --set fabric.link_layer=infiniband
refuse 'fidelity: flow has none' --set fabric.fidelity=flow
exit $((failures > 0))
