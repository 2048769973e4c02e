#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests cores that process received frames. One frame costs its core exact picoseconds. Frames of
# two flows on one queue fill its core, and frames beyond its ring are lost; on two queues, none is.
# This script computes the queues by a hash of its own. Polls beyond the budget are in ksoftirqd. A
# key that is not one is refused. Two runs give the same bytes.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
command -v python3 >/dev/null || { echo 'python3 is not installed'; exit 77; }
. "$(dirname "$0")/../support/script.sh"
scenario=$2/tests/support/three-hosts-roce.yaml
cat >"$folder/receive.py" <<'PY'
import socket, time
ends = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for i in range(2)]
for i, end in enumerate(ends):
    end.bind(('', 6000 + i))
time.sleep(0.1)
PY
cat >"$folder/send.py" <<'PY'
import socket, sys, time
count, size, source, port = map(int, sys.argv[1:])
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end.bind(('', source))
end.connect(('host0', port))
time.sleep(0.05)
for i in range(count):
    end.send(b'x' * size)
PY

# play NAME SENDERS OPTIONS...: SENDERS is "COUNT SIZE SOURCE PORT" of host1, and of host2 after a ","
play() {
  local name=$1 first=${2%,*} second=
  [[ $2 == *,* ]] && second=${2#*,}
  shift 2
  # shellcheck disable=SC2086
  timeout -s KILL 60 "$hcasim" exec "$scenario" --out "$folder/$name" "$@" -- host0: python3 "$folder/receive.py" \
    : host1: python3 "$folder/send.py" $first ${second:+: host2: python3 "$folder/send.py" $second} >"$folder/$name.out" 2>&1 ||
    fail "$name: exit code $?: $(cat "$folder/$name.out")"
  "$hcasim" explain "$folder/$name" --cpu --json >"$folder/$name.json" || fail "$name: explain: exit code $?"
}
# counter NAME KEY: of host0.softirq
counter() { python3 -c "import json, sys; print(json.load(open(sys.argv[1]))['host0.softirq']['counters'][sys.argv[2]])" "$folder/$1/counters.json" "$2"; }
# kinds NAME PROGRAM: kinds of host0 that are not 0
kinds() {
  python3 - "$folder/$1.json" "$2" <<'PY'
import json, sys
for program in json.load(open(sys.argv[1]))["programs"]:
    assert sum(k["time_ps"] for k in program["kinds"]) == program["cpu_ps"]
    if program["host"] == "host0" and program["program"] == sys.argv[2]:
        print(*(f'{k["kind"]}={k["time_ps"]}' for k in program["kinds"] if k["time_ps"]))
PY
}

# A datagram of 1000 bytes is a frame of 1042 bytes: 1042 * 252000 / 4096 ps for its buffer.
play one '1 1000 7000 6000'
[ "$(kinds one '[swapper]')" = 'interrupt=600000 gro=60000 skb=64107 receive=1260000' ] || fail "one frame: $(kinds one '[swapper]')"
[ "$(counter one interrupts) $(counter one frames) $(counter one segments)" = '1 1 1' ] || fail 'one frame: counters'

# The hash over the addresses and ports, bit by bit.
ports=$(python3 - <<'PY'
key = int('6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa', 16)
def queue(source, source_port, port):
    bits = int.from_bytes(bytes([127, 77, 0, source, 127, 77, 0, 1]) + source_port.to_bytes(2, 'big') + port.to_bytes(2, 'big'), 'big')
    hash = 0
    for i in range(96):
        if bits >> (95 - i) & 1:
            hash ^= key >> (320 - 32 - i) & 0xffffffff
    return hash % 256 % 2
first = next(p for p in range(7000, 8000) if queue(2, p, 6000) == 0)
print(first, *(next(p for p in range(7000, 8000) if queue(3, p, 6001) == q) for q in (0, 1)))
PY
)
read -r first same other <<<"$ports"
rss=(--set sockets.steering=rss --set sockets.queues=2 --set sockets.ring=64)
play shared "600 64 $first 6000,600 64 $same 6001" "${rss[@]}"
play apart "600 64 $first 6000,600 64 $other 6001" "${rss[@]}"
[ "$(counter shared ring_drops)" -gt 100 ] || fail "one queue: $(counter shared ring_drops) drops"
[ "$(counter apart ring_drops)" -lt 10 ] || fail "two queues: $(counter apart ring_drops) drops"
[ $(($(counter shared frames) + $(counter shared ring_drops))) = 1200 ] || fail 'one queue: frames are missing'

# With a budget of 8 frames, most polls are in ksoftirqd.
play budget "600 64 $first 6000,600 64 $same 6001" "${rss[@]}" --set sockets.weight=4 --set sockets.budget=8
[ "$(counter budget squeezed)" -gt 0 ] || fail 'budget: never exceeded'
[[ $(kinds budget '[ksoftirqd]') == interrupt=* ]] || fail "budget: ksoftirqd: $(kinds budget '[ksoftirqd]')"
[ "$(counter shared squeezed)" -gt 0 ] || fail 'shared: the default budget of 300 frames is never exceeded'
play again "600 64 $first 6000,600 64 $same 6001" "${rss[@]}" --set sockets.weight=4 --set sockets.budget=8
diff -rq "$folder/budget" "$folder/again" || fail 'two runs leave other results'

"$hcasim" exec "$scenario" --set sockets.rss_key=12 -- host0: true >"$folder/refused" 2>&1
[ $? = 2 ] && grep -q 'sockets.rss_key is "12"; expected 80 hexadecimal digits' "$folder/refused" || fail "key: $(cat "$folder/refused")"
exit $((failures > 0))
