#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a run ends with a message and an exit code in each situation, and leaves no partial
# file: loads that cannot end, invalid files, full disks, too little memory, signals, and two runs
# into one folder. Arguments: the hcasim program, the top of the source tree.
hcasim=$1 top=$2
. "$(dirname "$0")/../support/script.sh"
mkdir "$folder/work" && cd "$folder/work" || exit 1

cat >load.yaml <<'END'
seed: 1
hosts: {count: 2, hca: connectx5-100gbe}
fabric: {link_layer: roce, topology: back-to-back, link: cable-100gbe}
load: {verb: send, bytes: 64B, tx_depth: 32, operations: 2000, warm_up: 100}
END
cat >flows.yaml <<'END'
seed: 1
hosts: {count: 3, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, switch: spectrum-100gbe}
workload: {pattern: incast, bytes: 100GB}
END

# ends CODE SECONDS TEXT COMMAND...: within that time, with that exit code and that text.
ends() {
  local code=$1 seconds=$2 expected=$3
  shift 3
  timeout "$seconds" "$@" >"$folder/text" 2>&1
  local got=$?
  [ $got = "$code" ] || fail "$*: exit code $got, expected $code: $(tail -5 "$folder/text")"
  grep -q -- "$expected" "$folder/text" || fail "$*: \"$expected\" is not said: $(tail -5 "$folder/text")"
}
nothing_left() { [ "$(ls -A | grep -vx 'load.yaml\|flows.yaml' | tr '\n' ' ')" = "$1" ] || fail "left: $(ls -A)"; }

# Few receive work requests are announced in lists of half the queue, so that sends continue.
# A load whose time limit is too short ends, and reports this.
for receives in 1 2 4 16 32; do
  ends 0 60 '^completed' "$hcasim" run load.yaml --set load.rx_depth=$receives
done
ends 1 60 'load.limit is reached after .* us; complete: [0-9]* of 2100 work requests; raise load.limit' \
  "$hcasim" run load.yaml --set load.rx_depth=1 --set load.limit=20us --pcap a.pcapng --trace a.bin
rm -f a.pcapng a.bin

# Incasts of TCP lose packets. A tail probe that is due when the flight's end has been SACKed sends nothing.
cat >tcp.yaml <<'END'
seed: 1
hosts: {count: 0, hca: {fidelity: endpoint, transport: tcp, congestion: dctcp, tcp: {rto_min: 4ms}, port: {mtu: 1480B}}}
fabric:
  link_layer: roce
  topology: {kind: leaf-spine, leaves: 12, spines: 4, hosts: 8}
  switch:
    {balance: ecmp, forwarding_latency: 0ps, queueing: arrival, buffer: {size: 4500KB, lossless: 0, alpha: 0.0625, alpha_lossy: 1, headroom: 106KB},
     ecn: {mark: enqueue, kmin: 200KB, kmax: 200KB, pmax: 100%}, port: {mtu: 1480B}}
  link: {rate: 40Gbps, length: 2000m}
workload: {pattern: poisson, sizes: web_search, offered_load: 0.135, incast_load: 0.015, incast_fan_in: 0, incast_flows: 4, incast_bytes: 16KB, arrivals_until: 25ms}
run: {until: 20ms, loss: expected}
END
ends 0 60 '^flows' "$hcasim" run tcp.yaml
rm tcp.yaml

# Records have a maximum size, and captured packets a maximum length.
ends 0 60 'packets.pcapng: record.max_bytes is reached; records after' \
  "$hcasim" run flows.yaml --until 300us --out out --set 'record={packets: true, max_bytes: 128KiB, trace: ["*"]}'
grep -q 'trace.bin: record.max_bytes is reached' "$folder/text" || fail "trace: $(cat "$folder/text")"
for file in packets.pcapng trace.bin; do
  size=$(stat -c %s "out/$file")
  [ "$size" -gt 120000 ] && [ "$size" -le $((1 << 17)) ] || fail "$file: $size bytes"
