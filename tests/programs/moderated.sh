#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a program that waits on a completion channel sees its adapter's moderation. With 50 us
# between events, each round trip takes 50 us instead of 28 us. The events are fewer, none is lost,
# and the bottleneck is named. Twice alike. Arguments: the hcasim program, the top of the source
# tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

sed 's/host1: .*/host1: {hca: {preset: connectx4-edr, event_queue: {moderation_count: 16, moderation_period: 50us}}}/' \
	"$scenario" > "$folder/moderated.yaml"
run() {
	"$hcasim" exec "$folder/moderated.yaml" --out "$folder/$1" -- host0: ibv_rc_pingpong -e -n 100 \
		: host1: ibv_rc_pingpong -e -n 100 host0 2>&1
}
first=$(run one) || { echo "exit code $?: $first"; exit 1; }
second=$(run two)
[[ $first =~ "100 iters in 0.01 seconds = "(49|50|51)"." ]] || { echo "$first"; exit 1; }
[ "$first" = "$second" ] || { echo "not twice alike: $first, then $second"; exit 1; }
events=$(grep -o '"host1.hca.event_queue[^}]*' "$folder/one/counters.json")
[[ $events == *'"completions": 101,'*'"interrupts": 101,'*'"moderated": 199,'*'"by_period": 101'* ]] || { echo "$events"; exit 1; }
named=$("$hcasim" explain "$folder/one" --bottleneck)
[[ $named == *'bottleneck: host1.hca.event_queue.moderation'* ]] || { echo "$named"; exit 1; }
