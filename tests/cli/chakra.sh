#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that Chakra execution traces are a workload. A node begins when the nodes that it depends on
# have ended, to the picosecond. Collectives are those of the patterns of the same name. Errors name
# the file, the byte and the node. Arguments: the hcasim program, the top of the source tree.
hcasim=$(realpath "$1")
top=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1

cat >study.yaml <<'EOF'
hosts: {count: 4, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {rate: 100Gbps}}
workload: {pattern: chakra, trace: t.%d.et, operation: send}
EOF

sed 's/, trace: t.%d.et//; s/chakra/incast/' study.yaml >pattern.yaml

# traces < TEXT: writes t.0.et, ...
traces() {
  rm -f t.*.et
  python3 "$top/tests/support/chakra_trace.py" t
}

# run NAME: the flows, as SOURCE-DESTINATION-BYTES READY STARTED ARRIVED FINISHED in ps
run() {
  local file=study.yaml
  [[ $1 == *.pattern ]] && file=pattern.yaml
  "$hcasim" run $file --out "$1" "${@:2}" >log 2>&1 || fail "$1: $(cat log)"
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { printf "%s-%s-%s %.0f %.0f %.0f %.0f\n", $at["source"], $at["destination"], $at["bytes_B"], $at["ready_us"] * 1e6,
             $at["started_us"] * 1e6, $at["arrived_us"] * 1e6, $at["finished_us"] * 1e6 }' "$1/flows.csv" | sort >"$1.flows"
}

# of RUN FLOW COLUMN: picoseconds of a flow
of() {
  awk -v flow="$2" -v column="$3" '$1 == flow { print $column }' "$1.flows"
}
ready=2 arrived=4 finished=5

# same A B TEXT
same() {
  [ -n "$1" ] && [ "$1" = "$2" ] || fail "$3: $1, expected $2"
}

# Messages and times. Rank 1 begins its comp when the recv has its message, and sends 2 us later.
# Rank 0 sends when comp and load have ended.
traces <<'EOF'
rank 0
1 comp us=3
2 load us=5 tensor_size=u:64
9 send comm_dst=1 comm_size=1000 comm_tag=7 data=1 ctrl=2 is_cpu_op=false
rank 1
2 recv comm_src=0 comm_tag=s:7 comm_size=1000 is_cpu_op=false
3 comp us=2 ctrl=2
4 send comm_dst=2 comm_size=u:64 ctrl=3
rank 2
1 meta us=50
2 recv comm_src=1
3 send comm_dst=3 comm_size=8 data=2
4 send comm_dst=3 comm_size=9 data=1
rank 3
1 recv comm_src=2
2 recv comm_src=2
EOF
run messages
same "$(of messages 0-1-1000 $ready)" 5000000 "send of rank 0 begins"
same "$(of messages 1-2-64 $ready)" $(($(of messages 0-1-1000 $arrived) + 2000000)) "send of rank 1 begins"
same "$(of messages 2-3-8 $ready)" "$(of messages 1-2-64 $arrived)" "send of rank 2 begins"
same "$(of messages 2-3-9 $ready)" 0 "METADATA takes no time: send begins"
grep -q '"ignored": "attributes tensor_size (1), is_cpu_op (2)"' messages/summary.json || fail "ignored: $(grep ignored messages/summary.json)"
grep -q '^ignored    attributes tensor_size (1), is_cpu_op (2)$' log || fail "ignored: $(cat log)"
for engine in systemc systemc-reference; do
  run $engine --engine $engine
  cmp messages.flows $engine.flows || fail "$engine differs"
done

# A collective is the pattern of that name.
everyone() {
  for rank in 0 1 2 3; do printf 'rank %d\n1 %s\n' $rank "$1"; done | traces
}
like() {
  everyone "$2"
  run "$1"
  run "$1.pattern" --set workload.pattern="$1" --set workload.bytes="$3"
  cmp "$1.flows" "$1.pattern.flows" || fail "$1 is not the pattern"
  [ "$(wc -l <"$1.flows")" -ge 12 ] || fail "$1: $(cat "$1.flows")"
}
like ring_allreduce 'all_reduce comm_size=1000000' 1000000B
like ring_allgather 'all_gather comm_size=50000' 50000B
like collective_all_to_all 'all_to_all comm_size=400000' 100000B

# reduce-scatter: the first half of an all-reduce. Both names are one.
everyone 'reduce_scatter comm_size=1000000'
run scatter
everyone 'reduce_scatter_block comm_size=1000000'
run block
cmp scatter.flows block.flows || fail "reduce_scatter_block"
[ "$(wc -l <scatter.flows)" -eq 12 ] || fail "reduce-scatter: $(cat scatter.flows)"
join -j 1 <(sort -k1,1 -k2,2n ring_allreduce.flows | awk '{ print $1 "." n[$1]++, $2, $3, $4, $5 }' | sort) \
  <(sort -k1,1 -k2,2n scatter.flows | awk '{ print $1 "." n[$1]++, $2, $3, $4, $5 }' | sort) |
  awk '$2 != $6 || $3 != $7 || $4 != $8 || $5 != $9 { wrong++ } END { exit !(NR == 12 && !wrong) }' || fail "reduce-scatter is not half of an all-reduce"

