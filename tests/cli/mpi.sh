#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim mpi` runs an unmodified MPI program over the packets of a scenario's HCAs. Its
# data arrive. Its latencies are the sums of those of HCA, wire and switch. On detailed HCAs they
# are the latencies of a workload. HCAs of either fidelity, or of both, have the same messages and
# packets.
# The same bytes result twice and with each engine. A replay of its trace sends the same messages at
# the same times. Loss costs time and no data. Errors are reported. Arguments: the hcasim program,
# the top of the source tree.
hcasim=$(realpath "$1")
source=$(realpath "$2")
[ -e "$(dirname "$hcasim")/../lib/libhcasim-smpi.so" ] || { echo "a build with sanitizers has no libhcasim-smpi.so"; exit 77; }
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1

smpicc -O1 -Wall -o talk "$source/tests/mpi/talk.c" || { echo "smpicc does not compile"; exit 1; }
cat >four.yaml <<'EOF'
hosts: {count: 4, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {rate: 100Gbps, length: 1m}, switch: {forwarding_latency: 90ns}}
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

# Hosts have either fidelity, or both are mixed. One host of four, or two of sixteen, have the other
# fidelity.
hosts() {
  case $1 in
    endpoint) chosen=() ;;
    detailed) chosen=(--set hosts.hca.fidelity=detailed) ;;
    both) chosen=(--set 'hosts.except={host0: {hca: {fidelity: detailed}}}') ;;
  esac
}

# The run repeats, and gives the same results with each engine.
for fidelity in endpoint detailed both; do
  hosts $fidelity
  for run in native again systemc systemc-reference; do
    mpi 0 $run four.yaml "${chosen[@]}" --engine ${run/again/native} --out $fidelity-$run --trace $run.trace -- ./talk allreduce
    cmp native.out $run.out && cmp native.err $run.err && cmp native.trace $run.trace || fail "what $run printed, or its trace, differs"
    diff -r $fidelity-native $fidelity-$run || fail "$run differs from native"
  done
  [ "$(grep -c . native.out)" -eq 2 ] || fail "allreduce printed: $(cat native.out)"
done
mpi 0 detailed four.yaml --set hosts.hca.fidelity=detailed --trace detailed.trace -- ./talk allreduce
"$hcasim" explain detailed.trace | grep -Eq '^mean of [0-9]+ work requests' || fail "explain: $("$hcasim" explain detailed.trace 2>&1 | head -1)"

# Half a round trip, in picoseconds: send_latency 600 ns, receive_latency and complete_latency 100
# ns each, the switch 90 ns, two cables of 5 ns. At 80 ps per byte: 8 of preamble again, and the
# frame: preamble, Ethernet, IP, UDP, BTH, ICRC, FCS, and the message with the 16 bytes that SMPI
# adds, in whole words. The clock takes 10 ns, once in 20.
mpi 0 pingpong four.yaml --np 2 -- ./talk pingpong
for bytes in 1 8 64 512; do
  expected=$((600000 + 2 * 100000 + 90000 + 2 * 5000 + 80 * 8 + 80 * (8 + 14 + 20 + 8 + 12 + (bytes + 16 + 3) / 4 * 4 + 4 + 4) + 10000 / 20))
  found=$(awk -v bytes=$bytes '$2 == bytes { printf "%d", $3 * 1e6 + 0.5 }' pingpong.out)
  [ "$found" = "$expected" ] || fail "pingpong of $bytes bytes: $found ps; expected $expected"
done

# 1 MiB five times at 100 Gb/s minus headers, all ranks at once, each on its own links: 427 us and
# the latencies.
mpi 0 ring tree.yaml -- ./talk ring
awk '{ exit !($2 > 425 && $2 < 440) }' ring.out || fail "ring: $(cat ring.out)"
grep -q '^16 ranks, .* messages, .* bytes, .* packet-hops, ' ring.err || fail "ring: $(cat ring.err)"

