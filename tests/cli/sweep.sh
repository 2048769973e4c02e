#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a sweep applies variants to the scenario, zips lists, draws repeatable designs, and
# refuses two axes for one key. bins.csv counts each flow once. results.db is equal after a sweep
# that was killed repeatedly. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/study.yaml" <<'EOF'
seed: 1
hosts: {count: 9, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {link_layer: roce, topology: single-switch, switch: red-dcqcn-paper, link: {rate: 100Gbps}}
workload: {pattern: incast, bytes: 20KB, fan_in: 4}
run: {bins: [10KB, 100KB]}
EOF
study() { # study NAME: the scenario with standard input behind it
  cat "$folder/study.yaml" - >"$folder/$1.yaml"
}
sweep() { # sweep NAME [OPTION...]: into folder NAME
  "$hcasim" sweep "$folder/$1.yaml" --out "$folder/$1" "${@:2}" >"$folder/log" 2>&1 ||
    fail "sweep $1: exit code $?: $(cat "$folder/log")"
}
column() { # column FILE NAME: the values of a column of a CSV file without quotes
  awk -F, -v name="$2" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) c = i} NR > 1 {print $c}' "$1"
}
query() { # query NAME SQL
  sqlite3 "$folder/$1/results.db" "$2"
}

# ---- variants, named values and zipped lists ----
study zip <<'EOF'
variants:
  lossless:
  lossy: {fabric.switch.port.pfc_priorities: 0, hosts.hca.recovery: selective_repeat}
sweep:
  zip: {workload.bytes: [10KB, 200KB], workload.fan_in: [2, 8]}
  hosts.hca: {calm: {cnp_interval: 100us}, plain: }
EOF
sweep zip -j 2
"$hcasim" run "$folder/zip.yaml" >"$folder/log" 2>&1 || fail "one run: $(cat "$folder/log")"
grep -q "own values; hcasim sweep runs the 8 points" "$folder/log" || fail "one run: $(cat "$folder/log")"
[ "$(column "$folder/zip/results.csv" variant | sort | uniq -c | xargs)" = '4 lossless 4 lossy' ] ||
  fail "variants: $(column "$folder/zip/results.csv" variant | xargs)"
[ "$(paste -d: <(column "$folder/zip/results.csv" workload.bytes) <(column "$folder/zip/results.csv" workload.fan_in) |
  sort -u | xargs)" = '10KB:2 200KB:8' ] || fail 'zipped lists are not value by value'
[ "$(query zip 'select group_concat(distinct flows) from (select flows from results order by 1)')" = 2,8 ] || fail 'fan_in is not that of the zip'
[ -e "$folder/zip/by-name/variant=lossy,bytes=10KB,fan_in=2,hca=calm" ] || fail "names: $(ls "$folder/zip/by-name")"
grep -q 'recovery: selective_repeat' "$folder/zip/by-name/variant=lossy,bytes=10KB,fan_in=2,hca=calm/scenario.yaml" ||
  fail 'the variant is not in the configuration'
grep -q 'recovery: go_back_n' "$folder/zip/by-name/variant=lossless,bytes=10KB,fan_in=2,hca=calm/scenario.yaml" ||
  fail 'a variant without keys is not the file itself'

