#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim explain` accounts for the whole latency of a program's work requests. It
# explains all work requests, one work request by its unique tag, or a percentile. It refuses an
# invalid percentile, and a tag without a completion. Also tests the named bottleneck of a run. It
# is the link, PCIe of half the width, few PCIe tags, or the limit of a queue pair's outstanding
# READs. A ping-pong has no bottleneck. Arguments: the hcasim program, the top of the source tree.
# Exit code 77: the program is not installed.
hcasim=$1
command -v ibv_rc_pingpong >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trace=$folder/run.trace

fail() {
  echo "$*"
  exit 1
}

"$hcasim" exec "$2/scenarios/back-to-back-ib.yaml" --trace "$trace" -- \
  host0: ibv_rc_pingpong -n 20 -g 0 : host1: ibv_rc_pingpong -n 20 -g 0 host0 >"$folder/out" 2>&1 || fail "$(cat "$folder/out")"
for options in "" "--wqe 5" "--percentile 0" "--percentile 99" "--received" "--received --percentile 99"; do
  # shellcheck disable=SC2086
  "$hcasim" explain "$trace" $options --json >"$folder/json" || fail "explain $options: exit code $?"
  python3 - "$folder/json" <<'END' || fail "explain $options: $(cat "$folder/json")"
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    assert row["latency_ps"] > 0 and sum(row["stages_ps"].values()) == row["latency_ps"]
END
done
"$hcasim" explain "$trace" | grep -q '^mean of 40 work requests' || fail "$("$hcasim" explain "$trace" | head -1)"
"$hcasim" explain "$trace" --received | grep -q '^mean of 40 work requests' || fail "$("$hcasim" explain "$trace" --received | head -1)"
"$hcasim" explain "$trace" --percentile 101 2>/dev/null && fail "101 is taken for a percentile"
"$hcasim" explain "$trace" --wqe 999999 2>/dev/null && fail "a tag that completed nothing is explained"

# A tag belongs to one work request of the whole run. 40 completions have 40 tags, and the
# explanation names the adapter.
tags=$("$hcasim" trace "$trace" | sed -n 's/.* STAGE_LATENCY .*tag=\([0-9]*\).*/\1/p')
[ "$(echo "$tags" | wc -l)" = 40 ] && [ "$(echo "$tags" | sort -u | wc -l)" = 40 ] || fail "tags: $tags"
for tag in $tags; do
  "$hcasim" explain "$trace" --wqe "$tag" | grep '^work request'
done | sed 's/.* of \(host[01].hca\), .*/\1/' | sort | uniq -c | tr -s ' \n' ' ' | grep -qx ' 20 host0.hca 20 host1.hca ' || fail "not 20 of each adapter"

# The timeline has a track for each block. Its slices follow each other without a gap and last as
# long as the work request.
for options in "--percentile 99" "--percentile 50 --received"; do
  # shellcheck disable=SC2086
  "$hcasim" explain "$trace" $options --json --perfetto "$folder/timeline" >"$folder/json" || fail "timeline $options: exit code $?"
  python3 - "$folder/json" "$folder/timeline" <<'END' || fail "timeline $options: $(cat "$folder/timeline")"
import json, sys
from decimal import Decimal
row = json.loads(open(sys.argv[1]).readline())
events = json.load(open(sys.argv[2]), parse_float=Decimal)["traceEvents"]
tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
slices = [e for e in events if e["ph"] == "X"]
assert len(set(tracks.values())) == len(tracks) and len(slices) == sum(1 for v in row["stages_ps"].values() if v)
assert sum(e["dur"] for e in slices) * 1000000 == row["latency_ps"]
assert all(a["ts"] + a["dur"] == b["ts"] for a, b in zip(slices, slices[1:]))
assert all(row["stages_ps"][e["name"]] == e["dur"] * 1000000 and e["tid"] in tracks for e in slices)
assert len({tracks[e["tid"]].rsplit(".", 1)[0] for e in slices}) == 1 and len({e["tid"] for e in slices}) >= 4
END
done
"$hcasim" explain "$trace" --perfetto "$folder/all" 2>/dev/null && fail "a timeline of all work requests is drawn"

