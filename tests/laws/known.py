# SPDX-License-Identifier: Apache-2.0
"""Runs with known results: from queueing theory, from byte counts, from the capacity of a cache."""
import draw
import play
import relate


class Law(relate.Law):
    """These scenarios are small. The known result is calculated from their numbers."""
    shrinks = False


# Bytes of a RoCE v2 packet besides its data, on the line: Ethernet, IPv4, UDP, BTH, ICRC, FCS, preamble and gap.
ROCE_EXTRA = 82
FIRST_EXTRA = {"write": 16, "send": 0, "read": 4} # RETH of a message's first packet; AETH of a response's
INFINIBAND_EXTRA = 26 # LRH, BTH, ICRC, VCRC


def on_the_line(size, mtu, extra, verb="write"):
    packets = max(1, -(-size // mtu))
    return size + packets * extra + FIRST_EXTRA[verb]


def number(text):
    """Of a scenario's value: 64B, 40ns, 100Gbps."""
    return int("".join(c for c in str(text) if c.isdigit()))


class Wire(Law):
    """no metric of a run exceeds its wire, for any duration of the run"""
    name = "known-wire"

    def draw(self, rng):
        if rng.random() < 0.5:
            preset, rate = rng.choice([("connectx5-100gbe", 100), ("connectx4-lx-25gbe", 25), ("connectx6dx-25gbe", 25)])
            size = rng.choice((1024, 2048, 4096, 16384, 65536))
            hca = {"preset": preset, "pcie": {"generation": 4, "lanes": 16}}
            return {"seed": 1, "hosts": {"count": 2, "hca": hca}, "fabric": {"link_layer": "roce", "topology": "back-to-back", "link": {"rate": f"{rate}Gbps"}},
                    "load": {"verb": rng.choice(("write", "write", "send", "read")), "bytes": f"{size}B", "threads": rng.choice((1, 4)), "qps": rng.choice((1, 4)),
                             "tx_depth": rng.choice((16, 64)), "cq_mod": rng.choice((1, 4, 16)), "warm_up": rng.choice((20, 100, 400)), "operations": rng.choice((50, 100, 200, 600))}}
        scenario = draw.workload(rng, ("none", "none", "dcqcn-paper"), detailed=0.2, topologies=("single-switch",))
        for flow in scenario["_flows"]:
            flow[3] = 20000000
            flow[4] = rng.choice(("write", "write", "read"))
        start = rng.choice((50, 100, 200))
        scenario["run"] = {"until": f"{start + rng.choice((10, 20, 50, 100))}us", "warm_up": f"{start}us"}
        scenario["record"] = {"series": rng.choice(("1us", "5us"))}
        if scenario["hosts"]["hca"]["fidelity"] == "endpoint":
            scenario["hosts"]["hca"]["ack_interval"] = rng.choice((0, 16, 64))
        return scenario

    def judge(self, runner, scenario):
        result = runner.run(scenario)
        rate = number(play.get(scenario, "fabric.link.rate"))
        roce = scenario["fabric"].get("link_layer") == "roce"
        if "load" in scenario:
            size = number(scenario["load"].get("bytes", "64B"))
            bound = rate * size / on_the_line(size, 4096, ROCE_EXTRA, scenario["load"]["verb"])
            bound += min(size, 4096) * 8000 / result.window # the packet that comes at an edge of what is measured
            measured = result.metrics["gbps"]
        else:
            mtu = number(play.get(scenario, "hosts.hca.port.mtu", "4096B"))
            ends = {flow[2] for flow in scenario["_flows"]} # of a read, too: it is the destination that fetches
            bound = len(ends) * rate * mtu / (mtu + (ROCE_EXTRA if roce else INFINIBAND_EXTRA))
            bound += len(ends) * mtu * 8000 / result.window # a packet that comes at an edge
            measured = result.metrics["goodput_gbps"]
        if measured > bound * 1.0001:
            return f"{measured} Gb/s of data, and the wire carries {bound:.4f}"
        return None


class Bounds(Law):
    """a unit that takes one thing each interval takes no more: rate x interval <= 1"""
    name = "known-bounds"
    shrinks = True
    halves = False
    keep = (*Law.keep, "hosts.hca", "load.post_list", "load.cq_mod", "load.tx_depth", "load.threads", "load.qps", "load.operations")

    def draw(self, rng):
        scenario = draw.load(rng)
        work = scenario["load"]
        scenario["hosts"]["count"], scenario["fabric"]["topology"] = 2, "back-to-back"
        scenario["fabric"].pop("switch", None)
        work.pop("pattern", None)
        work.update({"threads": rng.choice((4, 8)), "qps": rng.choice((1, 4)), "tx_depth": 16, "posting": rng.choice(("blueflame", "doorbell")), "warm_up": 1000, "operations": 6000, "bytes": "8B"})
        for key in ("post_list", "cq_mod"):
            work[key] = min(work.get(key, 1), 8)
        hca = scenario["hosts"]["hca"]
        unit = rng.choice(("doorbell", "doorbell", "completion", "transmit", "receive"))
        hca[unit] = {"interval": f"{rng.choice((100, 200, 500, 1000))}ns"}
        if unit == "doorbell":
            hca[unit]["queue"] = rng.choice((4, 16, 64, 256))
        elif unit == "transmit":
            hca[unit]["send_interval"] = "0ps" # of SENDs, in a preset
        scenario["_law"] = unit
        return scenario

    def judge(self, runner, scenario):
        unit = scenario["_law"]
        work = scenario["load"]
        each = number(scenario["hosts"]["hca"][unit]["interval"])
        bound = 1000 / each
        if unit == "doorbell":
            bound *= work["post_list"]
        elif unit == "completion":
            bound *= work["cq_mod"]
        if unit in ("completion", "receive"):
            # Rates are measured at the wire. Data that fits the windows may still wait for this
            # unit.
            bound *= 1 + work["threads"] * work["qps"] * work["tx_depth"] / work["operations"]
        measured = runner.run(scenario).metrics["mops"]
        # The measured period begins and ends within lists.
        if measured > bound * 1.03:
            return f"{measured} M/s, and {unit}.interval allows {bound:.4f}"
        return None


class Closed(Law):
    """a closed network of fixed times: w messages under way take max(R / w, S) each, R of one alone, S of the slowest station"""
    name = "known-closed"

    def draw(self, rng):
        rate = rng.choice((25, 50, 100, 200))
        return {"seed": 1, "hosts": {"count": 2, "hca": {"fidelity": "endpoint"}},
                "fabric": {"link_layer": rng.choice(("roce", "infiniband")), "topology": rng.choice(("back-to-back", "single-switch")),
                           "link": {"rate": f"{rate}Gbps", "length": f"{rng.choice((2, 20, 100))}m"}},
                "workload": {"posting": {"message": f"{rng.choice((256, 1000, 4096, 9000))}B", "outstanding_messages": rng.choice((2, 3, 4, 8, 16, 32))}},
                "_flows": [[0, 0, 1, 0, "write"]], "_law": rng.randint(200, 400)}

    def judge(self, runner, scenario):
        count = scenario["_law"]
        size = number(scenario["workload"]["posting"]["message"])
        window = scenario["workload"]["posting"]["outstanding_messages"]
        scenario = play.changed(scenario, {"_flows": [[0, 0, 1, count * size, "write"]]})
        alone = runner.run(play.changed(scenario, {"workload.posting.outstanding_messages": 1})).flows[0]
        several = runner.run(scenario).flows[0]
        trip = (alone["finished"] - alone["ready"]) / count
        rate = number(scenario["fabric"]["link"]["rate"])
        extra = ROCE_EXTRA if scenario["fabric"]["link_layer"] == "roce" else INFINIBAND_EXTRA
        service = on_the_line(size, 4096, extra) * 8000 / rate
        known = (count - 1) * max(trip / window, service) + trip
        took = several["finished"] - several["ready"]
        if abs(took - known) > 0.02 * known + trip:
            return f"{count} messages, {window} under way: {took} ps, known {known:.0f} ps (R {trip:.0f}, S {service:.0f})"
        return None


def mean_value(demands, delay, customers):
    """Mean value analysis of a closed network: customers a ps, of stations with exponential service and a delay without queue."""
    queues = [0] * len(demands)
    for count in range(1, customers + 1):
        times = [demand * (1 + queue) for demand, queue in zip(demands, queues)]
        rate = count / (delay + sum(times))
        queues = [rate * time for time in times]
    return rate


class ClosedNetwork(Law):
    """w work requests on an adapter: rate from mean value analysis, if service times were exponential, up to min(w / R, 1 / D)"""
    name = "known-mva"
    READS = 16 # outstanding READs of a queue pair

    def draw(self, rng):
        scenario = draw.load(rng, plain=True)
        scenario["hosts"]["count"] = 2
        work = scenario["load"]
        work.update({"threads": 1, "qps": 1, "tx_depth": rng.choice((2, 3, 4, 6, 8, 16, 32)), "bytes": f"{rng.choice((8, 64, 512, 2048, 4096))}B", "warm_up": 500, "operations": 3000})
        for key in ("post_list", "cq_mod", "pattern"):
            work.pop(key, None)
        return scenario

    def judge(self, runner, scenario):
        alone, several = runner.run(play.changed(scenario, {"load.tx_depth": 1})), runner.run(scenario)
        depth = scenario["load"]["tx_depth"]
        # A READ gives its place back when its response is there, before its CQE is written and polled: R is longer than its stay.
        window = min(depth, self.READS) if scenario["load"]["verb"] == "read" else depth
        trip, demands = 1e6 / alone.metrics["mops"], list(alone.demands.values())
        low = mean_value(demands, trip - sum(demands), window) * 1e6
        high = min(depth / trip, 1 / max(demands)) * 1e6
        # 2 %: CQEs that come together are polled together, and the window has edges.
        if not low * 0.98 <= several.metrics["mops"] <= high * 1.02:
            return f"{depth} work requests under way: {several.metrics['mops']} M/s, known {low:.4f} to {high:.4f} (R {trip:.0f} ps, D {max(demands):.0f} ps)"
        return None


class Sizes(Law):
    """messages of several sizes in turn, one at a time: the mean time is the mean of the times of each size alone"""
    name = "known-sizes"

    def draw(self, rng):
        scenario = draw.load(rng, plain=True)
        scenario["hosts"]["count"] = 2
        work = scenario["load"]
        work.update({"threads": 1, "qps": 1, "tx_depth": 1, "warm_up": 60, "operations": 600,
                     "bytes": [f"{rng.choice((0, 8, 64, 300, 1024, 4096, 5000, 65536))}B" for _ in range(rng.choice((2, 3, 4, 5)))]})
        for key in ("post_list", "cq_mod", "pattern"):
            work.pop(key, None)
        return scenario

    def judge(self, runner, scenario):
        sizes = scenario["load"]["bytes"]
        known = sum(1 / runner.run(play.changed(scenario, {"load.bytes": size})).metrics["mops"] for size in sizes) / len(sizes)
        metrics = runner.run(scenario).metrics
        bytes_each = sum(number(size) for size in sizes) / len(sizes)
        if abs(metrics["mops"] * known - 1) > 0.001:
            return f"{1 / metrics['mops']} us a message, known {known}"
        if abs(metrics["gbps"] - metrics["mops"] * bytes_each * 0.008) > 0.001 * metrics["gbps"]:
            return f"{metrics['gbps']} Gb/s of messages of {bytes_each} B, {metrics['mops']} M/s"
        return None


class Window(Law):
    """window of whole packets: an HPCC flow has floor(line rate x T / packet) packets per T"""
    name = "known-window"
    OWN = 700000 # ps of the adapter besides the round trip: send_latency and complete_latency

    def draw(self, rng):
        mtu = f"{rng.choice((1024, 2048, 4096))}B"
        return {"seed": 1, "hosts": {"count": 2, "hca": {"fidelity": "endpoint", "congestion": "hpcc-paper", "port": {"mtu": mtu}}},
                "fabric": {"link_layer": "roce", "topology": "single-switch", "switch": {"telemetry": True, "port": {"mtu": mtu}, "buffer": {"size": "64MB"}},
                           "link": {"rate": f"{rng.choice((50, 100, 200))}Gbps", "length": f"{rng.randint(1, 80)}m"}},
                "workload": {}, "_flows": [[0, 0, 1, 8000000, "write"]]}

    def judge(self, runner, scenario):
        mtu, rate, flow = number(scenario["hosts"]["hca"]["port"]["mtu"]), number(scenario["fabric"]["link"]["rate"]), scenario["_flows"][0]

        def took(changes):
            flow = runner.run(play.changed(scenario, changes)).flows[0]
            return flow["finished"] - flow["ready"]

        trip = took({"_flows": [[0, 0, 1, mtu, "write"]]}) - self.OWN
        whole, part = (flow[3] * 8000 / took({"hosts.hca.cwnd_fill": fill}) for fill in ("whole", "part"))
        packets = int(rate * trip / 8000 / mtu)
        most, less = (count * mtu * 8000 / trip for count in (packets, packets - 1))
        # At the window's minimum nothing else limits the rate. Above it, the window varies by one
        # packet around its target. 1 %: the first round trips.
        low, high = (most, most) if most < 0.99 * part else (min(less, part), part)
        if not low * 0.99 <= whole <= high * 1.01:
            return f"T {trip} ps, {packets} packets: {whole:.2f} Gb/s, known {low:.2f} to {high:.2f} ({part:.2f} with parts of packets)"
        return None


class Queue(Law):
    """M/D/1: packets of one size at random times wait rho / (2 (1 - rho)) packet times"""
    name = "known-m-d-1"

    def draw(self, rng):
        size = rng.choice((1000, 4096))
        rate = rng.choice((25, 100))
        packet = on_the_line(size, 4096, ROCE_EXTRA) * 8000 // rate
        rho = rng.choice((0.3, 0.5, 0.7))
        senders, count = 24, 400
        return {"seed": rng.randint(1, 10**6), "hosts": {"count": senders + 1, "hca": {"fidelity": "endpoint"}},
                "fabric": {"link_layer": "roce", "topology": "single-switch", "switch": {"port": {"input_buffer": "64MiB"}}, "link": {"rate": f"{rate}Gbps", "pfc_priorities": 0}},
                "workload": {"pattern": "incast", "bytes": f"{size}B", "count": count, "spread": f"{round(senders * count * packet / rho)}ps"},
                "_law": [rho, packet]}

    def judge(self, runner, scenario):
        rho, packet = scenario["_law"]
        waited = runner.run(scenario).metrics["wait_mean_us"] * 1e6
        known = packet * rho / (2 * (1 - rho))
        if abs(waited - known) > 0.15 * known: # 9600 packets: the mean's own error is some 4 %
            return f"rho {rho}: {waited:.0f} ps, known {known:.0f}"
        return None


class Credits(Law):
    """a VL's rate is its credits over their round trip, or the link's"""
    name = "known-credits"

    def draw(self, rng):
        return {"seed": 1, "hosts": {"count": 2, "hca": {"fidelity": "endpoint", "port": {"input_buffer": f"{rng.choice((32, 64, 128))}KiB"}}},
                "fabric": {"link_layer": "infiniband", "topology": "back-to-back", "link": {"rate": f"{rng.choice((50, 100))}Gbps", "length": f"{rng.choice((200, 500, 1000, 2000))}m"}},
                "workload": {"pattern": "incast", "bytes": "1GB"}, "run": {"until": "1ms", "warm_up": "200us"}}

    def judge(self, runner, scenario):
        rate = number(scenario["fabric"]["link"]["rate"])
        buffer = number(scenario["hosts"]["hca"]["port"]["input_buffer"]) * 1024
        length = number(scenario["fabric"]["link"]["length"])
        packet = 4096 + INFINIBAND_EXTRA
        trip = 2 * length * 5000 + packet * 8000 / rate # ps; credits come back when a packet is whole
        whole = buffer // (-(-4120 // 64) * 64) # packets that fit, in blocks of 64 B
        known = min(rate * 4096 / packet, whole * 4096 * 8000 / trip)
        measured = runner.run(scenario).metrics["goodput_gbps"]
        if abs(measured - known) > 0.05 * known: # credits are told in steps
            return f"{measured} Gb/s, known {known:.2f}"
        return None


class Caches(Law):
    """LRU: a lookup hits if fewer than E other contexts were looked up since the last one of it (stack distance), and misses else"""
    name = "known-caches"

    def draw(self, rng):
        entries = rng.choice((4, 8, 16, 32))
        return {"seed": rng.randint(1, 1000), "hosts": {"count": 2, "hca": {"preset": rng.choice(("connectx5-100gbe", "connectx4-100gbe")), "requester_cache": {"entries": entries, "ways": entries}}},
                "fabric": {"link_layer": "roce", "topology": "back-to-back", "link": {"rate": "100Gbps"}},
                "load": {"verb": "write", "bytes": "64B", "qps": rng.choice((entries // 2, entries, entries + 1, 2 * entries, 4 * entries)), "tx_depth": 1, "outstanding": 1,
                         "order": rng.choice(("random", "round_robin")), "warm_up": 1, "operations": 2000}}

    def judge(self, runner, scenario):
        work, entries = scenario["load"], scenario["hosts"]["hca"]["requester_cache"]["entries"]
        pairs, stack, misses = work["qps"], [], 0
        for place, (point, number) in enumerate(runner.trace(scenario, "host0.hca.context.requester")):
            if point not in ("ICM_HIT", "ICM_MISS"):
                continue
            known = "ICM_HIT" if number in stack[:entries] else "ICM_MISS"
            if point != known:
                return f"{pairs} queue pairs, {entries} entries, {work['order']}: lookup {place} of {number} is {point}, known {known}"
            misses += point == "ICM_MISS"
            stack = [number] + [other for other in stack if other != number]
        least = work["operations"]
        if work["order"] == "round_robin" and (misses < least if pairs > entries else misses > pairs):
            return f"{pairs} queue pairs in turn, {entries} entries: {misses} misses of {least} requests"
        return None


class Threshold(Law):
    """no mark and no pause below the threshold; above it there are some"""
    name = "known-threshold"

    def draw(self, rng):
        senders = rng.choice((2, 3, 4))
        kind = rng.choice(("ecn", "pfc"))
        limit = rng.choice((50000, 100000, 200000)) if kind == "ecn" else rng.choice((400000, 1000000))
        switch = {"ecn": {"mark": "enqueue", "kmin": f"{limit}B", "kmax": f"{limit}B", "pmax": 1}, "buffer": {"size": "64MB"}} if kind == "ecn" else \
            {"buffer": {"size": f"{limit + (senders + 1) * 100000}B", "alpha": 1, "reserved": "0B", "headroom": "100KB"}}
        return {"seed": 1, "hosts": {"count": senders + 1, "hca": {"fidelity": "endpoint"}},
                "fabric": {"link_layer": "roce", "topology": "single-switch", "switch": switch, "link": {"rate": "100Gbps", "length": "2m"}},
                "workload": {"pattern": "incast", "bytes": "0B"}, "_law": [kind, limit, senders, rng.choice((0.5, 0.8, 1.3, 2))]}

    def judge(self, runner, scenario):
        kind, limit, senders, share = scenario["_law"]
        # All arrive at once: the queue grows to all but one sender's bytes. PFC: each of n inputs
        # may use as many bytes as are free, without headroom.
        threshold = limit if kind == "ecn" else senders * limit / (1 + senders)
        size = round(share * threshold / (senders - 1))
        result = runner.run(play.changed(scenario, {"workload.bytes": f"{size}B"}))
        count = result.metrics["ecn_marks" if kind == "ecn" else "pauses"]
        if (count > 0) != (share > 1) or result.metrics["drops"]:
            return f"{kind}: a queue of {share} times the threshold of {threshold:.0f} B: {count} marks or pauses, {result.metrics['drops']} drops"
        return None


class FixedPoint(Law):
    """DCQCN: n flows share a port fairly at its rate; queue 1 to 1.45 times the fluid model's"""
    name = "known-dcqcn"
    LEAST, MOST = 1.0, 1.45 # rates move by whole CNPs, each of which waits for a mark: 1.13 to 1.31 in 22 runs, 1.22 in the mean

    def draw(self, rng):
        senders = rng.choice((2, 3, 4, 6, 8))
        port = {"mtu": "920B"}
        return {"seed": rng.randint(1, 1000), "hosts": {"count": senders + 1, "hca": {"fidelity": "endpoint", "congestion": "dcqcn-paper", "port": port}},
                "fabric": {"link_layer": "roce", "topology": "single-switch", "switch": {"preset": "red-dcqcn-paper", "port": {**port, "input_buffer": "64MiB"}},
                           "link": {"rate": "40Gbps", "length": "200m", "pfc_priorities": 0}},
                "workload": {"pattern": "incast", "bytes": "8GB"}, "run": {"until": "140ms", "warm_up": "40ms"}, "_law": senders}

    def judge(self, runner, scenario):
        result = runner.run(scenario)
        if result.metrics["jain"] < 0.97 or result.metrics["goodput_gbps"] < 35.5:
            return f"jain {result.metrics['jain']}, {result.metrics['goodput_gbps']} Gb/s"
        packets, known, _ = runner.fluid(scenario)["queue"]
        if not self.LEAST * known <= packets <= self.MOST * known:
            return f"{scenario['_law']} flows: a queue of {packets} KB, known {known}"
        return None


LAWS = (Wire, Bounds, Closed, ClosedNetwork, Sizes, Window, Queue, Credits, Caches, Threshold, FixedPoint)
