#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests a run with `sockets.mode: free`. It reports at its end when sockets carried more than a link
# could have, or filled their buffers. It reports nothing for sockets that carried little. Covers
# streams and datagrams. Nothing is reported within a host. Arguments: the hcasim program, the top
# of the source tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
command -v python3 >/dev/null || { echo 'python3 is not installed'; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0

# Each of these streams carries 32 KiB, so that no buffer of the machine is full.
cat >"$folder/stream.py" <<'END'
import socket, sys
role, count = sys.argv[1], int(sys.argv[2])
if role == 'server':
    listener = socket.create_server(('host0', 5000), backlog=512)
    for peer in [listener.accept()[0] for i in range(count)]:
        while peer.recv(1 << 16):
            pass
else:
    peers = [socket.create_connection(('host0', 5000)) for i in range(count)]
    for peer in peers:
        peer.sendall(b'x' * 32768)
END
cat >"$folder/datagram.py" <<'END'
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(1000):
    sender.sendto(b'x' * 60000, ('host0', 5000))
END

# run NAME EXPECTED-LINES CLIENT'S-HOST STREAMS; the server is on host0
run() {
  "$hcasim" exec "$scenario" --set sockets.mode=free -- host0: python3 "$folder/stream.py" server "$4" : "$3:" python3 "$folder/stream.py" client "$4" host0 \
    >"$folder/out" 2>"$folder/err" || { echo "$1: exit code $?"; failures=1; }
  grep -q 'sockets: free: TCP streams take no link time' "$folder/err" || { echo "$1: not named"; failures=1; }
  [ "$(grep -c 'warning: host1 sent .* MB by sockets in .* us, for which its link needs' "$folder/err")" = "$2" ] ||
    { echo "$1: not $2 lines"; cat "$folder/out" "$folder/err"; failures=1; }
}
run little 0 host1 10
run much 1 host1 300
run within 0 host0 300

# The program sends 60 MB at once.
"$hcasim" exec "$scenario" --set sockets.mode=free -- host1: python3 "$folder/datagram.py" >/dev/null 2>"$folder/err" || failures=1
grep -q 'warning: host1 sent 60.0 MB by sockets in .* for which its link needs 4800.0 us, and was up to' "$folder/err" ||
  { echo 'datagrams:'; cat "$folder/err"; failures=1; }
exit $failures