done
"$hcasim" decode out/packets.pcapng >/dev/null 2>"$folder/text" || fail "decode: $(cat "$folder/text")"
"$hcasim" trace out/trace.bin >/dev/null 2>"$folder/text" || fail "trace: $(cat "$folder/text")"
rm -r out
ends 0 60 '' "$hcasim" run flows.yaml --until 100us --pcap whole.pcapng
ends 0 60 '' "$hcasim" run flows.yaml --until 100us --pcap short.pcapng --set record.snap=96B
python3 - <<'PYTHON' || fail "snap: lengths"
import struct
def lengths(name):
    bytes, at, found = open(name, "rb").read(), 0, []
    while at < len(bytes):
        kind, size = struct.unpack_from("<II", bytes, at)
        if kind == 6:
            found.append(struct.unpack_from("<II", bytes, at + 20))
        at += size
    return found
whole, short = lengths("whole.pcapng"), lengths("short.pcapng")
assert len(whole) == len(short) > 100 and max(whole)[0] > 4000
assert [(min(kept, 96), length) for kept, length in whole] == short
PYTHON
rm whole.pcapng short.pcapng

# After a signal or on a full disk, no file and no folder is left.
for number in TERM INT HUP; do
  env --default-signal "$hcasim" run flows.yaml --out out --set record.packets=true --trace t.bin >"$folder/text" 2>&1 &
  pid=$!
  for ((i = 0; i < 100; i++)); do
    [ -s out.part/packets.pcapng ] && break
    sleep 0.1
  done
  [ -s out.part/packets.pcapng ] || fail "$number: nothing is recorded: $(cat "$folder/text")"
  kill -$number $pid
  wait $pid
  [ $? -gt 128 ] || fail "$number: exit code"
  nothing_left ''
done
(
  ulimit -f 200
  ends 2 60 'File too large' "$hcasim" run flows.yaml --until 300us --out out --set record.packets=true
  ends 2 60 'File too large' "$hcasim" run flows.yaml --until 300us --pcap p.pcapng --trace t.bin
  [ $failures -eq 0 ]
) || failures=$((failures + 1))
nothing_left ''

# FIFOs are refused at once, as input and as output.
mkfifo pipe
ends 2 5 'pipe: cannot be read: it is a FIFO or a socket; expected a file' "$hcasim" run pipe
sed 's|connectx5-100gbe|./pipe|' load.yaml >preset.yaml
ends 2 5 'FIFO' "$hcasim" check preset.yaml
rm preset.yaml
ends 2 5 'FIFO' "$hcasim" decode pipe
ends 2 5 'FIFO' "$hcasim" trace pipe
ends 2 5 'FIFO' "$hcasim" run flows.yaml --set 'workload={pattern: trace, trace: pipe}'
ends 2 5 'pipe is a FIFO, socket or device; expected a file' "$hcasim" run flows.yaml --pcap pipe
rm pipe

# Two runs write into one folder.
cat >sweep.yaml <<'END'
seed: 1
hosts: {count: 3, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, switch: spectrum-100gbe}
workload: {pattern: incast, bytes: 100GB}
sweep: {seed: [1, 2]}
END
for verb in "sweep sweep.yaml" "run flows.yaml"; do
  "$hcasim" $verb --out both >"$folder/first" 2>&1 &
  pid=$!
  for ((i = 0; i < 100; i++)); do
    [ -d both.part ] || [ -d both ] && break
    sleep 0.1
  done
  [ -d both.part ] || [ -d both ] || fail "$verb: nothing begins"
  ends 2 10 'another hcasim is writing to this folder' "$hcasim" $verb --out both
  kill $pid
  wait $pid
  rm -rf both both.part
done
rm sweep.yaml

# Too little memory (a sanitizer's own takes more).
if ! nm "$hcasim" 2>/dev/null | grep -q __asan_init; then
  for limit in "-v 300000" "-d 20000"; do
    (
      ulimit $limit
      ends 2 60 'out of memory' "$hcasim" run "$top/scenarios/studies/all-to-all-detailed.yaml" --until 50us --out out
      [ $failures -eq 0 ]
    ) || failures=$((failures + 1))
  done
  nothing_left ''
fi

[ $failures -eq 0 ]
