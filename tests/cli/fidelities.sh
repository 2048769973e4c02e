#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a workload runs on detailed adapters as on endpoint adapters: flows, their packets, and
# data on each link are equal. A single flow takes exactly the time of the same work request under
# the driver `load`. Each cost of a core is added unchanged. Flows with dependencies begin in time.
# Runs repeat, with each engine, and from the effective configuration. Lost packets are
# retransmitted, and broken links fail flows. Marks and CNPs are reported. Two adapters that send to
# each other both get responses. Captures, traces, sweeps and pictures work. Errors are refused with
# the right message. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
source=$2
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/mix.yaml" <<'YAML'
seed: 1
hosts: {count: 8, hca: {fidelity: detailed}}
fabric: {link_layer: infiniband, topology: single-switch}
workload: {pattern: permutation, bytes: 100KB, operation: mix, count: 2, phases: 2, gap: 3us, arrivals_until: 100us, queue_pairs: 1, posting: {message: 30000B, outstanding_messages: 2}}
YAML

# ---- the same flows, packets and data ----
cat >"$folder/same.py" <<'END'
import collections, csv, subprocess, sys
hcasim, one, other = sys.argv[1:]

def flows(run):
    keys = "flow source destination operation queue_pair hops bytes_B packets retransmitted incast status".split()
    return [[row[key] for key in keys] for row in csv.DictReader(open(run + "/flows.csv"))]

def data(run):  # bytes of payload and packets by port, opcode; ACKs may share one
    counts = collections.Counter()
    decoded = subprocess.run([hcasim, "decode", run + ".pcapng"], capture_output=True, text=True, check=True).stdout
    for line in decoded.splitlines():
        words = line.split()
        opcode = next((word for word in words if word.startswith("RC_")), None)
        if opcode is None or opcode == "RC_ACK":
            continue
        size = int(words[words.index("payload") + 1]) if "payload" in words else 0
        counts[words[2], opcode, "packets"] += 1
        counts[words[2], opcode, "bytes"] += size
    return counts

assert flows(one) == flows(other), "flows differ"
assert data(one) == data(other), set(data(one).items()) ^ set(data(other).items())
assert sum(data(one).values()) > 1000
END
except='{host0: {hca: {fidelity: detailed}}, host5: {hca: {fidelity: detailed}}}'
for layer in infiniband roce; do
  for pattern in incast permutation ring_allreduce; do
    for fidelity in detailed endpoint both; do
      run=$folder/$layer-$pattern-$fidelity
      if [ $fidelity = both ]; then
        chosen=(--set hosts.hca.fidelity=endpoint --set "hosts.except=$except")
      else
        chosen=(--set hosts.hca.fidelity=$fidelity)
      fi
      "$hcasim" run "$folder/mix.yaml" --set fabric.link_layer=$layer --set workload.pattern=$pattern "${chosen[@]}" \
        --out "$run" --pcap "$run.pcapng" >"$folder/log" 2>&1 || fail "$layer $pattern $fidelity: exit code $?: $(cat "$folder/log")"
      python3 "$folder/same.py" "$hcasim" "$run" "$folder/$layer-$pattern-detailed" || fail "$layer $pattern $fidelity"
    done
  done
done

# ---- alone, to the picosecond ----
cat >"$folder/alone.py" <<'END'
import csv, json, subprocess, sys
hcasim, folder = sys.argv[1:]
base = "seed: 1\nhosts: {count: 2, hca: {fidelity: %s}}\nfabric: {link_layer: %s, topology: single-switch}\n"

def run(text):
    open(folder + "/alone.yaml", "w").write(text)
    subprocess.run(["rm", "-rf", folder + "/alone"], check=True)
    subprocess.run([hcasim, "run", folder + "/alone.yaml", "--out", folder + "/alone"], check=True, capture_output=True)
    return folder + "/alone"

def picoseconds(microseconds):
    whole, part = microseconds.split(".")
    return int(whole) * 1000000 + int(part)

