#!/bin/bash
# Proves that `hcasim mpi` runs an unmodified MPI program over the packets of a scenario's HCAs: its data arrive, its
# latencies are the sums of what HCA, wire and switch take, the same bytes come out twice and with each kernel, a replay of
# its trace sends the same messages at the same times, loss costs time and no data, and what is wrong is said.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$(realpath "$1")
source=$(realpath "$2")
[ -e "$(dirname "$hcasim")/libhcasim-smpi.so" ] || { echo "a build with sanitizers has no libhcasim-smpi.so"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
  echo "$*"
  failures=$((failures + 1))
}

smpicc -O1 -Wall -o talk "$source/tests/mpi/talk.c" || { echo "smpicc does not compile"; exit 1; }
cat >four.yaml <<'EOF'
hosts: {count: 4, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {rate: 100Gbps, length: 1m}, switch: {crossing_latency: 90ns}}
EOF
cat >tree.yaml <<'EOF'
hosts: {count: 0, hca: {fidelity: endpoint}}
fabric: {link_layer: infiniband, topology: {kind: fat-tree, arity: 4}, link: {rate: 100Gbps}}
EOF

# mpi CODE NAME [argument ...]: leaves NAME.out and NAME.err
mpi() {
  local code=$1 name=$2
  shift 2
  timeout -s KILL 60 "$hcasim" mpi "$@" >"$name.out" 2>"$name.err"
  local found=$?
  [ $found -eq "$code" ] || fail "$*: exit code $found for $code: $(head -c 2000 "$name.out" "$name.err")"
}

# Twice, and with each kernel.
for run in native again hosted reference; do
  mpi 0 $run four.yaml --kernel ${run/again/native} --out $run-results -- ./talk allreduce
  cmp native.out $run.out && cmp native.err $run.err || fail "what $run printed differs"
  diff -r native-results $run-results || fail "$run differs from native"
done
[ "$(grep -c . native.out)" -eq 2 ] || fail "allreduce printed: $(cat native.out)"

# Half a round trip, in picoseconds: send_latency 600 ns, receive_latency and complete_latency 100 ns each, the switch 90 ns,
# two cables of 5 ns, and at 80 ps a byte 8 of preamble once more and the frame: preamble, Ethernet, IP, UDP, BTH, ICRC, FCS, and
# the message with the 16 bytes that SMPI adds, in whole words. The clock takes 10 ns, once in 20.
mpi 0 pingpong four.yaml --np 2 -- ./talk pingpong
for bytes in 1 8 64 512; do
  expected=$((600000 + 2 * 100000 + 90000 + 2 * 5000 + 80 * 8 + 80 * (8 + 14 + 20 + 8 + 12 + (bytes + 16 + 3) / 4 * 4 + 4 + 4) + 10000 / 20))
  found=$(awk -v bytes=$bytes '$2 == bytes { printf "%d", $3 * 1e6 + 0.5 }' pingpong.out)
  [ "$found" = "$expected" ] || fail "pingpong of $bytes bytes: $found ps; expected $expected"
done

# 1 MiB five times at 100 Gb/s less headers, all ranks at once, each on links of its own: 427 us and the latencies.
mpi 0 ring tree.yaml -- ./talk ring
awk '{ exit !($2 > 425 && $2 < 440) }' ring.out || fail "ring: $(cat ring.out)"
grep -q '^16 ranks, .* messages, .* bytes, .* packet-hops, ' ring.err || fail "ring: $(cat ring.err)"

# Live and replayed: the same messages at the same times.
for what in pingpong ring allreduce; do
  mpi 0 live tree.yaml --out $what-live --capture $what-trace -- ./talk $what untimed
  mpi 0 replay tree.yaml --out $what-replay --replay $what-trace
  cmp live.err replay.err || fail "$what: the replay's sums differ"
  cmp $what-live/flows.csv $what-replay/flows.csv || fail "$what: the replay's messages differ"
  cmp $what-live/counters.json $what-replay/counters.json || fail "$what: the replay's counters differ"
done
mpi 0 replay tree.yaml --replay ring-trace --set fabric.link.rate=50Gbps
awk '{ exit !($9 > 850 && $9 < 880) }' replay.err || fail "a replay over slower links: $(cat replay.err)"

# Parameters of the library.
mpi 0 slow four.yaml --np 2 --set mpi.send_overhead=1us --set mpi.clock=1ns -- ./talk pingpong
awk '$2 == 8 { exit !($3 > 1.90 && $3 < 1.92) }' slow.out || fail "send_overhead: $(cat slow.out)"

# Lost packets come again, a lost connection ends the program; an expectation decides the exit code.
mpi 0 lossy tree.yaml --set 'faults=[{drop: {probability: 1%}}]' --set 'expect=[{counter: "*.packets_resent", at_least: 10}]' -- ./talk allreduce
mpi 1 lost four.yaml --np 2 --set 'faults=[{from: host0, to: "*", drop: {probability: 1}}]' -- ./talk pingpong
grep -q "retries were exceeded" lost.err || fail "lost: $(cat lost.err)"
mpi 1 expect four.yaml --set 'expect=[{counter: "*.packets_resent", at_least: 10}]' -- ./talk ring
mpi 3 wrong four.yaml -- ./talk wrong

# refused TEXT [argument ...]
refused() {
  local text=$1
  shift
  mpi 2 refused "$@"
  grep -q -- "$text" refused.err || fail "$*: $(cat refused.err)"
}
refused "no program; expected -- PROGRAM ARGS" four.yaml
refused "5 ranks, and 4 hosts; expected a host for each rank" four.yaml --np 5 -- ./talk ring
refused "\"p\" is no number of ranks" four.yaml -np 5 -- ./talk ring
refused "./none is no program that can be run" four.yaml -- ./none
refused "/bin/true is not compiled for SMPI; expected a program of smpicc" four.yaml -- /bin/true
refused "cuts arguments at spaces" four.yaml -- ./talk "a b"
refused "none: No such file or directory; expected what --capture has written" four.yaml --replay none
refused "16 ranks, and 4 hosts" four.yaml --replay ring-trace
refused "16 ranks are traced; expected --np 16" tree.yaml --np 4 --replay ring-trace
refused "both --replay and a program" tree.yaml --replay ring-trace -- ./talk ring
refused "fidelity: flow has no programs" four.yaml --set fabric.fidelity=flow -- ./talk ring
refused "the HCAs are detailed; expected hosts" "$source/scenarios/two-hosts-ib.yaml" -- ./talk ring
refused "mpi.eager: \"x\"\|eager: \"x\"" four.yaml --set mpi.eager=x -- ./talk ring
rm ring-trace_files/rank3.txt
refused "ring-trace:4: ring-trace_files/rank3.txt" tree.yaml --replay ring-trace

[ $failures -eq 0 ]
