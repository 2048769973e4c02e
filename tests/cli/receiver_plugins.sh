#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests functions of congestion controls in shared objects beyond a rate and a window. PowerTCP
# keeps a short queue in an incast. `plugin new receiver` writes a receiver-driven control. It keeps
# the link busy without a queue and without a pause, and delivers all data when packets are lost.
# Its flows are the same in two threads. Paths, priorities, a random stream, counters, trace points
# and values over time work. A violation by a plug-in ends the run with exit code 2 and a message
# that names the plug-in and its function. Arguments: the hcasim program, the top of the source
# tree.
hcasim=$(realpath "$1")
source=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"
command -v "${CC:-cc}" >/dev/null || exit 77
cd "$folder" || exit 1

cat >incast.yaml <<'END'
seed: 1
hosts:
  count: 17
  hca: {fidelity: endpoint, port: {mtu: 1024B, vls: 2}}
fabric:
  link_layer: roce
  topology: single-switch
  switch: {queueing: arrival, buffer: {size: 8MB, lossless: 255}, telemetry: true, port: {mtu: 1024B, vls: 2}}
  link: {rate: 100Gbps, length: 5m}
workload: {pattern: incast, bytes: 1MB}
record: {series: 10us, series_flows: [0, 1]}
run: {until: 20ms}
END
cat >net.yaml <<'END'
seed: 1
hosts:
  count: 0
  hca: {fidelity: endpoint, recovery: selective_repeat, nak: false, port: {mtu: 1024B, vls: 2}}
fabric:
  link_layer: roce
  topology: {kind: leaf-spine, leaves: 2, spines: 4, hosts: 4}
  switch: {balance: ecmp, queueing: arrival, buffer: {size: 4MB, lossless: 255}, port: {mtu: 1024B, vls: 2}}
  link: {rate: 100Gbps, length: 5m}
workload: {pattern: poisson, sizes: storage, offered_load: 0.3, arrivals_until: 200us}
run: {until: 10ms}
END
key=hosts.hca.congestion

# value FOLDER METRIC
value() {
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1] + "/summary.json"))["metrics"][sys.argv[2]])' "$1" "$2"
}
# holds EXPRESSION: of awk
holds() {
  awk "BEGIN { exit !($1) }" || fail "not so: $1"
}
run() {
  local out=$1 file=$2
  shift 2
  "$hcasim" run "$file" --out "$out" "$@" >said 2>&1 || fail "$out: exit code $?: $(tail -3 said)"
}
# The longest and the mean queue of the switch from 400 us on, when the incast is in its course.
queue() {
  awk -F, -v want="$2" 'NR > 1 && $2 == "switch0.port0" && $1 > 400 && $1 < 1200 {
    n++; sum += $3; if ($3 > most) most = $3 } END { print want == "mean" ? sum / n : most + 0 }' "$1/series.csv"
}

"$hcasim" plugin new receiver pull >/dev/null && "$hcasim" plugin build pull.c >said 2>&1 || fail "pull: $(cat said)"
cp "$source/scenarios/plugins/powertcp.c" . && "$hcasim" plugin build powertcp.c >said 2>&1 || fail "powertcp: $(cat said)"

run none incast.yaml --set $key=none
run pull incast.yaml --set $key=./pull.so
run power incast.yaml --set $key=./powertcp.so
holds "$(value none pauses) > 1000"
holds "$(queue none mean) > 500000"
holds "$(value pull pauses) == 0 && $(value power pauses) == 0"
holds "$(queue pull most) < 20000 && $(value pull goodput_gbps) > 85"
holds "$(queue power mean) < 40000 && $(value power goodput_gbps) > 80"
head -1 pull/flow_series.csv | grep -q ',granted_bytes$' || fail "columns: $(head -1 pull/flow_series.csv)"
head -1 power/flow_series.csv | grep -q ',power_permille$' || fail "columns: $(head -1 power/flow_series.csv)"
[ "$(awk -F, '$2 == 0 { last = $8 } END { print (last >= 1000000) }' pull/flow_series.csv)" = 1 ] || fail "granted: $(tail -1 pull/flow_series.csv)"

# Captures have the fields. A data packet has the bytes of the flow that are sent with it, and those
# that are not. A control packet has the credit. tshark finds no packet malformed.
run packets incast.yaml --set $key=./pull.so --set 'record={packets: true, only: {ports: [host1.hca.port, host0.hca.port]}}'
cmp pull/flows.csv packets/flows.csv || fail "captures change the flows"
"$hcasim" decode packets/packets.pcapng >lines || fail "decode: $(tail -1 lines)"
cat >fields.py <<'PYTHON'
import json, sys
sent, granted, wrong = {}, {}, 0
for line in sys.stdin:
    packet = json.loads(line)
    flow = packet["destination"]
    if packet["name"].startswith("RC_WRITE") and packet["interface"] == "host1.hca.port":
        sent[flow] = sent.get(flow, 0) + packet["payload_bytes"]
        wrong += packet["fields"][:2] != [sent[flow], 1000000 - sent[flow]]
    elif packet["name"] == "CNP_NOTIFY":
        words = [packet[f"CNP_RESERVED.word{i}"] for i in range(4)]
        wrong += packet["fields"] != words or max(words) <= granted.get(flow, 0)
        granted[flow] = max(words)
    elif packet["name"] == "RC_ACK":
        wrong += len(packet["fields"]) != 4
