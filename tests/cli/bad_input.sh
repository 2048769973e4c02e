#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that each kind of bad input ends with exit code 2, one clear message that names the place, and nothing written.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect CODE TEXT ARGUMENTS...: standard error or output holds TEXT
expect() {
  local code=$1 text=$2 output status
  shift 2
  output=$("$hcasim" "$@" 2>&1)
  status=$?
  if [ $status -ne "$code" ]; then
    echo "hcasim $*: exit code $status, expected $code: $output"
    failures=$((failures + 1))
  elif [[ $output != *"$text"* ]]; then
    echo "hcasim $*: \"$text\" is not in: $output"
    failures=$((failures + 1))
  fi
}

good=$source/scenarios/back-to-back-ib.yaml
sed 's/topology:/topolgy:/' "$good" >"$folder/misspelt.yaml"
printf 'hosts:\n  host0: {hca: conectx4-edr}\nfabric: {topology: single-switch}\n' >"$folder/preset.yaml"
printf 'hosts:\n  host0: {hca: {requester_cache: {entries: 150}}}\nfabric: {topology: single-switch}\n' >"$folder/sets.yaml"
printf 'hosts:\n  host0:\n  host1:\nfabric:\n  topology: back-to-back\n  link: {length: 3}\n' >"$folder/unit.yaml"
printf 'hosts:\n\thost0:\n' >"$folder/tab.yaml"
marks() { printf 'hosts: {count: 2, hca: {fidelity: endpoint}}\nfabric:\n  link_layer: %s\n  topology: single-switch\n  switch: {%s}\nworkload: {bytes: 1KB}\n' "$1" "$2"; }
marks roce 'ecn: {kmin: 5KB, kmax: 5KB}' >"$folder/unmarked.yaml"
marks roce 'ecn: {mark: off, kmin: 5KB}' >"$folder/off.yaml"
marks roce 'preset: red-dcqcn-paper, ecn: {kmin: 10KB}' >"$folder/marked.yaml"
marks infiniband 'fecn: {marking_rate: 3}' >"$folder/unmarked-ib.yaml"
groups() { printf 'hosts: {host0: {hca: %s}, host1: {hca: %s}}\nfabric:\n  link_layer: %s\n  topology: single-switch\n  multicast:\n    - %s\n    - {mgid: "ff12::1", members: [host0]}\n' "$2" "$2" "$1" "$3"; }
groups infiniband connectx4-edr '{mgid: "fe80::1", members: ["*"]}' >"$folder/gid.yaml"
groups infiniband connectx4-edr '{mgid: "ff12::1", members: ["*"]}' >"$folder/twice.yaml"
groups infiniband connectx4-edr '{mgid: "ff12::2", mlid: 0xbfff, members: ["*"]}' >"$folder/lid.yaml"
groups roce connectx4-100gbe '{mgid: "224.1.2.3", mlid: 0xc000, members: ["*"]}' >"$folder/roce-lid.yaml"
groups infiniband connectx4-edr '{mgid: "ff12::2", members: [host7]}' >"$folder/member.yaml"
groups infiniband '{fidelity: endpoint}' '{mgid: "ff12::2", members: [host1]}' >"$folder/plain.yaml"
groups infiniband connectx4-edr '{mgid: "ff12::2", senders: [host1]}' >"$folder/memberless.yaml"
groups infiniband connectx4-edr '{mgid: "ff12::2", mlid: 49152, members: ["host?"], senders: [host1]}' >"$folder/group.yaml"
cp "$good" "$folder/closed.yaml"
# study KEY: VALUE...: a study of two hosts with these lines behind it
study() { printf 'hosts: {count: 2, hca: {fidelity: endpoint}}\nfabric: {link_layer: roce, topology: single-switch}\nworkload: {bytes: 1KB}\n%s\n' "$1"; }
study 'sweep: {seed: [1, 2], workload.byts: [1KB]}' >"$folder/sweep.yaml"
printf 'hosts: {count: 2, hca: connectx4-edr}\nfabric: {topology: single-switch}\nload:\n  sharers: 2\n' >"$folder/renamed.yaml"
printf 'hosts: {count: 2, hca: connectx4-edr}\nfabric: {topology: single-switch}\nload: {}\nsweep: {load.sharers: [1, 2]}\n' >"$folder/renamed-sweep.yaml"
study 'record: {trace: ["*.why"]}' >"$folder/traced.yaml"
study 'record: {series: 10us, series_ports: ["swich0.*"]}' >"$folder/ports.yaml"
study 'fabric: {topology: single-switch}' >"$folder/again.yaml"
study '<<: {seed: 3}' >"$folder/merge.yaml"
study 'faults: [{from: host9, to: "*", drop: {probability: 1%}}]' >"$folder/fault.yaml"
study '---' >"$folder/documents.yaml"
study "$(for i in $(seq 100000); do echo "key$i: 1"; done)" >"$folder/keys.yaml"
study "$(for i in $(seq 150); do echo "seed: $i"; done)" >"$folder/doubles.yaml"
study 'expect: [{metric: goodput_gpbs, at_least: 3}]' >"$folder/metric.yaml"
study 'run: {until: -3us}' >"$folder/negative.yaml"
study 'faults: [{from: host0, to: host1, drop: {probability: 1%}}]' >"$folder/apart.yaml"
study 'faults: [{from: host0}]' >"$folder/actionless.yaml"
study 'run: {warm_up: 2ms, measure_until: 1ms}' >"$folder/measured.yaml"
study 'run: {until: 1ms}' | sed 's/bytes: 1KB/start: 1ms/' >"$folder/late.yaml"
study '' | sed 's/bytes: 1KB/start: 2ms, posting: {start_deadline: 1ms}/' >"$folder/stopped.yaml"
study '' | sed 's/bytes: 1KB/pattern: poisson, start: 2ms, arrivals_until: 2ms/' >"$folder/flowless.yaml"
study '' | sed 's/bytes: 1KB/pattern: trace, trace: none.csv/' >"$folder/lineless.yaml"
echo 'start_us,source,destination,bytes' >"$folder/none.csv"
study '' | sed 's/bytes: 1KB/pattern: incast, fan_in: 2/' >"$folder/senders.yaml"
study '' | sed 's/fidelity: endpoint/&, congestion: hpcc-paper/' >"$folder/blind.yaml"
marks infiniband 'ecn: {mark: dequeue}' >"$folder/ecn-ib.yaml"
marks roce 'fecn: {threshold: 15}' >"$folder/fecn-roce.yaml"
marks roce 'ecn: {mark: dequeue, kmin: 500KB, kmax: 5KB}' >"$folder/range.yaml"
printf 'hosts: {count: 0, hca: {fidelity: endpoint}}\nfabric: {topology: {kind: fat-tree, arity: 64}}\nworkload: {bytes: 1KB}\n' >"$folder/large.yaml"
study 'run: {until: 1e30s}' >"$folder/exponent.yaml"
study 'run: {until: 99999999999999999999s}' >"$folder/overflow.yaml"
study "$(printf 'x: %064d%064d' 0 0 | tr 0 '[')" >"$folder/deep.yaml"
{ echo hosts:; for i in $(seq 62501); do echo "  h$i:"; done; echo 'fabric: {topology: single-switch}'; } >"$folder/hosts.yaml"
printf 'hosts: &h {a: *h}\nfabric: {topology: single-switch}\n' >"$folder/circle.yaml"
printf 'hosts: {a: , b: }\nfabric:\n  switches: {s0: , s1: }\n  links:\n    - {between: [a, s0]}\n    - {between: [b, s2]}\n' >"$folder/ends.yaml"
printf 'hosts: {count: 2, hca: {fidelity: endpoint, congestion: dcqnc-paper}}\nfabric: {link_layer: roce, topology: single-swich}\n' >"$folder/choice.yaml"
: >"$folder/empty.yaml"
head -c 4096 "$hcasim" >"$folder/binary.yaml"