def flow(fidelity, layer, verb, size, more=""):
    text = base % (fidelity, layer) + "workload: {pattern: incast, bytes: %dB, operation: %s%s}\n" % (size, verb, more)
    row = next(csv.DictReader(open(run(text) + "/flows.csv")))
    assert row["status"] == "done"
    return {key: picoseconds(row[key]) for key in row if key.endswith("_us")}

def second(layer, verb, size):  # of two flows on one queue pair, the second long after the first
    open(folder + "/two.csv", "w").write("0,1,0,%d,%s\n1000,1,0,%d,%s\n" % (size, verb, size, verb))
    text = base % ("detailed", layer) + "workload: {pattern: trace, trace: two.csv, queue_pairs: 1}\n"
    return picoseconds(list(csv.DictReader(open(run(text) + "/flows.csv")))[1]["fct_us"])

def posted(layer, verb, size):  # the second work request alone; a read's data come to who posts
    name, pattern = ("fetch_add" if verb == "atomic" else verb), ("outbound" if verb == "read" else "inbound")
    text = base % ("detailed", layer) + "load: {pattern: %s, verb: %s, bytes: %dB, tx_depth: 1, warm_up: 1, operations: 1}\n" % (pattern, name, size)
    return json.load(open(run(text) + "/summary.json"))["metrics"]["mean_ns"]

for layer in "infiniband", "roce":
    for verb in "write", "send", "read", "atomic":
        for size in [8] if verb == "atomic" else [64, 4096, 4097, 1000000]:
            detailed = flow("detailed", layer, verb, size)
            nothing = ", send_latency: 0ps, receive_latency: 0ps, complete_latency: 0ps, read_latency: 0ps, atomic_latency: 0ps"
            endpoint = flow("endpoint" + nothing, layer, verb, size)
            assert endpoint["fct_us"] == endpoint["ideal_us"] == detailed["ideal_us"], (verb, size, endpoint, detailed)
            assert 0 < detailed["fct_us"] - endpoint["fct_us"] < 8000000, (verb, size, endpoint, detailed)
            assert 0 <= detailed["ready_us"] < detailed["started_us"] < detailed["arrived_us"]
            latency = posted(layer, verb, size)
            again = second(layer, verb, size)
            assert round(latency * 1000) == again < detailed["fct_us"], (verb, size, latency, again, detailed)

plain = flow("detailed", "roce", "send", 64)
for cost, part in ("post", "started_us"), ("ring", "started_us"), ("poll", "finished_us"), ("receive", "arrived_us"):
    defaults = {"post": 27, "ring": 50, "poll": 20, "receive": 10}
    dearer = flow("detailed", "roce", "send", 64, ", cpu: {%s: %dns}" % (cost, defaults[cost] + 300))
    assert dearer[part] - plain[part] == 300000, (cost, plain, dearer)
END
python3 "$folder/alone.py" "$hcasim" "$folder" || fail "a flow alone"

# ---- both fidelities in one run ----
cat >"$folder/both.py" <<'END'
import csv, json, subprocess, sys
hcasim, folder = sys.argv[1:]
none = "send_latency: 0ps, receive_latency: 0ps, complete_latency: 0ps, read_latency: 0ps, atomic_latency: 0ps"
hca = {"endpoint": "{fidelity: endpoint, %s}" % none, "detailed": "{fidelity: detailed}"}

def flow(source, destination, layer, verb, size):  # from b to a, alone
    open(folder + "/both.yaml", "w").write(
        "seed: 1\nhosts: {a: {hca: %s}, b: {hca: %s}}\nfabric: {link_layer: %s, topology: back-to-back}\n"
        "workload: {pattern: incast, bytes: %dB, operation: %s}\n" % (hca[destination], hca[source], layer, size, verb))
    subprocess.run(["rm", "-rf", folder + "/both"], check=True)
    subprocess.run([hcasim, "run", folder + "/both.yaml", "--out", folder + "/both"], check=True, capture_output=True)
    row = next(csv.DictReader(open(folder + "/both/flows.csv")))
    counters = json.load(open(folder + "/both/counters.json"))
    assert row["status"] == "done"
    for host, fidelity in ("a", destination), ("b", source):
        assert (host + ".core0" in counters) == (fidelity == "detailed"), counters.keys()
    return {key: int(row[key].replace(".", "")) for key in row if key.endswith("_us")}

