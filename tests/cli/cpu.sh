#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim explain RUN --cpu` divides the processor time of programs exactly. iperf3 and
# ib_write_bw run side by side on two hosts. The kinds of each program sum to its processor time,
# no time is of an unknown kind, and the kinds of sockets and of RDMA appear where they belong. Two
# runs give the same bytes. /proc/stat agrees. A folder without programs is refused.
# Arguments: the hcasim program, the top of the source tree. Exit code 77: a program is missing.
hcasim=$1
for program in iperf3 ib_write_bw python3; do
  command -v $program >/dev/null || { echo "$program is not installed"; exit 77; }
done
. "$(dirname "$0")/../support/script.sh"

for run in one two; do
  timeout -s KILL 60 "$hcasim" exec "$2/scenarios/two-hosts-roce.yaml" --out "$folder/$run" -- \
    host0: iperf3 -s -1 : host0: ib_write_bw -n 100 : host1: iperf3 -c host0 -n 2M -J : host1: ib_write_bw -n 100 host0 \
    >"$folder/$run.out" 2>&1 || fail "$run: exit code $?: $(cat "$folder/$run.out")"
  "$hcasim" explain "$folder/$run" --cpu --json >"$folder/$run.json" || fail "$run: explain: exit code $?"
done
cmp "$folder/one.out" "$folder/two.out" || fail 'two runs print other lines'
cmp "$folder/one.json" "$folder/two.json" || fail 'two runs have other times'
"$hcasim" explain "$folder/one" | grep -q '^of it system' || fail "$("$hcasim" explain "$folder/one")"
python3 - "$folder/one.json" "$folder/one.out" <<'PY' || fail "$(cat "$folder/one.json")"
import json, sys
programs = json.load(open(sys.argv[1]))["programs"]
assert [(p["host"], p["program"]) for p in programs] == [
    ("host0", "iperf3"), ("host0", "ib_write_bw"), ("host1", "iperf3"), ("host1", "ib_write_bw"),
    ("host0", "[swapper]"), ("host1", "[swapper]")]
for kernel in programs[4:]:  # frames that came while no thread was on their core
    times = {k["kind"]: k["time_ps"] for k in kernel["kinds"]}
    assert sum(times.values()) == kernel["cpu_ps"] == times["interrupt"] + times["gro"] + times["skb"] + times["receive"]
    assert times["interrupt"] % 100000 == times["gro"] % 60000 == times["receive"] % 60000 == 0
for program in programs[:4]:
    times = {k["kind"]: k["time_ps"] for k in program["kinds"]}
    assert sum(times.values()) == program["cpu_ps"] > 0
    assert sum(k["time_ps"] for k in program["kinds"] if k["mode"] == "system") == program["system_ps"]
    assert times["untracked"] == 0
    assert times["copy"] > 0 and times["system_call"] % 200000 == 0 and times["transmit"] % 1050000 == 0
    rdma = program["program"] == "ib_write_bw"
    assert (times["registration"] > 0) == rdma and (times["verbs"] > 0) == rdma
    assert (times["posting"] > 0 and times["polling"] > 0) == (program is programs[3])
sent = {k["kind"]: k["time_ps"] for k in programs[2]["kinds"]}["copy"]
assert 2 << 20 <= sent * 85.6e9 / 8e12 < (2 << 20) + 16384, sent  # the data, and the texts of iperf3
# What iperf3 prints is the same time, of its own measurement.
lines = [l.split("| ", 1)[1] for l in open(sys.argv[2]) if l.startswith("host1| ")]
text = "\n".join(lines)
report = json.loads(text[text.index("{\n"):text.rindex("\n}") + 2])["end"]["cpu_utilization_percent"]
assert 0 <= report["host_user"] < report["host_system"] <= report["host_total"] + 0.001 <= 100.001, report
PY

# /proc/stat has the same times, in units of 10 ms, for each core and for the host.
timeout -s KILL 60 "$hcasim" exec "$2/scenarios/two-hosts-roce.yaml" --out "$folder/stat" -- \
  host0: sh -c 'iperf3 -s -1 >/dev/null; cat /proc/stat' : host1: iperf3 -c host0 -n 1000M -i 0 >"$folder/stat.out" 2>&1 ||
  fail "/proc/stat: exit code $?: $(cat "$folder/stat.out")"
"$hcasim" explain "$folder/stat" --cpu --json >"$folder/stat.json" || fail "stat: explain: exit code $?"
python3 - "$folder/stat.json" "$folder/stat.out" <<'PY' || fail "$(cat "$folder/stat.json" "$folder/stat.out")"
import json, sys
programs = [p for p in json.load(open(sys.argv[1]))["programs"] if p["host"] == "host0"]
rows = {}
for line in open(sys.argv[2]):
    if line.startswith("host0| cpu"):
        name, *times = line.split()[1:]
        rows[name] = [int(time) for time in times]
assert len(rows) == 17 and all(len(times) == 10 for times in rows.values()), rows
total = rows.pop("cpu")
for column in range(10):
    assert 0 <= total[column] - sum(times[column] for times in rows.values()) <= len(rows), column
spent = sum(p["cpu_ps"] for p in programs if p["program"] != "[swapper]") / 1e10
assert total[0] + total[2] > 15 and abs(total[0] + total[2] - spent) <= 2, (total, spent)
idle = sum(p["cpu_ps"] for p in programs if p["program"] == "[swapper]") / 1e10
assert abs(total[6] - idle) <= 2, (total, idle)
ages = [sum(times) for times in rows.values()]
assert max(ages) - min(ages) <= 3, rows  # each core has existed as long; three columns are rounded down
PY
mkdir "$folder/empty"
"$hcasim" explain "$folder/empty" --cpu >"$folder/refused" 2>&1 && fail 'an empty folder is explained'
exit $((failures > 0))
