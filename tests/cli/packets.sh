#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that record.only records the packets of ports, hosts, queue pairs, opcodes and times that are
# asked for, each a subset of all packets, that record.ring writes the latest packets before a drop, a
# pause or a failed expectation, and those behind it, and no others, that recording takes one thread,
# and that mistakes are named at their place. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1

cat >study.yaml <<'END'
hosts: {count: 4, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {link_layer: roce, topology: single-switch, switch: {preset: red-dcqcn-paper}, link: {rate: 100Gbps, length: 20m}}
workload: {pattern: incast, bytes: 500KB}
faults: [{from: host1, to: switch0, drop: {nth: 50}}]
record: {packets: true}
END
record() { # record NAME [OPTION...]: NAME.packets has the packets without their numbers
  rm -rf "$1"
  "$hcasim" run study.yaml --out "$1" "${@:2}" >log 2>&1
  local code=$?
  "$hcasim" decode "$1/packets.pcapng" | grep -v ' checked: ' | cut -d' ' -f2- >"$1.packets"
  return $code
}
filter() { # filter ONLY AWK: the packets with record.only=ONLY are those of all for which AWK holds, and there are some
  record some --set "record.only=$1" || fail "$1: $(cat log)"
  awk "$2" all.packets >expected
  [ -s expected ] && cmp expected some.packets || fail "$1: $(wc -l <some.packets) packets; expected $(wc -l <expected)"
  cmp all/flows.csv some/flows.csv || fail "$1 changes the run"
}
record all || fail "all: $(cat log)"
filter '{ports: ["switch0.*"]}' '$2 ~ /^switch0/'
filter '{ports: [host1.hca.port, switch0.port1]}' '$2 == "host1.hca.port" || $2 == "switch0.port1"'
filter '{hosts: [host1]}' '$3 == "127.77.0.2" || $5 == "127.77.0.2"'
filter '{hosts: ["host[12]"], opcodes: [RC_ACK]}' '/ RC_ACK / && (/127.77.0.2 / || /127.77.0.3 /)'
filter '{opcodes: [PFC, "CNP*"]}' '/ PFC / || / CNP_NOTIFY /'
filter '{qps: [0x102, 256], opcodes: [RC_ACK, RC_WRITE_FIRST]}' '/ (RC_ACK|RC_WRITE_FIRST) qp 0x00010[02] /'
filter '{from: 10us, until: 20us}' '$1 >= 0.000010000 && $1 < 0.000020000'

# The ring has the last packets before the trigger in their order, then those after it.
ring() { # ring NAME CODE BEFORE BEHIND TEXT [OPTION...]
  record "$1" --set "record.ring={packets: $3, behind: $4, $6}" "${@:7}"
  [ $? -eq "$2" ] || fail "$1: $(cat log)"
  grep -qE "the latest $3 packets before $5 at [0-9.]+ us, and $4 behind it" log || fail "$1: $(cat log)"
  [ "$(wc -l <"$1.packets")" -eq $(($3 + $4)) ] || fail "$1: $(cat "$1.packets")"
}
follows() { # follows NAME: its packets are a run of all packets
  python3 - "$1.packets" all.packets <<'PYTHON' || fail "$1 is no part of all packets"
import sys
part, whole = open(sys.argv[1]).read(), open(sys.argv[2]).read()
sys.exit(not (part and part in whole))
PYTHON
}
# exact NAME ALL BEFORE BEHIND: its packets are the last ones of ALL that begin until the trigger, and
# the next ones
exact() {
  awk -v at="$(sed -n 's/.* before .* at \([0-9.]*\) us, and .*/\1/p' log)" -v before="$3" -v behind="$4" '
    BEGIN { at = sprintf("%.9f", int(at * 1000) / 1e9) }
    { line[NR] = $0; if ($1 <= at) last = NR }
    END { for (i = last - before + 1; i <= last + behind; i++) print line[i] }' "$2.packets" >expected
  [ "$(wc -l <expected)" -eq $(($3 + $4)) ] && cmp expected "$1.packets" || fail "$1: $(diff expected "$1.packets")"
}
# A fault drops psn 49 of host1 as it leaves. host2 sends at the same time.
ring drop 0 20 10 'a drop' ''
exact drop all 20 10
follows drop
[ "$(sed -n '19,21s/ RC_WRITE_MIDDLE.* psn/ psn/p' drop.packets | cut -d' ' -f2,3,6,7)" = "host1.hca.port 127.77.0.2 psn 49
host2.hca.port 127.77.0.3 psn 49" ] || fail "the dropped packet is not the last but one: $(sed -n 18,22p drop.packets)"
for before in 1 2 3; do
  ring "drop$before" 0 $before 0 'a drop' ''
  exact "drop$before" all $before 0
done
# A switch drops a packet that arrives. Only what leaves a host is recorded.
lossy=(--set 'faults=[]' --set fabric.switch.port.pfc_priorities=0 --set 'fabric.switch.buffer={size: 200KB, lossless: 0}')
record lossy "${lossy[@]}" --set 'record.only={ports: ["*.hca.port"]}' || fail "lossy: $(cat log)"
ring switch 0 8 3 'a drop' '' "${lossy[@]}" --set 'record.only={ports: ["*.hca.port"]}'
exact switch lossy 8 3
ring pause 0 7 0 'a pause' 'pause: true, drop: false'
follows pause
tail -1 pause.packets | grep -q ' PFC 0:65535' || fail "no pause: $(cat pause.packets)"
[ "$(grep -c ' PFC 0:65535' pause.packets)" -eq 1 ] || fail "not the first pause: $(cat pause.packets)"
ring failure 1 6 0 'the end of a run that failed' '' --set 'faults=[]' --set 'expect=[{metric: drops, equals: 1}]'
record whole --set 'faults=[]' || fail "whole: $(cat log)"
tail -6 whole.packets | cmp - failure.packets || fail "failure: not the last packets: $(cat failure.packets)"
record quiet --set 'record.ring={packets: 5}' --set 'faults=[]' || fail "quiet: $(cat log)"
grep -q 'no trigger of record.ring came' log && [ ! -s quiet.packets ] || fail "quiet: $(cat log)"
record filtered --set 'record.ring={packets: 5, behind: 2}' --set 'record.only={opcodes: [PFC]}' || fail "filtered: $(cat log)"
[ "$(grep -c ' PFC ' filtered.packets)" -eq 7 ] && [ "$(wc -l <filtered.packets)" -eq 7 ] || fail "filtered: $(cat filtered.packets)"

# Packets and traces of several threads: in one, with the same bytes.
record threads --threads 4 || fail "threads: $(cat log)"
grep -q 'in one thread: a trace or capture' log || fail "threads: $(cat log)"
cmp all/packets.pcapng threads/packets.pcapng || fail "other packets with --threads"

# The effective configuration reads back.
"$hcasim" check study.yaml --set 'record.only={hosts: [host1, host2], ports: ["*"], qps: [5, 0x100], opcodes: ["RC_*"], from: 1us}' --set record.ring.packets=7 --effective >effective.yaml || fail "effective"
"$hcasim" check effective.yaml --effective | cmp - effective.yaml || fail "the effective configuration reads as another"

wrong() { # wrong VALUE TEXT
  "$hcasim" check study.yaml --set "record=$1" >log 2>&1
  [ $? -eq 2 ] && grep -qF -- "$2" log || fail "$1: $(cat log)"
}
wrong '{only: {opcodes: [RC_AKC]}}' 'no opcode matches "RC_AKC"; did you mean "RC_ACK"?'
wrong '{only: {hosts: [hst1]}}' 'no host "hst1"; did you mean "host1"?'
wrong '{only: {qps: [abc]}}' "found \"abc\"; expected a queue pair's number"
wrong '{only: {qps: [0x1000000]}}' "expected a queue pair's number"
wrong '{only: {from: 3us, until: 2us}}' 'only: until is not after from'
wrong '{only: {port: [x]}}' 'unknown key "port"; did you mean "ports"?'
wrong '{ring: {packet: 3}}' 'unknown key "packet"; did you mean "packets"?'
"$hcasim" run study.yaml --set 'record.only={ports: [switch1.port0]}' --out nowhere >log 2>&1
[ $? -eq 2 ] && grep -q 'no port matches "switch1.port0"; expected names such as switch0.port3' log || fail "a port: $(cat log)"

[ $failures -eq 0 ]
