#!/bin/bash
# Proves that a run says at its end when sockets carried what no link could have, or filled their buffers, and says nothing of
# sockets that carried little; by streams and by datagrams; and that nothing is said within a host.
# Arguments: the hcasim program, the top of the source tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
command -v python3 >/dev/null || { echo 'python3 is not installed'; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0

cat >"$folder/stream.py" <<'END'
import socket, sys
role, host, count, rest = sys.argv[1], sys.argv[2], int(sys.argv[3]), b'x' * int(sys.argv[4])
if role == 'server':
    listener = socket.create_server((host, 5000))
    peer = listener.accept()[0]
    left = count * len(rest)
    while left:
        left -= len(peer.recv(min(left, 1 << 20)))
        if left % len(rest) == 0:
            peer.send(b'.')
else:
    peer = socket.create_connection((host, 5000))
    for i in range(count):
        peer.sendall(rest)
        while peer.recv(1) != b'.':
            pass
END
cat >"$folder/datagram.py" <<'END'
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(1000):
    sender.sendto(b'x' * 60000, ('host0', 5000))
END

# run NAME EXPECTED-LINES CLIENT'S-HOST PROGRAM...; the server of streams is on host0
run() {
  local name=$1 lines=$2 host=$3
  shift 3
  "$hcasim" exec "$scenario" -- host0: python3 "$folder/stream.py" server host0 "$@" : \
    "$host:" python3 "$folder/stream.py" client host0 "$@" >"$folder/out" 2>"$folder/err" || { echo "$name: exit code $?"; failures=1; }
  [ "$(grep -c 'host1 sent .* MB by sockets in .* us, for which its link takes' "$folder/err")" = "$lines" ] ||
    { echo "$name: not $lines lines"; cat "$folder/out" "$folder/err"; failures=1; }
}

# Answers of one byte: no more than 32 KiB under way, and a block each 20 us is 13 Gb/s of 100.
run little 0 host1 200 32768
# 2,000 blocks of 1 MB, each in some 40 us: the link takes 80 us.
run much 1 host1 50 1000000
run within 0 host0 50 1000000

# 60 MB at once.
"$hcasim" exec "$scenario" -- host1: python3 "$folder/datagram.py" >/dev/null 2>"$folder/err" || failures=1
grep -q 'warning: host1 sent 60.0 MB by sockets in .* for which its link takes 4800.0 us, and was up to' "$folder/err" ||
  { echo 'datagrams:'; cat "$folder/err"; failures=1; }
exit $failures
