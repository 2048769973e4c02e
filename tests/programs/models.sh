#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that unmodified programs meet the limits of the core that posts and of the adapter: PCIe 3.0 x8 bounds ib_write_bw where the link would carry
# twice as much, and more queue pairs than the cache has contexts cost ib_read_bw a miss for each READ, counted exactly; and that
# libmlx5 finds short messages in CQEs, and that what holds up a run is named when send WQEs do not fit into their cache.
# Arguments: the hcasim program, the top of the source tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/back-to-back-ib.yaml
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# between NAME VALUE LOW HIGH
between() {
  awk -v value="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(value != "" && value >= low && value <= high) }' ||
    { echo "$1: $2, expected $3 to $4"; failures=$((failures + 1)); }
}

# write_gbps LANES
write_gbps() {
  "$hcasim" exec "$scenario" --set "hosts.host0.hca.pcie.lanes=$1" --set "hosts.host1.hca.pcie.lanes=$1" -- \
    host0: ib_write_bw -F -s 1048576 -n 60 --report_gbits : host1: ib_write_bw -F -s 1048576 -n 60 --report_gbits host0 |
    awk '/^host1\|  1048576/ { print $5 }'
}

# The rate is 63.015 Gb/s, minus 3 % of DLLPs. Payload is read in completions of 128 B, with 20 B
# each: 52.86 Gb/s, minus WQEs and the time until the first byte. x16: EDR minus headers, 99.37
# Gb/s.
between "PCIe x8" "$(write_gbps 8)" 52.3 52.86
between "PCIe x16" "$(write_gbps 16)" 98.8 99.37

# post_rate TIME BYTES: millions of inline WRITEs per second that one core posts one by one
post_rate() {
  "$hcasim" exec "$scenario" --set "cpu.post_interval=$1" -- \
    host0: ib_write_bw -F -s "$2" -I 188 -n 2000 : host1: ib_write_bw -F -s "$2" -I 188 -n 2000 host0 |
    awk -v bytes="$2" '$1 == "host1|" && $2 == bytes { print $6 }'
}

# A core posts each 150 ns, whether a post stores one line of 64 B or four, which take 45 ns each. The rate counts the time of
# the last completion too.
between "posts of one line" "$(post_rate 150ns 8)" 6.55 6.67
between "posts of two lines" "$(post_rate 150ns 64)" 6.55 6.67
between "posts of four lines" "$(post_rate 150ns 188)" 4.9 5.56
between "posts that take no time" "$(post_rate 0ps 8)" 12 22

# noisy PROGRAM COLUMN OPTION...: the column of the row of perftest on a host with noise
noisy() {
  local program=$1 column=$2
  shift 2
  "$hcasim" exec "$scenario" "$@" -- host0: $program : host1: $program host0 | awk -v column="$column" '$1 == "host1|" && $2 == 8 { print $column }'
}

# A disturbance of 1.845 us begins 20 us after the end of the one before, on average: 91.6 % of the time is left for posts. It
# delays a ping-pong by up to half of its length, and leaves the typical latency as it is. Its times are the same in each run.
between "posts of a noisy host" "$(noisy "ib_write_bw -F -s 8 -I 8 -n 8000" 6 --set cpu.noise_interval=20us)" 5.95 6.25
latency="ib_write_lat -F -s 8 -n 2000"
between "typical latency of a noisy host" "$(noisy "$latency" 6 --set cpu.noise_interval=200us)" 0.81 0.81
between "largest latency of a noisy host" "$(noisy "$latency" 5 --set cpu.noise_interval=200us)" 1.6 1.8
between "99 % of a noisy host, repeated" "$(noisy "$latency" 9 --set cpu.noise_interval=200us --set session.handoff=futex)" 1.29 1.29

# read_misses QUEUE_PAIRS: of the requester's contexts, 20 READs a queue pair, one at a time, in turn
read_misses() {
  "$hcasim" exec "$scenario" --counters "$folder/counters-$1" -- \
    host0: ib_read_bw -F -s 64 -n 20 -t 1 -q "$1" : host1: ib_read_bw -F -s 64 -n 20 -t 1 -q "$1" host0 >"$folder/out" || cat "$folder/out"
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["host1.hca.context.requester"]["counters"]["misses"])' "$folder/counters-$1"
}

# 320 contexts with LRU replacement: each context is missed once, or at each use
between "misses of 64 queue pairs" "$(read_misses 64)" 64 64
between "misses of 1024 queue pairs" "$(read_misses 1024)" 20480 20480

# messages_in_cqes BYTES: of 100 that host1 receives, where the adapter takes up libmlx5's offer; it copies them out again
messages_in_cqes() {
  "$hcasim" exec "$scenario" --set hosts.host0.hca.device.data_to_cqe=true --set hosts.host1.hca.device.data_to_cqe=true \
    --counters "$folder/counters" -- host0: ibv_rc_pingpong -c -s "$1" -n 100 : host1: ibv_rc_pingpong -c -s "$1" -n 100 host0 >"$folder/out" || cat "$folder/out"
  grep -q invalid "$folder/out" && cat "$folder/out"
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["host1.hca.completion"]["counters"]["with_data"])' "$folder/counters"
}
between "messages of 32 B in CQEs" "$(messages_in_cqes 32)" 100 100
between "messages of 33 B in CQEs" "$(messages_in_cqes 33)" 0 0

# bottleneck LINES: of ib_write_bw in lists of 16, with so many lines of send WQEs on the adapter; 0: no such cache
bottleneck() {
  "$hcasim" exec "$scenario" --set "hosts.host0.hca.send_cache.entries=$1" --set "hosts.host1.hca.send_cache.entries=$1" --out "$folder/run-$1" -- \
    host0: ib_write_bw -F -s 2048 -n 1600 -l 16 : host1: ib_write_bw -F -s 2048 -n 1600 -l 16 host0 >"$folder/out" || cat "$folder/out"
  "$hcasim" explain "$folder/run-$1" --bottleneck | head -1
}
for pair in "0 port.link" "4 transport.wqe"; do
  found=$(bottleneck "${pair% *}")
  [[ $found == "bottleneck: host1.hca.${pair#* }" ]] || { echo "send cache of ${pair% *} lines: $found"; failures=$((failures + 1)); }
done
exit $((failures > 0))
