# SPDX-License-Identifier: Apache-2.0
"""The law of scale: all rates divided by k and all times multiplied by k give all times multiplied by k.

k is 2 because PCI Express permits no other factor: one generation less is half the rate with the
same encoding, from 5 to 4 and from 4 to 3. A timeout code one higher is twice the time. Values in
bytes, packets or bits of the link remain.
"""
import re

import draw
import play
from relate import Law, is_load

TIMES = {"ps": 1, "ns": 1000, "us": 10**6, "ms": 10**9, "s": 10**12}
RATES = {"bps": 1, "Kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12, "Hz": 1, "KHz": 10**3, "MHz": 10**6, "GHz": 10**9}
QUANTITY = re.compile(r"(?<![\w.\"])(\d+(?:\.\d+)?)(" + "|".join(sorted((*TIMES, *RATES), key=len, reverse=True)) + r")(?![\w\"])")
CODES = re.compile(r"^(\s+timeout: )(\d+)$", re.M)
# Keys of programs, which have no meaning for a load, and limits, which only end a run that hangs.
APART = re.compile(r"^\s+(limit|stop): .*$", re.M)


def doubled(text):
    """The effective scenario with all times twice as long."""
    def one(match):
        number, unit = match.groups()
        if unit in RATES:
            return f"{exact(float(number) * RATES[unit] / 2)}{'Hz' if unit.endswith('Hz') else 'bps'}"
        return f"{exact(float(number) * TIMES[unit] * 2)}ps"
    def code(match):
        return match.group(1) + (match.group(2) if match.group(2) == "0" else str(int(match.group(2)) + 1))
    kept = []
    for line in text.split("\n"):
        if APART.match(line) or "tsc:" in line:
            kept.append(line)
            continue
        line = QUANTITY.sub(one, line)
        line = CODES.sub(code, re.sub(r"^(\s+trace: ).*flows.csv.*$", r"\1flows.csv", line))
        kept.append(re.sub(r"^(\s+generation: )([45])$", lambda m: m.group(1) + str(int(m.group(2)) - 1), line))
    return "\n".join(kept)


def exact(value):
    return str(int(value)) if value == int(value) else repr(value)


class Scale(Law):
    """all rates / 2 and all times * 2: all times * 2"""
    name = "scale"
    keep = (*Law.keep, "fabric.link_layer", "fabric.link.rate", "fabric.link.xoff", "fabric.link.xon", "hosts.hca.pcie.generation", "hosts.hca.send_rate", "hosts.hca.receive_rate")

    def draw(self, rng):
        if rng.random() < 0.5:
            scenario = draw.load(rng)
            while scenario["fabric"]["link_layer"] != "roce": # a speed of InfiniBand has no half
                scenario = draw.load(rng)
            scenario["hosts"]["hca"]["pcie"]["generation"] = rng.choice((4, 5))
            return scenario
        scenario = draw.workload(rng, detailed=0.2)
        # Automatic thresholds follow a vendor's formula with bytes for each Gb/s, which does not
        # scale.
        scenario["fabric"]["link"].update({"xoff": "90KiB", "xon": "80KiB"})
        if scenario["hosts"]["hca"]["fidelity"] == "detailed":
            scenario["hosts"]["hca"]["pcie"] = {"generation": 4}
        else: # a byte in 8 ps: no rounding, so that what comes together comes together
            scenario["hosts"]["hca"].update({"send_rate": "1Tbps", "receive_rate": "1Tbps"})
        return scenario

    def judge(self, runner, scenario):
        if is_load(scenario) and scenario["fabric"]["link_layer"] != "roce" or play.get(scenario, "hosts.hca.pcie.generation", 4) not in (4, 5):
            raise play.Refused("has no half")
        text = runner.effective(scenario)
        flows = play.files(scenario)[1]
        if flows is not None:
            twice = "".join(",".join(str(word) for word in (round(flow[0] * 2, 3), *flow[1:])) + "\n" for flow in scenario["_flows"])
        else:
            twice = None
        first, other = runner.run(scenario), runner.run_text(doubled(text), twice)
        if is_load(scenario):
            for metric, factor in (("mops", 2), ("mean_ns", 0.5), ("p99_ns", 0.5)):
                one, two = first.metrics[metric], other.metrics[metric] * factor
                # 1 ps a step in 1000 steps moves a request beside another one; p99 is a bin of a histogram
                if abs(one - two) > (0.02 if metric == "p99_ns" else 0.005) * one:
                    return f"{metric} {one}; with all times twice as long {two}, brought back to the same scale"
            return None
        steps = sum(int(flow["packets"]) for flow in first.flows) * 4
        share = 0 if play.get(scenario, "hosts.hca.congestion", "none") == "none" else 0.01 # rates are rounded to bits a second
        for number, (flow, like) in enumerate(zip(first.flows, other.flows)):
            if flow["status"] != like["status"]:
                return f"flow {number} {flow['status']} and {like['status']}"
            if flow["finished"] is not None:
                one, two = flow["finished"] - flow["ready"], like["finished"] - like["ready"]
                if abs(one * 2 - two) > steps + share * two:
                    return f"flow {number}: {one} ps and {two} ps, allowed {steps + share * two:.0f} beside the double"
        return None
