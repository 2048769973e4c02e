#!/bin/bash
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

expect 2 'hcasim help lists the verbs'
expect 2 'no verb "chek"; did you mean "check"?' chek
expect 2 'FILE is missing' check
expect 2 'one argument too many' check "$good" more
expect 2 'unrecognized option' check --bogus "$good"
expect 2 'gid.yaml:6:14: "fe80::1" is no group'"'"'s GID; expected an IPv6 address that begins with ff, or 224.0.0.0 to 239.255.255.255' check "$folder/gid.yaml"
expect 2 'twice.yaml:7:14: "ff12::1" is another group'"'"'s GID already' check "$folder/twice.yaml"
expect 2 'lid.yaml:6:31: "0xbfff" is no group'"'"'s LID; expected 0xc000 to 0xfffe' check "$folder/lid.yaml"
expect 2 'roce-lid.yaml:6:33: mlid: expected link_layer: infiniband' check "$folder/roce-lid.yaml"
expect 2 'member.yaml:6:35: no host is called "host7"' check "$folder/member.yaml"
expect 2 'host1 has an HCA of fidelity endpoint, which knows no multicast; expected fidelity: detailed' check "$folder/plain.yaml"
expect 2 'memberless.yaml:6:7: no members; expected members: [host0, host1]' check "$folder/memberless.yaml"
expect 0 '' check "$folder/group.yaml"
expect 2 'unmarked.yaml:5:17: ecn: nothing is marked without `mark`; expected mark: dequeue or enqueue, or off' check "$folder/unmarked.yaml"
expect 2 'unmarked-ib.yaml:5:18: fecn: nothing is marked without `threshold`; expected threshold: 1..15, or 0 for none' check "$folder/unmarked-ib.yaml"
expect 0 '' check "$folder/off.yaml"
expect 0 '' check "$folder/marked.yaml"
expect 2 'nofile.yaml: cannot be read: No such file or directory' check nofile.yaml
expect 2 'cannot be read: Is a directory' check "$folder"
expect 2 "misspelt.yaml:9:3: unknown key \"topolgy\"; did you mean \"topology\"?" check "$folder/misspelt.yaml"
expect 2 'preset.yaml:2:16: no preset "conectx4-edr"; did you mean "connectx4-edr"?' check "$folder/preset.yaml"
expect 2 'unit.yaml:6:18: length: "3" has no unit; expected a length: m, cm, km' check "$folder/unit.yaml"
expect 2 'sets.yaml:2:17: 150 entries are no whole sets of 4 ways; expected a multiple, as entries: 152' check "$folder/sets.yaml"
expect 2 'tab.yaml:2:1: not YAML' check "$folder/tab.yaml"
expect 2 '--set fabric.link.length=3ft: length: "3ft" has the unknown unit "ft"' check "$good" --set fabric.link.length=3ft
expect 2 '--set seed: expected key.path=value' check "$good" --set seed
expect 2 '--set seed=x: seed: "x" is not a number' check "$good" --seed x
expect 2 'no list of parameters "lnk"; did you mean "link"?' params lnk
expect 0 '' check "$good"
expect 0 'length: 2m' check "$good" --effective --set fabric.link.length=2m
expect 0 'seed: 7' check "$good" --effective --seed 7
expect 0 'check' help
expect 0 '--effective' help check --words
expect 0 'ground truth' params link
expect 0 'hcasim ' --version

# The effective configuration is a scenario with the same effective configuration.
"$hcasim" check "$good" --effective >"$folder/one.yaml" && "$hcasim" check "$folder/one.yaml" --effective >"$folder/two.yaml"
if ! cmp "$folder/one.yaml" "$folder/two.yaml"; then
  failures=$((failures + 1))
fi
"$hcasim" params --json | python3 -c 'import json, sys; rows = json.load(sys.stdin); assert rows and all(r["meaning"] and r["source"] for r in rows)' || failures=$((failures + 1))
[ $failures -eq 0 ]
