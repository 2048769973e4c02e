#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that `watch` shows rates, queues and pauses of a run under way, in colour on a terminal
# alone, with the results of `run`, and refuses what it cannot show. Arguments: the hcasim program,
# the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1
cat >incast.yaml <<'END'
seed: 1
hosts: {count: 9, hca: {fidelity: endpoint, port: {mtu: 1024B}}}
fabric:
  link_layer: roce
  topology: single-switch
  switch: {queueing: arrival, buffer: {size: 4MB, lossless: 255}, port: {mtu: 1024B}}
  link: {rate: 100Gbps, length: 5m}
workload: {pattern: incast, bytes: 500KB}
END
"$hcasim" watch incast.yaml --every 100us --ports 3 --out watched >text || fail "watch: exit code $?"
"$hcasim" run incast.yaml --out plain >/dev/null || fail "run: exit code $?"
for file in plain/*; do
  cmp "$file" "watched/${file#plain/}" || fail "watch gives another ${file#plain/}"
done
[ "$(grep -c ' us, 0 of 8 flows, [0-9]* B queued, [0-9]* pauses, 0 marks, 0 drops$' text)" -ge 3 ] || fail "pictures: $(cat text)"
[ "$(grep -c '^switch0.port0 .* Gb/s .* 98 % #################### .* B ' text)" -ge 2 ] || fail "the bottleneck: $(cat text)"
grep -Eq '^host[0-9].hca.port .* Gb/s .* B +[1-9][0-9] %$' text || fail "no port is paused: $(cat text)"
grep -q $'\033' text && fail 'colours on no terminal'
cmp <(tail -7 text) <("$hcasim" run incast.yaml | tail -7) || fail "the summary differs"
if command -v script >/dev/null; then
  script -qc "'$hcasim' watch incast.yaml --every 100us" /dev/null >terminal </dev/null
  grep -q $'\033\[31m' terminal || fail 'no colour on a terminal'
  NO_COLOR=1 script -qc "'$hcasim' watch incast.yaml --every 100us" /dev/null >terminal </dev/null
  grep -q $'\033\[31m' terminal && fail 'colour against NO_COLOR'
fi
refused() { # refused TEXT ARGUMENTS
  "$hcasim" watch "${@:2}" >log 2>&1
  [ $? -eq 2 ] && grep -qF -- "$1" log || fail "expected '$1': $(cat log)"
}
refused '--every' incast.yaml --every 10
refused 'watch shows a workload, and the scenario has none' "$2/scenarios/two-hosts-ib.yaml"
refused 'fidelity: flow has no packets to watch' incast.yaml --set fabric.fidelity=flow
[ $failures -eq 0 ]
