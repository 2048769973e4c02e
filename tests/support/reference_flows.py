#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reference_flows: plays the flows of a public simulator and compares their times.

    reference_flows.py HCASIM DATA FOLDER CASE...

DATA has the flows and their times. tests/data/ns3/README.md names the source. A case is a row of
CASES. Prints a line for each case. Exits with 1 if a case is outside of its limits: mean, 99th
percentile, and the mean of each size.
"""
import csv
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

DCQCN = "dcqcn-hpcc-100g"
WINDOW = "{preset: dcqcn-hpcc-100g, cwnd_factor: 1, cwnd_scaled: true}"
HPCC = "{preset: hpcc-hpcc-100g, increase_rate: 50Mbps}"  # its config.txt; run.py has 40 Mb/s
# case: file, columns of times, congestion control, buffer, runs. Marks are drawn at random, and
# HPCC's flows fall in and out of step. Such cases are judged by the mean of many runs with
# different seeds and start offsets of nanoseconds. The reference is one such run. The standard
# deviation of the runs adds to the limit.
CASES = {
    "two-to-one": ("two-to-one", ["none_32MiB"], "none", "32MiB", 1),
    "two-to-one-dcqcn": ("two-to-one", ["dcqcn_32MiB"], DCQCN, "32MiB", 20),
    "two-to-one-hpcc": ("two-to-one", ["hpcc_32MiB"], HPCC, "32MiB", 1),
    "incast-pauses": ("incast-16", ["none_2MiB"], "none", "2MiB", 1),
    "incast-dcqcn": ("incast-16", ["dcqcn_32MiB"], DCQCN, "32MiB", 20),
    "incast-dcqcn-pauses": ("incast-16", ["dcqcn_2MiB"], DCQCN, "2MiB", 20),
    "incast-hpcc": ("incast-16", ["hpcc_32MiB"], HPCC, "32MiB", 20),
    "web-search": ("web-search", ["none_32MiB"], "none", "32MiB", 1),
    "web-search-dcqcn": ("web-search", ["dcqcn_32MiB", "dcqcn_32MiB_draw2", "dcqcn_32MiB_draw3"],
                         DCQCN, "32MiB", 3),
    "web-search-window": ("web-search", ["dcqcn_window_32MiB"], WINDOW, "32MiB", 1),
    "web-search-hpcc": ("web-search", ["hpcc_32MiB"], HPCC, "32MiB", 1),
}
SIZES = [0, 10e3, 100e3, 1e6, float("inf")]
LIMIT, SIZE_LIMIT = 0.03, 0.06
FABRICS = {  # hosts, topology, round trip of an empty path
    "two-to-one": (3, "single-switch", "4162ns"),
    "incast-16": (17, "single-switch", "4162ns"),
    "web-search": (0, "{kind: leaf-spine, leaves: 4, spines: 8, hosts: 8}", "8324ns"),
}
# Packets take 90 ns, and 94 ns with telemetry, in both simulators. forwarding_latency compensates
# for the reference's store-and-forward.
SCENARIO = """\
hosts:
  count: {hosts}
  hca:
    {{fidelity: endpoint, congestion: {congestion}, ack_interval: 1, notify: ack, send_latency: 0ps,
      receive_latency: 0ps,
      complete_latency: 0ps, base_rtt: {base_rtt}, cwnd_fill: part,
      pace_from: departure, pace_update: {pace_update}, grant_at: free, grant_order: number,
      data_header_extra: 19B, telemetry_bytes: 50B,
      timeout: 0, port: {{mtu: 1024B, transmit_depth: 1, vls: 1, pause_reaction: 0ps}}}}
fabric:
  link_layer: roce
  topology: {topology}
  switch:
    {{telemetry: {telemetry}, telemetry_gaps: true, balance: destination, forwarding_latency: 49ns,
      queueing: arrival,
      buffer: {{size: {buffer}, alpha: 0.125, reserved: 4KiB, headroom: 37500B, xon_below: 3KiB}},
      ecn: {{mark: dequeue, kmin: 400KB, kmax: 1600KB, pmax: 20%}}, port: {{mtu: 1024B, vls: 1,
                                                                            pause_reaction: 0ps}}}}
  link: {{rate: 100Gbps, length: 200m}}
