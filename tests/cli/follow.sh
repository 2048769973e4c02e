#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that one work request of a program can be followed through all files of a run, also with
# third-party tools if installed. Text, timeline (one track per block) and waveform of its trace
# agree. tshark finds its packets at the times of the trace, and no malformed packet. gtkwave's
# tools read both waveforms. Arguments: the hcasim program, the top of the source tree. Exit code
# 77: the program is not installed.
hcasim=$1
command -v ib_write_bw >/dev/null || exit 77
. "$(dirname "$0")/../support/script.sh"

program=(ib_write_bw -F -n 10 -s 4096 -t 1)
"$hcasim" exec "$2/scenarios/two-hosts-ib.yaml" --trace "$folder/run.trace" --pcap "$folder/run.pcapng" --vcd "$folder/run.vcd" -- \
  host0: "${program[@]}" : host1: "${program[@]}" host0 >"$folder/out" 2>&1 || fail "exec: $(cat "$folder/out")"
"$hcasim" trace "$folder/run.trace" >"$folder/text" || fail "trace: exit code $?"
"$hcasim" trace "$folder/run.trace" --tag 5 >"$folder/one" || fail "trace --tag: exit code $?"
"$hcasim" trace "$folder/run.trace" --perfetto "$folder/run.json" --vcd "$folder/trace.vcd" || fail "trace --perfetto --vcd: exit code $?"
python3 - "$folder" <<'END' || fail "the timeline"
import json, re, sys
from decimal import Decimal
folder = sys.argv[1]
events = json.load(open(folder + "/run.json"), parse_float=Decimal)["traceEvents"]
tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert len(set(tracks.values())) == len(tracks) >= 20
shown = [(e["ts"] * 1000, tracks[e["tid"]], e["name"]) for e in events if e["ph"] == "i"]
lines = [line.split() for line in open(folder + "/text").read().split("\n")[1:] if line]
assert shown == [(Decimal(line[0]), line[2], line[3]) for line in lines]
# A process for each host and switch, and a slice from the first to the last record that a work
# request has in a block. Requests that are in a block at the same time have separate threads.
# Stages are slices, too.
processes = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
assert {"host0", "host1", "switch0"} <= set(processes), processes
assert all(e["pid"] == processes[tracks[e["tid"]].split(".")[0]] for e in events if "tid" in e)
found = {}
for e in events:
    if e["ph"] == "i" and e["args"]["tag"]:
        found.setdefault((e["tid"], e["args"]["tag"]), []).append(e["ts"])
spans = {key: (times[0], times[-1]) for key, times in found.items() if times[0] != times[-1]}
numbers = {name: tid for tid, name in tracks.items()}
slices = [e for e in events if e["ph"] == "X"]
drawn = {(numbers[tracks[e["tid"]].split(" #")[0]], e["args"]["tag"]): (e["ts"], e["ts"] + e["dur"])
         for e in slices if not e["name"].startswith("STAGE_") and e["dur"] != Decimal("0.001")}
spans = {key: span for key, span in spans.items() if not tracks[key[0]].endswith(".latency")}
assert len(spans) > 50 and spans == drawn, (len(spans), len(drawn))
for tid in tracks: # slices of a thread do not overlap, but for stages inside their request
    last = 0
    for e in sorted((e for e in slices if e["tid"] == tid and not e["name"].startswith("STAGE_") and e["dur"] > Decimal("0.001")), key=lambda e: e["ts"]):
        assert e["ts"] >= last, e
        last = e["ts"] + e["dur"]
# Arrows lead each request from its doorbell over both hosts to its CQE, from slice to slice.
arrows = {}
for e in events:
    if e["ph"] in "stf":
        arrows.setdefault(e["id"], []).append(e)
whole = [path for path in arrows.values() if tracks[path[0]["tid"]].startswith("host1.hca.latency")]
assert len(whole) >= 5, len(whole)
for path in whole:
    assert [e["ph"] for e in path] == ["s"] + ["t"] * (len(path) - 2) + ["f"]
    assert [e["ts"] for e in path] == sorted(e["ts"] for e in path)
    assert any(tracks[e["tid"]].startswith("host0.hca.receive") for e in path)
    assert tracks[path[-1]["tid"]].startswith("host1.hca.completion"), tracks[path[-1]["tid"]]
    first = path[0]
    assert [e["name"] for e in slices if (e["tid"], e["ts"]) == (first["tid"], first["ts"])] == ["STAGE_DOORBELL", "STAGE_LATENCY"]
one = [line.split() for line in open(folder + "/one").read().split("\n")[1:] if line]
assert len(one) > 25 and one == [[line[0], mine[1]] + line[2:] for line, mine in zip([l for l in lines if "tag=5" in l], one)]
points = [line[3] for line in one]
order = ["WQE_PARSED", "WQE_START", "PCIE_READ", "PCIE_READ_DONE", "SEND", "PORT_LEAVES", "SWITCH_FORWARD", "RECEIVE", "REQUEST", "WQE_COMPLETE", "CQE"]
assert [points.index(point) for point in order] == sorted(points.index(point) for point in order), points
END

if command -v tshark >/dev/null; then
  tshark -r "$folder/run.pcapng" -Y '_ws.malformed || _ws.expert.severity >= 8388608' >"$folder/bad" 2>/dev/null
  [ -s "$folder/bad" ] && fail "tshark: $(head -3 "$folder/bad")"
  psn=$(sed -n 's/.* WQE_START .* psn=\([0-9]*\).*/\1/p' "$folder/one")
  tshark -r "$folder/run.pcapng" -Y "infiniband.bth.psn == $psn && infiniband.bth.opcode == 10" -T fields -e frame.time_epoch >"$folder/found" 2>/dev/null
  leaves=$(sed -n 's/.* PORT_LEAVES .*starts_at=\([0-9]*\) .*/\1/p' "$folder/one" | head -2)
  python3 -c 'import sys
found, leaves = (open(sys.argv[1]).read().split(), [int(ps) for ps in sys.argv[2].split()])
assert len(found) == len(leaves) == 2, (found, leaves)
assert [round(float(time) * 1e9) for time in found] == [ps // 1000 for ps in leaves], (found, leaves)' "$folder/found" "$leaves" || fail "tshark: the packets of PSN $psn"
fi
if command -v vcd2fst >/dev/null && command -v fst2vcd >/dev/null; then
  for name in run trace; do
    vcd2fst "$folder/$name.vcd" "$folder/$name.fst" >"$folder/log" 2>&1 || fail "vcd2fst $name: $(cat "$folder/log")"
    [ "$(fst2vcd "$folder/$name.fst" 2>/dev/null | grep -c '^\$var')" = "$(grep -c '^ *\$var' "$folder/$name.vcd")" ] || fail "$name.vcd: signals are lost"
  done
fi
exit $((failures > 0))