# a detailed sender adds time before the packets and after the ACK; a detailed receiver adds the
# time in between
for layer in "infiniband", "roce":
    for verb in "write", "send", "read", "atomic":
        for size in [8] if verb == "atomic" else [64, 5000]:
            both = flow("detailed", "detailed", layer, verb, size)
            ideal = flow("endpoint", "endpoint", layer, verb, size)
            sender, receiver = flow("detailed", "endpoint", layer, verb, size), flow("endpoint", "detailed", layer, verb, size)
            assert ideal["fct_us"] == ideal["ideal_us"] == sender["ideal_us"] == receiver["ideal_us"] == both["ideal_us"]
            added = [run["fct_us"] - ideal["fct_us"] for run in (sender, receiver, both)]
            assert added[0] > 0 and added[1] > 0 and added[0] + added[1] == added[2], (layer, verb, size, added)
END
python3 "$folder/both.py" "$hcasim" "$folder" || fail "both fidelities, a flow alone"
cat >"$folder/both-rnr.yaml" <<'YAML'
seed: 3
hosts: {count: 4, hca: {fidelity: endpoint}, except: {host0: {hca: {fidelity: detailed}}}}
fabric: {link_layer: roce, topology: single-switch}
workload: {pattern: incast, bytes: 64B, count: 500, operation: send, queue_pairs: 1, host: {rx_depth: 32}, cpu: {poll: 500ns}}
expect: [{metric: flows_done, equals: 1500}, {counter: host1.hca.rnr_nak_received, at_least: 1}, {counter: host0.core0.received, equals: 1500}]
YAML
"$hcasim" run "$folder/both-rnr.yaml" --out "$folder/both-rnr" >"$folder/log" 2>&1 || fail "a detailed host without receive work requests: $(cat "$folder/log")"
"$hcasim" run "$folder/both-rnr/scenario.yaml" --out "$folder/both-rnr-again" >/dev/null 2>&1 || fail "the effective configuration does not run"
diff -r "$folder/both-rnr" "$folder/both-rnr-again" || fail "the effective configuration of both fidelities gives other results"

# ---- several cores of a host: the same flows and packets, with counters for each core ----
cat >"$folder/cores.py" <<'END'
import csv, json, sys
folder, = sys.argv[1:]

def total(run, counter):
    blocks = json.load(open(folder + "/" + run + "/counters.json"))
    return {name: blocks[name]["counters"][counter] for name in blocks if name.startswith("host0.core")}

one, three = total("cores-1", "posted"), total("cores-3", "posted")
assert list(three) == ["host0.core0", "host0.core1", "host0.core2"] and list(one) == ["host0.core0"], (one, three)
assert sum(three.values()) == sum(one.values()) and min(three.values()) > 0, (one, three)
rows = {run: list(csv.DictReader(open("%s/post-%d/flows.csv" % (folder, run)))) for run in (1, 2)}
started = {run: [int(row["started_us"].replace(".", "")) for row in rows[run] if row["source"] == "1"] for run in rows}
assert len(started[1]) == 2 and started[1][1] - started[1][0] > 9000000, started  # one after the other; the first fetched contexts
assert started[2][0] == started[1][0] and started[2][1] - started[2][0] < 1000000, started
END
for cores in 1 3; do
  "$hcasim" run "$folder/mix.yaml" --set workload.pattern=all_to_all --set workload.host.cores=$cores \
    --out "$folder/cores-$cores" --pcap "$folder/cores-$cores.pcapng" >"$folder/log" 2>&1 || fail "$cores cores: $(cat "$folder/log")"
