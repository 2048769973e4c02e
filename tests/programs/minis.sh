#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests a program that requests compressed CQEs and reads them itself (minis.c). It finds each
# message's length in them: 20 CQEs are one title and three arrays of mini-CQEs, 256 bytes instead
# of 1280. Two engines give the same result. An adapter without compression refuses such a
# completion queue. Arguments: the hcasim program, the top of the source tree, a program of this
# folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
minis=$(dirname "$3")/minis
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*"; exit 1; }

run() {
  "$hcasim" exec --engine "$1" --set hosts.host0.hca.device.compressed_cqes=true --set hosts.host0.hca.transport.ack_when=posted \
    --out "$folder/$1" "$scenario" -- host0: "$minis" 2>&1
}
first=$(run native) || fail "exit code $?: $first"
second=$(run systemc)
[ "$first" = "$(printf 'host0| up to 64 in one\nhost0| 20 messages: 1 titles, 20 mini-CQEs, 0 others')" ] || fail "$first"
[ "$first" = "$second" ] || fail "not twice alike: $first, then $second"
written=$(grep -o '"host0.hca.completion[^}]*' "$folder/native/counters.json")
[[ $written == *'"cqes": 21, "bytes": 320,'*'"compressed": 20, "titles": 1, "arrays": 3,'* ]] || fail "$written"
refused=$("$hcasim" exec "$scenario" -- host0: "$minis" 2>&1 >/dev/null) && fail "not refused"
[ "$refused" = 'host0| mlx5dv_create_cq failed' ] || fail "$refused"
