#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that UDP multicast of programs reaches the members of a group, and no other host: several sockets of a host, IP fragments, the
# sender itself unless IP_MULTICAST_LOOP is 0, and nobody else with a TTL of 0. Options and errno values are those of Linux. A run
# beside a busy loop prints the same. tshark finds the right addresses, TTLs and checksums. Hosts report joins and leaves by IGMP and
# MLD. With IGMP snooping, switches send datagrams to members only.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
source=$2
command -v python3 >/dev/null || { echo 'python3 is not installed'; exit 77; }
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/hosts.py" <<'END'
import errno, hashlib, socket, struct, sys, time
GROUP, OTHER, SIX, PORT = '239.1.2.3', '239.1.2.4', 'ff15::77', 41000
IP, ADD, DROP = socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.IP_DROP_MEMBERSHIP
ALL = 49
SIZES = (0, 1, 1000, 20000)
def request(group, interface='0.0.0.0', index=None):
    return socket.inet_aton(group) + socket.inet_aton(interface) + (b'' if index is None else struct.pack('i', index))
def open_socket(address='', family=socket.AF_INET):
    made = socket.socket(family, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((address, PORT))
    made.settimeout(0.05)
    return made
def receive(name, made):
    while True:
        try:
            data, peer = made.recvfrom(70000)
        except TimeoutError:
            return
        print(name, len(data), hashlib.sha256(data).hexdigest()[:8], peer[0].removeprefix('::ffff:'), flush=True)
def fails(name, call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        assert error.errno == getattr(errno, name), (error, name, arguments)
    else:
        assert False, (name, arguments)
def check_errors():
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    fails('EINVAL', one.setsockopt, IP, ADD, request('10.0.0.1'))
    fails('EINVAL', one.setsockopt, IP, ADD, request(GROUP)[:7])
    fails('ENODEV', one.setsockopt, IP, ADD, request(GROUP, '10.9.9.9'))
    fails('ENODEV', one.setsockopt, IP, ADD, request(GROUP, index=7))
    fails('EPROTO', stream.setsockopt, IP, ADD, request(GROUP))
    fails('EADDRNOTAVAIL', one.setsockopt, IP, DROP, request(GROUP))
    one.setsockopt(IP, ADD, request(GROUP, index=2))
    fails('EADDRINUSE', one.setsockopt, IP, ADD, request(GROUP))
    one.setsockopt(IP, DROP, request(GROUP))
    for i in range(20):
        one.setsockopt(IP, ADD, request(f'239.0.0.{i}'))
    fails('ENOBUFS', one.setsockopt, IP, ADD, request(GROUP))
    for option, value in ((socket.IP_MULTICAST_TTL, 256), (socket.IP_MULTICAST_TTL, -2), (ALL, 2)):
        fails('EINVAL', one.setsockopt, IP, option, value)
    fails('EINVAL', stream.setsockopt, IP, socket.IP_MULTICAST_TTL, 4)
    fails('EADDRNOTAVAIL', one.setsockopt, IP, socket.IP_MULTICAST_IF, socket.inet_aton('10.9.9.9'))
    fails('ENETUNREACH', stream.connect, (GROUP, PORT))
    assert [one.getsockopt(IP, option) for option in (socket.IP_MULTICAST_TTL, socket.IP_MULTICAST_LOOP, ALL)] == [1, 1, 1]
    fails('ENOPROTOOPT', one.getsockopt, IP, ADD)
def send():
    time.sleep(0.001)
    check_errors()
    member, one = open_socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    member.setsockopt(IP, ADD, request(GROUP))
    one.setsockopt(IP, socket.IP_MULTICAST_TTL, 5)
    for size in SIZES:
        one.sendto(bytes(i * 7 & 255 for i in range(size)), (GROUP, PORT))
    six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 9)
    six.sendto(b'to six', (SIX, PORT))
    fails('EMSGSIZE', six.sendto, bytes(8953), (SIX, PORT))
    fails('EADDRNOTAVAIL', six.setsockopt, socket.IPPROTO_IPV6, socket.IPV6_LEAVE_GROUP, socket.inet_pton(socket.AF_INET6, SIX) + bytes(4))
    fails('EINVAL', six.setsockopt, socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 256)
    fails('ENODEV', six.setsockopt, socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, 7)
    one.sendto(b'nobody is in this group', (OTHER, PORT))
    one.setsockopt(IP, socket.IP_MULTICAST_LOOP, 0)
    one.sendto(b'not to the sender', (GROUP, PORT))
    one.setsockopt(IP, socket.IP_MULTICAST_LOOP, 1)
    one.setsockopt(IP, socket.IP_MULTICAST_TTL, 0)
    one.sendto(b'to the sender alone', (GROUP, PORT))
    receive('send', member)
role = sys.argv[1]
if role == 'send':
    send()
else:
    made = open_socket(GROUP if role == 'group' else '', socket.AF_INET6 if role == 'six' else socket.AF_INET)
    if role == 'six':
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, socket.inet_pton(socket.AF_INET6, SIX) + bytes(4))
    if role != 'outside':
        made.setsockopt(IP, ADD, request(GROUP))
    if role == 'two': # Linux gives datagrams of a group also to sockets outside, but not with IP_MULTICAST_ALL 0
        others = [open_socket(), open_socket()]
        others[1].setsockopt(IP, ALL, 0)
        for i, other in enumerate(others):
            receive(f'other {i}', other)
    if role == 'left':
        made.setsockopt(IP, DROP, request(GROUP))
    receive(role, made)