done
python3 "$folder/same.py" "$hcasim" "$folder/cores-1" "$folder/cores-3" || fail "3 cores: other flows or packets"
for options in "--engine native" "--engine systemc" "--engine systemc-reference" "--threads 2"; do
  run="$folder/cores${options// /}"
  "$hcasim" run "$folder/mix.yaml" --set workload.pattern=all_to_all --set workload.host.cores=3 $options --out "$run" >/dev/null 2>&1
  diff -r "$folder/cores--enginenative" "$run" || fail "3 cores, $options"
done
cat >"$folder/post.yaml" <<'YAML'
hosts: {count: 2, hca: {fidelity: detailed}}
fabric: {topology: back-to-back}
workload: {pattern: incast, bytes: 64B, count: 2, cpu: {post: 10us}}
YAML
for cores in 1 2; do
  "$hcasim" run "$folder/post.yaml" --set workload.host.cores=$cores --out "$folder/post-$cores" >"$folder/log" 2>&1 || fail "$cores cores that post: $(cat "$folder/log")"
done
python3 "$folder/cores.py" "$folder" || fail "cores"

# ---- what waits ----
"$hcasim" run "$folder/mix.yaml" --set workload.pattern=ring_allreduce --set workload.operation=send --set workload.phases=1 --out "$folder/ring" >/dev/null 2>&1 || fail "ring: exit code $?"
python3 - "$folder/ring/flows.csv" <<'END' || fail "a step of the ring began too soon"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 8 * 14
time = lambda row, column: int(row[column].replace(".", ""))
for number, row in enumerate(rows[8:], 8):  # of a step: after what came to its host in the step before, and what left it, and the gap
    step, host = divmod(number, 8)
    came, left = rows[(step - 1) * 8 + (host - 1) % 8], rows[(step - 1) * 8 + host]
    assert (int(row["source"]), came["destination"]) == (host, row["source"])
    assert time(row, "ready_us") == max(time(came, "arrived_us"), time(left, "finished_us")) + 3000000, row
END

# ---- equal repeats of runs with hosts of both fidelities ----
both=(--set 'fabric.link={rate: 100Gbps, length: 40m}' --set workload.pattern=all_to_all --set hosts.hca.fidelity=endpoint --set "hosts.except=$except")
for run in native again systemc systemc-reference; do
  "$hcasim" run "$folder/mix.yaml" "${both[@]}" --engine "${run/again/native}" --trace "$folder/$run.trace" --out "$folder/$run" >/dev/null 2>&1 ||
    fail "$run: exit code $?"
  diff -r "$folder/native" "$folder/$run" && cmp "$folder/native.trace" "$folder/$run.trace" || fail "$run differs from native"
done
"$hcasim" run "$folder/mix.yaml" "${both[@]}" --threads 3 --out "$folder/parallel" >/dev/null 2>"$folder/log" || fail "3 threads: exit code $?"
diff -r "$folder/native" "$folder/parallel" || fail "3 threads differ from one"
grep -q ': in one thread' "$folder/log" && fail "not in parallel: $(cat "$folder/log")"
"$hcasim" run "$folder/native/scenario.yaml" --out "$folder/effective" >/dev/null 2>&1 || fail "the effective configuration does not run"
diff -r "$folder/native" "$folder/effective" || fail "the effective configuration gives other results"

# ---- trouble ----
cat >"$folder/two.yaml" <<'YAML'
seed: 1
hosts: {count: 4, hca: {fidelity: detailed}}
fabric: {link_layer: roce, topology: single-switch}
workload: {pattern: all_to_all, bytes: 200KB, count: 3}
YAML
"$hcasim" run "$folder/two.yaml" --set 'faults=[{drop: {nth: 100}, from: switch0}]' --set 'expect=[{metric: flows_done, equals: 36}, {metric: packets_retransmitted, at_least: 1}]' \
  --out "$folder/lost" >"$folder/log" 2>&1 || fail "losses: $(cat "$folder/log")"
