#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim published` measures each row (rows of programs: published_programs.sh). Rows
# that follow from a standard alone pass, and the expected number of other rows. A second run prints
# the same. Reading errors, unfinished flows and choices count correctly. Orders of cases are
# judged. --full takes the original's size. Curves and JSON are complete. Arguments: the hcasim
# program, the top of the source tree.
hcasim=$1
source=$2
. "$(dirname "$0")/../support/script.sh"

# at_least ROWS PASSED: of the rows that begin so
at_least() {
  local rows=$1 passed=$2 last
  "$hcasim" published $rows >"$folder/out" 2>"$folder/errors" || fail "$rows: exit code $?"
  last=$(tail -n 1 "$folder/out")
  if [[ ! $last =~ ^([0-9]+)\ rows:\ ([0-9]+)\ pass ]]; then
    fail "$rows: no count: $last $(cat "$folder/errors")"
  elif [ "${BASH_REMATCH[2]}" -lt "$passed" ]; then
    fail "$rows: ${BASH_REMATCH[2]} pass, at least $passed are expected: $(cat "$folder/out")"
  fi
}

at_least "B3" 9
at_least "C-0" 9
at_least "C-1 C-20 C-21 C-22 C-23 C-24 C-25 C-26 C-27 C-28 F" 30
at_least "D-01 D-04 D-08 D-19 D-21 D-31 E-01" 7
at_least "D-20 D-26 D-28 D-29 D-33 D-34 D-36 E-02 E-03 E-04 E-05" 11
at_least "B1" 8
at_least "B2" 13
# The card keeps its reads in order. Otherwise hits would not wait for misses under an IOMMU.
{ grep -v '^  - ' "$source/scenarios/published/B2-08.yaml"; grep 'window 512 KiB' "$source/scenarios/published/B2-08.yaml"; } >"$folder/in-order.yaml"
"$hcasim" published "$folder/in-order.yaml" 2>&1 | grep -q '^1 rows: 1 pass' || fail "reads of the card in order: not as published"
sed -i 's/card: nfp-6000/card: {preset: nfp-6000, in_order: false}/' "$folder/in-order.yaml"
"$hcasim" published "$folder/in-order.yaml" 2>&1 | grep -q '^1 rows: 0 pass, 1 miss' || fail "reads of the card in any order: as published"
# It has fewer large reads in flight. Otherwise latency would not slow reads of 256 B.
{ grep -v '^  - ' "$source/scenarios/published/B2-15.yaml"; grep 'window 64 MiB' "$source/scenarios/published/B2-15.yaml"; } >"$folder/large.yaml"
sed -i 's/card: nfp-6000/card: {preset: nfp-6000, large_in_flight: 0}/' "$folder/large.yaml"
"$hcasim" published "$folder/large.yaml" 2>&1 | grep -q '^1 rows: 0 pass, 1 miss' || fail "large reads like small ones: as published"
at_least "A2-0 A2-10 A2-11 A2-13 A2-14 A2-15 A2-16 A2-18 A3-04" 12
# For rows that take long only the first case runs, which tests that their keys are read. All
# their cases, and E-07, run by hand.
for row in A2-12 A3-02 A3-03 A4-01 A4-02 A4-03 A4-05 A4-11 A5-07 A5-11 G-01 G-02 G-04; do
  file=$source/scenarios/published/$row.yaml
  { grep -v '^  - \|^order:' "$file"; grep -m 1 '^  - ' "$file"; } >"$folder/first.yaml"
  "$hcasim" published "$folder/first.yaml" >"$folder/out" 2>&1 || fail "$row: exit code $?"
  grep -q 'unknown key' "$folder/out" && fail "$row: $(cat "$folder/out")"
done
# One case of A3-01: a ConnectX-3 reads lists again for their responses once its WQE cache is full.
{ grep -v '^  - ' "$source/scenarios/published/A3-01.yaml"; grep 'case: "rate, 64 under way"' "$source/scenarios/published/A3-01.yaml"; } >"$folder/wqe-cache.yaml"
"$hcasim" published "$folder/wqe-cache.yaml" >"$folder/out" 2>&1 || fail "WQE cache: exit code $?"
grep -q '^1 rows: 1 pass' "$folder/out" || fail "WQE cache: $(cat "$folder/out")"
at_least "A4-04 A4-07 A4-08 A4-09 A4-10 A4-12 A4-14 A4-15" 5
at_least "A5-03 A5-04 A5-05 A5-06 A5-08 A5-09 A5-10 A6" 7

