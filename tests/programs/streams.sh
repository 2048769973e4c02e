#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that programs whose streams are pipes repeat. libc reads and writes for its streams itself,
# and waits where the library tracks it. More bytes than a pipe holds arrive in order, and the run
# reports no unsupported call. Arguments: the hcasim program, the top of the
# source tree.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
. "$(dirname "$0")/../support/script.sh"

script='seq 40000 | sed s/7/x/ | sort | uniq | md5sum; echo end | awk "{ print NR, \$1 }"; (sleep 0.2; echo late) | md5sum'
expected=$(bash -c "$script" | sed 's/^/host0| /')
for run in 1 2; do
  "$hcasim" exec --verbose "$scenario" -- host0: sh -c "$script" >"$folder/out$run" 2>"$folder/err$run" || fail "exit code $?"
done
[ "$(cat "$folder/out1")" = "$expected" ] || fail "$(cat "$folder/out1")"
grep -q 'not followed' "$folder/err1" && fail "$(cat "$folder/err1")"
cmp "$folder/err1" "$folder/err2" || fail "not the same in each run: $(cat "$folder/err1" "$folder/err2")"
[ $failures -eq 0 ]