python3 - "$folder/lost" <<'END' || fail "what was sent again is not told"
import csv, json, sys
retransmitted = sum(int(row["retransmitted"]) for row in csv.DictReader(open(sys.argv[1] + "/flows.csv")))
assert retransmitted == json.load(open(sys.argv[1] + "/summary.json"))["metrics"]["packets_retransmitted"] > 0
END
for operation in write send read; do
  "$hcasim" run "$folder/two.yaml" --set workload.operation=$operation --set 'faults=[{link_down: {begin: 10us, lasts: 100s}, from: host1, to: switch0}]' --set workload.host.timeout=7 \
    --set 'expect=[{metric: flows_done, equals: 18}, {metric: flows_failed, equals: 18}, {metric: timeouts, equals: 144}]' >"$folder/log" 2>&1 || fail "$operation, link down: $(cat "$folder/log")"
done
# Data of READs counts as goodput, with either fidelity.
for fidelity in detailed endpoint; do
  "$hcasim" run "$folder/two.yaml" --set workload.pattern=incast --set workload.operation=read --set hosts.hca.fidelity=$fidelity \
    --set 'expect=[{metric: goodput_gbps, at_least: 95, at_most: 100}, {metric: jain, at_least: 0.999}]' >"$folder/log" 2>&1 || fail "$fidelity, reads: $(cat "$folder/log")"
done
# Both halves send to each other: acknowledgements of all come while all send.
expect=$(printf '{metric: flow%d.goodput_gbps, at_least: 90},' 0 1 2 3)
"$hcasim" run "$folder/two.yaml" --set workload.pattern=shift --set workload.bytes=10MB --set workload.count=1 --set run.until=300us --set "expect=[$expect]" >"$folder/log" 2>&1 ||
  fail "nothing is acknowledged: $(cat "$folder/log")"
# Runs that end while adapters on one cable hold packets: the first destroyed adapter returns its
# packets while the other exists.
cat >"$folder/cable.yaml" <<'YAML'
hosts: {count: 2, hca: {preset: connectx5-edr, pcie: {read_latency: 5us}}}
fabric: {link_layer: infiniband, topology: back-to-back, link: cable-edr}
workload: {pattern: all_to_all, bytes: 4KB, count: 100}
YAML
for until in 30us 50us 60us; do
  "$hcasim" run "$folder/cable.yaml" --until $until >"$folder/log" 2>&1 || fail "cable, until $until: exit code $?: $(cat "$folder/log")"
done

# ---- congestion control ----
"$hcasim" run "$folder/two.yaml" --set workload.pattern=incast --set hosts.hca.congestion=dcqcn-paper --set 'fabric.switch={preset: red-dcqcn-paper}' --out "$folder/dcqcn" >"$folder/log" 2>&1 ||
  fail "DCQCN: $(cat "$folder/log")"
python3 - "$folder/dcqcn" <<'END' || fail "marks or CNPs are not told"
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/flows.csv")))
metrics = json.load(open(sys.argv[1] + "/summary.json"))["metrics"]
assert sum(int(row["cnps"]) for row in rows) == metrics["cnps"] > 0
assert sum(int(row["marked"]) for row in rows) == metrics["ecn_marks"] > metrics["cnps"]
END

# ---- large messages, many hosts ----
"$hcasim" run "$folder/two.yaml" --set workload.pattern=incast --set workload.fan_in=1 --set workload.count=1 --set workload.bytes=2200MB --set run.until=400us --json >"$folder/log" 2>&1 || fail "2200 MB: $(cat "$folder/log")"
"$hcasim" run "$folder/two.yaml" --set hosts.count=64 --set 'fabric.topology={kind: leaf-spine, leaves: 8, hosts: 8, spines: 4}' --set workload.bytes=4KB --set workload.count=1 \
  --set 'expect=[{metric: flows_done, equals: 4032}]' >"$folder/log" 2>&1 || fail "64 hosts: $(cat "$folder/log")"