# Live and replayed: the same messages at the same times. Each fidelity has the same messages, and
# the same number of packets on each link.
for fidelity in detailed both endpoint; do
  hosts $fidelity
  for what in pingpong ring allreduce; do
    packets=()
    [ $what = allreduce ] && packets=(--pcap $what-$fidelity.pcapng)
    mpi 0 live tree.yaml "${chosen[@]}" --out $what-live "${packets[@]}" --capture $what-trace -- ./talk $what untimed
    mpi 0 replay tree.yaml "${chosen[@]}" --out $what-replay --replay $what-trace
    cmp live.err replay.err || fail "$what: the replay's sums differ"
    cmp $what-live/flows.csv $what-replay/flows.csv || fail "$what: the replay's messages differ"
    cmp $what-live/counters.json $what-replay/counters.json || fail "$what: the replay's counters differ"
    cut -d, -f2-7,13,14,19 $what-live/flows.csv | sort >$what-$fidelity.messages # but for their order
    rm -r $what-live $what-replay
    cmp $what-detailed.messages $what-$fidelity.messages || fail "$what: the messages of $fidelity hosts are others"
    [ $what = allreduce ] || continue
    "$hcasim" decode $what-$fidelity.pcapng | awk '/RC_SEND/ { for (i = 1; i < NF; i++) if ($i ~ /^RC_SEND/) op = $i; count[$3 " " op]++ } END { for (key in count) print key, count[key] }' |
      sort >$what-$fidelity.packets
    [ -s $what-$fidelity.packets ] && cmp $what-detailed.packets $what-$fidelity.packets || fail "$what: the packets of $fidelity hosts are others"
  done
done
mpi 0 replay tree.yaml --replay ring-trace --set fabric.link.rate=50Gbps
awk '{ exit !($9 > 850 && $9 < 880) }' replay.err || fail "a replay over slower links: $(cat replay.err)"

