# SPDX-License-Identifier: Apache-2.0
"""Laws about pairs of runs: what costs nothing, more of something, names, starts, others that share nothing, fidelities, return paths."""
import copy
import json
import random

import draw
import play


class Law:
    """draw() gives a scenario; `_law` in it is what judge() needs besides."""
    name = ""
    keep = ("hosts.count", "hosts.hca.fidelity") # what is not dropped from a failing case: judge() builds on it
    halves = True # whether its numbers may be halved
    shrinks = True # whether it is made smaller at all

    @classmethod
    def how(cls, scenario):
        """Lines that say what the second run is."""
        return [cls.__doc__.split("\n")[0]]


def is_load(scenario):
    return "load" in scenario


def compare(first, other, scenario):
    """None if all metrics, and all times of flows, are the same."""
    if not is_load(scenario):
        found = play.differing_flows(first, other)
        if found:
            return found
    return play.differing(first, other)


# ---- nothing costs nothing ----

AT_ONCE = "1000000Tbps" # 4 KiB take less than a picosecond
FREE_DRAM = {"hosts.hca.dram": {"latency": "0ps", "rate": AT_ONCE}}
FREE_IOMMU = {"enabled": True, "walk_latency": "0ps", "hit_latency": "0ps"}


def latencies(read, write):
    return {"hosts.hca.pcie.read_latency": read, "hosts.hca.pcie.write_latency": write}


# Feature: what the first run has, what the second run has.
FREE_LOAD = {
    "an IOMMU whose walks take no time": ({}, {"hosts.hca.iommu": FREE_IOMMU}),
    "an IOMMU with one walker whose walks take no time": ({}, {"hosts.hca.iommu": {**FREE_IOMMU, "walkers": 1}}),
    "a cache before memory that takes no longer": (FREE_DRAM, {**FREE_DRAM, "hosts.hca.llc.enabled": True, "hosts.hca.llc.ddio": True}),
    # Remote memory is past the cache, so that memory's own time has to be nothing in both runs.
    "a second socket behind a free link": (FREE_DRAM, {**FREE_DRAM, "hosts.hca.place": {"memory_node": "remote", "remote_read_latency": "0ps",
                                                                                        "remote_write_latency": "0ps", "link_rate": AT_ONCE}}),
    "jitter around nothing": ({}, {"hosts.hca.place": {"jitter_median": "0ps", "jitter_sigma": 1, "tail_share": 0, "tail_max": "1ms"}}),
    "jitter of a picosecond, as latencies that are longer by it": (latencies("400001ps", "50001ps"),
                                                                   {**latencies("400ns", "50ns"), "hosts.hca.place": {"jitter_median": "1ps", "jitter_sigma": 0}}),
    "delays with probability 0": ({}, {"faults": [{"delay": {"probability": 0, "by": "5us"}}]}),
    "drops after the end": ({}, {"faults": [{"drop": {"probability": 1, "begin": "100s"}}]}),
    "a limit that is not reached": ({}, {"load.limit": "1s"}),
    "background without threads": ({}, {"load.background": {"threads": 0, "qps": 7, "bytes": "1024B"}}),
}

FREE_FLOWS = {
    "telemetry of 0 bytes, which nobody reads": {"hosts.hca.telemetry_bytes": "0B", "fabric.switch.telemetry": True},
    "marks that nobody obeys": {"fabric.switch.ecn": {"mark": "dequeue", "kmin": "1KB", "kmax": "4KB", "pmax": 1}, "hosts.hca.notify": "none"},
    "a series of records": {"record": {"series": "1us"}},
    "delays with probability 0": {"faults": [{"delay": {"probability": 0, "by": "5us"}}]},
    "link faults after the end": {"faults": [{"from": "host0", "drop": {"probability": 1, "begin": "100s"}}]},
    "detection of dead links": {"fabric.reroute_delay": "1us"},
}