# limits NAME EXPECTED OPTION -- PROGRAM ARGS...: `explain --bottleneck` first names EXPECTED.
limits() {
  local name=$1 expected=$2 option=$3
  shift 4
  "$hcasim" exec "$2/scenarios/back-to-back-ib.yaml" --out "$folder/$name" --set record.packets=false --set "$option" -- \
    host0: "${@:3}" : host1: "${@:3}" host0 >"$folder/out" 2>&1 || fail "$(cat "$folder/out")"
  "$hcasim" explain "$folder/$name" --bottleneck >"$folder/told" || fail "explain --bottleneck $name: exit code $?"
  head -1 "$folder/told" | grep -q "^bottleneck: $expected" || fail "$name: expected $expected, found $(head -3 "$folder/told")"
}

if command -v ib_write_bw >/dev/null; then
  top=$2
  limits link 'host1.hca.port.link$' seed=1 -- "$hcasim" "$top" ib_write_bw -F -n 200 -s 65536
  limits pcie 'host1.hca.pcie.to_device$' 'hosts.*.hca.pcie.lanes=8' -- "$hcasim" "$top" ib_write_bw -F -n 200 -s 65536
  limits tags 'host1.hca.pcie.tags$' 'hosts.*.hca.pcie.tags=8' -- "$hcasim" "$top" ib_write_bw -F -n 200 -s 65536
  # With a queue of 16 doorbells and 256 credits for stores, the thread that posts 512 work requests waits with its stores.
  limits doorbells 'host1.hca.doorbell.decoder$' 'hosts.*.hca.doorbell={interval: 1us, queue: 16}' -- "$hcasim" "$top" ib_write_bw -F -n 1000 -s 64 -t 512
  grep -q '"host1.hca.pcie": .*"store_stalls": [1-9][0-9][0-9]' "$folder/doorbells/counters.json" || fail "doorbells: no core waited for room"
  limits reads 'host1.hca.transport.reads$' cpu.post_interval=0ps -- "$hcasim" "$top" ib_read_bw -F -n 500 -s 256
  limits latency 'none: ' seed=1 -- "$hcasim" "$top" ib_write_lat -F -n 100 -s 8
fi
# --json has the contents of the summary, and the name at the start of the text, or null.
study=$(realpath "$2")/scenarios/studies/incast-dcqcn.yaml
"$hcasim" run "$study" --until 200us --set expect=[] --set run.warm_up=0us --out "$folder/study" >"$folder/out" 2>&1 ||
  fail "$(cat "$folder/out")"
"$hcasim" explain "$folder/study" --bottleneck >"$folder/told"
"$hcasim" explain "$folder/study" --bottleneck --json >"$folder/json" || fail "explain --bottleneck --json: exit code $?"
python3 - "$folder" <<'END' || fail "explain --bottleneck --json: $(head -c 300 "$folder/json")"
import json, sys
told = json.load(open(sys.argv[1] + "/json"))
summary = json.load(open(sys.argv[1] + "/study/summary.json"))
assert told["uses"] == summary["uses"] and told["work_ps"] == summary["work_ps"]
first = open(sys.argv[1] + "/told").readline().split()[1]
assert (told["bottleneck"] or "none:") == first, (told["bottleneck"], first)
END
mkdir "$folder/empty"
"$hcasim" explain "$folder/empty" --bottleneck 2>/dev/null
[ $? = 2 ] || fail "a folder without a summary is explained"
# A workload that starts late and has a pause shows the same use as a workload that starts at 0. No
# resource is busy while no flow is in progress.
cat >"$folder/late.yaml" <<'EOF'
hosts: {count: 3, hca: {fidelity: endpoint}}
fabric: {link_layer: roce, topology: single-switch, link: {rate: 100Gbps}}
workload: {pattern: trace, trace: late.csv, posting: {start_deadline: 10s}}
EOF
for start in 0 2000000; do
  printf '%s,0,2,1000000\n%s,1,2,1000000\n' $start $((2 * start + 1000)) >"$folder/late.csv"
  "$hcasim" run "$folder/late.yaml" 2>&1 | grep '^bottleneck' >"$folder/late$start.txt"
done
grep -q '^bottleneck switch0.port2.link 9[0-9]\.' "$folder/late0.txt" || fail "no bottleneck: $(cat "$folder/late0.txt")"
cmp "$folder/late0.txt" "$folder/late2000000.txt" || fail "a late start changes the use: $(cat "$folder/late2000000.txt")"

exit 0
