#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a program may have thousands of regions and completion queues. The cost of a region
# does not depend on their number. Registration and deregistration of large memory does not double
# the memory. Arguments: the hcasim program, the top of the source tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
crowd=$(dirname "$3")/crowd

run() {
  output=$("$hcasim" exec "$scenario" -- host0: "$crowd" "$@" 2>&1) || { echo "$*: exit code $?: $output"; exit 1; }
}
processor_time() {
  TIMEFORMAT='%3U %3S'
  { time run "$@"; } 2>&1 | awk 'NF == 2 { print int(($1 + $2) * 1000) } NF != 2 { print; exit 1 }'
}

run queues 4100
[ "$output" = 'host0| 4100 queues' ] || { echo "$output"; exit 1; }
run large 256
[ "$output" = 'host0| 256 megabytes' ] || { echo "$output"; exit 1; }
few=$(processor_time regions 1000) || { echo "$few"; exit 1; }
many=$(processor_time regions 4500) || { echo "$many"; exit 1; }
[ "$(printf '%s\n6.11\n' "$(uname -r)" | sort -V | head -1)" = 6.11 ] || exit 0 # before, mappings are read one by one
(( many < 10 * few )) || { echo "1000 regions take $few ms of processor time, 4500 take $many"; exit 1; }
