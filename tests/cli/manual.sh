#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that each verb and both file formats have a manual page without formal errors. The pages
# have all options, parameters and metrics of the program. results.md names each column that a run
# writes. Arguments: the hcasim program, the top of the source tree.
hcasim=$(realpath "$1")
top=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"
as_a_user

python3 "$top/tools/manual" "$hcasim" "$folder/pages" || exit 1
words() { sed -e 's/\\&//g; s/\\-/-/g; s/\\f[BIR]//g; s/\\e/\\/g' "$folder/pages/$1"; }
for verb in $(hcasim help --words); do
  words "man1/hcasim-$verb.1" >page || fail "no page of $verb"
  for option in $(hcasim help "$verb" --words); do
    grep -q -- "^$option" page || fail "hcasim-$verb(1) has no $option"
  done
done
words man5/hcasim-scenario.5 >page
hcasim params --json | sed -n 's/.*"name": "\([^"]*\)".*/\1/p' | sort -u | while read -r name; do
  grep -qx -- "$name" page || echo "hcasim-scenario(5) has no $name"
done >missing
words man5/hcasim-result.5 >page
hcasim counters --json | sed -n 's/.*"name": "\([^"]*\)".*/\1/p' | sort -u | while read -r name; do
  grep -qx -- "$name" page || echo "hcasim-result(5) has no $name"
done >>missing
[ ! -s missing ] || fail "$(head -5 missing)"
if command -v groff >/dev/null; then
  for page in "$folder"/pages/man*/*; do
    groff -man -Tascii -b -ww "$page" 2>&1 >/dev/null | grep -v 'cannot adjust line\|break line\|can.t break' >log
    [ ! -s log ] || fail "$(basename "$page"): $(head -3 log)"
  done
fi

hcasim run "$top/scenarios/studies/incast-dcqcn.yaml" --set 'record={series: 10us}' --out out >log 2>&1 || fail "$(cat log)"
for table in flows slowdowns series links; do
  head -1 "out/$table.csv" | tr , '\n' | while read -r column; do
    case $column in *_drops) column=..._drops ;; esac
    grep -q "\`$column\`" "$top/docs/reference/results.md" || echo "results.md has no $column of $table.csv"
  done >missing
  [ ! -s missing ] || fail "$(cat missing)"
done
ls out | while read -r file; do
  grep -q "\`$file\`" "$top/docs/reference/results.md" || echo "results.md has no $file"
done >missing
[ ! -s missing ] || fail "$(cat missing)"
exit $((failures > 0))
