# SPDX-License-Identifier: Apache-2.0
"""The law of repetition: run.fast_forward changes no result of a workload with phases."""
import json

import draw
import play
import relate

PATTERNS = ("ring_allreduce", "tree_allreduce", "ring_allgather", "collective_all_to_all", "all_to_all", "incast", "shift", "request_response")
CONGESTION = ("none", "none", "window", "window", "dcqcn", "dctcp", "timely", "swift", "infiniband")
OF_SKIPPING = ("events", "fast_forward") # what may differ in summary.json


def queues(rng):
    """Marks without random numbers, of which the state would not come back."""
    size = f"{rng.choice((20, 60))}KB"
    return {"ecn": {"mark": "dequeue", "kmin": size, "kmax": size}}


def adapter(rng, name):
    hca = {"fidelity": "endpoint", "congestion": name}
    if rng.random() < 0.2:
        hca["port"] = {"mtu": "1024B"}
    if rng.random() < 0.2:
        hca["recovery"] = "selective_repeat"
    if rng.random() < 0.15:
        hca["send_rate"] = "60Gbps"
    if rng.random() < 0.15:
        hca["receive_rate"] = "40Gbps"
    if rng.random() < 0.2:
        hca["pace_from"] = "departure"
    return hca


def fabric(rng, name):
    kind = rng.choice(("single-switch", "leaf-spine", "dumbbell"))
    topology = {"single-switch": "single-switch", "leaf-spine": {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 4},
                "dumbbell": {"kind": "dumbbell", "left": 4, "right": 4}}[kind]
    link = {"rate": f"{rng.choice(draw.BYTE_TIMES)}Gbps", "length": f"{rng.choice((2, 20, 200))}m"}
    if name == "infiniband" or (name == "none" and rng.random() < 0.5):
        switch = {"fecn": {"threshold": 8}} if name == "infiniband" else {}
        return {"link_layer": "infiniband", "topology": topology, "link": link, "switch": switch}
    switch = queues(rng) if name in ("dcqcn", "dctcp") else {}
    if rng.random() < 0.4:
        switch["buffer"] = {"size": f"{rng.choice((1, 4))}MiB"}
        if rng.random() < 0.3:
            switch["buffer"]["lossless"] = 0
    if rng.random() < 0.2:
        switch["balance"] = rng.choice(("ecmp", "destination"))
    return {"link_layer": "roce", "topology": topology, "link": link, "switch": switch}


class Repeat(relate.Law):
    """the second run skips phases that repeat others: no file of its results changes"""
    name = "repeat"
    keep = (*relate.Law.keep, "workload.phases", "hosts.hca.congestion")
    halves = False

    def draw(self, rng):
        name = rng.choice(CONGESTION)
        hca, network = adapter(rng, name), fabric(rng, name)
        if "port" in hca:
            network["switch"]["port"] = {"mtu": "1024B"}
        work = {"pattern": rng.choice(PATTERNS), "bytes": f"{rng.choice((1, 700, 5000, 60000, 200000))}B", "phases": rng.randint(5, 60), "queue_pairs": rng.choice((1, 1, 1, 2)),
                "gap": f"{rng.choice((0, 1, 20))}us", "operation": rng.choice(("write", "write", "write", "send", "read", "atomic", "mix"))}
        posting = {"notification_latency": f"{rng.choice((0, 500, 1000, 3000))}ns", "service_levels": rng.choice((1, 1, 2))}
        if rng.random() < 0.2:
            posting.update({"message": "2000B", "outstanding_messages": rng.choice((1, 3))})
        if rng.random() < 0.15:
            posting["start_deadline"] = f"{rng.choice((50, 200, 1000))}us"
        work["posting"] = posting
        hosts = rng.randint(3, 8) if network["topology"] == "single-switch" else 8
        return {"seed": rng.randint(1, 1000), "hosts": {"count": hosts, "hca": hca}, "fabric": network, "workload": work,
                "run": {"loss": "expected", "failed": "expected"}}

    def judge(self, runner, scenario):
        first, other = runner.results(scenario), runner.results(play.changed(scenario, {"run.fast_forward": "exact"}))
        summaries = [json.loads(files.pop("summary.json")) for files in (first, other)]
        for summary in summaries:
            for key in OF_SKIPPING:
                summary.pop(key, None)
        for name, one, two in (("summary.json", *summaries), *((name, first[name], other.get(name)) for name in first)):
            if one != two:
                return f"{name} differs"
        return None
