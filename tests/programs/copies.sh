#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a run does not depend on the way in which memmove() fills a line of a doorbell page,
# which differs between processors: ascending, in another order, or twice (copies.c). Each WQE of
# UCX is one store of BlueFlame. Arguments: the hcasim program, the top of the source tree, a
# program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
copies=$(dirname "$3")/copies.so
command -v ucx_perftest >/dev/null || { echo 'ucx_perftest is not installed'; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
put='ucx_perftest -d mlx5_0:1 -x rc_mlx5 -t put_bw -n 1000 -w 10'
failures=0

for order in order sse2 down twice; do
  "$hcasim" exec "$scenario" --set cpu.post_interval=0ps --counters "$folder/$order.json" -- host0: $put : host1: sh -c "COPIES=$order LD_PRELOAD=\"\$LD_PRELOAD $copies\" exec $put host0" \
    >"$folder/$order" 2>&1 || { echo "$order: exit code $?"; failures=1; }
  grep -q 'host1| Final: *1000 *0\.065 *0\.066 *0\.066 ' "$folder/$order" || { cat "$folder/$order"; failures=1; }
  grep -q '"host1.hca.doorbell": {"type": "doorbell", "counters": {"doorbells": 0, "blueflame": 1025,' "$folder/$order.json" || { echo "$order: not 1025 stores"; failures=1; }
done
exit $failures
