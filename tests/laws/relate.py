# SPDX-License-Identifier: Apache-2.0
"""Laws about pairs of runs: features without cost, more of a resource, names, starts, independent
flows, fidelities, return paths."""
import copy
import json
import random

import draw
import play


class Law:
    """draw() returns a scenario. Its `_law` has the other values that judge() needs."""
    name = ""
    keep = ("hosts.count", "hosts.hca.fidelity") # what is not dropped from a failing case: judge() builds on it
    halves = True # whether its numbers may be halved
    shrinks = True # whether it is made smaller at all

    @classmethod
    def how(cls, scenario):
        """Lines that describe the second run."""
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


# Feature: value in the first run, value in the second run, which may depend on the scenario.
FREE_LOAD = {
    "an IOMMU whose walks take no time": ({}, {"hosts.hca.iommu": FREE_IOMMU}),
    "an IOMMU with one walker whose walks take no time": ({}, {"hosts.hca.iommu": {**FREE_IOMMU, "walkers": 1}}),
    "a cache before memory that takes no longer": (FREE_DRAM, {**FREE_DRAM, "hosts.hca.llc.enabled": True, "hosts.hca.llc.ddio": True}),
    # Accesses to remote memory bypass the cache, so the memory's own time is 0 in both runs.
    "a second socket behind a free link": (FREE_DRAM, {**FREE_DRAM, "hosts.hca.numa": {"memory_node": "remote", "remote_read_latency": "0ps",
                                                                                        "remote_write_latency": "0ps", "link_rate": AT_ONCE}}),
    "jitter around nothing": ({}, {"hosts.hca.jitter": {"median": "0ps", "sigma": 1, "tail_share": 0, "tail_max": "1ms"}}),
    "jitter of a picosecond, as latencies that are longer by it": (latencies("400001ps", "50001ps"),
                                                                   {**latencies("400ns", "50ns"), "hosts.hca.jitter": {"median": "1ps", "sigma": 0}}),
    "delays with probability 0": ({}, {"faults": [{"delay": {"probability": 0, "by": "5us"}}]}),
    "drops after the end": ({}, {"faults": [{"drop": {"probability": 1, "begin": "100s"}}]}),
    "a limit that is not reached": ({}, {"load.limit": "1s"}),
    "a list of messages of one size": ({}, lambda scenario: {"load.bytes": [scenario["load"]["bytes"]] * 3}),
    "background without threads": ({}, {"load.background": {"threads": 0, "qps": 7, "bytes": "1024B"}}),
}

MODULES = {"translation": "tlm_cache", "scheduler": "tlm_round_robin", "dma": "tlm_engine"} # do what the built-in blocks do

for BLOCK, MODULE in MODULES.items():
    FREE_LOAD[f"a module in the place of the built-in {BLOCK}"] = ({}, {f"hosts.hca.{BLOCK}.module": MODULE})
FREE_LOAD["modules in the places of all three blocks"] = ({}, {f"hosts.hca.{block}.module": module for block, module in MODULES.items()})

FREE_FLOWS = {
    "telemetry of 0 bytes, which nobody reads": {"hosts.hca.telemetry_bytes": "0B", "fabric.switch.telemetry": True},
    "marks that nobody obeys": {"fabric.switch.ecn": {"mark": "dequeue", "kmin": "1KB", "kmax": "4KB", "pmax": 1}, "hosts.hca.notify": "none"},
    "a series of records": {"record": {"series": "1us"}},
    "delays with probability 0": {"faults": [{"delay": {"probability": 0, "by": "5us"}}]},
    "link faults after the end": {"faults": [{"from": "host0", "drop": {"probability": 1, "begin": "100s"}}]},
    "detection of dead links": {"fabric.reroute_delay": "1us"},
    "an end of the run long after the flows": {"run.until": "70ms"},
    "a slow receiver after the flows": {"faults": [{"from": "host0", "slow_receiver": {"rate": "1Gbps", "begin": "19ms", "lasts": "1s"}}]},
}
MEASURED = ("duration_us", "goodput_gbps", "jain") # where all flows are done


# For programs that wait for events: moderation that ends with each completion.
MODERATION = "an event for each completion, moderated"
MODERATED = ({}, {"hosts.hca.event_queue": {"moderation_count": 1, "moderation_period": "20us"}})
REASONS = ("by_count", "by_period") # counters of why an event came


def free_load(feature, scenario):
    """The changes of both runs."""
    return [changes(scenario) if callable(changes) else changes for changes in FREE_LOAD[feature]]


