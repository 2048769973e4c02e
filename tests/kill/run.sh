#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a run ends, reports the reason, and leaves nothing behind when any of its processes is
# killed: a program, the simulator, the supervisor, or all at once. Also tests signals to hcasim,
# exit codes, deadlocks and concurrent runs. Usage: run.sh [-n KILLS] HCASIM TOP KILLS at random
# moments (default 8); RANDOM_SEED=number repeats a series
kills=8
here=$(realpath "$0")
while getopts n: option; do
  case $option in
    n) kills=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
[ -x "$hcasim" ] && [ -f "$scenario" ] || { echo "usage: run.sh [-n KILLS] HCASIM TOP"; exit 2; }
command -v ib_write_bw >/dev/null || { echo 'ib_write_bw is not installed'; exit 77; }
RANDOM=${RANDOM_SEED:-1}
# The test has namespaces of its own for shared memory and sockets, if the system permits them. It
# then runs beside other tests.
if [ -z "$HCASIM_TEST_ALONE" ] && unshare --user --map-root-user --net --ipc --mount --fork mount -t tmpfs none /dev/shm 2>/dev/null; then
  export HCASIM_TEST_ALONE=yes
  exec unshare --user --map-root-user --net --ipc --mount --kill-child bash -c 'mount -t tmpfs none /dev/shm && exec bash "$@"' \
    kill "$here" -n "$kills" "$hcasim" "$2"
fi
folder=$(mktemp -d)
mkdir "$folder/tmp"
export TMPDIR=$folder/tmp
trap 'rm -rf "$folder"' EXIT
failures=0
fail() {
  echo "FAILED $*"
  failures=$((failures + 1))
}

# The processes of one run carry its mark in their environment, those that are the run's own
# (hcasim) as well.
mark=
processes() {
  local file
  for file in $(grep -slzx "HCASIM_TEST=$mark" /proc/[0-9]*/environ 2>/dev/null); do
    file=${file%/environ}
    # a zombie process does not count
    grep -qs '^State:[[:space:]]*[ZX]' "$file/status" || echo "${file#/proc/}"
  done
}
named() { # of the run's processes, those with this command name, in the order of their start
  local pid
  for pid in $(processes | sort -n); do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ] && echo "$pid"
  done
}
folders() { find "$TMPDIR" -maxdepth 1 -name 'hcasim-*' | sort; }
memory() { { ls /dev/shm; ipcs -m | awk 'NR > 3 {print $1}'; ls /dev/mqueue 2>/dev/null; } | sort; }
sockets() { grep -ao '@hcasim[^ ]*' /proc/net/unix | sort -u; }

# begin ARGUMENTS...: starts a run in the background, with a new mark
begin() {
  mark=$$.$RANDOM.$RANDOM
  HCASIM_TEST=$mark "$hcasim" exec "$scenario" "$@" >"$folder/out" 2>"$folder/err" &
  run=$!
}
# finish SECONDS: waits for its end; the exit code is in $code
finish() {
  local tenth
  exec 8>&2 2>/dev/null # what bash says of jobs that were killed
  for ((tenth = 0; tenth < $1 * 10; tenth++)); do
    kill -0 $run 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 $run 2>/dev/null; then
    fail "$label: still there after $1 s"
    kill -KILL $run
  fi
  wait $run
  code=$?
  exec 2>&8 8>&-
}
# No process and no file of the run is left. A dying process has a second to end.
nothing_left() {
  local tenth left=
  for ((tenth = 0; tenth < 10; tenth++)); do
    left=$(processes)
    [ -z "$left" ] && [ "$(folders)" = "$folders_before" ] && break
    sleep 0.1
  done
  if [ -n "$left" ]; then
    fail "$label: left behind: $(for pid in $left; do echo "$pid $(cat "/proc/$pid/comm" 2>/dev/null)"; done)"
    kill -KILL $left 2>/dev/null
  fi
  [ "$(comm -13 <(echo "$folders_before") <(folders))" = '' ] || fail "$label: folders left behind: $(folders)"
  [ "$(comm -13 <(echo "$memory_before") <(memory))" = '' ] || fail "$label: shared memory left behind"
  [ "$(comm -13 <(echo "$sockets_before") <(sockets))" = '' ] || fail "$label: sockets left behind"
}
folders_before=$(folders)
memory_before=$(memory)
sockets_before=$(sockets)