# A single message takes the time that a message with 16 bytes more takes in a workload, to the
# picosecond. This holds for detailed HCAs, and between both kinds.
cat >alone.yaml <<'EOF'
hosts: {a: {hca: {fidelity: detailed}}, b: {hca: {fidelity: detailed}}}
fabric: {link_layer: roce, topology: single-switch}
EOF
for hosts in detailed,detailed detailed,endpoint endpoint,detailed; do
  chosen=(--set hosts.a.hca.fidelity=${hosts%,*} --set hosts.b.hca.fidelity=${hosts#*,})
  for bytes in 1 4080 5000 1000000; do
    mpi 0 alone alone.yaml "${chosen[@]}" --out alone-mpi -- ./talk one $bytes
    "$hcasim" run alone.yaml "${chosen[@]}" --set "workload={pattern: incast, operation: send, bytes: $((bytes + 16))B}" --out alone-workload >/dev/null 2>&1 ||
      fail "a workload of one message: $?"
    for results in alone-mpi alone-workload; do
      cut -d, -f2-4,6-14,19- $results/flows.csv >$results.flow
      rm -r $results
    done
    [ "$(wc -l <alone-mpi.flow)" -eq 2 ] && diff alone-mpi.flow alone-workload.flow || fail "$bytes bytes alone, $hosts"
  done
done
mpi 0 alone alone.yaml -- ./talk one 64
plain=$(awk '{ sub("[.]", "", $9); print $9 }' alone.err)
for cost in post ring poll receive; do
  default=$("$hcasim" params mpi.cpu | awk -v cost=$cost '$1 == cost { print $2 + 300 "ns" }')
  mpi 0 dearer alone.yaml --set mpi.cpu.$cost=$default -- ./talk one 64
  dearer=$(awk '{ sub("[.]", "", $9); print $9 }' dearer.err)
  [ $((10#$dearer - 10#$plain)) -eq 300000 ] || fail "$cost of $default: $dearer ps, and $plain without"
done

# Parameters of the library.
mpi 0 slow four.yaml --np 2 --set mpi.send_overhead=1us --set mpi.clock=1ns -- ./talk pingpong
awk '$2 == 8 { exit !($3 > 1.90 && $3 < 1.92) }' slow.out || fail "send_overhead: $(cat slow.out)"

# Lost packets come again, a lost connection ends the program; an expectation decides the exit code.
for fidelity in endpoint detailed both; do
  hosts $fidelity
  mpi 0 lossy tree.yaml "${chosen[@]}" --set 'faults=[{drop: {probability: 1%}}]' --set 'expect=[{counter: "*.packets_retransmitted", at_least: 10}]' -- ./talk allreduce
  mpi 1 lost four.yaml "${chosen[@]}" --np 2 --set 'faults=[{from: host0, to: "*", drop: {probability: 1}}]' -- ./talk pingpong
  grep -q "retries were exceeded" lost.err || fail "lost: $(cat lost.err)"
done
mpi 1 expect four.yaml --set 'expect=[{counter: "*.packets_retransmitted", at_least: 10}]' -- ./talk ring
mpi 3 wrong four.yaml -- ./talk wrong

# refused TEXT [argument ...]
refused() {
  local text=$1
  shift
  mpi 2 refused "$@"
  grep -q -- "$text" refused.err || fail "$*: $(cat refused.err)"
}
# One-sided communication works. A program whose replay would differ is not captured.
smpicc -O1 -Wall -o window "$source/tests/mpi/window.c" || fail "smpicc does not compile windows"
mpi 0 window four.yaml -- ./window
[ "$(sort window.out | tr '\n' ' ')" = 'rank 0 got 3 rank 1 got 0 rank 2 got 1 rank 3 got 2 ' ] || fail "windows: $(cat window.out)"
refused "window-trace: rank 0 calls MPI_Win_fence: a replay does not support one-sided communication" four.yaml --capture window-trace -- ./window
[ -z "$(ls -d window-trace* 2>/dev/null)" ] || fail "a refused capture left $(ls -d window-trace*)"

refused "no program; expected -- PROGRAM ARGS" four.yaml
refused "5 ranks, and 4 hosts; expected at most one rank per host" four.yaml --np 5 -- ./talk ring
refused "driver: siw, and messages of MPI use RoCE or InfiniBand" "$source/scenarios/two-hosts-iwarp.yaml" -- ./talk ring
refused "\"p\" is not a number of ranks" four.yaml -np 5 -- ./talk ring
refused "./none is not a program that can be run" four.yaml -- ./none
refused "/bin/true is not compiled for SMPI; expected a program of smpicc" four.yaml -- /bin/true
refused "splits arguments at spaces" four.yaml -- ./talk "a b"
refused "none: No such file or directory; expected a file written by --capture" four.yaml --replay none
refused "16 ranks, and 4 hosts" four.yaml --replay ring-trace
refused "the trace has 16 ranks; expected --np 16" tree.yaml --np 4 --replay ring-trace
refused "--replay and a program exclude each other" tree.yaml --replay ring-trace -- ./talk ring
refused "fidelity: flow does not support programs" four.yaml --set fabric.fidelity=flow -- ./talk ring
refused "the scenario has a workload, a load, or programs" four.yaml --set hosts.hca.fidelity=detailed --set 'load={bytes: 64B}' -- ./talk ring
refused "unknown key \"timout\"; did you mean \"timeout\"" four.yaml --set mpi.host.timout=3 -- ./talk ring
refused "host 0 cannot create a QP: .*; device.qps is the limit" four.yaml --set hosts.count=80 --set 'hosts.hca={fidelity: detailed, device: {qps: 64}}' -- ./talk gather
refused "mpi.eager: \"x\"\|eager: \"x\"" four.yaml --set mpi.eager=x -- ./talk ring
rm ring-trace_files/rank3.txt
refused "ring-trace:4: ring-trace_files/rank3.txt" tree.yaml --replay ring-trace

[ $failures -eq 0 ]