class Nothing(Law):
    """the second run has a feature whose costs are zero: no metric changes"""
    name = "nothing"

    def draw(self, rng):
        if rng.random() < 0.65:
            scenario = draw.load(rng, plain=True)
            scenario["_law"] = rng.choice(sorted(FREE_LOAD))
        else:
            feature = rng.choice(sorted(FREE_FLOWS))
            scenario = draw.workload(rng, ("none",) if "nobody" in feature else draw.CONGESTION, detailed=0)
            scenario["_law"] = feature
        return scenario

    def judge(self, runner, scenario):
        feature = scenario["_law"]
        if not is_load(scenario):
            return self.plain(runner, scenario, FREE_FLOWS[feature], feature)
        first, other = (runner.run(play.changed(scenario, changes)) for changes in FREE_LOAD[feature])
        found = play.differing(first, other)
        return f"{feature}: {found}" if found else None

    @staticmethod
    def plain(runner, scenario, more, feature):
        if "nobody obeys" in feature and scenario["fabric"]["link_layer"] != "roce":
            raise play.Refused("marks are RoCE's")
        first, other = runner.run(scenario), runner.run(play.changed(scenario, more))
        found = play.differing_flows(first, other)
        return f"{feature}: {found}" if found else None

    @classmethod
    def how(cls, scenario):
        feature = scenario["_law"]
        one, other = FREE_LOAD[feature] if is_load(scenario) else ({}, FREE_FLOWS[feature])
        return [cls.__doc__, f"the first run: {sets(one)}", f"the second run: {sets(other)}"]


def sets(changes):
    return " ".join(f"--set '{path}={json.dumps(value)}'" for path, value in changes.items()) or "as it is"


# ---- more is not slower ----

# What, the value that is worse, the better one; a tolerance, as a share of the rate, with its reason.
ORDER = 0.03 # requests are met in another order, and 1000 of them have edges
MORE = (
    ("hosts.hca.pcie.tags", (8, 16, 32), (16, 64, 256), ORDER),
    ("hosts.hca.pcie.lanes", (4, 8), (8, 16), ORDER),
    ("hosts.hca.pcie.generation", (2, 3), (3, 4), ORDER),
    ("hosts.hca.pcie.link_latency", ("200ns", "100ns"), ("60ns", "20ns"), ORDER),
    ("hosts.hca.pcie.read_latency", ("800ns", "400ns"), ("346ns", "200ns"), ORDER),
    ("hosts.hca.pcie.posted_data_credits", ("2KiB", "4KiB"), ("8KiB", "16KiB"), ORDER),
    ("hosts.hca.pcie.posted_headers", (16, 32), (64, 256), ORDER),
    ("hosts.hca.pcie.nonposted_headers", (4, 16), (32, 256), ORDER),
    ("hosts.hca.dma.inflight", (8, 16), (32, 128), ORDER),
    ("hosts.hca.scheduler.processing_units", (1, 2), (2, 4), ORDER),
    ("hosts.hca.doorbell.interval", ("200ns", "60ns"), ("20ns", "5ns"), ORDER),
    ("hosts.hca.doorbell.queue", (4, 16), (32, 256), ORDER),
    ("hosts.hca.completion.interval", ("100ns", "30ns"), ("20ns", "5ns"), ORDER),
    ("hosts.hca.iommu", ({"enabled": True, "walk_latency": "280ns"}, {"enabled": True, "walk_latency": "100ns"}),
     ({"enabled": True, "walk_latency": "50ns"}, {"enabled": True, "walk_latency": "0ps"}, {"enabled": False}), ORDER),
    ("hosts.hca.iommu", ({"enabled": True, "entries": 8, "ways": 8}, {"enabled": True, "entries": 16, "ways": 16}),
     ({"enabled": True, "entries": 64, "ways": 64}, {"enabled": True, "entries": 4096, "ways": 4096}), ORDER),
    ("hosts.hca.iommu", ({"enabled": True, "walkers": 1, "entries": 8, "ways": 8}, {"enabled": True, "walkers": 2, "entries": 8, "ways": 8}),
     ({"enabled": True, "walkers": 6, "entries": 8, "ways": 8},), ORDER),
    ("hosts.hca.requester_cache", ({"entries": 8, "ways": 8}, {"entries": 16, "ways": 16}), ({"entries": 32, "ways": 32}, {"entries": 256, "ways": 256}), ORDER),
    ("hosts.hca.mtt", ({"entries": 4, "ways": 4},), ({"entries": 64, "ways": 64},), ORDER),
    ("hosts.hca.llc", ({"enabled": True, "ddio": False},), ({"enabled": True, "ddio": True},), ORDER),
    ("hosts.hca.dram", ({"latency": "200ns", "rate": "200Gbps"},), ({"latency": "50ns", "rate": "546Gbps"}, {"latency": "0ps", "rate": "100Tbps"}), ORDER),
    ("hosts.hca.place", ({"memory_node": "remote"}, {"jitter_median": "50ns", "jitter_sigma": 0.5}, {"memory_node": "remote", "link_rate": "50Gbps"}), ({"memory_node": "local"},), ORDER),
    ("load.tx_depth", (1, 4), (8, 64), ORDER),
    ("load.cpu.post", ("100ns", "50ns"), ("27ns", "10ns"), ORDER),
    ("fabric.link.length", ("500m", "100m"), ("20m", "2m"), ORDER),
)


