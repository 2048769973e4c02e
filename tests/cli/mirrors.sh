#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that a port mirror copies the packets of the chosen ports and directions to the analyser, loses copies when its buffer is
# full, changes no flow, keeps the laws of a run, works on InfiniBand with detailed adapters, and that mistakes are refused. With
# ERSPAN, that the analyser of another switch gets exactly these packets, numbered, and truncated if they are longer than the MTU.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
study=$2/scenarios/studies/mirror.yaml
erspan=$2/scenarios/studies/erspan.yaml
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

# ERSPAN: the packets in the copies are the packets that left the mirrored port, in their order.
remote() { # NAME OPTION...
  local name=$1
  shift
  "$hcasim" run "$erspan" --out "$folder/$name" --set 'expect=[]' "$@" >"$folder/$name.txt" 2>&1 || fail "$name: exit code $?: $(cat "$folder/$name.txt")"
  "$hcasim" decode "$folder/$name/packets.pcapng" | grep -v ' checked: ' >"$folder/$name.packets"
}
counter() { # NAME BLOCK KEY
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]]["counters"][sys.argv[3]])' "$folder/$1/counters.json" "$2" "$3"
}
"$hcasim" run "$erspan" >"$folder/erspan.txt" 2>&1 || fail "the study of ERSPAN: $(cat "$folder/erspan.txt")"
remote copies --set mirrors.0.direction=egress --set mirrors.0.buffer=1GiB --set 'record.only.ports=[leaf1.port3, leaf0.port0]'
grep ' leaf0.port0 ' "$folder/copies.packets" | grep -v ' PFC ' | cut -d' ' -f4- >"$folder/originals"
grep ' leaf1.port3 ' "$folder/copies.packets" | sed 's/.* ERSPAN II session 7 sequence [0-9]*: //' >"$folder/inner"
[ "$(wc -l <"$folder/inner")" -gt 400 ] && cmp "$folder/originals" "$folder/inner" || fail 'ERSPAN: other packets than those of the mirrored port'
copies=$(counter copies leaf0.mirror0 packets)
[ "$(sed -n 's/.* sequence \([0-9]*\): .*/\1/p' "$folder/copies.packets" | paste -sd' ')" = "$(seq -s' ' 0 $((copies - 1)))" ] || fail 'ERSPAN: sequence numbers'
[ "$(counter copies host7.hca stack_drops)" = "$copies" ] || fail "ERSPAN: not all of $copies copies arrived"
# Ethernet, IPv4, GRE and Type II are 50 bytes.
[ "$(counter copies leaf0.mirror0 bytes)" = $(($(counter copies leaf0.port0 bytes_sent) + 50 * copies)) ] || fail 'ERSPAN: bytes of the copies'

remote short --set 'mirrors.0.erspan={type: III, session: 1023, mtu: 128B, ttl: 9, dscp: 46}' --set mirrors.0.buffer=1GiB
grep -v truncated "$folder/short.packets" | grep -v 'RC_ACK\|CNP_NOTIFY' && fail 'ERSPAN: frames that are not truncated'
[ "$(counter short leaf0.mirror0 truncated)" = "$(grep -c truncated "$folder/short.packets")" ] || fail 'ERSPAN: count of truncated frames'
remote again --set 'mirrors.0.erspan={type: III, session: 1023, mtu: 128B, ttl: 9, dscp: 46}' --set mirrors.0.buffer=1GiB --threads 2
cmp "$folder/short/packets.pcapng" "$folder/again/packets.pcapng" || fail 'ERSPAN: two runs differ'
if command -v tshark >/dev/null; then
  # its dissector ignores the truncation: frame.len alone shows it
  fields=$(tshark -r "$folder/short/packets.pcapng" -T fields -E occurrence=f -e frame.len -e ip.src -e ip.ttl -e ip.dsfield.dscp \
    -e erspan.version -e erspan.spanid -e erspan.truncated 2>/dev/null | sort -u)
  malformed=$(tshark -r "$folder/copies/packets.pcapng" -Y _ws.malformed 2>/dev/null | wc -l)
  [ "$malformed" = 0 ] && [ "$fields" = "$(printf '%s\t127.78.0.1\t9\t46\t2\t1023\t%s\n' 116 0 128 0 142 1)" ] || fail "ERSPAN: tshark: $fields"
fi

# The sequence numbers of lost copies are missing. Two mirrors of each other's copies end.
remote lost --set mirrors.0.buffer=32KiB
[ "$(counter lost leaf0.mirror0 lost)" -gt 0 ] && [ "$(wc -l <"$folder/lost.packets")" = "$(counter lost leaf0.mirror0 packets)" ] || fail 'ERSPAN: lost copies'
remote mutual --set 'mirrors=[{switch: leaf0, from: ["*"], to: host7, erspan: {}}, {switch: leaf1, from: ["*"], to: host0, erspan: {}}]'
[ "$(counter mutual host7.hca stack_drops)" = "$(counter mutual leaf0.mirror0 packets)" ] || fail 'ERSPAN: two mirrors'

refuse() { # MESSAGE OPTION...
  local message=$1
  shift
  "$hcasim" check "${file:-$study}" "$@" >"$folder/refused" 2>&1
  [ $? = 2 ] && grep -qF "$message" "$folder/refused" || fail "expected '$message': $(cat "$folder/refused")"
}
refuse 'no host "host77"; did you mean "host7"?' --set mirrors.0.to=host77
refuse 'switch0 has no other neighbour "hosT0"' --set 'mirrors.0.from=[hosT0]'
refuse 'switch0 has no other neighbour "host7"' --set 'mirrors.0.from=[host7]'
refuse 'unknown key "sampel"; did you mean "sample"?' --set mirrors.0.sampel=2
refuse 'found a text; expected a list of neighbours of the switch' --set mirrors.0.from=host0
refuse 'dscp: expected link_layer: roce' --set mirrors.0.dscp=3 --set fabric.link_layer=infiniband
refuse 'fidelity: flow has none' --set fabric.fidelity=flow
refuse 'switch: expected `erspan` beside it' --set mirrors.0.switch=switch0
file=$erspan
refuse 'switch: no switch is called "leaf7"; did you mean "leaf0"?' --set mirrors.0.switch=leaf7
refuse 'switch: "leaf*" names 2 switches; expected one' --set 'mirrors.0.switch=leaf*'
refuse 'leaf1 has no other neighbour "host0"; expected hosts or switches that are linked to it' --set mirrors.0.switch=leaf1
refuse 'session: "1024" is out of range; expected a whole number (0..1023)' --set mirrors.0.erspan.session=1024
refuse 'unknown key "sesion"; did you mean "session"?' --set mirrors.0.erspan.sesion=1
refuse 'expected keys of ERSPAN, as {session: 7}, or {}' --set mirrors.0.erspan=II
refuse 'erspan: expected link_layer: roce' --set fabric.link_layer=infiniband
exit $((failures > 0))
