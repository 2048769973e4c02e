#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that each kind of fault occurs at the configured time, as often as configured, and for the
# configured packets, with the same bytes on each engine. The numbers of losses and of faults are
# exact.
#
#   tests/cli/faults.sh HCASIM
set -u
hcasim=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

# study NAME LINK_LAYER FAULT: two senders to one receiver through a switch, 1 MB each at 100 Gb/s (about 170 us).
study() {
  cat >"$folder/$1.yaml" <<YAML
hosts: {count: 3, hca: {fidelity: endpoint}}
fabric: {link_layer: $2, topology: single-switch, switch: {preset: $3}}
workload: {pattern: incast, bytes: 1MB}
run: {until: 20ms, loss: expected}
faults: [$4]
YAML
  for engine in native systemc systemc-reference; do
    "$hcasim" run "$folder/$1.yaml" --engine "$engine" --out "$folder/$1.$engine" >"$folder/$1.$engine.txt" 2>&1 ||
      fail "$1 --engine $engine: exit code $?: $(cat "$folder/$1.$engine.txt")"
  done
  diff -r "$folder/$1.native" "$folder/$1.systemc" || fail "$1: systemc differs"
  diff -r "$folder/$1.native" "$folder/$1.systemc-reference" || fail "$1: systemc-reference differs"
}

# counter NAME COUNTER: its value, the sum if * stands in it
counter() {
  python3 - "$folder/$1.native/counters.json" "$2" <<'PYTHON'
import fnmatch, json, sys
total = 0
for block, entry in json.load(open(sys.argv[1])).items():
    for name, value in entry["counters"].items():
        if fnmatch.fnmatch(f"{block}.{name}", sys.argv[2]):
            total += int(value, 0) if isinstance(value, str) else value
print(total)
PYTHON
}

# is NAME COUNTER VALUE, above NAME COUNTER VALUE
is() { [ "$(counter "$1" "$2")" = "$3" ] || fail "$1: $2 is $(counter "$1" "$2"), expected $3"; }
above() { [ "$(counter "$1" "$2")" -gt "$3" ] || fail "$1: $2 is $(counter "$1" "$2"), expected above $3"; }
done_all() { grep -q '"flows_done": 2\b' "$folder/$1.native/summary.json" || fail "$1: not all flows are done"; }

study flap roce spectrum-100gbe '{from: host1, link_down: {begin: 20us, lasts: 10us, period: 40us, times: 3}}'
is flap faults.0.begun 3
is flap faults.0.ended 3
above flap 'host1.hca.port.fault_drops' 0
is flap 'host2.hca.port.fault_drops' 0
done_all flap

study restart infiniband sb7700 '{from: switch0, link_down: {begin: 50us, lasts: 30us}}'
is restart faults.0.begun 1
above restart '*.down_drops' 0
done_all restart

study storm roce spectrum-100gbe '{from: host0, pause_storm: {priorities: [0], begin: 30us, lasts: 100us}}'
is storm faults.0.ended 1
is storm '*_drops' 0
above storm 'switch0.port0.pause_received' 1
done_all storm

study slow roce spectrum-100gbe '{from: host0, slow_receiver: {rate: 10Gbps}}'
is slow faults.0.begun 1
is slow faults.0.ended 0
done_all slow
# 2 MB and 1.5 % of headers take 1625 us at 10 Gb/s, minus up to 128 KB in the receiver's buffer at
# the end; without the fault 170 us
python3 - "$folder/slow.native/flows.csv" <<'PYTHON' || fail "slow: not at 10 Gb/s"
import csv, sys
last = max(float(row["arrived_us"]) for row in csv.DictReader(open(sys.argv[1])))
sys.exit(not 1625 - 105 < last < 1625)
PYTHON

study burst roce spectrum-100gbe '{from: host1, to: switch0, drop: {burst: {to_bad: 2%, to_good: 20%}}}'
above burst 'host1.hca.port.transmit_fault.packets_dropped' 5
is burst 'host2.hca.port.fault_drops' 0
done_all burst

study window roce spectrum-100gbe '{from: host1, to: switch0, drop: {nth: 1, begin: 40us}}'
is window 'host1.hca.port.transmit_fault.packets_dropped' 1
done_all window

study bits infiniband sb7700 '{from: host1, corrupt_icrc: {bit_error_rate: 1e-6}}'
above bits 'host1.hca.port.transmit_fault.packets_icrc_damaged' 0
done_all bits

study reorder roce spectrum-100gbe '{from: switch0, to: host0, reorder: {nth: 20, by: 3us}}'
is reorder 'switch0.port0.transmit_fault.packets_reordered' 1
done_all reorder

# Losses of a link's own packets are counted apart, because the packets that left do not include
# them.
study credits infiniband sb7700 '{from: host0, to: switch0, drop: {kind: flow_control, nth: 3}}'
is credits '*.control_drops' 1
is credits '*.fault_drops' 0
done_all credits
study pauses roce spectrum-100gbe '{from: switch0, to: host1, drop: {kind: pfc, nth: 1}}'
is pauses '*.control_drops' 1
done_all pauses

# A fault with a condition loses no packet before the counter has its value. The same holds for a
# fault of one port.
study when roce spectrum-100gbe '{from: host1, to: switch0, drop: {nth: 1, when: {counter: host0.hca.port.packets_received, reaches: 100}}}'
is when 'host1.hca.port.transmit_fault.packets_dropped' 1
study when-port roce spectrum-100gbe '{from: host1, link_down: {lasts: 5us, when: {counter: host0.hca.port.packets_received, reaches: 100}}}'
is when-port faults.0.begun 1
study never roce spectrum-100gbe '{from: host1, link_down: {lasts: 5us, when: {counter: host0.hca.port.packets_received, reaches: 1000000, give_up: 1ms}}}'
is never faults.0.begun 0

sed 's/packets_received/packets_receivd/' "$folder/never.yaml" >"$folder/typing.yaml"
"$hcasim" run "$folder/typing.yaml" >"$folder/out.txt" 2>&1
[ $? = 2 ] || fail "a counter that is not there: exit code"
grep -q 'unknown counter "host0.hca.port.packets_receivd"' "$folder/out.txt" || fail "a counter that is not there: $(cat "$folder/out.txt")"
echo "all faults of scenarios happen as they say"