class More(Law):
    """the second run has more of something, or a shorter time: not slower, but for 3 % (another order, edges of a short run)"""
    name = "more"

    def draw(self, rng):
        scenario = draw.load(rng, plain=True)
        if isinstance(scenario["fabric"]["link"], str):
            scenario["fabric"]["link"] = {"preset": scenario["fabric"]["link"]}
        place = rng.randrange(len(MORE))
        path, worse, better, _ = MORE[place]
        scenario["_law"] = [place, rng.choice(worse), rng.choice(better)]
        scenario["load"]["operations"] *= 2
        if "llc" in path or "dram" in path:
            put = {"hosts.hca.llc.enabled": True}
            scenario = play.changed(scenario, put)
        # Lists or CQEs as long as the window: all queue pairs stop and go together, and who meets whom is chance.
        for key in ("post_list", "cq_mod"):
            if path == "load.tx_depth" or 4 * scenario["load"].get(key, 1) > scenario["load"]["tx_depth"]:
                scenario["load"].pop(key, None)
        return scenario

    def judge(self, runner, scenario):
        place, worse, better = scenario["_law"]
        path, tolerance = MORE[place][0], MORE[place][3]
        first = runner.run(play.changed(scenario, {path: worse}))
        other = runner.run(play.changed(scenario, {path: better}))
        one, two = first.metrics["mops"], other.metrics["mops"]
        if two < one * (1 - tolerance):
            return f"{path}: {one} M/s with {worse}, {two} with {better}"
        return None

    @classmethod
    def how(cls, scenario):
        place, worse, better = scenario["_law"]
        return [cls.__doc__, f"{MORE[place][0]}: {worse} in the first run, {better} in the second"]


# Of flows: what, worse, better, tolerance of the mean time and its reason.
CHANCE = 0.10 # flows meet others on their paths by hash or by chance
MORE_FLOWS = (
    ("fabric.topology.spines", (1, 2), (2, 4), CHANCE),
    ("fabric.switch.balance", ("ecmp",), ("spray", "drill", "adaptive"), 2 * CHANCE), # and packets come in another order
    ("fabric.link.rate", ("25Gbps", "50Gbps"), ("50Gbps", "100Gbps"), CHANCE),
    ("fabric.link.length", ("200m", "50m"), ("20m", "2m"), CHANCE),
    ("fabric.switch.forwarding_latency", ("2us", "500ns"), ("200ns", "0ps"), CHANCE),
    ("hosts.hca.send_latency", ("2us", "500ns"), ("200ns", "0ps"), CHANCE),
)
BALANCES = ("ecmp", "destination", "spray", "letflow", "drill", "adaptive", "conga")


