#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that accepted keys without an effect are named with file, line and column. Keys with an
# effect, and values that equal the default, are not named. Also tests the precedence of an
# adapter's preset, its host's preset and single keys. Arguments: the hcasim program, the top of the
# source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

# says FILE LINE: `hcasim check FILE` prints the line.
says() {
  "$hcasim" check "$folder/$1" >"$folder/text" 2>&1
  grep -qF "$folder/$1:$2" "$folder/text" || fail "$1: expected \"$2\": $(cat "$folder/text")"
}

# silent FILE: no warning, also of the configuration that a run writes.
silent() {
  "$hcasim" check "$folder/$1" >"$folder/text" 2>&1
  grep -q warning "$folder/text" && fail "$1: $(cat "$folder/text")"
}

cat >"$folder/load.yaml" <<'END'
seed: 1
hosts:
  count: 2
  hca: {preset: connectx5-100gbe, event_queue: {moderation_count: 16}}
fabric: {link_layer: roce, topology: back-to-back, link: cable-100gbe}
load: {verb: write, max_rd_atomic: 4, address_stride: 1KiB, cpu: {idle_poll: 3ns}, server: {lines: 1}}
END
says load.yaml '4:49: warning: moderation_count has no effect here'
says load.yaml '6:21: warning: max_rd_atomic has no effect here; it needs verb: read or fetch_add'
says load.yaml '6:39: warning: address_stride has no effect here; it needs load.addresses_per_region above 1'
says load.yaml '6:67: warning: idle_poll has no effect here'
says load.yaml '6:93: warning: lines has no effect here; it needs load.server.cores above 0'
[ "$(grep -c warning "$folder/text")" = 5 ] || fail "more than that: $(cat "$folder/text")"

# A key that is set to its default is named, too.
"$hcasim" check "$folder/load.yaml" --set load.rx_depth=0 2>&1 | grep -qF -- '--set load.rx_depth=0' ||
  fail 'a key of --set without effect is not named'

cat >"$folder/flows.yaml" <<'END'
hosts: {count: 8, hca: {fidelity: endpoint, port: {speed: explicit, rate: 800Gbps}}}
fabric: {link_layer: roce, topology: single-switch, link: cable-100gbe}
workload: {pattern: poisson, incast_load: 0.1, incast_fan_in: 200, arrivals_until: 100us, hot: 0.5, sizes: web_search, bytes: 2MB}
record: {series_ports: ["*"]}
END
says flows.yaml '2:59: warning: the link of host0 reduces the rate of its adapter from 800 to 100'
says flows.yaml '3:63: warning: of 8 hosts, at most 7 can send to one target; all of these send'
says flows.yaml '3:91: warning: hot has no effect here; it needs pattern: hotspot'
says flows.yaml '3:120: warning: bytes has no effect here; it needs sizes: fixed'
says flows.yaml '4:10: warning: series_ports has no effect here'
printf 'start_us,source,destination,bytes\n0,0,2,1000\n' >"$folder/one.csv"
sed -i 's/workload:.*/workload: {pattern: trace, trace: one.csv, sizes: web_search}/' "$folder/flows.yaml"
says flows.yaml '3:44: warning: sizes has no effect here; it needs patterns other than trace'

# Keys of Ethernet switches, at any switch.
cat >"$folder/switch.yaml" <<'END'
hosts: {count: 2, hca: {fidelity: endpoint}}
fabric: {link_layer: infiniband, topology: single-switch, switch: {hash_fields: destination_port, snooping: true}}
workload: {pattern: incast, bytes: 10KB}
END
says switch.yaml '2:68: warning: hash_fields has no effect here; it needs fabric.link_layer: roce'
says switch.yaml '2:99: warning: snooping has no effect here; it needs fabric.link_layer: roce'
sed -i 's/infiniband/roce/' "$folder/switch.yaml"
silent switch.yaml

# An effective configuration has all keys at their values, and none of them is named.
cat >"$folder/plain.yaml" <<'END'
hosts:
  host0: {hca: {pcie: {generation: 5, lanes: 4}}, host: ryzen-7000}
  host1: {hca: {preset: connectx5-100gbe, pcie: {lanes: 8}}, host: ryzen-7000}
fabric: {link_layer: roce, topology: back-to-back, link: cable-100gbe}
load: {operations: 100, warm_up: 10}
END
silent plain.yaml
"$hcasim" run "$folder/plain.yaml" --out "$folder/out" >"$folder/text" 2>&1 || fail "plain: $(cat "$folder/text")"
cp "$folder/out/scenario.yaml" "$folder/effective.yaml"
silent effective.yaml
[ "$(grep -A2 ' pcie:' "$folder/effective.yaml" | grep -E 'generation|lanes' | tr -d ' \n')" = generation:5lanes:4generation:3lanes:8 ] ||
  fail "keys of the scenario do not count: $(grep -A2 ' pcie:' "$folder/effective.yaml")"

# Two presets that differ; the scenario itself, twice.
sed -i 's/, pcie: {lanes: 8}//' "$folder/plain.yaml"
says plain.yaml '3:50: warning: the presets of host and hca differ; the preset of host applies: pcie.lanes 8, not 16'
sed -i 's/host: ryzen-7000}$/host: {preset: ryzen-7000, pcie: {lanes: 8}}}/' "$folder/plain.yaml"
says plain.yaml '2:57: pcie.lanes is 8 here and 4 in hca; remove one of them'

[ $failures -eq 0 ]