# ---- an axis of a whole map, and a variant of a key inside it, in any order ----
study inside <<'EOF'
variants: {long: {hosts.hca.cnp_interval: 100us}, short: {hosts.hca.cnp_interval: 10us}}
sweep: {hosts.hca: ["{fidelity: endpoint, congestion: none}", "{fidelity: endpoint, congestion: dcqcn-paper}"]}
EOF
sweep inside
for name in "$folder"/inside/by-name/*; do
  interval=$(case $name in *variant=long*) echo 100us ;; *) echo 10us ;; esac)
  grep -q "cnp_interval: $interval" "$name/scenario.yaml" || fail "$name: the variant has no effect"
done

# ---- designs ----
for kind in random latin_hypercube sobol; do
  study $kind <<EOF
sweep:
  design:
    kind: $kind
    points: 8
    keys:
      workload.bytes: {from: 1000, to: 256000, scale: log, whole: true, unit: B}
      workload.fan_in: {from: 1, to: 8, whole: true}
      hosts.hca.congestion: [none, dcqcn-paper]
EOF
  sweep $kind -j 2
  [ "$(column "$folder/$kind/results.csv" point | sort -u | wc -l)" -eq 8 ] || fail "$kind: points are not 8 different ones"
  mv "$folder/$kind/results.csv" "$folder/$kind.csv"
  sweep $kind
  cmp "$folder/$kind.csv" "$folder/$kind/results.csv" || fail "$kind: a second time, another design"
done
[ "$(column "$folder/latin_hypercube.csv" workload.fan_in | sort -n | xargs)" = '1 2 3 4 5 6 7 8' ] ||
  fail 'latin_hypercube: not one point in each stratum'
[ "$(column "$folder/latin_hypercube.csv" hosts.hca.congestion | sort | uniq -c | xargs)" = '4 dcqcn-paper 4 none' ] ||
  fail 'latin_hypercube: not half of the points for each of two choices'

# ---- mistakes ----
refused() { # refused TEXT: the scenario on standard input is refused with this text
  study refused
  "$hcasim" check "$folder/refused.yaml" >"$folder/log" 2>&1
  [ $? -eq 2 ] || fail "not exit code 2 for: $1"
  grep -qF "$1" "$folder/log" || fail "expected '$1': $(cat "$folder/log")"
}
refused 'refused.yaml:7:15: seed is swept at line 6, too' <<<$'variants: {a: {seed: 2}, b: }\nsweep: {seed: [1, 2]}'
refused 'refused.yaml:6:45: found 1 values; expected 2, like "seed"' <<<'sweep: {zip: {seed: [1, 2], workload.bytes: [1KB]}}'
refused '"a b" is not a valid name' <<<'variants: {a b: {seed: 1}}'
refused 'points: expected a whole number from 1 to 10000' <<<'sweep: {design: {keys: {seed: {from: 1, to: 2}}}}'
refused 'found grid; expected random, latin_hypercube or sobol' <<<'sweep: {design: {kind: grid, points: 2, keys: {seed: {from: 1, to: 2}}}}'
refused 'expected from and to in ascending order' <<<'sweep: {design: {points: 2, keys: {workload.bytes: {from: 0, to: 2, scale: log}}}}'
refused 'sweep: workload.byts=1KB: unknown key "byts"' <<<'sweep: {workload.byts: [1KB]}'
sed -i 's/10KB, 100KB/100KB, 10KB/' "$folder/study.yaml"
refused 'limits of bins do not ascend' <<<''
sed -i 's/100KB, 10KB/10KB, 100KB/' "$folder/study.yaml"

# ---- bins ----
study bins <<'EOF'
sweep: {workload.bytes: [10KB, 10001B, 100KB, 1MB], seed: [1, 2, 3]}
EOF
sweep bins -j 2
[ "$(query bins "select group_concat(bytes_to_B || '') from bins where \"workload.bytes\" = '10001B' and flows > 0 and seed = 1")" = 100000 ] ||
  fail '10001 B are not in the bin up to 100 KB'
[ "$(query bins "select group_concat(n) from (select sum(flows) n from bins where bytes_to_B is not null or bytes_above_B is not null group by \"workload.bytes\")")" = 12,12,12,12 ] ||
  fail 'a flow is not in one bin'
[ "$(query bins "select group_concat(n) from (select sum(flows) n from bins where bytes_to_B is null and bytes_above_B is null group by \"workload.bytes\")")" = 12,12,12,12 ] ||
  fail 'the line of all sizes does not count all flows'
[ "$(query bins "select count(*) from bins join results using (\"workload.bytes\", seed) where bytes_to_B is null and bytes_above_B is null and abs(bins.fct_p99_us - results.fct_p99_us) > 1e-6")" = 0 ] ||
  fail 'the line of all sizes differs from the metric'
[ "$(query bins "select count(*) from bin_means where runs = 3")" = 16 ] || fail "bin_means.csv: $(cat "$folder/bins/bin_means.csv")"

# ---- the same database after kills ----
cp "$folder/bins.yaml" "$folder/killed.yaml"
for delay in 0.01 0.02 0.03 0.05 0.08; do
  timeout -s KILL $delay "$hcasim" sweep "$folder/killed.yaml" -j 2 --out "$folder/killed" >"$folder/log" 2>&1
done
sweep killed -j 2
for table in results means bins bin_means configuration parameters; do
  cmp <(query bins "select * from $table") <(query killed "select * from $table") || fail "$table differs after kills"
done
[ "$(query killed 'select count(distinct point) from results')" = 12 ] || fail 'not each point once'
[ "$(query killed 'select count(*) from costs')" -ge 1 ] || fail 'no costs'
[ "$(query bins 'select value from provenance where key = "version"')" = "$("$hcasim" --version | cut -d' ' -f2)" ] || fail 'no version'
[ "$(query bins "select count(*) from parameters where path = 'workload.bytes'")" = 9 ] || fail 'parameters that differ'

# ---- a point whose expectation fails makes the sweep fail, also if the point exists already ----
study bad <<'EOF'
faults: [{from: host1, to: switch0, link_down: {begin: 0us, lasts: 10s}}]
sweep: {seed: [1, 2]}
EOF
for time in first second; do
  "$hcasim" sweep "$folder/bad.yaml" --set hosts.hca.retry_count=1 --set hosts.hca.timeout=4 --out "$folder/bad" >"$folder/log" 2>&1
  [ $? -eq 1 ] || fail "$time sweep with failed flows: exit code is not 1: $(cat "$folder/log")"
  grep -q '2 of 2 points are not as expected; exit_code in' "$folder/log" || fail "$time: not said: $(cat "$folder/log")"
done

[ $failures -eq 0 ]
