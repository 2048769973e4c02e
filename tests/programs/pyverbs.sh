#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that pyverbs and the Python interpreter run unmodified. pairs.py describes the actions.
# Twice alike. Arguments: the hcasim program, the top of the source tree. Exit code 77: pyverbs is
# not installed.
hcasim=$1
source=$2
python=/usr/bin/python3 # the one that Debian's modules are for
"$python" -c 'import pyverbs.device' 2>/dev/null || exit 77

run() {
  "$hcasim" exec --verbose "$source/scenarios/two-hosts-ib.yaml" -- host0: "$python" "$source/tests/programs/pairs.py" 2>&1 </dev/null
}

first=$(run) || { echo "exit code $?: $first"; exit 1; }
grep -qx 'host0| read back pyverbs!' <<<"$first" && grep -qx 'host0| in lists abcdefghijklmnopqrstuvwxyz' <<<"$first" &&
  grep -qx 'host0| the time stamp lies within the transfer' <<<"$first" && grep -qx 'host0| the clock was read by load 2 of three, in 2480 ns' <<<"$first" &&
  grep -qx 'host0| refused what verbs refuse' <<<"$first" || { echo "$first"; exit 1; }
second=$(run)
[ "$first" = "$second" ] || { echo "not twice alike: $first, then $second"; exit 1; }
