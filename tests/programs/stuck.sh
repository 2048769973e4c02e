#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that a program which writes to a peer that never reads ends the run as a virtual deadlock, soon after the first probe of the
# peer's window, and that the report names the socket; that a reader which comes 2000 s later gets all bytes; and that
# TCP_USER_TIMEOUT ends the writer with ETIMEDOUT. Each run is made twice and prints the same.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
source=$2
command -v python3 >/dev/null || { echo 'python3 is not installed'; exit 77; }
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/server.py" <<'END'
import signal, socket, sys, time
peer = socket.create_server(('', 5000)).accept()[0]
if sys.argv[1] == 'never':
    signal.pause()
time.sleep(2000)
count = 0
while sys.argv[1] == 'late' and (data := peer.recv(1 << 20)):
    count += len(data)
print('read', count)
END
cat >"$folder/client.py" <<'END'
import errno, socket, sys, time
peer = socket.create_connection(('host0', 5000))
if sys.argv[1] == 'timeout':
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 5000)
begin = time.monotonic()
try:
    peer.sendall(bytes(10000000))
    print('sent after', round(time.monotonic() - begin), 's')
except OSError as error:
    print(errno.errorcode[error.errno], 'after', round(time.monotonic() - begin), 's')
END

# play NAME EXIT-CODE SCENARIO
play() {
  local run status
  for run in first second; do
    timeout -s KILL 60 "$hcasim" exec "$source/scenarios/$3.yaml" -- host0: python3 "$folder/server.py" "$1" : \
      host1: python3 "$folder/client.py" "$1" >"$folder/$1-$run" 2>&1 </dev/null
    status=$?
    sed -i '/was ended by signal 9/d' "$folder/$1-$run" # how soon programs end after a deadlock is real time
    [ $status -eq "$2" ] || fail "$1: not exit code $2: $(cat "$folder/$1-$run")"
  done
  cmp "$folder/$1-first" "$folder/$1-second" || fail "$1: two runs print other lines"
}
# has NAME ERE
has() { grep -Eq "$2" "$folder/$1-first" || fail "$1: not printed: $2: $(cat "$folder/$1-first")"; }

for scenario in two-hosts-roce two-hosts-ib; do
  play never 3 $scenario
  has never 'virtual deadlock at [0-9]{6}\.[0-9]{3} us'
  has never 'host1: [0-9]+ bytes of port [0-9]+ wait until a program on host0 reads from port 5000'
  play late 0 $scenario
  has late 'host0\| read 10000000'
  has late 'host1\| sent after 20[0-9]{2} s'
  play timeout 0 $scenario
  has timeout 'host1\| ETIMEDOUT after 5 s'
done
[ $failures -eq 0 ]