"$hcasim" published B >"$folder/first"
"$hcasim" published B >"$folder/second"
cmp "$folder/first" "$folder/second" || fail "two runs differ"
"$hcasim" published B1-01 --json --out "$folder/curves" >"$folder/json" || fail "--json: exit code $?"
python3 - "$folder/json" <<'END' || fail "--json is not as expected"
import json, sys
text = open(sys.argv[1]).read()
result = json.loads(text)
row = result["published"][0]
assert result["rows"] == 1 and row["row"] == "B1-01" and len(row["cases"]) == 8, row
assert row["cases"][1]["published"] == 600 and row["verdict"] == "pass", row
END
[ "$(grep -c '^[0-9]' "$folder/curves/B1-01.dat")" = 16 ] || fail "no two curves of 8 points"
# cases.csv has the contents of --json, also for rows without a curve. An unknown row leaves no
# folder.
"$hcasim" published B3-03 B1-01 --json --out "$folder/cases" >"$folder/json" || fail "--out: exit code $?"
python3 - "$folder/json" "$folder/cases/cases.csv" <<'END' || fail "cases.csv is not as expected: $(cat "$folder/cases/cases.csv")"
import csv, json, sys
rows = json.load(open(sys.argv[1]))["published"]
lines = list(csv.DictReader(open(sys.argv[2])))
cases = [(row["row"], case["case"], case) for row in rows for case in row["cases"]]
assert len(lines) == len(cases) > 8, lines
for line, (row, name, case) in zip(lines, cases):
    assert (line["row"], line["case"], line["verdict"]) == (row, name, case["verdict"]), (line, case)
    assert abs(float(line["ours"]) - case["ours"]) <= 1e-6 * abs(case["ours"]), (line, case)
END
# An interrupted command leaves the rows that it has finished.
"$hcasim" published B3-03 G-01 --out "$folder/interrupted" >"$folder/out" 2>&1 &
interrupted=$!
for _ in $(seq 600); do
  grep -q '^B3-03' "$folder/out" && break
  sleep 0.1
done
kill -TERM "$interrupted"
wait "$interrupted" 2>/dev/null
grep -q '^B3-03,.*,pass$' "$folder/interrupted/cases.csv" || fail "interrupted: $(cat "$folder/interrupted/cases.csv")"
"$hcasim" published Z9-99 --out "$folder/nothing" 2>"$folder/errors" && fail "a row that is not there"
[ -e "$folder/nothing" ] && fail "a row that is not there leaves a folder"
# An order of cases that does not hold makes the row miss, even if all cases pass. An order that
# names a
# missing case is an error.
mkdir -p "$folder/bin" "$folder/share/hcasim/scenarios/presets" "$folder/share/hcasim/scenarios/published" "$folder/share/hcasim/scenarios/studies"
cp "$source"/scenarios/studies/cnp-limits.* "$folder/share/hcasim/scenarios/studies"
cp "$hcasim" "$folder/bin/hcasim"
sed -e '$a order: [["for each queue pair", "for each address", "for the port"], ["for the port", "for each address"]]' \
  "$source/scenarios/published/C-21.yaml" >"$folder/share/hcasim/scenarios/published/C-21.yaml"
"$folder/bin/hcasim" published >"$folder/orders"
[ $? -eq 1 ] || fail "an order that does not hold is no miss: $(cat "$folder/orders")"
grep -q 'order: for the port > for each address  miss' "$folder/orders" || fail "the order is not named: $(cat "$folder/orders")"
grep -q '1 rows: 0 pass, 1 miss, 0 skipped; 3 of 3 cases pass' "$folder/orders" || fail "count: $(cat "$folder/orders")"
sed -i 's/^order: .*/order: [["for the port", "nobody"]]/' "$folder/share/hcasim/scenarios/published/C-21.yaml"
"$folder/bin/hcasim" published >"$folder/orders" 2>&1
[ $? -eq 2 ] || fail "an order of a case that is not there: $(cat "$folder/orders")"
grep -q 'no case "nobody"' "$folder/orders" || fail "$(cat "$folder/orders")"