class Nothing(Law):
    """the second run has a feature whose costs are zero: no metric changes"""
    name = "nothing"

    def draw(self, rng):
        chance = rng.random()
        if chance < 0.05:
            scenario = draw.load(rng, plain=True)
            del scenario["load"]
            scenario["hosts"]["count"], scenario["fabric"]["topology"] = 2, "back-to-back"
            scenario["fabric"].pop("switch", None)
            test = rng.choice(("ib_send_lat", "ib_send_bw"))
            scenario["_program"] = [test, "-e", "-s", str(rng.choice((8, 300, 5000))), "-n", "20"]
            scenario["_law"] = MODERATION
        elif chance < 0.65:
            scenario = draw.load(rng, plain=True)
            scenario["_law"] = rng.choice(sorted(FREE_LOAD))
        else:
            feature = rng.choice(sorted(FREE_FLOWS))
            scenario = draw.workload(rng, ("none",) if "nobody" in feature else draw.CONGESTION, detailed=0)
            scenario["_law"] = feature
        return scenario

    def judge(self, runner, scenario):
        feature = scenario["_law"]
        if feature == MODERATION:
            return self.program(runner, scenario)
        if not is_load(scenario):
            return self.plain(runner, scenario, FREE_FLOWS[feature], feature)
        first, other = (runner.run(play.changed(scenario, changes)) for changes in free_load(feature, scenario))
        found = play.differing(first, other)
        if not found and "module" in feature and first.counters != other.counters:
            found = "counters"
        return f"{feature}: {found}" if found else None

    @staticmethod
    def program(runner, scenario):
        one, other = (runner.execute(play.changed(scenario, changes), scenario["_program"]) for changes in MODERATED)
        for counters in (one[2], other[2]):
            for block in counters.values():
                for reason in REASONS:
                    block["counters"].pop(reason, None)
        for what, first, second in zip(("what the program prints", "time", "counters"), one, other):
            if first != second:
                return f"{MODERATION}: {what} differs"
        return None

    @staticmethod
    def plain(runner, scenario, more, feature):
        if "nobody obeys" in feature and scenario["fabric"]["link_layer"] != "roce":
            raise play.Refused("marks are RoCE's")
        first, other = runner.run(scenario), runner.run(play.changed(scenario, more))
        found = play.differing_flows(first, other)
        if not found and first.metrics["flows_done"] == first.metrics["flows"]:
            found = play.differing(first, other, MEASURED)
        return f"{feature}: {found}" if found else None

    @classmethod
    def how(cls, scenario):
        feature = scenario["_law"]
        one, other = MODERATED if feature == MODERATION else free_load(feature, scenario) if is_load(scenario) else ({}, FREE_FLOWS[feature])
        program = [" ".join(("hcasim exec case.yaml -- host0:", *words, ": host1:", *words, "host0")) for words in (scenario.get("_program", ()),) if words]
        return [cls.__doc__, *program, f"the first run: {sets(one)}", f"the second run: {sets(other)}"]


def sets(changes):
    return " ".join(f"--set '{path}={json.dumps(value)}'" for path, value in changes.items()) or "as it is"


# ---- more is not slower ----

# Name, worse value, better value, and a tolerance as a share of the rate, with its reason.
ORDER = 0.03 # requests are met in another order, and 1000 of them have edges
MORE = (
    ("hosts.hca.pcie.tags", (8, 16, 32), (32, 64, 256), ORDER),
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
    ("hosts.hca.numa", ({"memory_node": "remote"}, {"memory_node": "remote", "link_rate": "50Gbps"}), ({"memory_node": "local"},), ORDER),
    ("hosts.hca.jitter", ({"median": "50ns", "sigma": 0.5}, {"median": "100ns"}), ({"median": "0ns"},), ORDER),
    ("load.tx_depth", (1, 4), (8, 64), ORDER),
    ("load.cpu.post", ("100ns", "50ns"), ("27ns", "10ns"), ORDER),
    ("fabric.link.length", ("500m", "100m"), ("20m", "2m"), ORDER),
)


PACKET_UNITS = ("scheduler.unit", "transmit.pipe", "receive.pipe", "port.link") # take an ACK as they take a request


def coalesced(first, other):
    """The remaining share of the rate when responders that wait less coalesce fewer ACKs: a unit
    that all packets pass has more work."""
    busy = [name for name, use in other.uses.items() if name.endswith(PACKET_UNITS) and use >= 0.98]
    before, after = (1 + result.counter("*.transport", "acks_sent") / max(1, result.counter("*.transport", "wqes_completed")) for result in (first, other))
    return before / after if busy and after > before else 1