expect 2 'hcasim help lists the verbs'
expect 2 'no verb "chek"; did you mean "check"?' chek
expect 2 'FILE is missing' check
expect 2 'unexpected argument' check "$good" more
expect 2 'unrecognized option' check --bogus "$good"
expect 2 'gid.yaml:6:14: "fe80::1" is not a multicast GID; expected an IPv6 address that begins with ff, or 224.0.0.0 to 239.255.255.255' check "$folder/gid.yaml"
expect 2 'twice.yaml:7:14: "ff12::1" is already the GID of another group' check "$folder/twice.yaml"
expect 2 'lid.yaml:6:31: "0xbfff" is not a multicast LID; expected 0xc000 to 0xfffe' check "$folder/lid.yaml"
expect 2 'roce-lid.yaml:6:33: mlid: expected link_layer: infiniband' check "$folder/roce-lid.yaml"
expect 2 'member.yaml:6:35: no host "host7"; did you mean "host0"?' check "$folder/member.yaml"
expect 2 'host1 has an HCA of fidelity endpoint, which does not support multicast; expected fidelity: detailed' check "$folder/plain.yaml"
expect 2 'memberless.yaml:6:7: no members; expected members: [host0, host1]' check "$folder/memberless.yaml"
expect 0 '' check "$folder/group.yaml"
expect 2 'unmarked.yaml:5:17: ecn has no effect: without `mark` the switch marks nothing; expected mark: dequeue or enqueue, or off' check "$folder/unmarked.yaml"
expect 2 'unmarked-ib.yaml:5:18: fecn has no effect: without `threshold` the switch marks nothing; expected threshold: 1..15, or 0 for none' check "$folder/unmarked-ib.yaml"
expect 0 '' check "$folder/off.yaml"
expect 0 '' check "$folder/marked.yaml"
expect 2 'nofile.yaml: cannot be read: No such file or directory' check nofile.yaml
expect 2 'no file incast-dcqcn; did you mean scenarios/studies/incast-dcqcn.yaml?' run incast-dcqcn
expect 2 'no file two-host-ib.yaml; did you mean scenarios/two-hosts-ib.yaml?' check two-host-ib.yaml
expect 2 'cannot be read: Is a directory' check "$folder"
expect 2 "misspelt.yaml:10:3: unknown key \"topolgy\"; did you mean \"topology\"?" check "$folder/misspelt.yaml"
expect 2 'preset.yaml:2:16: no preset "conectx4-edr"; did you mean "connectx4-edr"?' check "$folder/preset.yaml"
expect 2 'unit.yaml:6:18: length: "3" has no unit; expected a length: m, cm, km' check "$folder/unit.yaml"
expect 2 'sets.yaml:2:17: 150 entries are not a multiple of 4 ways; expected for example entries: 152' check "$folder/sets.yaml"
expect 2 'tab.yaml:2:1: not YAML' check "$folder/tab.yaml"
expect 2 '--set fabric.link.length=3ft: length: "3ft" has the unknown unit "ft"' check "$good" --set fabric.link.length=3ft
expect 2 '--set seed: expected key.path=value' check "$good" --set seed
expect 2 '--set seed=x: seed: "x" is not a number' check "$good" --seed x
expect 2 'no list of parameters "lnk"; did you mean "link"?' params lnk
expect 2 'sweep.yaml:4:23: sweep: workload.byts=1KB: unknown key "byts"; did you mean "bytes"?' check "$folder/sweep.yaml"
expect 2 'sweep.yaml:4:23: sweep: workload.byts=1KB: unknown key "byts"; did you mean "bytes"?' sweep "$folder/sweep.yaml" --out "$folder/points"
expect 2 'record: no port matches swich0.*; expected names such as switch0.port1, with * for any text' run "$folder/ports.yaml"
expect 2 'again.yaml:4:1: "fabric" is defined twice; first on line 2' check "$folder/again.yaml"
expect 2 'merge.yaml:4:1: merge keys (<<) are not allowed; write it out' check "$folder/merge.yaml"
expect 2 'fault.yaml:4:17: from: no host or switch is called "host9"; did you mean "host0"?' check "$folder/fault.yaml"
expect 2 'documents.yaml:4:1: a second document (---) is not allowed' check "$folder/documents.yaml"
expect 2 'hcasim: 100000 problems in' check "$folder/keys.yaml"
expect 2 'hcasim: 149 problems in' check "$folder/doubles.yaml"
expect 2 'metric.yaml:4:19: no metric "goodput_gpbs"; did you mean "goodput_gbps"?' check "$folder/metric.yaml"
expect 2 'apart.yaml:4:10: no link from "host0" to "host1"; expected two neighbours, or * for any' check "$folder/apart.yaml"
expect 2 'actionless.yaml:4:10: expected one of drop, corrupt_icrc, corrupt_vcrc, delay, reorder, mark, link_down, pause_storm, slow_receiver; found 0' check "$folder/actionless.yaml"
expect 2 'measured.yaml:4:6: run: warm_up is not before measure_until' check "$folder/measured.yaml"
expect 2 'late.yaml:4:6: run: until is not after workload.start' check "$folder/late.yaml"
expect 2 'stopped.yaml:3:11: workload: posting.start_deadline is before start' check "$folder/stopped.yaml"
expect 2 'flowless.yaml:3:12: no flow begins; expected at least one' check "$folder/flowless.yaml"
expect 2 'none.csv: no flow begins; expected at least one' check "$folder/lineless.yaml"
expect 2 'senders.yaml:3:29: fan_in: 2 of 2 hosts; expected fewer hosts, because one is the target' check "$folder/senders.yaml"
expect 2 'blind.yaml:2:9: congestion of host0 needs telemetry, which no switch adds; expected switch: {telemetry: true}' check "$folder/blind.yaml"
expect 2 'ecn-ib.yaml:3:3: switch0: ecn is for link_layer: roce; expected fecn: {threshold: ..}' check "$folder/ecn-ib.yaml"
expect 2 'fecn-roce.yaml:3:3: switch0: fecn is for link_layer: infiniband; expected ecn: {mark: ..}' check "$folder/fecn-roce.yaml"
expect 2 'range.yaml:5:11: ecn: kmin is greater than kmax' check "$folder/range.yaml"
expect 2 'large.yaml:1:8: the topology has 65536 hosts; expected at most 62500' run "$folder/large.yaml"
expect 2 'negative.yaml:4:14: until: "-3us" is negative; expected a time: ps, ns, us, ms, s' check "$folder/negative.yaml"
expect 2 'exponent.yaml:4:14: until: "1e30s" is too large; expected a time: ps, ns, us, ms, s (0..2305843.009213693951s)' check "$folder/exponent.yaml"
expect 2 'overflow.yaml:4:14: until: "99999999999999999999s" is too large; expected a time' check "$folder/overflow.yaml"
expect 2 'deep.yaml:4:68: nested too deeply' check "$folder/deep.yaml"
expect 2 'hosts.yaml:2:3: 62501 hosts; expected at most 62500' check "$folder/hosts.yaml"
expect 2 'circle.yaml:1:15: anchors (&name) and aliases (*name) are not allowed; write it out' check "$folder/circle.yaml"
expect 2 'ends.yaml:6:21: no host or switch "s2"; did you mean "s0"?' check "$folder/ends.yaml"
expect 2 'renamed.yaml:4:3: unknown key "sharers"; it is now "cores_per_thread"' run "$folder/renamed.yaml" --out "$folder/points"
expect 2 'renamed-sweep.yaml:4:9: sweep: load.sharers=1: unknown key "sharers"; it is now "cores_per_thread"' sweep "$folder/renamed-sweep.yaml" --out "$folder/points"
expect 2 'record: trace: no block matches "*.why"; it is now "latency"' run "$folder/traced.yaml" --out "$folder/traced"
expect 2 '--set load.sharers=2: unknown key "sharers"; it is now "cores_per_thread"' run "$good" --set load.sharers=2
expect 2 '(did you mean `dcqcn-paper`?); expected one of none window dcqcn' check "$folder/choice.yaml"
expect 2 'choice.yaml:2:38: topology: "single-swich" is not one of the choices (did you mean "single-switch"?); expected one of links|' check "$folder/choice.yaml"
expect 2 'empty.yaml:1:1: found nothing; expected a scenario, as a map (key: value)' check "$folder/empty.yaml"
expect 2 'binary.yaml:1:1: not a text in UTF-8' check "$folder/binary.yaml"
expect 2 'no option --efective of check; did you mean --effective?' check --efective "$good"
expect 2 'no verb "explian"; did you mean "explain"?' help explian
expect 0 '' check "$good"
expect 0 'length: 2m' check "$good" --effective --set fabric.link.length=2m
expect 0 'seed: 7' check "$good" --effective --seed 7
expect 0 'check' help
expect 0 '--effective' help check --words
expect 0 'Ends with exit code 1 if an expectation' run --help
expect 0 'Ends with exit code 1 if an expectation' help run
expect 0 'row C-12' params link
expect 0 'hcasim ' --version

