#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that a sweep which is killed at random ten times and run again has each point once, and the
# same database as a sweep in one go. Arguments: the hcasim program, the number of points (default:
# 120; the long form has 1000), the seed of the kills.
hcasim=$(realpath "$1")
points=${2:-120}
RANDOM=${3:-1}
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1

cat >sweep.yaml <<END
seed: 1
hosts: {count: 5, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {link_layer: roce, topology: single-switch, switch: red-dcqcn-paper, link: {rate: 100Gbps}}
workload: {pattern: incast, bytes: 1MB, fan_in: 4}
sweep: {workload.bytes: [100KB, 1MB], seed: {from: 1, to: $((points / 2)), step: 1}}
END
tables() { # tables FOLDER: all tables that do not depend on the machine
  for table in results means bins bin_means configuration parameters; do
    sqlite3 "$1/results.db" "select '$table', * from $table"
  done
}
"$hcasim" sweep sweep.yaml -j 2 --out whole >log 2>&1 || fail "whole: exit code $?: $(tail -3 log)"

# Each kill waits for a random number of further points, at most a fifteenth of the sweep. Ten kills
# therefore come before the end of the sweep on a machine of any speed. A kill hits the process
# group. A third of the kills hit only the sweep, whose runs then end by themselves.
finished() { ls -d killed/*/summary.json 2>/dev/null | wc -l; }
for ((kill = 1; kill <= 10; kill++)); do
  enough=$(($(finished) + RANDOM % (points / 15 + 1)))
  set -m
  "$hcasim" sweep sweep.yaml -j 2 --out killed >log 2>&1 &
  sweep=$!
  set +m
  while kill -0 $sweep 2>/dev/null && (($(finished) < enough)); do sleep 0.002; done
  sleep 0.0$((RANDOM % 20 + 10)) # within a run, or between two
  if ((RANDOM % 3)); then kill -9 -- -$sweep; else kill -9 $sweep; fi 2>/dev/null
  wait $sweep 2>/dev/null
  [ $? -eq 137 ] && killed=$((killed + 1))
  there+=" $(finished)"
done
for ((attempt = 0; attempt < 100; attempt++)); do # runs of the last sweep may still hold the folder
  "$hcasim" sweep sweep.yaml -j 2 --out killed >log 2>&1
  code=$?
  grep -q 'another hcasim is writing' log || break
  sleep 0.1
done
[ $code -eq 0 ] || fail "last: exit code $code: $(tail -3 log)"
echo "$points points, there after each of ten kills:$there"
cmp <(tables whole) <(tables killed) || fail 'another database after kills'
[ "$(sqlite3 killed/results.db 'select count(*), count(distinct point) from results')" = "$points|$points" ] || fail 'not each point once'
[ "$(ls -d killed/*/summary.json | wc -l)" = "$points" ] || fail "$(ls -d killed/*/ | wc -l) folders"
ls -d killed/*.part 2>/dev/null && fail 'an unfinished result is left'
((killed >= 3)) || fail "only ${killed:-0} of ten kills hit a sweep"
[ $failures -eq 0 ]
