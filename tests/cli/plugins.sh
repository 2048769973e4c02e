#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that `plugin new` writes a plug-in of each kind that `plugin build` compiles. The four
# plug-ins of switches do what a built-in does. They give the same flows and switch counters as that
# built-in. A
# plug-in that is broken on purpose ends the run with exit code 2 and a message that names it and
# its function. Arguments: the hcasim program, the top of the source tree.
hcasim=$(realpath "$1")
. "$(dirname "$0")/../support/script.sh"
command -v "${CC:-cc}" >/dev/null || exit 77
cd "$folder" || exit 1

# refused TEXT ARGUMENTS: exit code 2, and TEXT on standard error
refused() {
  local text=$1 output status
  shift
  output=$("$hcasim" "$@" 2>&1 >/dev/null)
  status=$?
  [ $status -eq 2 ] && [[ $output == *"$text"* ]] ||
    fail "$*: exit code $status, expected 2 and \"$text\": $output"
}

cat >net.yaml <<'END'
seed: 1
hosts:
  count: 0
  hca: {fidelity: endpoint, congestion: dctcp-hpcc-100g, recovery: selective_repeat, nak: false, ack_priority: 1, port: {mtu: 1024B, vls: 2}}
fabric:
  link_layer: roce
  topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts: 8}
  switch:
    balance: ecmp
    queueing: arrival
    buffer: {size: 700KB, lossless: 1, alpha: 0.0625, alpha_lossy: 1, reserved: 0B}
    ecn: {mark: dequeue, kmin: 30KB, kmax: 30KB}
    port: {mtu: 1024B, vls: 2}
  link: {rate: 100Gbps, length: 5m}
workload: {pattern: poisson, sizes: storage, offered_load: 0.6, arrivals_until: 200us}
run: {until: 10ms}
END

kinds=$("$hcasim" plugin --words) || fail "plugin --words: exit code $?"
for kind in balance schedule marking buffer; do
  [[ " "$kinds" " == *$kind* ]] || fail "kinds: $kinds"
done
for kind in $kinds; do
  "$hcasim" plugin new "$kind" "own_$kind" >said || fail "new $kind: exit code $?"
  refused "own_$kind.c exists" plugin new "$kind" "own_$kind"
  "$hcasim" plugin build "own_$kind.c" >said 2>&1 || fail "build $kind: $(cat said)"
  grep -q "^./own_$kind.so: .*\"own_$kind\": --set .*=./own_$kind.so$" said || fail "build $kind: $(cat said)"
done
refused 'did you mean marking?' plugin new markin x
refused '"a-b" is not a valid name' plugin new marking a-b
refused 'expected hcasim plugin new KIND NAME' plugin new marking

# Modules of an adapter: the scheduler has the times of the built-in one, and the caches another order.
study=(scenarios/studies/qp-scaling.yaml --set load.qps=1024 --set expect=[])
"$hcasim" run "${study[@]}" >without 2>&1 && "$hcasim" run "${study[@]}" --set hosts.hca.scheduler.module=./own_scheduler.so >said 2>with ||
  fail "scheduler: $(tail -3 with)"
grep -v '^hcasim:' without | cmp said - || fail "the scheduler is not as the built-in one"
grep -q 'own_scheduler\|replaces host0.hca.scheduler' with || fail "no word of the module: $(cat with)"
"$hcasim" run "${study[@]}" --set hosts.hca.contexts.module=./own_contexts.so 2>&1 | grep -q '^completed  32.5153 M/s' ||
  fail "contexts: first in, first out does not give 32.5153 M/s"

# Each plug-in gives the same flows and the same switch counters as the built-in.
run() {
  local out=$1
  shift
  "$hcasim" run net.yaml --out "$out" "$@" >said 2>&1 || fail "$out: exit code $?: $(tail -3 said)"
}
same() {
  cmp "$1/flows.csv" "$2/flows.csv" && cmp "$1/switches.csv" "$2/switches.csv" || fail "$2 is not as $1"
}
run built-in
lossy=(--set fabric.switch.buffer.lossless=2 --set fabric.switch.buffer.size=400KB)
run lossy "${lossy[@]}"
[ "$(awk -F, 'NR > 1 { sum += $9 } END { print (sum > 0) }' lossy/switches.csv)" = 1 ] ||
  fail "nothing is dropped: $(cat lossy/switches.csv)"
[ "$(awk -F, 'NR > 1 { sum += $17 } END { print (sum > 0) }' built-in/switches.csv)" = 1 ] ||
  fail "nothing is paused: $(cat built-in/switches.csv)"
set=fabric.switch.plugins
run balance --set $set.balance=./own_balance.so
run marking --set $set.marking=./own_marking.so --set $set.marking_values=threshold=30KB
run buffer --set $set.buffer=./own_buffer.so --set "$set.buffer_values=alpha=0.0625, alpha_lossy=1"
run schedule --set $set.schedule=./own_schedule.so
for kind in balance marking buffer schedule; do
  same built-in $kind
