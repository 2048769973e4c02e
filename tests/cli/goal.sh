#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a GOAL file is a workload. Each flow begins in the picosecond in which the last
# requirement of its send ends. A recv that requires more than its message ends when all have ended.
# Errors in a file are reported at their line. Arguments: the hcasim program, the top of the source
# tree.
hcasim=$(realpath "$1")
top=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1

cat >study.yaml <<'EOF'
hosts: {count: 4, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {rate: 100Gbps}}
workload: {pattern: goal, trace: schedule.goal, operation: send}
EOF

# Rank 0 computes for 1.5 us and sends to 1. Rank 1 waits for that and its own 4 us, then sends to
# 2. Rank 3 sends after 2 has begun to wait for it. Rank 2 sends to itself and then to 3. Rank 1
# sends a second message with the same tag.
cat >schedule.goal <<'EOF'
num_ranks 4 // hosts
rank 0 {
l1: calc 1500
/* the first
   message */ l2: send 1000b to 1 tag 7 cpu 0 nic 0
l2 requires l1
l3: send 0b to 1 tag 7
l3 requires l2
}
rank 1 {
l1: recv 1000b from 0 tag 7
l2: calc 4000 cpu 1
l3: send 64b to 2 tag 1
l3 requires l1
l3 requires l2
l4: recv 0b from 0 tag 7
l4 requires l2
l5: send 2b to 0 tag 9
l5 requires l4
}
rank 3 {
recv 8b from 2
}
rank 2 {
a: recv 64b from 1 tag 1
b: send 5b to 2
c: recv 5b from 2
d: send 8b to 3
d requires c
c irequires a
}
rank 0 {
x: recv 2b from 1 tag 9
}
EOF

# at FLOW COLUMN: picoseconds
at() {
  awk -F, -v flow="$1" -v name="$2_us" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
    $1 == flow { printf "%.0f", $column * 1e6 }' out/flows.csv
}