print(wrong, *sent.values(), len(granted), min(granted.values()) >= 1000000)
PYTHON
"$hcasim" decode --json packets/packets.pcapng | python3 fields.py >found
[ "$(cat found)" = '0 1000000 16 True' ] || fail "fields: $(cat found)"
grep -qE ' RC_WRITE_(FIRST|MIDDLE) qp .* fields 0x00000400 0x000f3e40 ' lines || fail "no fields in lines: $(head -3 lines)"
grep -qE ' CNP_NOTIFY qp .* fields 0x' lines || fail "no fields of control packets: $(grep -m1 CNP lines)"
if command -v tshark >/dev/null; then
  tshark -r packets/packets.pcapng -T fields -e frame.comment -e _ws.malformed >comments 2>tshark.said
  [ "$(cut -f2 comments | grep -c .)" -eq 0 ] || fail "malformed for tshark"
  [ "$(cut -f1 comments | grep -c '^congestion fields 0x')" -eq "$(grep -cE ' RC_(WRITE|ACK)' lines)" ] || fail "comments: $(head -3 comments)"
fi

run lost incast.yaml --set $key=./pull.so --set hosts.hca.recovery=selective_repeat --set 'faults=[{from: "*", drop: {probability: 0.01}}]'
holds "$(value lost flows_done) == 16 && $(value lost drops) > 100"

"$hcasim" run incast.yaml --set $key=./powertcp.so --trace run.trace --set 'record.trace=["host1.hca.plugin"]' >said 2>&1 || fail "trace: $(cat said)"
"$hcasim" trace run.trace | grep -q 'host1.hca.plugin *POWER .*power_permille=' || fail "no trace: $("$hcasim" trace run.trace | head -3)"

run alone net.yaml --set $key=./pull.so
run threads net.yaml --set $key=./pull.so --threads 2
cmp alone/flows.csv threads/flows.csv || fail "two threads give other flows"

# changed NAME EXPRESSION: the receiver-driven one, changed by sed
changed() {
  sed "$2" pull.c >"$1.c"
  cmp -s pull.c "$1.c" && fail "$1: the change changes nothing"
  "${CC:-cc}" -std=gnu11 -O2 -w -fPIC -shared -I"$(dirname "$hcasim")/../include" "$1.c" -o "$1.so" || fail "$1 does not compile"
}
changed paths 's/^struct pull_sender {/&\nconst struct plugin_host *host;/; s/const struct plugin_host \*host;//; s/struct congestion_sending sending;/&\n	const struct plugin_host *host;/
s/	publish(sender);\n}/&/; s/	cc->next_step = SIM_NEVER;/&\n	sender->host = path->host;/
s/	packet->fields.words\[SENT\]/	packet->path = plugin_random(sender->host) % 16;\n	plugin_count(sender->host, 0, 1);\n&/
s/	\.gauges = gauges,/&\n	.paths = 16,\n	.counters = (const struct counter[]){{"sprayed", "packets", "Packets."}, {0}},/'
run sprayed net.yaml --set $key=./paths.so
grep -q '"host0.hca.plugin": {"type": "pull", "counters": {"sprayed": [1-9]' sprayed/counters.json || fail "no counter: $(grep plugin sprayed/counters.json | head -2)"
holds "$(value alone out_of_order) == 0 && $(value sprayed out_of_order) > 5"
changed levels 's/	packet->fields.words\[SENT\]/	((struct pull_sender *)cc)->sending.priority = 2;\n&/; s/	\.gauges = gauges,/&\n	.priorities = 2,/'
run levels incast.yaml --set $key=./levels.so --pcap levels.pcapng
holds "$(value levels flows_done) == 16"

# ends TEXT NAME: a run with it ends with that message
ends() {
  local output status
  output=$("$hcasim" run net.yaml --set "$key=./$2.so" 2>&1 >/dev/null)
  status=$?
  [ $status -eq 2 ] && [[ $output == *"congestion control $folder/$2.so: $1"* ]] ||
    fail "$2: exit code $status, expected 2 and \"$1\": $output"
}
changed far 's/	packet->fields.words\[SENT\]/	packet->path = 3;\n&/'
ends 'on_packet(): left path 3; expected a number below `paths`, 1' far
changed level 's/	packet->fields.words\[SENT\]/	((struct pull_sender *)cc)->sending.priority = 2;\n&/'
ends 'on_packet(): left sending.priority 2; expected 0' level
changed host 's/	take_turn(receiver, params, now);/&\n	receiver->receiver.host = 0;/'
ends 'on_data(): changed `host`, which belongs to the adapter' host
changed past 's/receiver->receiver.next_step = host->free_at;/receiver->receiver.next_step = now;/'
ends "on_data(): left the receiver's next_step" past
changed crash 's/	receiver->waits = false;/	*(volatile int *)8 = 0;\n&/'
ends 'receiver_step() crashed (SIGSEGV)' crash
changed closed 's/	\.on_control = on_control,//'
ends 'state_init(): left cwnd_bytes 0' closed
changed old 's/= CONGESTION_VERSION/= 5/'
output=$("$hcasim" check net.yaml --set $key=./old.so 2>&1)
[ $? -eq 2 ] && [[ $output == *'was built for another version of the interface'* ]] || fail "old: $output"
output=$("$hcasim" check net.yaml --set $key=./pull.so --set hosts.hca.fidelity=detailed --set hosts.hca='{fidelity: detailed, congestion: ./pull.so}' 2>&1)
[ $? -eq 2 ] && [[ $output == *'acts on packets or at the receiver, and host0 has no fidelity: endpoint'* ]] || fail "detailed: $output"
exit $failures