END
cat >"$folder/lines.py" <<'END'
# Prints all lines that a host with that role prints.
import hashlib, sys
role = sys.argv[1]
sent = [bytes(i * 7 & 255 for i in range(size)) for size in (0, 1, 1000, 20000)]
sent.append(b'to the sender alone' if role == 'send' else b'not to the sender')
for name in {'outside': [], 'left': [], 'two': ['other 0', 'two']}.get(role, [role]):
    for data in sent:
        print(name, len(data), hashlib.sha256(data).hexdigest()[:8], sys.argv[2])
        if role == 'six' and len(data) == 20000:
            print('six 6', hashlib.sha256(b'to six').hexdigest()[:8], 'fe80::202:c9ff:fe00:6')
END
roles=(any group six two outside left send)
for layer in roce ib; do
  [ $layer = roce ] || roles=(any two send)
  scenario=$source/scenarios/two-hosts-$layer.yaml
  adapter=$(sed -n 's/^  host0: {hca: \(.*\)}/\1/p' "$scenario")
  sed "s/^hosts:/hosts: {count: ${#roles[@]}, hca: $adapter}/; /^  host[01]:/d" "$scenario" >"$folder/$layer.yaml"
  programs=()
  for i in "${!roles[@]}"; do
    programs+=("host$i:" python3 "$folder/hosts.py" "${roles[i]}" :)
  done
  unset 'programs[-1]'
  runs=(first second snooping)
  [ $layer = roce ] || runs=(first)
  for run in "${runs[@]}"; do
    settings=()
    [ $run != snooping ] || settings=(--set fabric.switch.snooping=true --set sockets.igmp=v2 --set sockets.igmp_interval=1us)
    [ $run != second ] || { sh -c 'while :; do :; done' & busy=$!; }
    timeout -s KILL 100 "$hcasim" exec "$folder/$layer.yaml" "${settings[@]}" --pcap "$folder/$layer-$run.pcapng" -- "${programs[@]}" >"$folder/$run" 2>"$folder/err" ||
      fail "$layer: $(cat "$folder/err")"
  done
  if [ $layer = roce ]; then
    kill "$busy"
    cmp "$folder/first" "$folder/second" || fail 'two runs differ'
    cmp "$folder/roce-first.pcapng" "$folder/roce-second.pcapng" || fail 'two captures differ'
    diff <(sort "$folder/first") <(sort "$folder/snooping") || fail 'IGMP snooping changes what programs receive'
  fi
  for i in "${!roles[@]}"; do
    diff <(python3 "$folder/lines.py" "${roles[i]}" "127.77.0.${#roles[@]}") <(sed -n "s/^host$i| //p" "$folder/first") >"$folder/difference" ||
      fail "$layer, ${roles[i]}: $(cat "$folder/difference" "$folder/err")"
  done