# The original's size: values of full: come last, rows without it are left out, alone they are refused; only studies have one.
sed -e 's/^order: .*//' -e '$a full: {hardware: "2 ms", values: {run.until: 2ms}}' \
  -i "$folder/share/hcasim/scenarios/published/C-21.yaml"
cp "$source/scenarios/published/B1-01.yaml" "$folder/share/hcasim/scenarios/published/B1-01.yaml"
"$folder/bin/hcasim" published --full --json >"$folder/full"
[ $? -eq 1 ] || fail "--full: twice as many CNPs are no miss: $(cat "$folder/full")"
python3 - "$folder/full" <<'END' || fail "--full is not as expected"
import json, sys
result = json.load(open(sys.argv[1]))
assert result["rows"] == 1 and result["published"][0]["hardware"] == "2 ms", result
assert [case["ours"] for case in result["published"][0]["cases"]] == [160, 80, 40], result
END
"$folder/bin/hcasim" published C-21 >"$folder/orders" || fail "full: holds without --full: $(cat "$folder/orders")"
"$folder/bin/hcasim" published --full B1-01 >"$folder/out" 2>"$folder/errors"
[ $? -eq 2 ] || fail "--full of a row that has none is not refused"
grep -q 'no full: in 1 row' "$folder/errors" || fail "$(cat "$folder/errors")"
refuses_full() { # TEXT-OF-FULL ROW MESSAGE
  cp "$source/scenarios/published/$2.yaml" "$folder/share/hcasim/scenarios/published/$2.yaml"
  echo "full: $1" >>"$folder/share/hcasim/scenarios/published/$2.yaml"
  "$folder/bin/hcasim" published --full "$2" >"$folder/out" 2>"$folder/errors"
  [ $? -eq 2 ] || fail "$1 is not refused"
  grep -q "$3" "$folder/errors" || fail "$1: $(cat "$folder/errors")"
}
refuses_full '{hardware: "2 ms", valeus: {run.until: 2ms}}' C-21 'did you mean "values"'
refuses_full '{hardware: "2 ms"}' C-21 'values is missing'
refuses_full '{values: {run.until: 2ms}}' C-21 'hardware is missing'
refuses_full '{hardware: "2 ms", values: {run.until: 2ms}}' B1-01 'only rows of the driver study'

# A key without a meaning for a study is refused.
sed 's/^set: {/&timse: 2, /' "$source/scenarios/published/C-09.yaml" >"$folder/slip.yaml"
"$hcasim" published "$folder/slip.yaml" >"$folder/out" 2>"$folder/errors"
[ $? -eq 2 ] && grep -q 'slip.yaml:8:7: unknown key "timse"; did you mean "times"?' "$folder/errors" || fail "slip: $(cat "$folder/errors")"
# A key that the driver of a row does not read is refused, too, in the row's values and in a case's.
unasked() { # ROW SED-SCRIPT KEY
  sed "$2" "$source/scenarios/published/$1.yaml" >"$folder/slip.yaml"
  "$hcasim" published "$folder/slip.yaml" >"$folder/out" 2>"$folder/errors"
  [ $? -eq 2 ] && grep -q "slip.yaml:[0-9]*:[0-9]*: unknown key \"$3\"" "$folder/errors" || fail "$1 $3: $(cat "$folder/errors")"
}
unasked B1-06 's/{window: 64MiB}/{tx_depth: 64}/' tx_depth
unasked B1-04 's/^set: {/&metres: 2, /' metres
# Classes are counted apart. A row that a number is calibrated to is no prediction, nor is a row of
# the driver preset.
"$hcasim" published C-17 C-21 B1-04 F-08 >"$folder/out"
grep -q '^transcribed 1 rows: 1 pass' "$folder/out" && grep -q '^calibrated  1 rows: 1 pass' "$folder/out" && grep -q '^predicted   2 rows: 2 pass' "$folder/out" ||
  fail "classes: $(cat "$folder/out")"
