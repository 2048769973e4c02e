#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that unmodified programs see congestion control: two pairs of ib_write_bw, the servers on one host, share a port that marks.
# With DCQCN they fill it, and PFC has a twentieth of the pauses that it has without. Each run is
# made twice. All results, including packets with marks and CNPs, are the same bytes. Neither host
# is favoured, and the shares become more equal with time.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
source=$2
command -v ib_write_bw >/dev/null || exit 77
. "$(dirname "$0")/../support/script.sh"
scenario=$source/scenarios/shared-port-roce.yaml

# play NAME OPTION...: twice
play() {
  local name=$1 run
  shift
  for run in first second; do
    timeout -s KILL 100 "$hcasim" run "$scenario" "$@" --out "$folder/$name-$run" >"$folder/$name-$run.txt" 2>&1 ||
      fail "$name: exit code $?: $(cat "$folder/$name-$run.txt")"
  done
  cmp "$folder/$name-first.txt" "$folder/$name-second.txt" || fail "$name: two runs print other lines"
  diff -rq "$folder/$name-first" "$folder/$name-second" || fail "$name: two runs leave other results"
}

play on --set record.packets=true
play off --set 'hosts.*.hca.congestion=none'
python3 - "$folder" <<'END' || fail "not as expected"
import json, re, sys
folder = sys.argv[1]

def load(name):
    counters = json.load(open(f"{folder}/{name}-first/counters.json"))
    return {block: values["counters"] for block, values in counters.items()}

on, off = load("on"), load("off")
pauses = lambda run: run["switch0.port0"]["pause_sent"] + run["switch0.port1"]["pause_sent"]
assert pauses(off) > 1000 and pauses(on) < pauses(off) / 20, (pauses(on), pauses(off))
assert not any("congestion" in block for block in off)
sent = on["host2.hca.congestion"]["cnp_sent"]
assert sent > 10 and sent == sum(on[f"host{i}.hca.congestion"]["cnp_received"] for i in (0, 1))
assert on["host2.hca.congestion"]["ecn_marked_packets"] == on["switch0"]["ecn_marks"] > sent
for i in (0, 1):
    assert on[f"host{i}.hca.latency"]["pacing"] > 0 and off[f"host{i}.hca.latency"]["pacing"] == 0
END

# share SEED MESSAGES: prints the part of host0 in the sum of both rates
share() {
  sed "s/\"2000\"/\"$2\"/" "$scenario" >"$folder/$1-$2.yaml"
  timeout -s KILL 200 "$hcasim" run "$folder/$1-$2.yaml" --seed "$1" 2>&1 | awk '
    $1 ~ /^host[01]\|$/ && $2 == 65536 { rate[$1] = $5 }
    END { sum = rate["host0|"] + rate["host1|"]; if (sum < 10000) print "sum", sum; else print rate["host0|"] / sum }'
}

# The first marks are chance, and each cut takes only a part of the difference of the rates away: it lasts for some 50 ms. 2000 messages
# take 23 ms. Over six seeds the mean is a half, with a standard error of 0.04; five times as long, the worst deviation is half of it.
for seed in 1 2 3 4 5 6; do
  share $seed 2000
done >"$folder/shares"
worst=$(awk '{ d = $1 > 0.5 ? $1 - 0.5 : 0.5 - $1; if (d > most) { most = d; seed = NR } } END { print seed }' "$folder/shares")
share "$worst" 10000 >>"$folder/shares"
python3 - "$folder/shares" <<'END' || fail "shares: $(paste -sd' ' "$folder/shares")"
import sys
*short, long = [float(line) - 0.5 for line in open(sys.argv[1])]
assert len(short) == 6 and abs(sum(short)) / 6 < 0.05, short
assert max(map(abs, short)) < 0.2, short
assert abs(long) < 0.6 * max(map(abs, short)), long
END
[ $failures -eq 0 ]
