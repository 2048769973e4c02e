#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that the port's counters in sysfs, and `rdma statistic`, show the adapter's counts at the
# time of the read: packets and four-byte words of WRITEs of known size, at both ends. Two runs on
# different engines give equal results. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
command -v rdma >/dev/null && command -v ib_write_bw >/dev/null || exit 77
fail() { echo "$*"; exit 1; }

read_all='cd /; for name in counters/port_xmit_data counters/port_rcv_data counters/port_xmit_packets hw_counters/rx_write_requests hw_counters/out_of_sequence; do
  echo $name $(cat /sys/class/infiniband/mlx5_0/ports/1/$name); done'
run() {
  "$hcasim" exec --engine "$1" "$scenario" -- host0: sh -c "$read_all; ib_write_bw -F -n 100 -s 65536 >/dev/null; $read_all; rdma statistic" \
    : host1: sh -c "sleep 0.1; ib_write_bw -F -n 100 -s 65536 host0 >/dev/null; $read_all" 2>&1
}
first=$(run native) || fail "exit code $?: $first"
value() { sed -nE "s,^$1\\| $2 ([0-9]+).*,\\1,p" <<<"$first" | tail -n 1; }
[[ $first == *'host0| counters/port_rcv_data 0'* ]] || fail "not 0 at the start: $first"
# 100 WRITEs of 64 KiB in packets of 4 KiB: 16 each, 26 bytes of headers without VCRC, 16 more in the first
data=$(((100 * (65536 + 16 * 24 + 16)) / 4))
sent=$(value host1 counters/port_xmit_data)
[ "$(value host0 hw_counters/rx_write_requests)" = 100 ] || fail "$first"
[ "$sent" = $data ] || fail "$sent words sent, expected $data: $first"
[ "$(value host0 counters/port_rcv_data)" = "$sent" ] || fail "$first"
[ "$(value host1 counters/port_rcv_data)" = 700 ] || fail "$first" # 100 ACKs of 28 bytes
[ "$(value host1 counters/port_xmit_packets)" = 1600 ] || fail "$first"
[[ $first =~ 'host0| link mlx5_0/1 '.*'rx_write_requests 100 ' ]] || fail "rdma statistic: $first"
[ "$first" = "$(run systemc)" ] || fail "not twice alike"