# Trees. Members are ranks 3, 0, 1, 2 from the root on: 3 to 1, then 3 to 0 and 1 to 2; and back.
everyone 'broadcast comm_size=5000 comm_src=3'
run broadcast
same "$(cut -d' ' -f1 broadcast.flows | tr '\n' ' ')" '1-2-5000 3-0-5000 3-1-5000 ' broadcast
same "$(of broadcast 1-2-5000 $ready)" "$(of broadcast 3-1-5000 $arrived)" "rank 1 passes the broadcast on"
same "$(of broadcast 3-0-5000 $ready)" "$(of broadcast 3-1-5000 $finished)" "the root sends again"
everyone 'scatter comm_size=4000 comm_src=3'
run tree
same "$(cut -d' ' -f1 tree.flows | tr '\n' ' ')" '1-2-1000 3-0-1000 3-1-2000 ' scatter
everyone 'gather comm_size=1000 comm_src=3'
run gather
same "$(cut -d' ' -f1 gather.flows | tr '\n' ' ')" '0-3-1000 1-3-2000 2-1-1000 ' gather
same "$(of gather 1-3-2000 $ready)" "$(of gather 2-1-1000 $arrived)" "rank 1 waits for rank 2"
everyone 'reduce comm_size=700 comm_src=3'
run reduce
same "$(cut -d' ' -f1 reduce.flows | tr '\n' ' ')" '0-3-700 1-3-700 2-1-700 ' reduce

# The root leaves when all have arrived: rank 0, which is late, sends in the first step.
for rank in 0 1 2 3; do printf 'rank %d\n1 comp us=%d\n2 reduce comm_size=700 comm_src=3 data=1\n' $rank $((rank == 0 ? 50 : 0)); done |
  sed '$a 3 send comm_dst=2 comm_size=77 data=2' | sed '/^rank 3/i 3 recv comm_src=3' | traces
run late
same "$(of late 0-3-700 $ready)" 50000000 "rank 0 is late"
same "$(of late 3-2-77 $ready)" "$(of late 0-3-700 $arrived)" "the root leaves the reduce"

# A barrier ends when the last member, at 9 us, has come, and two steps more. Rank 0 leaves at the
# arrival of the second step from rank 2.
for rank in 0 1 2 3; do printf 'rank %d\n1 comp us=%d\n2 barrier data=1\n3 send comm_dst=%d comm_size=77 data=2\n4 recv comm_src=%d\n' \
  $rank $((rank == 1 ? 9 : 0)) $(((rank + 1) % 4)) $(((rank + 3) % 4)); done | traces
run barrier
[ "$(grep -c -- '-77 ' barrier.flows)" -eq 4 ] || fail "barrier: $(cat barrier.flows)"
same "$(awk '/-77 / && $2 <= 9000000' barrier.flows | wc -l)" 0 "members that leave the barrier early"
same "$(of barrier 0-1-77 $ready)" "$(of barrier 2-0-1 $arrived)" "rank 0 leaves the barrier"

# Groups: ranks 0 and 2, and 1 and 3, each with two collectives of their own.
for rank in 0 1 2 3; do printf 'rank %d\n1 all_reduce comm_size=2000 pg_name=g%d\n2 all_gather comm_size=300 pg_name=g%d data=1\n' \
  $rank $((rank % 2)) $((rank % 2)); done | traces
run groups
same "$(cut -d' ' -f1 groups.flows | uniq -c | awk '{ print $1 "x" $2 }' | tr '\n' ' ')" \
  '2x0-2-1000 1x0-2-300 2x1-3-1000 1x1-3-300 2x2-0-1000 1x2-0-300 2x3-1-1000 1x3-1-300 ' groups

# The example, which the script has written.
python3 "$top/tests/support/chakra_trace.py" training <"$top/tests/data/chakra/training.txt"
for rank in 0 1 2 3; do
  cmp training.$rank.et "$top/tests/data/chakra/training.$rank.et" || fail "training.$rank.et is not of training.txt"
done
run training --set workload.trace="$top/tests/data/chakra/training.%d.et"
[ "$(wc -l <training.flows)" -eq 34 ] || fail "training: $(wc -l <training.flows) flows"
"$hcasim" run study.yaml --threads 2 --set workload.trace=training.%d.et --out threads >log 2>&1 || fail "threads: $(cat log)"
cmp training/flows.csv threads/flows.csv || fail "two threads differ"

