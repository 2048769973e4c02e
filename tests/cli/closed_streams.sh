#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that programs run in the simulation and find its adapter with any closed standard streams of
# hcasim. Output to closed streams does not enter a file of the run. Arguments: the hcasim program,
# the top of the source tree.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
command -v ibv_devices >/dev/null || { echo 'ibv_devices is not installed'; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0
found='mlx5_0'
program="ibv_devices >$folder/devices"

expect() { # NAME CODE GOT-CODE
  [ "$3" = "$2" ] || { echo "$1: exit code $3, expected $2"; failures=1; }
  grep -q "$found" "$folder/devices" || { echo "$1: no $found"; cat "$folder"/*; failures=1; }
  rm -f "$folder/devices"
}

"$hcasim" exec "$scenario" -- host0: sh -c "$program" <&- >"$folder/out" 2>&1
expect 'no standard input' 0 $?
"$hcasim" exec "$scenario" -- host0: sh -c "$program" >&- 2>"$folder/out"
expect 'no standard output' 0 $?
"$hcasim" exec "$scenario" -- host0: sh -c "$program" 2>&- >"$folder/out"
expect 'no standard error' 0 $?
"$hcasim" exec "$scenario" -- host0: sh -c "$program" <&- >&- 2>&-
expect 'none' 0 $?
"$hcasim" exec --pcap "$folder/pcap" "$scenario" -- host0: sh -c "$program; echo printed" >&- 2>"$folder/err"
[ $? -ne 0 ] || { echo 'what cannot be printed is no error'; failures=1; }
grep -q printed "$folder/pcap" && { echo 'output went into the capture'; failures=1; }
exit $failures