"$hcasim" run study.yaml --out out >log 2>&1 || fail "run: $(cat log)"
[ "$(grep -c ,done, out/flows.csv)" -eq 5 ] || fail "flows: $(cat out/flows.csv)"
mapfile -t flow < <(awk -F, 'NR > 1 { print $2 "-" $3 "-" $7 "=" $1 }' out/flows.csv)
declare -A number
for entry in "${flow[@]}"; do number[${entry%=*}]=${entry#*=}; done
first=${number[0-1-1000]} second=${number[0-1-1]} onward=${number[1-2-64]} back=${number[1-0-2]} late=${number[2-3-8]}
[ "$(at "$first" ready)" = 1500000 ] || fail "the first begins at $(at "$first" ready)"
[ "$(at "$second" ready)" = "$(at "$first" finished)" ] || fail "the second does not follow the first"
[ "$(at "$onward" ready)" = 4000000 ] || fail "rank 1 has computed until $(at "$onward" ready)"
[ "$(at "$back" ready)" = "$(at "$second" arrived)" ] || [ "$(at "$back" ready)" = 4000000 ] || fail "back: $(at "$back" ready)"
[ "$(at "$late" ready)" = 0 ] || fail "what irequires a recv of rank 2 begins at $(at "$late" ready)"

for engine in systemc systemc-reference; do
  "$hcasim" run study.yaml --engine $engine --out $engine >log 2>&1 || fail "$engine: $(cat log)"
  diff -r out $engine || fail "$engine differs"
done
"$hcasim" run study.yaml --set fabric.fidelity=flow >log 2>&1 || fail "flow: $(cat log)"

# The binary form that txt2bin writes gives the same run.
data=$top/tests/data/goal
for form in goal bin; do
  "$hcasim" run study.yaml --set workload.trace="$data/schedule.$form" --out form.$form >log 2>&1 || fail "$form: $(cat log)"
done
cmp form.goal/flows.csv form.bin/flows.csv || fail "the binary form is another run"
[ "$(grep -c ,done, form.bin/flows.csv)" -eq 5 ] || fail "binary: $(cat form.bin/flows.csv)"
head -c 300 "$data/schedule.bin" >short.bin
"$hcasim" run study.yaml --set workload.trace=short.bin >log 2>&1
[ $? -eq 2 ] && grep -q 'short.bin: the binary GOAL file is damaged: ' log || fail "a file that is cut: $(cat log)"

# wrong TEXT LINE...: a file of these lines
wrong() {
  local text=$1
  shift
  printf '%s\n' "$@" >schedule.goal
  "$hcasim" run study.yaml >log 2>&1
  local code=$?
  [ $code -eq 2 ] || fail "$*: exit code $code"
  grep -qF -- "schedule.goal:$text" log || fail "$*: $(cat log)"
}
wrong '1: found "rank"; expected num_ranks first' 'rank 0 {' '}'
wrong '1: 5 ranks, and 4 hosts' 'num_ranks 5'
wrong '2: rank 9 of num_ranks 4' 'num_ranks 4' 'rank 9 {'
wrong '3: found "sned"; expected calc, send or recv' 'num_ranks 2' 'rank 0 {' 'l1: sned 1b to 1' '}'
wrong '3: expected a number of bytes, as 8b behind send' 'num_ranks 2' 'rank 0 {' 'send 10 to 1' '}'
wrong '3: "7" is not a rank; expected 0 to 1' 'num_ranks 2' 'rank 0 {' 'send 10b to 7' '}'
wrong '3: a recv from any rank is not supported' 'num_ranks 2' 'rank 0 {' 'recv 10b from -1' '}'
wrong '3: a recv of any tag is not supported' 'num_ranks 2' 'rank 0 {' 'recv 10b from 1 tag -1' '}'
wrong '4: rank 0 has no "l9"' 'num_ranks 2' 'rank 0 {' 'l1: calc 1' 'l1 requires l9' '}'
wrong '4: "l1" is defined twice in rank 0' 'num_ranks 2' 'rank 0 {' 'l1: calc 1' 'l1: calc 2' '}'
wrong '3: no recv matches this send' 'num_ranks 2' 'rank 0 {' 'send 1b to 1' '}'
wrong '3: no send matches this recv' 'num_ranks 2' 'rank 0 {' 'recv 1b from 1' '}'
wrong '3: no recv with tag 1 matches this send' 'num_ranks 2' 'rank 0 {' 'send 1b to 1 tag 1' '}' 'rank 1 {' 'recv 1b from 0 tag 2' '}'
wrong '7: operations wait for each other in a circle' 'num_ranks 2' 'rank 0 {' 'a: calc 1' 'a requires b' 'b: calc 1' 'b requires a' '}'
wrong '3: rank 0 has no }' 'num_ranks 2' 'rank 0 {' 'calc 1'
wrong '2: num_ranks is defined twice' 'num_ranks 2' 'num_ranks 2'
wrong '3: 99999999999999999999b: expected 1000000000000 at most' 'num_ranks 2' 'rank 0 {' 'send 99999999999999999999b to 1' '}'
wrong '3: 1000000000000001: expected 1000000000000000 at most' 'num_ranks 2' 'rank 0 {' 'calc 1000000000000001' '}'
wrong '3: found "x"; expected the end of the line' 'num_ranks 2' 'rank 0 {' 'a: send 1b to 1 tag 0 cpu 0 nic 0 x' '}'
wrong '2: the line has more than 1022 bytes' 'num_ranks 2' "// $(printf '%01100d' 0)"
wrong '1: found "rank"; expected num_ranks first' '/*/ num_ranks 2 */ rank 0 {'
rm schedule.goal
"$hcasim" run study.yaml >log 2>&1
[ $? -eq 2 ] || fail "no file: exit code $?"
grep -q 'schedule.goal cannot be read: No such file or directory' log || fail "no file: $(cat log)"

[ $failures -eq 0 ]