workload: {{pattern: trace, trace: {trace}}}
"""


def read(path):
    with open(path, encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def write_trace(path, flows, run, runs):
    """Starts of the runs differ by up to 4 ns if there are many."""
    with open(path, "w", encoding="utf-8") as lines:
        lines.write("start_us,source,destination,bytes,operation\n")
        for number, flow in enumerate(flows):
            later = (number * 7 + run * 3 + number * run) % 5 if runs > 1 and run else 0
            start = float(flow["start_us"]) + later / 1000
            ends = f"{flow['source']},{flow['destination']}"
            lines.write(f"{start:.3f},{ends},{flow['bytes']},send\n")


def play(hcasim, folder, case, flows, run):
    """Returns the time of each flow, and that of an empty fabric, in ns."""
    name, _, congestion, buffer, runs = CASES[case]
    hosts, topology, base_rtt = FABRICS[name]
    path = os.path.join(folder, f"{case}-{run}")
    hpcc = congestion == HPCC
    write_trace(path + ".csv", flows, run, runs)
    with open(path + ".yaml", "w", encoding="utf-8") as scenario:
        scenario.write(SCENARIO.format(hosts=hosts, congestion=congestion, base_rtt=base_rtt,
                                       topology=topology, buffer=buffer,
                                       telemetry="true" if hpcc else "false",
                                       pace_update="waiting" if hpcc else "next",
                                       trace=os.path.basename(path + ".csv")))
    done = subprocess.run([hcasim, "run", path + ".yaml", "--seed", str(run + 1), "--out", path],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{case}: exit code {done.returncode}: {done.stderr}")
    found = read(os.path.join(path, "flows.csv"))
    return [float(flow["fct_us"]) * 1e3 for flow in found], [float(flow["ideal_us"]) * 1e3
                                                             for flow in found]


def judge(case, flows, runs):
    """Slowdowns of both simulators, by the same empty fabric."""
    columns = CASES[case][1]
    ideal = runs[0][1]
    here = [[time / best for time, best in zip(times, ideal)] for times, _ in runs]
    there = [[float(flow["fct_ns_" + column]) / best for flow, best in zip(flows, ideal)]
             for column in columns]

    def ratio(name, figure, limit):
        ours = [figure(values) for values in here]
        reference = statistics.mean(map(figure, there))
        apart = statistics.stdev(ours) / reference if len(ours) > 1 else 0
        return name, statistics.mean(ours) / reference, limit + apart

    figures = [ratio("mean", statistics.mean, LIMIT),
               ratio("p99", lambda values: percentile(values, 0.99), LIMIT)]
    for low, high in zip(SIZES, SIZES[1:]):
        chosen = [number for number, flow in enumerate(flows) if low <= int(flow["bytes"]) < high]
        if len(flows) > 100 and chosen:
            figures.append(ratio(f"{low:g} B and more", lambda values,
                                 at=chosen: statistics.mean(values[i] for i in at), SIZE_LIMIT))
    wrong = [name for name, value, limit in figures if abs(value - 1) > limit]
    told = ", ".join(f"{name} {value:.3f} ({limit:.3f})" for name, value, limit in figures)
    print(f"{case}: {told}" + ("" if not wrong else "   NOT: " + ", ".join(wrong)))
    return not wrong


def main():
    hcasim, data, folder, *cases = sys.argv[1:]
    good = True
    with ThreadPoolExecutor(2) as pool:
        for case in cases:
            flows = read(os.path.join(data, CASES[case][0] + ".csv"))
            runs = list(pool.map(lambda run, case=case,
                                 flows=flows: play(hcasim, folder, case, flows,
                                                   run), range(CASES[case][4])))
            good = judge(case, flows, runs) and good
    sys.exit(0 if good else 1)


main()
