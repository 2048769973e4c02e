#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests programs that end with the others: on the command line and in a scenario. Each process of
# such a server gets SIGTERM at the end of the last other program, and is killed if it ignores the
# signal. A run with programs that do not end says how to mark them. Two runs have the same
# interactions. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
scenario=$2/scenarios/two-hosts-roce.yaml
. "$(dirname "$0")/../support/script.sh"

# expect CODE TEXT ARGUMENTS...: the run prints TEXT.
expect() {
  local code=$1 text=$2 status
  shift 2
  printed=$(timeout 60 "$hcasim" "$@" 2>&1)
  status=$?
  [ $status -eq "$code" ] || fail "hcasim $*: exit code $status, expected $code: $printed"
  [[ $printed == *"$text"* ]] || fail "hcasim $*: \"$text\" is not in: $printed"
}

caught='trap "echo caught; exit 5" TERM; while :; do sleep 1; done'
expect 0 'caught' exec "$scenario" -- server host0: sh -c "$caught" : host1: sleep 1
expect 0 'sh does not end within 0.01 s after SIGTERM, and is killed' exec "$scenario" \
  --set session.server_end=10ms -- server host0: sh -c 'trap "" TERM; sleep 1000' : host1: true
expect 3 '' exec "$scenario" -- server host0: sh -c 'exit 3' : host1: sleep 1
expect 0 '' exec "$scenario" -- server host0: sleep 1000 : host1: true
[ -z "$printed" ] || fail "a server that SIGTERM ends has a message: $printed"
expect 0 'programs still run 60 s of virtual time after the last one has ended' exec "$scenario" -- host0: sleep 100 : host1: true
[[ $printed == *'host0: sleep has not ended; "server host0: sleep" ends it with the other programs'* ]] ||
  fail "no advice: $printed"

# The limit does not pass over a timer: sleep is the only other thing that happens.
expect 142 '' exec "$scenario" --set session.limit=50s -- host0: perl -e 'alarm 1; sleep 100'

cat "$scenario" - >"$folder/servers.yaml" <<END
programs:
  - {host: host0, server: true, command: [sh, -c, 'trap "echo caught; exit 5" TERM; while :; do sleep 1; done']}
  - {host: host1, command: [sleep, "1"]}
  - {host: host1, server: true, start: 5s, command: [echo, never]}
END
expect 0 'caught' run "$folder/servers.yaml"
[[ $printed != *never* ]] || fail "a server started after the end: $printed"

if command -v iperf3 >/dev/null; then
  expect 0 'server has terminated' exec "$scenario" --verbose -- server host0: iperf3 -s : host1: iperf3 -c host0 -n 1M
  first=$printed
  expect 0 'iperf Done' exec "$scenario" --verbose -- server host0: iperf3 -s : host1: iperf3 -c host0 -n 1M
  [ "$first" = "$printed" ] || fail "two runs differ: $(diff <(echo "$first") <(echo "$printed"))"
  expect 3 '"server host0: iperf3" ends it' exec "$scenario" -- host0: iperf3 -s : host1: iperf3 -c host0 -n 1M
fi
exit $((failures > 0))
