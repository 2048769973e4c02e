#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a program's bytes arrive under random packet loss, on InfiniBand and RoCE. `hcasim
# decode` finds as many retransmitted packets in the capture as the counters have. A second run is
# the same, byte for byte. Arguments: the hcasim program, the top of the source tree, the program
# `verify`.
hcasim=$1
source=$2
verify=$3
. "$(dirname "$0")/../support/script.sh"

run() { # NAME SCENARIO OPTIONS...
  local name=$1 scenario=$2
  shift 2
  "$hcasim" exec "$source/scenarios/$scenario.yaml" "$@" --counters "$folder/$name.json" --pcap "$folder/$name.pcapng" -- \
    host0: "$verify" : host1: "$verify" host0 >"$folder/$name.out" 2>&1 || fail "$name: $(cat "$folder/$name.out")"
  [ "$(grep -c '308 messages and 33554432 bytes are as expected' "$folder/$name.out")" -eq 2 ] ||
    fail "$name: not all bytes arrived: $(cat "$folder/$name.out")"
}

counter() { # NAME BLOCK COUNTER
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]]["counters"][sys.argv[3]])' "$folder/$1.json" "$2" "$3"
}

# Requests that a host sent with a PSN behind one that it had sent before. A read request takes as many PSNs as its
# responses; PSNs wrap at 2^24.
retransmitted() { # NAME HOST
  grep " $2\.hca\.port .* RC_" "$folder/$1.txt" | grep -vE ' RC_(ACK|ATOMIC_ACK|READ_RESP_[A-Z]+) ' | awk '
    {
      psns = 1
      for (i = 1; i < NF; i++) {
        if ($i == "psn") psn = $(i + 1)
        if ($i == "length" && /RC_READ_REQUEST/ && $(i + 1) > 1024) psns = int(($(i + 1) + 1023) / 1024)
      }
      ahead = (psn - next_psn + 16777216) % 16777216
      if (NR > 1 && ahead >= 8388608) again++
      else next_psn = (psn + psns) % 16777216
    }
    END { print again + 0 }'
}

loses='faults=[{drop: {probability: 1%}}]'
run ib two-hosts-ib-loss
run again two-hosts-ib-loss --engine systemc
run roce two-hosts-roce --set "$loses"
for file in out json pcapng; do
  cmp "$folder/ib.$file" "$folder/again.$file" || fail "$file differs from run to run"
done

for name in ib roce; do
  "$hcasim" decode "$folder/$name.pcapng" >"$folder/$name.txt" || fail "$name: the capture does not decode"
  for host in host0 host1; do
    counted=$(counter $name $host.hca.transport packets_retransmitted)
    seen=$(retransmitted $name $host)
    if [ "$counted" -eq 0 ] || [ "$counted" -ne "$seen" ]; then
      fail "$name: $host counts $counted packets sent again, the capture has $seen"
    fi
    # Credits of the link (InfiniBand) are in the capture too, and are no packets to the port's counter.
    dropped=$(counter $name $host.hca.port fault_drops)
    left=$(counter $name $host.hca.port packets_sent)
    captured=$(grep -cE " $host\.hca\.port .* (RC_|TCP )" "$folder/$name.txt")
    [ "$dropped" -gt 0 ] || fail "$name: $host lost nothing"
    [ "$left" -eq "$captured" ] || fail "$name: $host sent $left packets, the capture has $captured"
  done
done
[ $failures -eq 0 ]
