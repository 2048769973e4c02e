#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim chart` shows the packets between two hosts. Packets that faults drop before or
# after a switch are lost and retransmitted. Arrivals are those of the trace. NAKs, RNR NAKs,
# doorbells, completions, rewinds and pauses are present. Queue pairs are distinct. The picture is
# valid SVG with one line per packet. Impossible charts are refused. Arguments: the hcasim program,
# the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1

cat >sends.yaml <<'EOF2'
hosts: {count: 2, hca: connectx5-edr}
fabric: {link_layer: roce, topology: single-switch}
load: {verb: send, bytes: 8KB, threads: 1, qps: 2, warm_up: 1, operations: 6}
faults: [{from: host0, to: switch0, drop: {nth: 4}}, {from: switch0, to: host1, drop: {nth: 7}}]
record: {packets: true, trace: ["*"]}
EOF2
"$hcasim" run sends.yaml --out sends >/dev/null 2>&1 || fail "run: exit code $?"

# chart OUT ARGUMENT...
chart() {
  local out=$1
  shift
  "$hcasim" chart "$@" >"$out" 2>log || fail "chart $*: exit code $?: $(cat log)"
}
# shows FILE COUNT PATTERN
shows() {
  [ "$(grep -cE -- "$3" "$1")" -eq "$2" ] || fail "$1: not $2 lines with $3: $(cat "$1")"
}
chart pair sends --pair host0:host1 --svg pair.svg --events 5000
chart first sends --qp host0:0x40 --events 5000
chart second sends --qp host0:0x41 --events 5000
shows pair 2 'X.* lost$'
shows pair 1 'SEND_LAST qp 65 psn 3 3904 B -+X .* lost$'
shows pair 1 'SEND_LAST qp 65 psn 3 3904 B, retransmitted -+>'
shows second 1 'NAK PSN sequence error psn 3 msn 1'
shows second 1 'SEND_FIRST psn 0 4096 B -'
shows first 0 'psn 3 3904 B -+X'
grep -q 'doorbell, index' pair || fail "no doorbell: $(cat pair)"
grep -q 'CQE of CQ' pair || fail "no completion: $(cat pair)"
grep -q 'goes back to psn 3' second || fail "nobody goes back: $(cat second)"
[ "$(($(wc -l <first) + $(wc -l <second)))" -eq "$(($(wc -l <pair) + 1))" ] || fail "two queue pairs are not the pair: $(wc -l first second pair)"

# A port has the time of the last bit in picoseconds, as the trace has it. A capture has whole
# nanoseconds.
"$hcasim" trace sends/trace.bin >trace
first=$(awk '$3 == "host1.hca.port" && $4 == "PORT_ARRIVES" {sub(/.*tail_at=/, ""); print int($1 / 1000); exit}' trace)
shown=$(awk '/SEND_FIRST qp 65 psn 0/ {print int($NF * 1000 + 0.5); exit}' pair)
[ $((first - shown)) -ge -1 ] && [ $((first - shown)) -le 1 ] || fail "the first packet arrives at $shown ns, by the trace at $first ns"
python3 - pair.svg <<'END' || fail "pair.svg: not whole, or without all packets"
import sys, xml.dom.minidom
text = open(sys.argv[1]).read()
xml.dom.minidom.parseString(text)
rows = [line for line in open("pair") if "--" in line]
assert text.count('class="label"') == len(rows) and text.count("#b3261e") == 2, (text.count('class="label"'), len(rows))
assert all(word in text for word in ("host0", "host1", "doorbell", "NAK or RNR NAK", "time (us)"))
END
chart part sends --pair host0:host1 --from 5us --events 10
shows part 11 .
grep -q 'events before and .* after the chart are left out' log || fail "$(cat log)"

# Without a trace: the contents of packets alone, and a note on the missing contents.
"$hcasim" run sends.yaml --set 'record={packets: true}' --out bare >/dev/null 2>&1 || fail "bare: exit code $?"
chart bare.txt bare --pair host0:host1
shows bare.txt 1 'X.* lost$'
chart bare-first.txt bare --qp host0:0x40
shows bare-first.txt 1 'SEND_FIRST psn 0 4096 B -'
shows bare-first.txt 0 NAK
grep -q 'losses on the last link are not shown' log || fail "$(cat log)"

# Pauses, marks and CNPs of an incast, on reduced adapters.
cat >incast.yaml <<'EOF2'
hosts: {count: 9, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {link_layer: roce, topology: single-switch, switch: {ecn: {mark: enqueue}}, link: {rate: 100Gbps}}
workload: {pattern: incast, bytes: 200KB}
record: {packets: true, trace: ["*"]}
EOF2
"$hcasim" run incast.yaml --out incast >/dev/null 2>&1 || fail "incast: exit code $?"
chart incast.txt incast --pair host1:host0 --events 5000
for text in 'is paused, priorities 0x' 'may continue' ' B CE -' 'message begins, psn 0' 'message complete, 200000 B' '- CNP qp' 'CNP: [0-9]* Mb/s'; do
  grep -qe "$text" incast.txt || fail "incast: no $text: $(head -50 incast.txt)"
done

# refused TEXT ARGUMENT...
refused() {
  local text=$1
  shift
  "$hcasim" chart "$@" >log 2>&1
  [ $? -eq 2 ] || fail "$*: not exit code 2"
  grep -qF -- "$text" log || fail "$*: $(cat log)"
}
refused 'expected --qp HOST:QPN or --pair A:B' sends
refused 'expected HOST:QPN' sends --qp host0
refused 'expected A:B' sends --pair host0:
refused 'no packet of a host "host7"' sends --pair host0:host7
refused 'no packet to queue pair 99' sends --qp host0:99
refused 'do not identify the peer' bare --qp host0:0x41
refused '--from: ' sends --pair host0:host1 --from 5
refused 'no packets.pcapng' . --pair a:b
"$hcasim" run sends.yaml --set 'record={packets: true, snap: 48B}' --out cut >/dev/null 2>&1 || fail "cut: exit code $?"
refused 'the headers of' cut --pair host0:host1
# Packets that are captured without their payload give the same chart, and decode shows the same
# fields.
"$hcasim" run sends.yaml --set 'record={packets: true, snap: 96B}' --out headers >/dev/null 2>&1 || fail "headers: exit code $?"
chart headers.txt headers --pair host0:host1
cmp bare.txt headers.txt || fail "the chart of cut packets is another"
grep -qE 'record.snap cut [0-9]+ packets' log || fail "chart: $(cat log)"
! grep -q 'left packets out' log || fail "a record of all packets: $(cat log)"
"$hcasim" run sends.yaml --set 'record={packets: true, ring: {packets: 12, behind: 40}}' --out ring >log 2>&1 || fail "ring: exit code $?"
chart ring.txt ring --pair host0:host1
grep -q 'left packets out; a packet without a recorded arrival looks lost' log || fail "chart of a ring: $(cat log)"
"$hcasim" decode bare/packets.pcapng >bare.packets || fail "decode: exit code $?"
"$hcasim" decode headers/packets.pcapng >headers.packets 2>log || fail "decode of cut packets: exit code $?"
grep -q 'packets are cut short by the capture' log || fail "decode: $(cat log)"
cmp <(grep -v ' checked: ' bare.packets) <(grep -v ' checked: ' headers.packets | sed 's/ cut short by the capture$//') ||
  fail "decode shows other fields of cut packets"
"$hcasim" decode --json headers/packets.pcapng 2>/dev/null | head -1 | grep -q '"captured_bytes":96,"cut":true' || fail "decode --json"
[ $failures -eq 0 ]