class MoreFlows(Law):
    """the second run has more paths, faster or shorter links: flows take no longer in the mean, but for 10 % (chance on their paths)"""
    name = "more-flows"
    keep = (*Law.keep, "fabric.topology", "fabric.link_layer", "hosts.hca.recovery")
    halves = False

    def draw(self, rng):
        place = rng.choice((0, 1, 1, *range(len(MORE_FLOWS))))
        path, worse, better, _ = MORE_FLOWS[place]
        hca, switch = draw.endpoint(rng, ("none", "hpcc-paper", "hpcc-paper", "swift", "dcqcn-hpcc-100g", "timely-patched"))
        hca.update({"recovery": "selective_repeat", "nak": False}) # spread packets come in another order
        # What looks at queues or gaps chooses by chance, as another run does not: only where all flows would meet else.
        switch.update({"balance": rng.choice(BALANCES if place == 0 else BALANCES[:3])})
        switch.setdefault("buffer", {})["size"] = "64MB"
        leaves, hosts = rng.choice((2, 3)), rng.choice((2, 4))
        scenario = {"seed": rng.randint(1, 1000), "hosts": {"count": 0, "hca": hca},
                    "fabric": {"link_layer": "roce", "topology": {"kind": "leaf-spine", "leaves": leaves, "spines": 2, "hosts": hosts}, "switch": switch,
                               "link": {"rate": "100Gbps", "length": "20m"}},
                    "workload": {}, "run": {"until": "50ms"}}
        # From each host to its like at the next leaf: all over the spines.
        count = leaves * hosts
        scenario["_flows"] = sorted([round(rng.uniform(0, 10), 3), host, (host + hosts) % count, rng.choice((100000, 300000, 1000000)), "write"] for host in range(count))
        scenario["_law"] = [place, rng.choice(worse), rng.choice(better)]
        return scenario

    def judge(self, runner, scenario):
        place, worse, better = scenario["_law"]
        path, _, _, tolerance = MORE_FLOWS[place]
        if "length" in path and "telemetry" in scenario["fabric"]["switch"]:
            tolerance = 0.25 # HPCC's windows are whole packets: of a short round trip a few, shared by the flows of a link
        one, two = (runner.run(play.changed(scenario, {path: value})).metrics["fct_mean_us"] for value in (worse, better))
        if two > one * (1 + tolerance):
            return f"{path}: flows take {one} us with {worse}, {two} us with {better}"
        return None

    @classmethod
    def how(cls, scenario):
        place, worse, better = scenario["_law"]
        return [cls.__doc__, f"{MORE_FLOWS[place][0]}: {worse} in the first run, {better} in the second"]


# ---- names do not matter ----

class Names(Law):
    """hosts have other names, another idle host stands at the end, or hosts change places: each flow has the same times"""
    name = "names"

    def draw(self, rng):
        kind = rng.choice(("renamed", "idle", "listed", "moved"))
        # The scale of ECN is a stream named after the switch, and ECMP's hash takes addresses: not where hosts move.
        scenario = draw.workload(rng, draw.CONGESTION if kind in ("renamed", "idle") else ("none", "hpcc-paper", "swift", "timely-patched"),
                                 topologies=("single-switch",))
        if kind == "moved": # one flow to a host, one from a host, so that nobody takes turns by number
            hosts = scenario["hosts"]["count"] = 6
            places = rng.sample(range(hosts), hosts)
            scenario["_flows"] = [[round(rng.uniform(0, 20), 3), places[i], places[i + 3], rng.randint(1, 100000), rng.choice(("write", "send"))] for i in range(3)]
        scenario["_law"] = [kind, rng.randint(0, 10**6)]
        return scenario

    def judge(self, runner, scenario):
        kind, seed = scenario["_law"]
        rng = random.Random(seed)
        count = scenario["hosts"]["count"]
        hca = scenario["hosts"]["hca"]
        first = copy.deepcopy(scenario)
        other = copy.deepcopy(scenario)
        pairs = None
        if kind == "renamed":
            first["hosts"] = {f"host{i}": {"hca": hca} for i in range(count)}
            other["hosts"] = {f"{rng.choice('abyz')}{rng.randint(0, 9)}x{i}": {"hca": hca} for i in range(count)}
        elif kind == "idle":
            other["hosts"]["count"] = count + 1
        elif kind == "moved":
            places = rng.sample(range(count), count)
            other["_flows"] = [[flow[0], places[flow[1]], places[flow[2]], *flow[3:]] for flow in scenario["_flows"]]
        else: # the same links, listed in another order
            switch = scenario["fabric"].get("switch", {})
            link = scenario["fabric"]["link"]
            fabric = {"link_layer": scenario["fabric"]["link_layer"], "topology": "links", "switches": {"switch0": switch},
                      "links": [{"between": [f"host{i}", "switch0"], "ports": [0, i], **link} for i in range(count)]}
            first["fabric"] = fabric
            other["fabric"] = copy.deepcopy(fabric)
            rng.shuffle(other["fabric"]["links"])
        found = play.differing_flows(runner.run(first), runner.run(other), pairs=pairs)
        return f"{kind}: {found}" if found else None


# ---- shift ----