# wrong TEXT: the traces of standard input are refused
wrong() {
  traces
  refused "$1"
}
refused() {
  "$hcasim" run study.yaml >log 2>&1
  local code=$?
  [ $code -eq 2 ] || fail "$1: exit code $code"
  grep -qF -- "study.yaml:3:$1" log || fail "$1: $(cat log)"
}
at='29: trace: t.0.et: byte'
wrong "$at 8: node 1: type 9; expected a NodeType of 1 to 7" <<<$'rank 0\n1 9'
wrong "$at 8: node 1: a COMM_SEND_NODE without comm_dst; expected the rank of its peer" <<<$'rank 0\n1 send comm_size=1'
wrong "$at 8: node 1: a COMM_SEND_NODE without comm_size; expected a number of bytes" <<<$'rank 0\n1 send comm_dst=0'
wrong "$at 8: node 1: comm_dst is 5; expected a rank of 0 to 0" <<<$'rank 0\n1 send comm_dst=5 comm_size=1'
wrong "$at 8: node 1: comm_src is 1 in the trace of rank 0" <<<$'rank 0\n1 send comm_dst=0 comm_src=1 comm_size=1'
wrong "$at 8: node 1: comm_size is no integer; expected an integer" <<<$'rank 0\n1 send comm_dst=0 comm_size=true'
wrong "$at 8: node 1: comm_size is -4; expected 0 or more" <<<$'rank 0\n1 send comm_dst=0 comm_size=-4'
wrong "$at 8: node 1: comm_size is 1000000000001; expected 1000000000000 at most" <<<$'rank 0\n1 send comm_dst=0 comm_size=1000000000001'
wrong "$at 8: node 1: pg_name is no string; expected a string" <<<$'rank 0\n1 barrier pg_name=4'
wrong "$at 8: node 1: a COMM_COLL_NODE without comm_type; expected 0 to 9" <<<$'rank 0\n1 7 comm_size=1'
wrong "$at 8: node 1: comm_type is 10; expected 0 to 9" <<<$'rank 0\n1 7 comm_type=10'
wrong "$at 8: node 1: a COMM_COLL_NODE without comm_size; expected a number of bytes" <<<$'rank 0\n1 all_gather'
wrong "$at 8: node 1: duration_micros is 1000000000001; expected 1000000000000 at most" <<<$'rank 0\n1 comp us=1000000000001'
wrong "$at 8: node 1: depends on node 4, which the file does not have" <<<$'rank 0\n1 comp data=4'
wrong "$at 19: node 1: the node before it at byte 8 has the same id" <<<$'rank 0\n1 comp\n1 comp'
wrong "$at 8: node 1: no recv matches this send" <<<$'rank 0\n1 send comm_dst=1 comm_size=1\nrank 1'
wrong "$at 8: node 1: no send matches this recv" <<<$'rank 0\n1 recv comm_src=1\nrank 1'
wrong "$at 8: node 1: 1 of the 2 ranks of group \"\" have its collective 0; expected all" <<<$'rank 0\n1 barrier\nrank 1'
wrong '29: trace: t.1.et: byte 8: node 1: comm_type, comm_size or comm_src of collective 0 of group "" is not as in rank 0' \
  <<<$'rank 0\n1 all_gather comm_size=1\nrank 1\n1 all_gather comm_size=2'
wrong "$at 8: node 1: the root is rank 3 (comm_src), which is not in group \"\"" <<<$'rank 0\n1 broadcast comm_size=1 comm_src=3'
wrong '29: trace: t.%d.et: operations wait for each other in a circle' <<<$'rank 0\n1 comp data=2\n2 comp data=1'
wrong '29: trace: t.%d.et: files of more than 4 ranks, and 4 hosts' <<<$'rank 0\nrank 1\nrank 2\nrank 3\nrank 4'
wrong '29: trace: t.%d.et: rank 2 has a file, and rank 1 has none' <<<$'rank 0\nrank 2'
wrong '29: trace: t.0.et cannot be read: No such file or directory' <<<''
wrong '29: t.%d.et: no flow begins; expected at least one' <<<$'rank 0'
head -c 30 training.0.et >t.0.et
refused "$at 8: a message of 26 bytes begins here, and the file has 21 more: it is cut, or no Chakra trace"
: >t.0.et
refused "$at 0: the file is empty"
printf '\x07\x0a\x050.0.4\xff' >t.0.et
refused "$at 8: the file ends inside a length"
printf '\x07\x0a\x050.0.4\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01' >t.0.et
refused "$at 8: found a length of more than 10 bytes; expected a varint"
printf '\x07\x0a\x050.0.4\x02\x08\xff' >t.0.et
refused "$at 8: a message of 2 bytes is no Node"
printf '\x02\x0a\x05' >t.0.et
refused "$at 0: the first message is no GlobalMetadata"
gzip -c training.0.et >t.0.et
refused "$at 0: the file is compressed; run gunzip first"
sed -i 's/t.%d.et/t.0.et/' study.yaml
refused '29: trace: t.0.et: expected %d once, for the number of the rank'

[ $failures -eq 0 ]
