#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a run names a program without requests for session.silence of real time, because the
# program may poll its own memory and never end. The message does not change the run. Arguments: the
# hcasim program, the top of the source tree.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
. "$(dirname "$0")/../support/script.sh"

script='i=0; while [ $i -lt 2000000 ]; do i=$((i + 1)); done; date +%s.%N'
for silence in 20ms 0s; do
  "$hcasim" exec --verbose --set session.silence=$silence "$scenario" -- host0: sh -c "$script" >"$folder/out-$silence" 2>"$folder/err-$silence" ||
    fail "exit code $?"
done
cmp "$folder/out-20ms" "$folder/out-0s" || fail 'another run'
named='hcasim: host0: process 1000 runs without a request for 0.02 s of real time: it computes, or polls its own memory, in which case the run does not end'
[ "$(grep -c 'runs without a request' "$folder/err-20ms")" = 1 ] || fail "$(cat "$folder/err-20ms")"
grep -qxF "$named" "$folder/err-20ms" || fail "$(cat "$folder/err-20ms")"
diff <(grep -v 'runs without' "$folder/err-20ms") "$folder/err-0s" || fail 'another run'
[ $failures -eq 0 ]
