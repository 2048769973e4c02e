#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a child that cannot run in virtual time is named, for any method of start and any
# duration. Tracers are refused with a reason. Arguments: the hcasim program, the top of the source
# tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
alone=$(dirname "$3")/alone

expect() { # TEXT COMMAND...
  local text=$1
  shift
  output=$(timeout 60 "$hcasim" exec "$scenario" -- host0: "$@" 2>&1)
  [[ $output == *"$text"* ]] || { echo "$*: expected '$text' in: $output"; exit 1; }
}

expect "hcasim: host0: $alone is statically linked: it runs outside of virtual time" sh -c "$alone"
expect "$alone is statically linked" env "$alone"
expect 'starts without LD_PRELOAD and HCASIM_SHIM in its environment' env -i /bin/true
output=$("$hcasim" exec "$scenario" -- host0: sh -c 'ls / | head -1; env true' 2>&1)
[[ $output != *outside* ]] || { echo "$output"; exit 1; }
! command -v strace >/dev/null || expect 'debuggers and tracers' strace /bin/true
