#!/bin/bash
# Proves that unmodified UCX works on simulated adapters over its verbs transports: it connects by UD, exchanges its messages
# by RC, and says what one takes. Its figures are not compared to the last digit: it measures the clock's frequency before the
# preload library is there.
# Arguments: the hcasim program, the top of the source tree. Exit code 77: ucx_perftest is not installed.
hcasim=$1
source=$2
command -v ucx_perftest >/dev/null || exit 77

perftest=(ucx_perftest -t tag_lat -n 100 -w 10)
output=$(UCX_TLS=rc_verbs,ud_verbs,self "$hcasim" exec --set session.limit=1s "$source/scenarios/two-hosts-ib.yaml" -- \
  host0: "${perftest[@]}" : host1: "${perftest[@]}" host0 2>&1 </dev/null) || {
  echo "exit code $?: $output"
  exit 1
}
echo "$output" | awk '/host1\| Final:/ {count = $3; typical = $4} END {exit !(count == 100 && typical > 0.7 && typical < 1.6)}' || {
  echo "no 100 messages within 0.7 to 1.6 us: $output"
  exit 1
}
! grep -E "ERROR|WARN|determinism" <<<"$output"