# ---- other verbs ----
"$hcasim" explain "$folder/native.trace" | grep -Eq '^mean of [0-9]+ work requests' || fail "explain: $("$hcasim" explain "$folder/native.trace" 2>&1 | head -1)"
"$hcasim" explain "$folder/native" --bottleneck | grep -q '^bottleneck' || fail "explain --bottleneck"
"$hcasim" plot "$folder/native" >/dev/null 2>&1 && [ -s "$folder/native/slowdown.svg" ] || fail "plot"
"$hcasim" sweep "$folder/two.yaml" --set 'sweep={hosts.hca.fidelity: [endpoint, detailed]}' --out "$folder/sweep" >"$folder/log" 2>&1 || fail "sweep: $(cat "$folder/log")"
[ "$(grep -c ',36,36,0,' "$folder/sweep/results.csv")" -eq 2 ] || fail "sweep: $(cat "$folder/sweep/results.csv")"
"$hcasim" params workload.host | grep -q '^  timeout ' || fail "params workload.host"

# ---- refused ----
refuse() { # FILE VERB MESSAGE
  "$hcasim" $2 "$folder/$1" ${4:-} >"$folder/log" 2>&1
  [ $? -eq 2 ] || fail "$2 $1: not exit code 2: $(cat "$folder/log")"
  grep -qF "$3" "$folder/log" || fail "$2 $1: $(cat "$folder/log")"
}
cat >"$folder/mixed.yaml" <<'YAML'
hosts: {a: {hca: {fidelity: endpoint}}, b: {hca: {fidelity: detailed}}}
fabric: {topology: back-to-back}
workload: {pattern: shift, host: {timout: 3}}
YAML
refuse mixed.yaml check 'unknown key "timout"; did you mean "timeout"?'
cat >"$folder/programs.yaml" <<'YAML'
hosts: {a: {hca: {fidelity: endpoint}}, b: {hca: {fidelity: detailed}}}
fabric: {topology: back-to-back}
programs: [{host: b, command: ["true"]}]
YAML
refuse programs.yaml check 'a and b have HCAs of different fidelity; programs need one fidelity for all hosts'
beside() { # KEY VALUE MESSAGE: of an adapter beside a detailed one
  cat >"$folder/beside.yaml" <<YAML
hosts: {count: 2, hca: {fidelity: endpoint, $1: $2}, except: {host1: {hca: {fidelity: detailed}}}}
fabric: {topology: back-to-back}
workload: {pattern: shift, host: {max_rd_atomic: 8}}
YAML
  refuse beside.yaml check "$3"
}
beside recovery selective_repeat 'host0 has an HCA of fidelity endpoint beside detailed ones; expected recovery: go_back_n, as detailed adapters use it'
beside cumulative_ack false 'host0 has an HCA of fidelity endpoint beside detailed ones; expected cumulative_ack: true'
beside max_rd_atomic 9 'host0 has an HCA of fidelity endpoint beside detailed ones; expected max_rd_atomic of no more than workload.host.max_rd_atomic'
cat >"$folder/except.yaml" <<'YAML'
hosts:
  count: 2
  hca: {fidelity: endpoint}
  except:
    hots1: {hca: {fidelity: detailed}}
    host0: {hcas: {}}
fabric: {topology: back-to-back}
workload: {pattern: shift}
YAML
refuse except.yaml check 'except.yaml:5:5: no host "hots1"; did you mean "host1"?'
refuse except.yaml check 'except.yaml:6:13: unknown key "hcas"; did you mean "hca"?'
cat >"$folder/load.yaml" <<'YAML'
hosts: {count: 2, hca: {fidelity: endpoint}}
fabric: {topology: back-to-back}
load: {bytes: 64B}
YAML
refuse load.yaml check 'load needs HCAs of fidelity: detailed; the HCA of host0 is endpoint; use workload: {...}, which supports both'
refuse two.yaml fluid 'the models do not support detailed HCAs'
"$hcasim" exec "$folder/two.yaml" -- host0: true >"$folder/log" 2>&1
[ $? -eq 2 ] && grep -q 'programs exclude both' "$folder/log" || fail "exec: $(cat "$folder/log")"
[ $failures -eq 0 ]
