#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a program finds nothing on its stack that depends on real time: not how long a request
# waited, nor whether its thread slept or spun meanwhile, nor what the machine did while the process
# started. Arguments: the hcasim program, the top of the source tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
stack=$(dirname "$3")/stack
. "$(dirname "$0")/../support/script.sh"

for handoff in futex spin auto; do
  "$hcasim" exec --set session.handoff=$handoff "$scenario" -- host0: "$stack" : host1: "$stack" >"$folder/$handoff" 2>&1 ||
    fail "$handoff: exit code $?: $(cat "$folder/$handoff")"
  [ "$(grep -c '^host[01]|' "$folder/$handoff")" = 102 ] || fail "$handoff: $(cat "$folder/$handoff")"
  sort "$folder/$handoff" >"$folder/sorted-$handoff"
  cmp "$folder/sorted-futex" "$folder/sorted-$handoff" || fail "futex and $handoff leave other bytes on the stack"
done
exit $failures