for row in $(grep -rhoE 'calibrated: .*' "$source"/scenarios/presets "$source"/{hca,fabric,switch,hcasim,traffic,sim} --include=*.yaml --include=*.h | grep -oE '\b[A-G][0-9]?-[0-9]+\b' | sort -u); do
  grep -q '^class: \(calibrated\|transcribed\|recalled\)$' "$source/scenarios/published/$row.yaml" || fail "$row: a number is calibrated to it, and it says class: predicted"
done
refuses_class() { # ROW CLASS MESSAGE
  sed -e '/^class:/d' -e "2i class: $2" "$source/scenarios/published/$1.yaml" >"$folder/class.yaml"
  "$hcasim" published "$folder/class.yaml" >"$folder/out" 2>"$folder/errors"
  [ $? -eq 2 ] && grep -q "class.yaml:2:8: $3" "$folder/errors" || fail "$1 as $2: $(cat "$folder/errors")"
}
refuses_class C-17 predicted 'the driver preset compares a number with itself, which is not a test; expected class: transcribed'
refuses_class D-24 predicted 'a recalled figure does not test a prediction; expected class: recalled'
refuses_class C-21 clibrated '"clibrated" is not a class; .*did you mean "calibrated"'

# Reading errors are shown, and do not widen a tolerance. A tolerance may be a percentage.
row() { # SED-EXPRESSION...: C-21, changed
  cp "$source/scenarios/published/C-21.yaml" "$folder/share/hcasim/scenarios/published/C-21.yaml"
  sed -i "$@" "$folder/share/hcasim/scenarios/published/C-21.yaml"
}
row -e 's/published: 80/published: 100, plus_minus: 30/'
"$folder/bin/hcasim" published --verbose C-21 >"$folder/out"
[ $? -eq 1 ] && grep -q 'for each queue pair .* 100+-30 .* miss' "$folder/out" || fail "a reading error is added to a tolerance: $(cat "$folder/out")"
row -e 's/published: 80/published: 100, plus_minus: 30, tolerance: "20%"/'
"$folder/bin/hcasim" published C-21 >"$folder/out" || fail "a tolerance of 20%: $(cat "$folder/out")"

# Flows that have not ended make a row miss, unless the row states why this does not matter.
row -e '/^unfinished:/d'
"$folder/bin/hcasim" published C-21 >"$folder/out"
[ $? -eq 1 ] && grep -q 'miss (4 of 4 flows had not ended)' "$folder/out" || fail "unfinished flows: $(cat "$folder/out")"

# Choices: values of cases must be listed. Halved and doubled values show whether the verdict
# depends on them.
row -e 's/^choices:.*/choices: {run.until: 1ms}/'
"$folder/bin/hcasim" published --robust C-21 >"$folder/out" || fail "--robust: exit code $?: $(cat "$folder/out")"
grep -q 'choice: run.until 1ms; halved (0.5ms) miss, 0 of 3 cases; doubled (2ms) miss, 0 of 3 cases' "$folder/out" && grep -q '^C-21    fragile' "$folder/out" ||
  fail "--robust: $(cat "$folder/out")"
grep -q 'listed by 1 of 1 rows; 1 rows are fragile' "$folder/out" || fail "--robust, count: $(cat "$folder/out")"
row -e '/^choices:/d'
"$folder/bin/hcasim" published --verbose C-21 | grep -q 'choices: not listed' || fail "choices that are not listed are not said so"
sed -e 's/^choices:.*/choices: {tx_depth: 8}/' "$source/scenarios/published/A3-04.yaml" >"$folder/choices.yaml"
"$hcasim" published "$folder/choices.yaml" >"$folder/out" 2>"$folder/errors" || fail "a choice that is a default: exit code $?"
sed -i 's/cq_mod: 4}/cq_mod: 4, tx_depth: 16}/' "$folder/choices.yaml"
"$hcasim" published "$folder/choices.yaml" >"$folder/out" 2>"$folder/errors"
[ $? -eq 2 ] && grep -q 'case "READ" has tx_depth: 16, which is not listed' "$folder/errors" || fail "a choice that is not listed: $(cat "$folder/errors")"

"$hcasim" published NO-SUCH-ROW B1-01 >"$folder/out" 2>"$folder/errors"
[ $? -eq 2 ] || fail "an unknown row is not refused"
exit $((failures > 0))
