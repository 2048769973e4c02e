#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that an unmodified tcpdump captures on simulated hosts: the TCP frames of its own host but no RDMA, and all frames that a
# switch mirrors to its host. A filter, drops, and a run beside a busy loop, whose captures are the same bytes. Arguments: the hcasim
# program, the top of the source tree.
hcasim=$1
source=$2
command -v tcpdump >/dev/null && command -v ib_write_bw >/dev/null && command -v tshark >/dev/null ||
  { echo 'tcpdump, ib_write_bw or tshark is not installed'; exit 77; }
. "$(dirname "$0")/../support/script.sh"
chmod 755 "$folder" # tcpdump may change its user

sed "s/^hosts:/hosts: {count: 3, hca: connectx4-100gbe}/; /^  host[01]:/d" "$source/scenarios/two-hosts-roce.yaml" >"$folder/mirror.yaml"
echo 'mirrors: [{from: [host1], to: host2}]' >>"$folder/mirror.yaml"
capture() { # NAME SECONDS FILTER...: the arguments of tcpdump, which ends by a signal, as by a user's Control-C
  echo "timeout --preserve-status $2 tcpdump -i eth0 -w $folder/$1.pcap ${*:3}"
}
frames() { tshark -r "$folder/$1.pcap" -Y "$2" 2>/dev/null | wc -l; }
# printed NAME HOST: captured, received, dropped
printed() { sed -n "s/^host$2| \([0-9]*\) packets .*/\1/p" "$folder/$1.out" | paste -sd' '; }

for run in first second; do
  [ $run = first ] || { sh -c 'while :; do :; done' & busy=$!; }
  # shellcheck disable=SC2046
  timeout -s KILL 100 "$hcasim" exec "$folder/mirror.yaml" -- host2: $(capture "mirror-$run" 3) : host0: $(capture "own-$run" 3) : \
    host1: $(capture "filtered-$run" 3 'tcp[tcpflags] & tcp-syn != 0') : host0: ib_write_bw -n 5 : host1: ib_write_bw -n 5 host0 \
    >"$folder/$run.out" 2>&1 || fail "$(cat "$folder/$run.out")"
done
kill "$busy"
cmp "$folder/first.out" "$folder/second.out" || fail 'two runs differ'
for name in mirror own filtered; do
  cmp "$folder/$name-first.pcap" "$folder/$name-second.pcap" || fail "$name: two captures differ"
done
# 5 WRITEs of 65536 bytes are 80 packets of 4096, with 5 ACKs
[ "$(frames mirror-first infiniband)" -eq 85 ] && [ "$(frames mirror-first 'infiniband.bth.opcode == 17')" -eq 5 ] ||
  fail "$(frames mirror-first infiniband) frames of RDMA in the mirror"
[ "$(frames own-first infiniband)" -eq 0 ] || fail 'tcpdump sees RDMA of its own host'
[ "$(frames filtered-first 'tcp.flags.syn == 1')" -eq 2 ] && [ "$(frames filtered-first frame)" -eq 2 ] || fail 'filter'
tcp=$(frames own-first tcp)
[ "$tcp" -gt 30 ] || fail "$tcp frames of TCP"
[ "$(printed first 0)" = "$tcp $tcp 0" ] && [ "$(printed first 2)" = "$((tcp + 85)) $((tcp + 85)) 0" ] || fail "printed: $(printed first 0), $(printed first 2)"
# The host and the mirror have the same frames of TCP, whose times differ.
fields=(-T fields -e ip.src -e ip.id -e tcp.seq_raw -e tcp.ack_raw -e tcp.flags -e tcp.checksum)
for name in mirror own; do
  tshark -r "$folder/$name-first.pcap" -Y tcp "${fields[@]}" 2>/dev/null | sort >"$folder/$name"
  [ "$(tshark -r "$folder/$name-first.pcap" -o tcp.check_checksum:TRUE -Y '_ws.malformed || tcp.checksum.status == 0' 2>/dev/null | wc -l)" -eq 0 ] || fail "$name: malformed"
done
cmp "$folder/mirror" "$folder/own" || fail 'the mirror has other frames of TCP'

# With ERSPAN, the same packets are in frames to the analyser itself.
sed 's/to: host2/to: host2, erspan: {session: 5}/' "$folder/mirror.yaml" >"$folder/erspan.yaml"
# shellcheck disable=SC2046
timeout -s KILL 100 "$hcasim" exec "$folder/erspan.yaml" -- host2: $(capture erspan-first 3) : host0: ib_write_bw -n 5 : host1: ib_write_bw -n 5 host0 \
  >"$folder/erspan.out" 2>&1 || fail "$(cat "$folder/erspan.out")"
[ "$(frames erspan-first 'erspan.spanid == 5 && infiniband')" -eq 85 ] && [ "$(frames erspan-first 'erspan.spanid == 5 && tcp')" -eq "$tcp" ] &&
  [ "$(frames erspan-first '!erspan || _ws.malformed')" -eq 0 ] || fail 'frames of ERSPAN'

# A socket of 208 KiB that nobody reads keeps some frames. The others are drops. A host cannot send by such a socket.
cat >"$folder/reader.py" <<'END'
import socket, struct, sys, time
try:
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
except OSError as error:
    sys.exit(error.strerror)
made.bind(('eth0', 0x0800))
made.setsockopt(263, 1, struct.pack('iHH8s', 2, 1, 0, b''))  # PACKET_ADD_MEMBERSHIP, PACKET_MR_PROMISC
try:
    made.send(bytes(60))
except OSError as error:
    print(error.strerror)
time.sleep(2)
frames = []
made.setblocking(False)
try:
    while True:
        frames.append(made.recvfrom(10000))
except BlockingIOError:
    pass
assert all(address[:3] == ('eth0', 0x0800, 3) for _, address in frames), frames[0]
packets, drops = struct.unpack('II', made.getsockopt(263, 6, 8))
assert packets == len(frames) + drops, (packets, drops)
print('read', 50 < len(frames) < 250, 'dropped', 1300 < drops < 1700)
END
timeout -s KILL 100 "$hcasim" exec "$folder/mirror.yaml" -- host2: python3 "$folder/reader.py" : host0: ib_write_bw -n 100 : host1: ib_write_bw -n 100 host0 >"$folder/out" 2>&1
grep -q 'host2| Operation not supported' "$folder/out" && grep -q 'host2| read True dropped True' "$folder/out" || fail "$(cat "$folder/out")"
timeout -s KILL 100 "$hcasim" exec "$source/scenarios/two-hosts-ib.yaml" -- host0: python3 "$folder/reader.py" >"$folder/out" 2>&1
grep -q 'host0| Address family not supported by protocol' "$folder/out" || fail "InfiniBand: $(cat "$folder/out")"
exit $((failures > 0))
