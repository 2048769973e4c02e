#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that TCP streams take the time of the hosts' links and repeat, by frames of Ethernet and on the modelled link of InfiniBand:
# one stream and two streams to one host have no more than the rate of the wire and, with cores that take no time, 97 % of it (slow
# start takes the rest); a run beside a busy loop, with the other engines, and with another kind of hand-over prints the same at the
# same times; a core that copies carries less.
# Arguments: the hcasim program, the top of the source tree, a program of this folder's.
hcasim=$1
hosts=$2/tests/support/three-hosts
command -v python3 >/dev/null || { echo 'python3 is not installed'; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"; [ -z "$busy" ] || kill "$busy" 2>/dev/null' EXIT
failures=0
fail() { echo "$*"; failures=1; }

cat >"$folder/server.py" <<'END'
import selectors, socket, sys, time
count, size = int(sys.argv[1]), int(sys.argv[2])
listener = socket.create_server(('', 5000))
peers = selectors.EpollSelector()
for i in range(count):
    peers.register(listener.accept()[0], selectors.EVENT_READ, [0, 0.0])
begin = time.monotonic()
while peers.get_map():
    for key, events in peers.select():
        data = key.fileobj.recv(1 << 17)
        key.data[0] += len(data)
        if not data:
            print('Gbps', round(key.data[0] * 8e-9 / (time.monotonic() - begin), 3))
            peers.unregister(key.fileobj)
END
cat >"$folder/client.py" <<'END'
import socket, sys
peer = socket.create_connection(('host0', 5000))
peer.sendall(b'x' * int(sys.argv[1]))
peer.close()
END

fast=(--set sockets.copy=100Tbps --set sockets.send_segment=0ps --set sockets.receive_segment=0ps --set sockets.receive_packet=0ps)
# run NAME CLIENTS OPTIONS...
run() {
  local name=$1 clients=$2
  shift 2
  local programs=(host0: python3 "$folder/server.py" "$clients" 60000000)
  for ((i = 1; i <= clients; i++)); do programs+=(: "host$i:" python3 "$folder/client.py" 60000000); done
  "$hcasim" exec "$hosts-${scenario:-roce}.yaml" --verbose "$@" -- "${programs[@]}" >"$folder/$name.out" 2>"$folder/$name.err" || fail "$name: exit code $?"
  grep -o 'interaction trace .*' "$folder/$name.err" >>"$folder/$name.out"
  ! grep -q warning "$folder/$name.err" || fail "$name: $(cat "$folder/$name.err")"
}
# between NAME LOW HIGH: the sum of the printed rates
between() {
  awk -v low="$2" -v high="$3" '/Gbps/ {sum += $3} END {exit !(sum >= low && sum <= high)}' "$folder/$1.out" ||
    fail "$1: not within $2 and $3: $(cat "$folder/$1.out")"
}
same() { cmp -s "$folder/$1.out" "$folder/$2.out" || fail "$1 and $2 differ: $(cat "$folder/$1.out" "$folder/$2.out")"; }

run one 1 "${fast[@]}"
between one 96 99.01
run two 2 "${fast[@]}"
between two 96 99.1
scenario=ib run ib 2 "${fast[@]}"
between ib 96 99.1
run core 1
between core 30 60
(while :; do :; done) &
busy=$!
run busy 2 "${fast[@]}"
same two busy
run systemc 2 "${fast[@]}" --engine systemc
same two systemc
run reference 2 "${fast[@]}" --engine systemc-reference
same two reference
run futex 2 "${fast[@]}" --set session.handoff=futex
same two futex
grep -q 'sockets: modelled: TCP and UDP with an MTU of 9000 bytes, by frames through each host' "$folder/one.err" || fail "not named: $(cat "$folder/one.err")"
grep -q 'sockets: modelled: TCP and UDP with an MTU of 9000 bytes, at the rate of each host' "$folder/ib.err" || fail "not named: $(cat "$folder/ib.err")"
exit $failures
