#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that failures during a run are reported, end with exit code 2, and leave no partial file.
# Failures: files or shared memory that cannot grow, no address space for them, an existing folder,
# standard output that accepts nothing, a full TMPDIR. A capture of a workload violates no
# invariant. An interrupted or killed sweep keeps complete results, and continues. Arguments: the
# hcasim program, the top of the source tree.
hcasim=$1
top=$2
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/study.yaml" <<'EOF2'
hosts: {count: 9, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {link_layer: roce, topology: single-switch, switch: red-dcqcn-paper, link: {rate: 40Gbps}}
workload: {pattern: incast, count: 1, bytes: 100KB}
EOF2
cat >"$folder/sweep.yaml" <<'EOF2'
hosts: {count: 9, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {link_layer: roce, topology: single-switch, switch: red-dcqcn-paper, link: {rate: 40Gbps}}
workload: {pattern: poisson, offered_load: 0.5, bytes: 20KB}
run: {until: 2ms}
sweep: {seed: {from: 1, to: 400, step: 1}}
EOF2

# refused TEXT ARGUMENTS...: with files of 8 KB at most
refused() {
  local text=$1 code
  shift
  (trap '' XFSZ; ulimit -f 8; "$hcasim" "$@" >/dev/null 2>"$folder/log")
  code=$?
  [ $code = 2 ] || fail "$*: exit code $code: $(cat "$folder/log")"
  grep -q "$text" "$folder/log" || fail "$*: no $text in $(cat "$folder/log")"
  [ -z "$(find "$folder/place" -mindepth 1)" ] || fail "$*: left $(ls -R "$folder/place")"
}
mkdir "$folder/place"
refused 'run.part/.*: File too large' run "$folder/study.yaml" --out "$folder/place/run"
refused 'run.pcapng.part: File too large' run "$folder/study.yaml" --pcap "$folder/place/run.pcapng"
refused 'run.trace.part: File too large' run "$folder/study.yaml" --trace "$folder/place/run.trace"
refused 'two-hosts-ib.yaml: ulimit -f allows files of 8192 bytes; expected 17179869184 or more, .*: ulimit -f unlimited' exec "$top/scenarios/two-hosts-ib.yaml" -- host0: true
# With little address space: before the first program, or as one that fits has a child. Sanitizers
# need more address space than this.
short() {
  local text=$1 kilobytes=$2 code
  shift 2
  (ulimit -v "$kilobytes"; "$hcasim" exec "$top/scenarios/two-hosts-ib.yaml" -- "$@" >/dev/null 2>"$folder/log")
  code=$?
  [ $code = 2 ] || fail "ulimit -v $kilobytes: exit code $code: $(cat "$folder/log")"
  grep -q "$text" "$folder/log" || fail "ulimit -v $kilobytes: no $text in $(cat "$folder/log")"
}
if (ulimit -v 6000000; "$hcasim" --version) >/dev/null 2>&1; then
  short 'ulimit -v allows 6144000000 bytes of address space; expected 17179869184 or more, .*: ulimit -v unlimited' 6000000 host0: true
  short 'expected 34359738368 or more, for memory shared with 2 programs' 30000000 host0: true : host1: true
  short 'host0: no address space for the memory of 2 processes, which is 17179869184 bytes each (ulimit -v)' 30000000 host0: sh -c 'sh -c true; true'
fi
# Open files: programs get the necessary limit if the system permits it.
(ulimit -Sn 40; "$hcasim" exec "$top/scenarios/two-hosts-ib.yaml" -- host0: ibv_devices : host1: sh -c 'ulimit -Sn' >"$folder/log" 2>&1)
code=$?
[ $code = 0 ] && grep -q '^host0|.*mlx5_0' "$folder/log" && grep -qx 'host1| 1024' "$folder/log" || fail "ulimit -Sn 40: exit code $code: $(cat "$folder/log")"
(ulimit -n 1023; "$hcasim" exec "$top/scenarios/two-hosts-ib.yaml" -- host0: true 2>"$folder/log")
code=$?
[ $code = 2 ] && grep -q 'ulimit -Hn allows 1023 open files; expected 1024 or more' "$folder/log" || fail "ulimit -n 1023: exit code $code: $(cat "$folder/log")"
mkdir "$folder/full" && touch "$folder/full/mine"
"$hcasim" run "$folder/study.yaml" --out "$folder/full" >/dev/null 2>"$folder/log"
[ $? = 2 ] && grep -q 'full exists and is not an empty folder' "$folder/log" || fail "a full folder: $(cat "$folder/log")"

for arguments in --version params help "run $folder/study.yaml" "check $folder/study.yaml --effective"; do
  # shellcheck disable=SC2086
  "$hcasim" $arguments >/dev/full 2>"$folder/log"
  [ $? = 2 ] && grep -q 'standard output could not be written: No space left' "$folder/log" || fail "$arguments: $(cat "$folder/log")"
done
if command -v ibv_devinfo >/dev/null; then
  "$hcasim" exec "$top/scenarios/two-hosts-ib.yaml" -- host0: ibv_devinfo >/dev/full 2>"$folder/log"
  [ $? = 2 ] && grep -q 'output of programs could not be written: No space left' "$folder/log" || fail "exec: $(cat "$folder/log")"
fi
# A small TMPDIR, which the run's own files fill where the system gives runs no namespaces of their own.
apart=(unshare --user --map-root-user --net --ipc --mount)
if command -v ibv_devinfo >/dev/null && "${apart[@]}" true 2>/dev/null; then
  mkdir "$folder/small"
  # shellcheck disable=SC2016
  "${apart[@]}" bash -c 'mount -t tmpfs -o size=32k small "$1" || exit 99
    for most in /proc/sys/user/max_*_namespaces; do echo 0 >"$most"; done
    TMPDIR=$1 "$2" exec --out "$3" "$4" -- host0: ibv_devinfo
    code=$?
    [ -z "$(ls -A "$1")" ] || exit 98
    exit $code' - "$folder/small" "$(realpath "$hcasim")" "$folder/place/small" "$top/scenarios/two-hosts-ib.yaml" 2>"$folder/log"
  [ $? = 2 ] && grep -q 'small/.* could not be written: No space left' "$folder/log" || fail "a full TMPDIR: $(cat "$folder/log")"
  [ -z "$(find "$folder/place" -mindepth 1)" ] || fail "a full TMPDIR: left $(ls -R "$folder/place")"
fi

"$hcasim" run "$folder/study.yaml" --pcap "$folder/run.pcapng" >"$folder/log" 2>&1 || fail "--pcap: $(cat "$folder/log")"
"$hcasim" decode "$folder/run.pcapng" | tail -1 | grep -q ' checked: 0 wrong ICRC, 0 wrong VCRC, 0 malformed$' || fail "the capture"

# whole: each result of the sweep is complete, and there is no other file.
whole() {
  local point
  for point in "$folder"/points/*/; do
    python3 -c 'import json, sys; [json.load(open(sys.argv[1] + f)) for f in ("summary.json", "counters.json")]' "$point" || fail "$1: $point"
  done
}
# waits until the given number of points is complete
wait_for() {
  for _ in $(seq 600); do
    [ "$(find "$folder/points" -name summary.json 2>/dev/null | wc -l)" -ge "$1" ] && return
    sleep 0.05
  done
  fail "no $1 points after half a minute"
}
"$hcasim" sweep "$folder/sweep.yaml" -j 2 --out "$folder/points" 2>"$folder/log" &
process=$!
wait_for 3
kill -INT $process
wait $process
code=$?
[ $code = 130 ] || fail "SIGINT: exit code $code: $(tail -1 "$folder/log")"
tail -1 "$folder/log" | grep -q 'points are finished; run the same command again to continue' || fail "SIGINT: $(tail -1 "$folder/log")"
find "$folder/points" -name '*.part' | grep -q . && fail "SIGINT: left $(ls "$folder/points")"
whole SIGINT
found=$(find "$folder/points" -name summary.json | wc -l)
"$hcasim" sweep "$folder/sweep.yaml" -j 2 --out "$folder/points" 2>"$folder/log" &
process=$!
wait_for $((found + 3))
grep -q "^$found of 400 points are finished already" "$folder/log" || fail "goes on: $(head -1 "$folder/log")"
kill -KILL $process
wait $process 2>/dev/null
sleep 0.2
found=$(find "$folder/points" -name summary.json | wc -l)
sleep 0.5
[ "$(find "$folder/points" -name summary.json | wc -l)" = "$found" ] || fail "SIGKILL: its runs go on"
# Existing results are checked: five points must be present, and do not run again.
"$hcasim" sweep "$folder/sweep.yaml" --set sweep.seed='[1, 2, 3, 4, 400]' -j 2 --json --out "$folder/points" >"$folder/json" 2>"$folder/log" || fail "after SIGKILL: $(cat "$folder/log")"
tail -1 "$folder/log" | grep -q '^5 of 5 points' || fail "after SIGKILL: $(tail -1 "$folder/log")"
[ "$(wc -l <"$folder/points/results.csv")" = 6 ] || fail "after SIGKILL: $(cat "$folder/points/results.csv")"
python3 - "$folder" <<'END' || fail "--json: $(cat "$folder/json")"
import csv, json, sys
folder = sys.argv[1]
rows = json.load(open(folder + "/json"))
lines = list(csv.DictReader(open(folder + "/points/results.csv")))
assert [row["seed"] for row in rows] == [1, 2, 3, 4, 400] and len(lines) == 5
for row, line in zip(rows, lines):
    summary = json.load(open(f"{folder}/points/{row['point']}/summary.json"))
    assert all(row[name] == value for name, value in summary["metrics"].items()), row
    assert list(row) == list(line) and row["point"] == line["point"] and row["exit_code"] == 0
END
exit $((failures > 0))