# The effective configuration is a scenario with the same effective configuration.
"$hcasim" check "$good" --effective >"$folder/one.yaml" && "$hcasim" check "$folder/one.yaml" --effective >"$folder/two.yaml"
if ! cmp "$folder/one.yaml" "$folder/two.yaml"; then
  failures=$((failures + 1))
fi
# check --json: the same errors as records, for errors of the file and errors that a run finds
printf 'hosts: {count: 2, hca: {fidelity: endpoint}}\nfabric: {topology: single-switch, link: {rat: 25}}\nseed: x\nworkload: {bytes: 1KB, target: 7}\n' >records.yaml
"$hcasim" check --json records.yaml >records.json 2>records.txt
[ $? -eq 2 ] && [ ! -s records.txt ] || fail "check --json: exit code or text on standard error: $(cat records.txt)"
"$hcasim" check --json --set seed=1 --set fabric.link={} records.yaml >refused.json
"$hcasim" check --json --set seed=1 --set fabric.link={} --set workload.target=1 --set workload.stride=2 records.yaml >good.json ||
  fail "check --json: a good scenario is refused"
python3 - <<'END' || failures=$((failures + 1))
import json
errors = json.load(open("records.json"))["errors"]
got = [(e["file"], e["line"], e["column"], e["key"], e["found"], e["expected"], e["suggestion"]) for e in errors]
want = [("records.yaml", 3, 7, "seed", "x", "a whole number", None),
        ("records.yaml", 2, 42, "fabric.link.rat", "rat", None, "rate")]
assert got == want, got
refused = json.load(open("refused.json"))["errors"]
assert [(e["line"], e["column"], e["message"]) for e in refused] == [(4, 24, "target: no host 7; expected 0..1")], refused
good = json.load(open("good.json"))
assert good["errors"] == [] and [w["key"] for w in good["warnings"]] == ["workload.target", "workload.stride"], good
END
"$hcasim" params --json | python3 -c 'import json, sys; rows = json.load(sys.stdin); assert rows and all(r["meaning"] and r["source"] for r in rows)' || failures=$((failures + 1))
[ $failures -eq 0 ]
