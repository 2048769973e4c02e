#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves the latency of small messages of qperf by TCP and by UDP, which is the sum of its stages; that the run ends; that a second one
# of TCP prints the same; and that only the first messages of a TCP ping-pong have ACKs of their own.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
source=$2
command -v python3 >/dev/null || { echo 'python3 is not installed'; exit 77; }
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/ping.py" <<'END'
import socket, sys
if sys.argv[1] == 'server':
    peer = socket.create_server(('', 5000)).accept()[0]
    while data := peer.recv(100):
        peer.sendall(data)
else:
    peer = socket.create_connection(('host0', 5000))
    for i in range(200):
        peer.sendall(bytes(14))
        peer.recv(100)
END
"$hcasim" exec "$source/scenarios/two-hosts-roce.yaml" --counters "$folder/counters.json" -- host0: python3 "$folder/ping.py" server : \
  host1: python3 "$folder/ping.py" client || fail "exit code $?"
# 400 messages, the handshake, two ends, and one ACK each of the first request, of the first response and of the ends
python3 -c "
import json, sys
blocks = json.load(open('$folder/counters.json'))
sent = sum(blocks[f'host{i}.hca.netdev']['counters']['frames_sent'] for i in (0, 1))
assert 405 <= sent <= 410, sent" || fail 'too many ACKs'

command -v qperf >/dev/null || exit $((failures ? 1 : 77))
for tests in 'tcp_lat udp_lat' tcp_lat; do
  timeout -s KILL 120 "$hcasim" exec "$source/scenarios/two-hosts-roce.yaml" -- host0: qperf : host1: qperf host0 -t 1 $tests quit \
    >"$folder/${tests// /-}" 2>&1 || fail "exit code $?"
done
diff "$folder/tcp_lat-udp_lat" "$folder/tcp_lat" | grep '^>' && fail 'two runs of tcp_lat print other lines'
[ "$(grep -Ec 'latency += +6\.36 us' "$folder/tcp_lat-udp_lat")" -eq 2 ] || fail "$(cat "$folder/tcp_lat-udp_lat")"
[ $failures -eq 0 ]