done
run rotated --set $set.balance=./own_balance.so --set $set.balance_values=rotate=1
cmp -s built-in/links.csv rotated/links.csv && fail "the value of a plug-in has no effect"
run lossy-buffer "${lossy[@]}" --set $set.buffer=./own_buffer.so --set "$set.buffer_values=alpha=0.0625, alpha_lossy=1"
same lossy lossy-buffer
run limited "${lossy[@]}" --set $set.buffer=./own_buffer.so --set "$set.buffer_values=alpha_lossy=0.1"
cmp -s lossy/flows.csv limited/flows.csv && fail "the limit of a plug-in has no effect"
run earlier --set $set.marking=./own_marking.so --set $set.marking_values=threshold=3KB
cmp -s built-in/flows.csv earlier/flows.csv && fail "the threshold of a plug-in has no effect"
"$hcasim" run balance/scenario.yaml --out again >/dev/null 2>&1 || fail "the effective configuration does not run"
same balance again
run parallel --set $set.balance=./own_balance.so --threads 2
same built-in parallel

# Its counters and trace points are the run's.
grep -q '"leaf0.balance": {"type": "own_balance", "counters": {"choices": [1-9]' balance/counters.json ||
  fail "no counters: $(grep balance balance/counters.json | head -3)"
grep -q '"leaf0.port0.schedule": {"type": "own_schedule", "counters": {"bytes": [1-9]' schedule/counters.json ||
  fail "the scheduler was not called: $(grep schedule schedule/counters.json | head -3)"
"$hcasim" run net.yaml --set $set.balance=./own_balance.so --trace 'run.trace' --set record.trace='["leaf0.balance"]' >said 2>&1 || fail "trace: $(cat said)"
"$hcasim" trace run.trace | grep -q 'leaf0.balance *CHOICE .*port=.*queued_bytes=' || fail "no trace: $("$hcasim" trace run.trace | head -3)"

# Invalid values in a scenario.
refused 'balance: plugin needs plugins: {balance: FILE.so}' check net.yaml --set fabric.switch.balance=plugin
refused 'cannot open shared object file' check net.yaml --set $set.balance=./none.so
refused 'exports no symbol balance_plugin' check net.yaml --set $set.balance=./own_marking.so
refused 'no parameter `rotat`; did you mean rotate?' check net.yaml --set $set.balance=./own_balance.so --set $set.balance_values=rotat=1
refused 'balance_values has no effect' check net.yaml --set $set.balance_values=rotate=1
refused 'plugins.buffer has no effect' check net.yaml --set $set.buffer=./own_buffer.so --set fabric.switch.buffer.size=0B

# broken KIND NAME EXPRESSION: a plug-in of that kind, changed by sed
broken() {
  sed -e "$3" "own_$1.c" >"$2.c"
  cmp -s "own_$1.c" "$2.c" && fail "$2: the change changes nothing"
  "${CC:-cc}" -std=gnu11 -O2 -w -fPIC -shared -I"$(dirname "$hcasim")/../include" "$2.c" -o "$2.so" || fail "$2 does not compile"
}
# ends TEXT KIND NAME: a run with it ends with that message
ends() {
  refused "hcasim: $1" run net.yaml --set "$set.$2=./$3.so"
}
broken balance far 's/return index;/return 7;/'
ends "load balancer $folder/far.so: choose(): returned 7 in leaf" balance far
broken balance crash 's/return index;/return *(volatile uint32_t *)8;/'
ends "load balancer $folder/crash.so: choose() crashed (SIGSEGV)" balance crash
broken balance point 's/TRACE_CHOICE,/3,/'
ends "load balancer $folder/point.so: trace(): trace point 3 of 1" balance point
broken schedule unready 's/return i;/return count;/; s/return 0;/return count;/'
ends "switch scheduler $folder/unready.so: choose(): returned " schedule unready
broken marking trap 's/return true;/__builtin_trap();/'
ends "packet marking $folder/trap.so: on_departure() crashed (SIGILL)" marking trap
broken buffer loop 's/return (uint64_t)/for (volatile int i = 0; i < 1;); return (uint64_t)/'
ends "buffer management $folder/loop.so: limit(): has not returned after 5 s" buffer loop
broken buffer old 's/= SWITCH_PLUGIN_VERSION/= 0/'
refused "buffer management $folder/old.so: was built for version 0" check net.yaml --set $set.buffer=./old.so
broken buffer empty '/\.limit = limit/d'
refused "buffer management $folder/empty.so: has no function limit()" check net.yaml --set $set.buffer=./empty.so
echo 'int nothing;' >nothing.c
refused 'exports no table of a plug-in' plugin build nothing.c
echo 'no C' >wrong.c
refused 'wrong.c does not compile' plugin build wrong.c
refused 'expected FILE.c' plugin build wrong.so
exit $failures
