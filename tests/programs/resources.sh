#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `rdma resource` shows the objects of another running program of the host: queue pair,
# completion queue, region and protection domain of a server that waits for its client. Two runs on
# different engines give equal results. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
command -v rdma >/dev/null && command -v ibv_rc_pingpong >/dev/null || exit 77

run() {
  "$hcasim" exec --engine "$1" "$scenario" -- host0: ibv_rc_pingpong -n 20 : host0: sh -c 'sleep 0.1; for what in qp cq mr pd; do rdma resource show $what; done; rdma resource' \
    : host1: sh -c 'sleep 0.5; exec ibv_rc_pingpong -n 20 host0' 2>&1
}
first=$(run native) || { echo "exit code $?: $first"; exit 1; }
second=$(run systemc)
shown=$(grep -E '^host0\| (link|dev|0:) ' <<<"$first" | sed 's/ *$//')
expected='host0| link mlx5_0/1 lqpn 64 rqpn 0 type RC state INIT rq-psn 0 sq-psn 0 path-mig-state MIGRATED pdn 1 pid 1000 comm ibv_rc_pingpong
host0| dev mlx5_0 cqn 128 cqe 511 users 2 pid 1000 comm ibv_rc_pingpong
host0| dev mlx5_0 mrn 16 rkey 0x1001 lkey 0x1001 mrlen 4096 pdn 1 pid 1000 comm ibv_rc_pingpong
host0| dev mlx5_0 pdn 1 users 2 pid 1000 comm ibv_rc_pingpong
host0| 0: mlx5_0: pd 1 cq 1 qp 1 cm_id 0 mr 1 ctx 1 srq 0'
[ "$shown" = "$expected" ] || { echo "$first"; exit 1; }
[ "$first" = "$second" ] || { echo "not twice alike: $first, then $second"; exit 1; }
