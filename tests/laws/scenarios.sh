#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that no run of the scenarios that come with the simulator violates a law or an invariant:
# `violations` in its summary.json is empty (docs/explanation/latency-and-bottlenecks.md).
# Usage: scenarios.sh [-a] HCASIM TOP, or scenarios.sh -p ROWS HCASIM TOP
#   (none)   examples, lessons, clusters and the files of `hcasim init`, shortened; cli/studies runs the studies
#   -a       all files in full length, with every point of a sweep and every variant: 5 minutes of two processors
#   -p ROWS  published rows by their prefixes, such as -p 'A B E'. All rows take half an hour, D most of it
whole=
rows=
while getopts ap: option; do
  case $option in
    a) whole=yes ;;
    p) rows=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
hcasim=$1
top=$2
. "$(dirname "$0")/../support/script.sh"
scenarios=$top/scenarios
runs=0

# audited NAME FOLDER: the summary of a run has no violation
audited() {
  runs=$((runs + 1))
  python3 - "$2/summary.json" <<'END' || fail "$1: $(tail -n 3 "$folder/text")"
import json, sys
violations = json.load(open(sys.argv[1], encoding="utf-8"))["violations"]
for violation in violations:
    print(violation)
sys.exit(bool(violations))
END
}

# one FILE ARGUMENTS...: a run, or all points of a sweep
one() {
  local file=$1 name=${1#"$scenarios/"} out point
  shift
  out=$folder/out
  rm -rf "$out"
  if [ -n "$whole" ] && grep -q '^\(sweep\|variants\):' "$file"; then
    "$hcasim" sweep "$file" "$@" --set expect=[] -j 2 --out "$out" >"$folder/text" 2>&1
    for point in "$out"/*/; do
      [ -f "$point/summary.json" ] && audited "$name, $(basename "$point")" "$point"
    done
  else
    "$hcasim" run "$file" "$@" --set expect=[] --out "$out" >"$folder/text" 2>&1
    if [ -f "$out/summary.json" ]; then audited "$name" "$out"; else fail "$name: $(cat "$folder/text")"; fi
  fi
}

# programs FILE OPTION...: two programs on the scenario's first hosts
programs() {
  rm -rf "$folder/out"
  "$hcasim" exec "$1" --out "$folder/out" -- host0: ib_write_bw -F -n 500 "${@:2}" : host1: ib_write_bw -F -n 500 "${@:2}" host0 >"$folder/text" 2>&1
  if [ -f "$folder/out/summary.json" ]; then audited "${1#"$scenarios/"}" "$folder/out"; else fail "$1: $(cat "$folder/text")"; fi
}

# published: the rows of the prefixes in $rows
published() {
  local prefix
  for prefix in $rows; do
    runs=$((runs + 1))
    "$hcasim" published "$prefix" >"$folder/text" 2>"$folder/errors" || true
    ! grep 'violates its invariants' "$folder/errors" "$folder/text" || fail "published rows $prefix"
    grep -q '^[0-9]* rows: ' "$folder/text" || fail "published rows $prefix: $(tail -n 3 "$folder/errors")"
  done
}

folders=("" lessons clusters init)
[ -z "$whole" ] || folders+=(studies)
[ -z "$rows" ] || folders=()
for part in "${folders[@]}"; do
  for file in "$scenarios/$part"/*.yaml; do
    short=()
    if grep -q '^workload:' "$file"; then
      [ -n "$whole" ] || grep -q 'warm_up' "$file" || short=(--set run.until=200us)
      one "$file" "${short[@]}"
    elif grep -q '^load:' "$file"; then
      [ -n "$whole" ] || short=(--set load.operations=500)
      one "$file" "${short[@]}"
    elif grep -q '^programs:' "$file"; then
      one "$file"
    elif grep -qE 'rnic|two-hosts-iwarp' "$file"; then # iWARP connects queue pairs by librdmacm alone
      if command -v ib_write_bw >/dev/null; then programs "$file" -R; fi
    elif [ "$(grep -c 'hosts:.*count: 2' "$file")" -gt 0 ] && command -v ib_write_bw >/dev/null; then
      programs "$file"
    else
      one "$file" --set 'workload={pattern: shift, bytes: 100KB}'
    fi
  done
done
published
echo "$runs runs, $failures with violations"
[ "$failures" -eq 0 ]