victims=(server client simulator supervisor everybody)
counted=0
for ((i = 0; i < kills; i++)); do
  victim=${victims[$((i % ${#victims[@]}))]}
  label="kill -9 $victim, kill $i"
  begin -- host0: ib_write_bw -F -n 5000000 : host1: ib_write_bw -F -n 5000000 host0
  sleep "$((RANDOM % 2)).$((RANDOM % 900 + 100))"
  case $victim in
    server) pid=$(named ib_write_bw | sed -n 1p) ;;
    client) pid=$(named ib_write_bw | sed -n 2p) ;;
    simulator) pid=$(named hcasim | grep -vx $run | head -n 1) ;;
    supervisor) pid=$run ;;
    everybody) # but the watcher that stands by where there are no namespaces
      pid=$(comm -23 <(processes | sort) <(named hcasim-watcher | sort)) ;;
  esac
  if [ -z "$pid" ]; then # too early: it has not started yet
    kill -TERM $run
    finish 5
    nothing_left
    continue
  fi
  counted=$((counted + 1))
  kill -KILL $pid 2>/dev/null
  finish 5
  [ $code -ne 0 ] || fail "$label: exit code 0"
  case $victim in
    server | client) wanted='ib_write_bw was ended by signal 9' ;;
    simulator) wanted='the simulator was ended by signal 9' ;;
    *) wanted= ;; # who would say it is dead
  esac
  [ -z "$wanted" ] || grep -q "$wanted" "$folder/err" || fail "$label: \"$wanted\" is not in: $(cat "$folder/err")"
  nothing_left
done

# The adapter of the other program reports the end of its peer.
label='a peer that was killed'
begin -- host0: ib_write_bw -F -n 5000000 : host1: ib_write_bw -F -n 5000000 host0
sleep 1.5
pid=$(named ib_write_bw | sed -n 1p)
[ -n "$pid" ] && kill -KILL "$pid"
finish 5
grep -Eq 'host1\|.*(Completion with error|Failed|status|ERR)' "$folder/out" "$folder/err" ||
  fail "$label: the client says nothing of it: $(cat "$folder/out" "$folder/err")"
nothing_left

for signal in INT TERM HUP; do
  for program in 'ib_send_lat -F -n 5000000' 'while :; do sleep 1000; done' 'while :; do :; done' \
    'setsid sh -c "while :; do sleep 1; done" & while :; do sleep 7; done'; do
    label="$signal to hcasim, $program"
    begin -- host0: sh -c "$program" : host1: sh -c "trap '' INT TERM HUP; ib_send_lat -F -n 5000000 host0 || while :; do sleep 1; done"
    sleep 0.5
    kill -$signal $run
    finish 5
    [ $code -eq $((128 + $(kill -l $signal))) ] || fail "$label: exit code $code"
    nothing_left
  done
done

label='exit codes'
begin -- host0: sh -c 'sleep 2; exit 5' : host1: sh -c 'sleep 1; exit 6'
finish 5
[ $code -eq 6 ] || fail "$label: $code instead of 6"
begin -- host0: sh -c 'kill -SEGV $$' : host1: true
finish 5
[ $code -eq 139 ] || fail "$label: $code instead of 139"
nothing_left

label='virtual deadlock'
begin -- host0: python3 -c 'import os; os.read(os.pipe()[0], 1)' : host1: python3 -c 'import os; os.read(os.pipe()[0], 1)'
finish 5
[ $code -eq 3 ] || fail "$label: $code instead of 3: $(cat "$folder/err")"
grep -q 'virtual deadlock at .*: no thread can continue and no event is left' "$folder/err" || fail "$label: not reported"
[ "$(grep -c 'waits since .* in OS_WAIT' "$folder/err")" -eq 2 ] || fail "$label: not both threads' last operations"
nothing_left

label='runs side by side'
for run in 1 2 3; do
  timeout -s KILL 60 "$hcasim" exec "$scenario" --verbose --pcap "$folder/$run.pcapng" -- \
    host0: ib_write_lat -F -n 500 : host1: ib_write_lat -F -n 500 host0 >"$folder/$run.out" 2>&1 &
done
wait
sed -i '/waiting for that run to end$/d' "$folder"/[123].out # where there are no namespaces
for run in 2 3; do
  cmp "$folder/1.out" "$folder/$run.out" && cmp "$folder/1.pcapng" "$folder/$run.pcapng" || fail "$label: they differ"
done
[ -s "$folder/1.out" ] || fail "$label: no output"
nothing_left

echo "$counted kills at random moments, $failures failures"
[ $failures -eq 0 ]