def fetched(first, other):
    """The remaining share of the rate when PCIe's tags are busy and a faster core fills the
    adapter's window of WQEs. WQEs stored by BlueFlame find no place, and each is read again."""
    busy = [name for name, use in other.uses.items() if name.endswith("pcie.tags") and use >= 0.9]
    before, after = (1 + result.counter("*.wqe_fetch", "reads") / max(1, result.counter("*.transport", "wqes_completed")) for result in (first, other))
    return before / after if busy and after > before else 1


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
        # Lists or CQEs as long as the window: all queue pairs stop and start together, and their
        # order is random.
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
        if two < one * (1 - tolerance) * coalesced(first, other) * fetched(first, other):
            return f"{path}: {one} M/s with {worse}, {two} with {better}"
        return None

    @classmethod
    def how(cls, scenario):
        place, worse, better = scenario["_law"]
        return [cls.__doc__, f"{MORE[place][0]}: {worse} in the first run, {better} in the second"]


# For flows: name, worse value, better value, tolerance of the mean time and its reason.
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
        # Balancers that use queues or gaps choose at random, which differs between runs. They are
        # used only if otherwise all flows would share one path.
        switch.update({"balance": rng.choice(BALANCES if place == 0 else BALANCES[:3])})
        switch.setdefault("buffer", {})["size"] = "64MB"
        leaves, hosts = rng.choice((2, 3)), rng.choice((2, 4))
        scenario = {"seed": rng.randint(1, 1000), "hosts": {"count": 0, "hca": hca},
                    "fabric": {"link_layer": "roce", "topology": {"kind": "leaf-spine", "leaves": leaves, "spines": 2, "hosts": hosts}, "switch": switch,
                               "link": {"rate": "100Gbps", "length": "20m"}},
                    "workload": {}, "run": {"until": "50ms"}}
        # Each host sends to the host of its number at the next leaf, so all traffic uses the
        # spines.
        count = leaves * hosts
        scenario["_flows"] = sorted([round(rng.uniform(0, 10), 3), host, (host + hosts) % count, rng.choice((100000, 300000, 1000000)), "write"] for host in range(count))
        scenario["_law"] = [place, rng.choice(worse), rng.choice(better)]
        return scenario

    def judge(self, runner, scenario):
        place, worse, better = scenario["_law"]
        path, _, _, tolerance = MORE_FLOWS[place]
        if scenario["fabric"]["switch"].get("balance") == "spray":
            tolerance = 2 * CHANCE # a spine for each packet, and packets come in another order
        if "balance" in path and "telemetry" in scenario["fabric"]["switch"]:
            tolerance = 3 * CHANCE # packets that meet on a path are a queue to HPCC: docs/explanation/laws.md
        if "length" in path and "telemetry" in scenario["fabric"]["switch"]:
            # With a window of whole packets, a shorter link may have a lower rate. The law
            # known-window covers this.
            scenario = play.changed(scenario, {"hosts.hca.cwnd_fill": "part"})
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
    """other names, order or places of hosts, links and switches, or idle ones: the same times"""
    name = "names"
    UNUSED = 1000000 # us: after run.until

    def draw(self, rng):
        kind = rng.choice(("renamed", "idle", "listed", "moved", "unused", "switches"))
        # The scale of ECN is a stream named after the switch, and ECMP's hash takes addresses: not where hosts move.
        scenario = draw.workload(rng, draw.CONGESTION if kind in ("renamed", "idle", "unused") else ("none", "hpcc-paper", "swift", "timely-patched"),
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
        elif kind == "unused":
            source = rng.randrange(count)
            other["_flows"].append([self.UNUSED, source, (source + rng.randrange(1, count)) % count, 1000, "write"])
            first["run"] = other["run"] = {"until": "20ms"}
        elif kind == "switches": # a line of three, with hosts at each
            switch, link = (scenario["fabric"].get(key, {}) for key in ("switch", "link"))
            names = ["one", "two", "three"]
            links = [{"between": pair, **link} for pair in (["one", "two"], ["two", "three"], *([f"host{i}", names[i % 3]] for i in range(count)))]
            first["fabric"] = {"link_layer": scenario["fabric"]["link_layer"], "topology": "links", "switches": {name: switch for name in names}, "links": links}
            rng.shuffle(names)
            other["fabric"] = {**first["fabric"], "switches": {name: switch for name in names}}
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
            # ACKs have their own VL. They wait for at most one packet at each of two ports: 0.2 us
            # of a round trip of at least 4 us, by which a flow with a window slows down. Its source
            # sends ACKs of its own, 86 B for each packet of 1122.
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
    """CQEs of a receive queue have the order of its WQEs (tests/hca/test_receive_random.c)"""
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