done

if command -v tshark >/dev/null; then
  options=(-o udp.check_checksum:TRUE -o ip.check_checksum:TRUE -o ip.defragment:TRUE)
  count() { tshark -r "$folder/roce-${2:-first}.pcapng" "${options[@]}" -Y "$1" 2>/dev/null | wc -l; }
  [ "$(count '_ws.malformed || udp.checksum.status == 0 || ip.checksum.status == 0')" -eq 0 ] || fail 'wrong bytes in the capture'
  # The switch floods: each of 5 datagrams leaves the sender, and arrives at 6 hosts.
  [ "$(count 'ipv6.dst == ff15::77 && eth.dst == 33:33:00:00:00:77 && ipv6.hlim == 9 && udp.length == 14')" -eq 7 ] || fail 'IPv6'
  options+=(-o ip.defragment:FALSE)
  [ "$(count 'ip.dst == 239.1.2.3 && eth.dst == 01:00:5e:01:02:03 && ip.ttl == 5 && ip.frag_offset == 0')" -eq $((7 * 5)) ] || fail "$(count udp) datagrams in the capture"
  # IGMP snooping: the sender and the hosts any, group, six and two. Reports reach the switch only. The host left joins and leaves.
  for run in first snooping; do
    tshark -r "$folder/roce-$run.pcapng" -o ip.check_checksum:TRUE -o ip.defragment:FALSE -Y 'igmp || icmpv6 || (ip.ttl == 5 && ip.frag_offset == 0)' -T fields \
      -E separator=, -e frame.interface_name -e ip.src -e ip.dst -e ip.ttl -e ipv6.hlim -e igmp.type -e igmp.record_type -e igmp.maddr -e icmpv6.type \
      -e igmp.checksum.status -e icmpv6.checksum.status -e ip.checksum.status -e _ws.malformed 2>/dev/null >"$folder/$run.reports"
  done
  reports() { grep -c "$2" "$folder/$1.reports"; }
  [ "$(reports snooping ',239.1.2.3,5,')" -eq $((5 * 5)) ] || fail "IGMP snooping: $(reports snooping ',239.1.2.3,5,') datagrams"
  grep '^switch.*,\(0x[0-9]*\|1[34][0-9]\),' "$folder/snooping.reports" && fail 'IGMP snooping: reports to hosts'
  [ "$(reports snooping '^host5.hca.port,127.77.0.6,224.0.0.2,1,,0x17,,239.1.2.3,,1,,1,$')" -eq 2 ] || fail 'IGMPv2: leave'
  [ "$(reports first '^host5.hca.port,127.77.0.6,224.0.0.22,1,,0x22,3,239.1.2.3,,1,,1,$')" -eq 1 ] || fail 'IGMPv3: leave'
  [ "$(grep ',0x22,4,239.1.2.3,' "$folder/first.reports" | cut -d, -f2 | sort -u | cut -d. -f4 | paste -sd' ')" = '1 2 3 4 6 7' ] || fail 'IGMPv3: joins'
  [ "$(reports first '^host2.hca.port,,,,1,,,,143,,1,,$')" -gt 1 ] || fail 'MLDv2'
  [ "$(reports snooping '^host2.hca.port,,,,1,,,,131,,1,,$')" -eq 2 ] && [ "$(reports snooping ',132,,1,,$')" -eq 2 ] || fail 'MLDv1'
fi
exit $((failures > 0))
