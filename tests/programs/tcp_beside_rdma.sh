#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that TCP of programs shares the port of an Ethernet host with RDMA: in classes of their own iperf3 and ib_write_bw have the
# shares of the weights, in one class half each, and cores that copy leave RDMA the rest; ib_write_lat waits for TCP in its class
# longer than in another; a second run, beside a busy loop, leaves the same bytes; tshark finds no malformed packet and no wrong
# checksum in the capture; and under loss, with jumbo frames as well, all bytes arrive, retransmitted.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
scenario=$2/scenarios/tcp-beside-rdma.yaml
for program in iperf3 ib_write_bw python3; do
  command -v $program >/dev/null || { echo "$program is not installed"; exit 77; }
done
. "$(dirname "$0")/../support/script.sh"
fast=(--set sockets.copy=100Tbps --set sockets.send_segment=0ps --set sockets.receive_segment=0ps --set sockets.receive_packet=0ps)

play() { # NAME OPTION...
  local name=$1
  shift
  timeout -s KILL 100 "$hcasim" run "$scenario" "$@" --out "$folder/$name" >"$folder/$name.txt" 2>&1 ||
    fail "$name: exit code $?: $(cat "$folder/$name.txt")"
}
# rdma NAME LOW HIGH: the mean rate of ib_write_bw, Gb/s
rdma() {
  awk -v low="$2" -v high="$3" '$1 == "host1|" && $2 == 65536 {rate = $5 * 8 * 1.048576e-3; found = rate >= low && rate <= high}
    END {if (!found) print rate; exit !found}' "$folder/$1.txt" >"$folder/rate" || fail "$1: not $2 to $3 Gb/s: $(cat "$folder/rate" "$folder/$1.txt")"
}

play weights "${fast[@]}"
rdma weights 70 80
play one-class "${fast[@]}" --set sockets.priority=3
rdma one-class 45 60
play cores --set sockets.priority=3
rdma cores 57 70
(while :; do :; done) &
busy=$!
play cores-again --set sockets.priority=3
kill "$busy"
cmp "$folder/cores.txt" "$folder/cores-again.txt" || fail 'two runs print other lines'
diff -rq "$folder/cores" "$folder/cores-again" || fail 'two runs leave other results'

# In class 3 beside TCP in class 0, and in the class of TCP.
for class in 3 0; do
  sed -e 's/"4000"/"10000"/; s/ib_write_bw/ib_write_lat/; s/start: 1s/start: 210ms/' -e "s/\"3\"/\"$class\"/" "$scenario" >"$folder/latency.yaml"
  timeout -s KILL 100 "$hcasim" run "$folder/latency.yaml" 2>&1 | awk '$1 == "host1|" && $2 == 2 && $3 == 10000 {print $7}'
done >"$folder/latencies"
awk '{mean[NR] = $1} END {exit !(NR == 2 && mean[1] > 1.11 && mean[2] > mean[1] + 0.03)}' "$folder/latencies" ||
  fail "latencies: $(cat "$folder/latencies")"

cat >"$folder/server.py" <<'END'
import hashlib, socket
peer = socket.create_server(('', 41000)).accept()[0]
digest, count = hashlib.sha256(), 0
while data := peer.recv(1 << 16):
    digest.update(data)
    count += len(data)
peer.sendall(f'{count} {digest.hexdigest()[:16]}'.encode())
END
cat >"$folder/client.py" <<'END'
import hashlib, random, socket
data = random.Random(1).randbytes(3000000)
peer = socket.create_connection(('host0', 41000))
peer.sendall(data)
peer.shutdown(socket.SHUT_WR)
answer = peer.recv(100).decode()
print('same' if answer == f'{len(data)} {hashlib.sha256(data).hexdigest()[:16]}' else f'differs: {answer}')
END
sed '/^programs/,$d' "$scenario" >"$folder/loss.yaml"
echo 'faults: [{drop: {probability: 0.3%}}]' >>"$folder/loss.yaml"
for mtu in 1500B 9000B; do
  timeout -s KILL 100 "$hcasim" exec "$folder/loss.yaml" --set sockets.mtu=$mtu --pcap "$folder/loss.pcapng" --counters "$folder/loss.json" -- \
    host0: python3 "$folder/server.py" : host1: python3 "$folder/client.py" >"$folder/loss.txt" 2>&1
  grep -q 'host1| same' "$folder/loss.txt" || fail "loss, MTU $mtu: $(cat "$folder/loss.txt")"
  python3 - "$folder/loss.json" <<'END' || fail "loss, MTU $mtu: as many frames arrived as were sent"
import json, sys
counters = {block: values['counters'] for block, values in json.load(open(sys.argv[1])).items()}
devices = [counters[f'host{i}.hca.netdev'] for i in (0, 1)]
sent, received = (sum(device[key] for device in devices) for key in ('frames_sent', 'frames_received'))
sys.exit(not 0 < received < sent)
END
  command -v tshark >/dev/null || continue
  options=(-o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE -o tcp.desegment_tcp_streams:FALSE)
  tshark -r "$folder/loss.pcapng" "${options[@]}" -Y '_ws.malformed || tcp.checksum.status == 0 || ip.checksum.status == 0' >"$folder/bad" 2>/dev/null
  [ ! -s "$folder/bad" ] || fail "MTU $mtu: malformed: $(head -3 "$folder/bad")"
  [ "$(tshark -r "$folder/loss.pcapng" "${options[@]}" -Y 'tcp.checksum.status == 1 && tcp.len > 1000' 2>/dev/null | wc -l)" -gt 300 ] || fail "MTU $mtu: too few segments"
done
exit $((failures > 0))
