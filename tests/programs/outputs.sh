#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that the output of programs does not depend on real time. A program that writes without
# blocking always finds room. Where output and error output go to one file, the order of lines is the
# same if the program also computes. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
command -v python3 >/dev/null || { echo 'python3 is not installed'; exit 77; }
. "$(dirname "$0")/../support/script.sh"

# 3 MB, in pieces that are larger than the pipe.
cat >"$folder/fills.py" <<'END'
import os, select
os.set_blocking(1, False)
refused = partial = 0
for i in range(10):
    refused += not select.select([], [1], [], 0)[1]
    partial += os.write(1, b'x' * 299999 + b'\n') != 300000
os.write(2, b'refused %d partial %d\n' % (refused, partial))
END
"$hcasim" exec "$scenario" -- host0: python3 "$folder/fills.py" >"$folder/out" 2>"$folder/err" || fail "exit code $?"
[ "$(cat "$folder/err")" = 'host0| refused 0 partial 0' ] || fail "$(cat "$folder/err")"
[ "$(tr -dc x <"$folder/out" | wc -c)" = 2999990 ] || fail "$(wc -c <"$folder/out") bytes of output"

# Lines on both, and a loop between them.
cat >"$folder/mixes.py" <<'END'
import os, sys
for i in range(20):
    os.write(1 + i % 2, b'%d\n' % i)
    for j in range(int(sys.argv[1])):
        pass
END
for steps in 0 200000; do
  "$hcasim" exec "$scenario" -- host0: python3 "$folder/mixes.py" $steps >"$folder/mixed$steps" 2>&1 || fail "exit code $?"
done
cmp "$folder/mixed0" "$folder/mixed200000" || fail "$(paste "$folder/mixed0" "$folder/mixed200000")"
[ $failures -eq 0 ]