class Shift(Law):
    """all flows start later by t: all times are later by t"""
    name = "shift"

    def draw(self, rng):
        scenario = draw.workload(rng)
        scenario["_law"] = rng.choice((1, 100, 4096, rng.randint(1, 3000)))
        return scenario

    def judge(self, runner, scenario):
        later = scenario["_law"]
        other = copy.deepcopy(scenario)
        other["_flows"] = [[round(flow[0] + later, 3), *flow[1:]] for flow in scenario["_flows"]]
        return play.differing_flows(runner.run(scenario), runner.run(other), later * 1000000)

    @classmethod
    def how(cls, scenario):
        return [cls.__doc__, f"the second run: all starts in flows.csv later by {scenario['_law']} us"]


# ---- apart is alone ----

class Apart(Law):
    """flows in two parts of a fabric that share no link: each as if the other were not there"""
    name = "apart"
    keep = (*Law.keep, "fabric.switch.buffer.size")

    def draw(self, rng):
        scenario = draw.workload(rng, ("none", "none", "hpcc-paper", "swift", "timely-patched", "dcqcn-paper"), topologies=("single-switch",))
        apart = rng.random() < 0.5 # two switches; else one, whose buffer is enough for all
        hosts = 3
        fabric, link = scenario["fabric"], scenario["fabric"].pop("link")
        switch = fabric.pop("switch", {})
        scenario["hosts"]["count"] = 2 * hosts
        if apart:
            fabric.update({"topology": "links", "switches": {"left": switch, "right": switch},
                           "links": [{"between": [f"host{i}", "left" if i < hosts else "right"], **link} for i in range(2 * hosts)]})
        else:
            fabric.update({"switch": switch, "link": link})
            if fabric["link_layer"] == "roce":
                fabric["switch"].setdefault("buffer", {})["size"] = "64MB"
        parts = [draw.flows(rng, hosts, rng.randint(1, 6)) for _ in range(2)]
        for flow in parts[1]:
            flow[1] += hosts
            flow[2] += hosts
        scenario["_flows"] = sorted(parts[0] + parts[1])
        scenario["_law"] = hosts
        return scenario

    def judge(self, runner, scenario):
        hosts = scenario["_law"]
        if scenario["hosts"]["count"] != 2 * hosts:
            raise play.Refused("two parts of three hosts")
        both = runner.run(scenario)
        for part in (0, 1):
            places = [i for i, flow in enumerate(scenario["_flows"]) if (flow[1] >= hosts) == bool(part)]
            if not places:
                continue
            alone = copy.deepcopy(scenario)
            alone["_flows"] = [scenario["_flows"][i] for i in places]
            found = play.differing_flows(runner.run(alone), both, pairs=places)
            if found:
                return f"part {part} alone, and beside the other: {found}"
        return None


# ---- fidelities agree ----

class Fidelities(Law):
    """engines and threads give the same bytes; endpoint, detailed and flow adapters agree where they claim to"""
    name = "fidelities"

    def draw(self, rng):
        kind = rng.choice(("engine", "threads", "flow", "detailed"))
        if kind == "engine" and rng.random() < 0.5:
            scenario = draw.load(rng)
        elif kind == "engine":
            scenario = draw.workload(rng)
        elif kind == "threads":
            scenario = draw.workload(rng, topologies=("leaf-spine", "dumbbell"))
        else: # whole messages of no congestion control, each alone on its links
            scenario = draw.workload(rng, ("none",), detailed=0, topologies=("single-switch",))
            scenario["hosts"]["count"] = 6
            places = rng.sample(range(6), 6)
            scenario["_flows"] = [[round(rng.uniform(0, 5), 3), places[i], places[i + 3], rng.randint(1, 400000), "write"] for i in range(3)]
        scenario["_law"] = kind
        return scenario

    def judge(self, runner, scenario):
        kind = scenario["_law"]
        first = runner.run(scenario)
        if kind == "engine":
            for engine in ("systemc", "systemc-reference"):
                found = compare(first, runner.run(scenario, "--engine", engine), scenario)
                if found:
                    return f"engine {engine}: {found}"
        elif kind == "threads":
            found = compare(first, runner.run(scenario, "--threads", "2"), scenario)
            return f"two threads: {found}" if found else None
        elif kind == "flow": # a flow alone: to the picosecond (docs/explanation/flow-level.md)
            found = play.differing_flows(first, runner.run(play.changed(scenario, {"fabric.fidelity": "flow"})), columns=("started", "finished"))
            return f"flows in place of packets: {found}" if found else None
        else:
            hca = {"fidelity": "detailed", "port": scenario["hosts"]["hca"].get("port", {}), "pcie": {"generation": 5}} # never the limit
            other = runner.run(play.changed(scenario, {"hosts.hca": hca}))
            for number, (flow, like) in enumerate(zip(first.flows, other.flows)):
                if flow["packets"] != like["packets"] or like["status"] != flow["status"]:
                    return f"flow {number}: {flow['packets']} packets {flow['status']}, detailed {like['packets']} {like['status']}"
                later = (like["finished"] - like["ready"]) - (flow["finished"] - flow["ready"])
                if not -2000000 <= later <= 10000000: # docs/explanation/fabric-studies.md: 4 to 8 us more than ideal; endpoints have 0.7 us of their own
                    return f"flow {number}: detailed adapters take {later} ps longer"
        return None


