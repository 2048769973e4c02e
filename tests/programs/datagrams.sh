#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that UDP of programs is modelled, by frames of Ethernet and on the link of InfiniBand: datagrams of all sizes arrive whole, in
# IP fragments above the MTU; too long ones, and ports without a socket, have the errors of Linux; a receiver that is too slow loses
# datagrams; so does a link; broadcasts reach all hosts; a run beside a busy loop prints the same; and tshark puts the fragments together again.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
source=$2
command -v python3 >/dev/null || { echo 'python3 is not installed'; exit 77; }
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/server.py" <<'END'
import hashlib, socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('', 41000))
while True:
    data, peer = server.recvfrom(70000)
    if data == b'end':
        break
    server.sendto(b'%d %s' % (len(data), hashlib.sha256(data).hexdigest()[:8].encode()), peer)
END
cat >"$folder/client.py" <<'END'
import errno, hashlib, socket
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for size in (0, 1, 1000, 8972, 8973, 20000, 65507):
    data = bytes(i * 7 & 255 for i in range(size))
    client.sendto(data, ('host0', 41000))
    answer, peer = client.recvfrom(100)
    assert answer == b'%d %s' % (size, hashlib.sha256(data).hexdigest()[:8].encode()), size
    assert peer == ('127.77.0.1', 41000), peer
def fails(name, call):
    try:
        call()
    except OSError as error:
        assert error.errno == getattr(errno, name), error
    else:
        assert False, name
fails('EMSGSIZE', lambda: client.sendto(bytes(65508), ('host0', 41000)))
fails('EDESTADDRREQ', lambda: client.send(b'x'))
fails('EOPNOTSUPP', lambda: client.listen(1))
fails('ENETUNREACH', lambda: client.sendto(b'x', ('10.1.2.3', 1)))
client.setblocking(False)
fails('EAGAIN', lambda: client.recv(1))
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
six.connect(('::ffff:127.77.0.1', 6000))
assert six.getsockname()[0] == '::ffff:127.77.0.2' and six.type == socket.SOCK_DGRAM
six.send(b'x')
fails('ECONNREFUSED', lambda: six.recv(10))
client.setblocking(True)
client.sendto(b'end', ('host0', 41000))
print('as expected')
END
cat >"$folder/slow.py" <<'END'
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('', 41000))
server.settimeout(0.01)
count = 0
try:
    while server.recv(9000):
        count += 1
except TimeoutError:
    print('received', count)
END
cat >"$folder/flood.py" <<'END'
import socket
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(3000):
    client.sendto(bytes(100), ('host0', 41000))
END
cat >"$folder/many.py" <<'END'
import socket, sys, time
own, net, everyone = sys.argv[1], '127.77.255.255', '255.255.255.255'
def bound(address, family=socket.AF_INET):
    end = socket.socket(family, socket.SOCK_DGRAM)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    end.bind((address, 42000))
    end.setblocking(False)
    return end
ends = {'any': bound(''), 'own': bound(own), 'net': bound(net), 'everyone': bound(everyone), 'six': bound('::', socket.AF_INET6)}
time.sleep(0.01)
if own == '127.77.0.1':
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for call in sender.sendto, lambda data, to: sender.connect(to):
        try:
            call(b'no', (everyone, 42000))
        except PermissionError:
            print('refused')
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    sender.sendto(b'net', (net, 42000))
    sender.sendto(bytes(20000), (everyone, 42000))
time.sleep(0.01)
for name, end in ends.items():
    got = []
    try:
        while True:
            data, peer = end.recvfrom(30000)
            got.append(f'{len(data)} from {peer[0]}')
    except BlockingIOError:
        print(f'{name}:', ', '.join(got))
END
received() { awk '/received/ {print $3}' "$folder/$1"; }

for scenario in two-hosts-roce two-hosts-ib; do
  yaml=$source/scenarios/$scenario.yaml
  timeout -s KILL 100 "$hcasim" exec "$yaml" --pcap "$folder/$scenario.pcapng" -- host0: python3 "$folder/server.py" : host1: python3 "$folder/client.py" >"$folder/out" 2>&1
  grep -q 'host1| as expected' "$folder/out" || fail "$scenario: $(cat "$folder/out")"
  for run in first second; do
    [ $run = first ] || { sh -c 'while :; do :; done' & busy=$!; }
    timeout -s KILL 100 "$hcasim" exec "$yaml" --verbose -- host0: python3 "$folder/slow.py" : host1: python3 "$folder/flood.py" >"$folder/$run" 2>&1 || fail "$scenario: $(cat "$folder/$run")"
  done
  kill "$busy"
  cmp "$folder/first" "$folder/second" || fail "$scenario: two runs differ"
  count=$(received first)
  [ "${count:-0}" -gt 300 ] && [ "$count" -lt 2900 ] || fail "$scenario: a slow receiver has $count of 3000"
done

# A broadcast reaches the sockets of all hosts that are bound to no address, or to the broadcast address.
from=127.77.0.1
for host in 0 1 2; do
  [ $host -gt 0 ] || printf 'host0| refused\nhost0| refused\n'
  printf "host$host| %s\n" "any: 3 from $from, 20000 from $from" 'own: ' "net: 3 from $from" "everyone: 20000 from $from" "six: 3 from ::ffff:$from, 20000 from ::ffff:$from"
done >"$folder/expected"
for options in roce ib 'roce --set fabric.switch.snooping=true'; do
  read -ra words <<<"$options"
  timeout -s KILL 100 "$hcasim" exec "$source/tests/support/three-hosts-${words[0]}.yaml" --pcap "$folder/many-${words[0]}.pcapng" "${words[@]:1}" -- \
    host0: python3 "$folder/many.py" 127.77.0.1 : host1: python3 "$folder/many.py" 127.77.0.2 : host2: python3 "$folder/many.py" 127.77.0.3 2>&1 | sort -s -k1,1 >"$folder/many"
  diff "$folder/expected" "$folder/many" || fail "broadcast: $options"
done

(cat "$source/scenarios/two-hosts-roce.yaml"; echo 'faults: [{drop: {probability: 1%}}]') >"$folder/loss.yaml"
timeout -s KILL 100 "$hcasim" exec "$folder/loss.yaml" --set sockets.receive_segment=0ps -- host0: python3 "$folder/slow.py" : host1: python3 "$folder/flood.py" >"$folder/loss" 2>&1
count=$(received loss)
[ "${count:-0}" -gt 2850 ] && [ "$count" -lt 2990 ] || fail "loss: $count of 3000: $(cat "$folder/loss")"

if command -v tshark >/dev/null; then
  options=(-o udp.check_checksum:TRUE -o ip.check_checksum:TRUE -o ip.defragment:TRUE)
  tshark -r "$folder/two-hosts-roce.pcapng" "${options[@]}" -Y '_ws.malformed || udp.checksum.status == 0 || ip.checksum.status == 0' >"$folder/bad" 2>/dev/null
  [ ! -s "$folder/bad" ] || fail "malformed: $(head -3 "$folder/bad")"
  [ "$(tshark -r "$folder/many-roce.pcapng" -Y 'eth.dst == ff:ff:ff:ff:ff:ff && ip.dst == 255.255.255.255' 2>/dev/null | wc -l)" -ge 3 ] || fail 'no broadcast'
  [ "$(tshark -r "$folder/two-hosts-roce.pcapng" "${options[@]}" -Y 'udp.length == 65515' 2>/dev/null | wc -l)" -ge 1 ] || fail 'no datagram of 65507 bytes'
fi
exit $((failures > 0))
