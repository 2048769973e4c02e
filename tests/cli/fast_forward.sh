#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests run.fast_forward: with `exact`, each file of the results is the same, but for `events` and
# the section `fast_forward` of summary.json. A ring, a step of all-to-all and computation, pauses,
# drops, READs, InfiniBand credits, a period of several phases. What cannot be skipped runs as it
# is, and the summary names the reason. tests/laws/repeat.py does the same with random runs.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/same.py" <<'END'
import json, os, sys
off, exact = sys.argv[1:3]
for name in sorted(os.listdir(off)):
    one, two = (open(os.path.join(folder, name), "rb").read() for folder in (off, exact))
    if name == "summary.json":
        one, two = json.loads(one), json.loads(two)
        skipped = two.pop("fast_forward")
        assert "fast_forward" not in one
        assert one.pop("events") == two.pop("events") + skipped["events"], "events"
    if name != "scenario.yaml":
        assert one == two, name + " differs"
print(skipped["phases"], skipped["period_phases"], skipped["reason"], sep="|")
END

scenario() { # name, link layer, congestion, switch, workload
  printf 'seed: 1\nhosts: {count: 0, hca: {fidelity: endpoint%s}}\nfabric: {link_layer: %s, topology: %s, switch: {%s}}\nworkload: {%s}\n' \
    "$3" "$2" '{kind: leaf-spine, leaves: 2, spines: 2, hosts: 4}' "$4" "$5" >"$folder/$1.yaml"
}

play() { # name, expected "phases|period|reason", options of both runs...
  local name=$1 expected=$2 found
  for mode in off exact; do
    "$hcasim" run "$folder/$name.yaml" --set run.fast_forward=$mode --out "$folder/$name-$mode" "${@:3}" >"$folder/$name-$mode.log" 2>&1 ||
      fail "$name, $mode: exit code $?: $(cat "$folder/$name-$mode.log")"
  done
  found=$(python3 "$folder/same.py" "$folder/$name-off" "$folder/$name-exact") || fail "$name"
  [[ $found == $expected ]] || fail "$name: expected $expected, found $found"
  rm -rf "$folder/$name-off" "$folder/$name-exact"
}

steps='phases: 30, queue_pairs: 1'
scenario ring roce ', congestion: dcqcn' 'ecn: {mark: dequeue}' "pattern: ring_allreduce, bytes: 100KB, $steps"
scenario experts roce ', congestion: window' '' "pattern: all_to_all, bytes: 20KB, gap: 50us, $steps"
scenario pauses roce '' 'buffer: {size: 1MiB}' "pattern: incast, bytes: 300KB, $steps"
scenario loss roce '' 'buffer: {size: 200KB, lossless: 0, headroom: 1KB}' "pattern: incast, bytes: 300KB, $steps"
scenario reads infiniband ', port: {credit_batch: 64B}' 'port: {credit_batch: 64B}' "pattern: ring_allgather, bytes: 32KB, operation: read, $steps"
scenario turns roce '' '' 'pattern: shift, bytes: 50KB, phases: 31, queue_pairs: 2'
play ring '26|1|'
play experts '24|1|'
play pauses '*[1-9]|*|'
play loss '*'
play reads '26|1|'
play turns '*|2|'
grep -q '^skipped    26 phases from phase 3 on' "$folder/ring-exact.log" || fail "ring: $(cat "$folder/ring-exact.log")"

# Random numbers do not come back. Telemetry has absolute times, and records have those of all
# phases.
scenario random roce ', congestion: dcqcn' 'ecn: {mark: dequeue, kmin: 5KB, kmax: 200KB}' "pattern: incast, bytes: 300KB, $steps"
scenario poisson roce '' '' 'pattern: poisson, arrivals_until: 100us'
scenario once roce '' '' 'pattern: shift, bytes: 50KB'
scenario partners roce '' '' "pattern: permutation, bytes: 50KB, $steps"
scenario telemetry roce ', congestion: hpcc' 'telemetry: true' "pattern: shift, bytes: 50KB, $steps"
play random '0|0|no phase began in the state of another one*'
play poisson '0|0|workload.phases is 1'
play once '0|0|workload.phases is 1'
play partners '0|0|*'
play telemetry '0|0|host0.hca: the state of congestion control hpcc is not compared'
play ring '0|0|record.series is set' --set record.series=10us
play ring '0|0|run.until, run.warm_up or run.measure_until is set' --until 1ms
play ring '0|0|workload.post_until is set' --set workload.post_until=300us
play ring '0|0|posting.start_deadline ends the run' --set workload.posting.start_deadline=300us
play ring '0|0|host0.hca.port: its packets are recorded' --set record.packets=true

# Samples replace phases of random marks. The time and the mean completion time differ by less than
# the tolerance, and no law is violated. What repeats exactly is still exact.
cat >"$folder/near.py" <<'END'
import json, sys
off, sampled = (json.load(open(f"{folder}/summary.json")) for folder in sys.argv[1:3])
skipped = sampled["fast_forward"]
assert skipped["phases"] == 48 and 0 < skipped["estimated_error"] <= 0.02, skipped
assert sampled["events"] < off["events"] / 2
for name in "duration_us", "fct_mean_us", "packets_sent":
    one, two = off["metrics"][name], sampled["metrics"][name]
    assert abs(two / one - 1) < 0.02, (name, one, two)
END
scenario sampled roce ', congestion: dcqcn' 'ecn: {mark: dequeue, kmin: 5KB, kmax: 200KB}' "pattern: all_to_all, bytes: 100KB, phases: 60, queue_pairs: 1"
for mode in off sampled; do
  "$hcasim" run "$folder/sampled.yaml" --set run.fast_forward=$mode --set run.fast_forward_error=0.02 --out "$folder/sampled-$mode" >"$folder/sampled-$mode.log" 2>&1 ||
    fail "sampled, $mode: $(cat "$folder/sampled-$mode.log")"
done
python3 "$folder/near.py" "$folder/sampled-off" "$folder/sampled-sampled" || fail "sampled"
grep -q 'a sample of [0-9]* phases replaces them, estimated error' "$folder/sampled-sampled.log" || fail "sampled: $(cat "$folder/sampled-sampled.log")"
"$hcasim" run "$folder/sampled.yaml" --set run.fast_forward=sampled --set run.fast_forward_error=0 >"$folder/log" 2>&1
grep -q '^skipped    nothing: the estimated error of a sample of' "$folder/log" || fail "without tolerance: $(cat "$folder/log")"
"$hcasim" run "$folder/ring.yaml" --set run.fast_forward=sampled >"$folder/log" 2>&1
grep -q '^skipped    26 phases from phase 3 on.*repeat the 1 phases before' "$folder/log" || fail "ring, sampled: $(cat "$folder/log")"

"$hcasim" run "$folder/ring.yaml" --set run.fast_forward=exact --threads 2 >"$folder/log" 2>&1
grep -q 'in one thread: run.fast_forward compares the state of the whole run' "$folder/log" || fail "threads: $(cat "$folder/log")"
"$hcasim" check "$folder/ring.yaml" --set run.fast_forward=always >"$folder/log" 2>&1
[ $? -eq 2 ] && grep -q "off|exact|sampled" "$folder/log" || fail "a mode that does not exist: $(cat "$folder/log")"
exit $((failures > 0))