# ---- the way back does not mix with the way there ----

class Reverse(Law):
    """others send to a flow's source, on no link that its data take: it is later by no more than its ACKs wait"""
    name = "reverse"
    keep = (*Law.keep, "_flows.0", "fabric.link_layer", "fabric.switch.buffer.size", "fabric.switch.port.mtu", "hosts.hca.port.mtu", "fabric.link")
    halves = False

    def draw(self, rng):
        name, switch = draw.congestion(rng, ("none", "hpcc-paper", "hpcc-paper", "swift", "dcqcn-paper", "dctcp-hpcc-100g"))
        hca = {"fidelity": "endpoint", "congestion": name, "port": {"mtu": "1024B"}}
        switch.update({"buffer": {"size": "32MiB"}, "port": {"mtu": "1024B"}})
        size = rng.choice((1000000, 2000000, 3000000))
        senders = rng.randint(1, 3)
        listed = [[0, 0, 1, size, "write"]]
        for i in range(senders):
            listed.append([round(rng.uniform(0, 5), 3), 2 + i, 0, size, "write"])
        return {"seed": 1, "hosts": {"count": 2 + senders, "hca": hca},
                "fabric": {"link_layer": "roce", "topology": "single-switch", "switch": switch, "link": {"rate": "100Gbps", "length": f"{rng.choice((200, 400))}m"}},
                "workload": {}, "run": {"until": "50ms"}, "_flows": listed, "_law": "host0"}

    def judge(self, runner, scenario):
        # HPCC keeps queues short, but for the first burst, and its telemetry is of the VL that ACKs are in.
        if "telemetry" in scenario["fabric"]["switch"]:
            share, burst = 0.15, 30000000
        else:
            # ACKs have a VL of their own, so that they wait for a packet at most at each of two ports: 0.2 us of a round trip of 4 us or
            # more, by which a window's flow slows down. Its source sends ACKs of its own, 86 B for each packet of 1122.
            share, burst = 0.2 / 4 + 86 / 1122, 5000000
            scenario = play.changed(scenario, {"hosts.hca.ack_priority": 7, "hosts.hca.port.strict": 128, "fabric.switch.port.strict": 128})
        alone = copy.deepcopy(scenario)
        alone["_flows"] = scenario["_flows"][:1]
        one, two = (runner.run(one).flows[0] for one in (alone, scenario))
        took, takes = (flow["finished"] - flow["ready"] for flow in (one, two))
        if takes > took * (1 + share) + burst:
            return f"{took} ps alone, {takes} ps beside flows to its source"
        return None


# ---- order ----

class Order(Law):
    """CQEs of a receive queue come in the order of its WQEs, whatever ends them (tests/hca/test_receive_random.c)"""
    name = "order"
    shrinks = False # the test makes its case smaller itself

    def draw(self, rng):
        return {"_law": rng.randint(1, 10**6)}

    def judge(self, runner, scenario):
        return runner.test("hca_test_receive_random", scenario["_law"])

    @classmethod
    def how(cls, scenario):
        return [cls.__doc__, f"HCASIM_LAWS_SEED={scenario['_law']} build/tests/hca_test_receive_random"]


LAWS = (Nothing, More, MoreFlows, Names, Shift, Apart, Fidelities, Reverse, Order)
