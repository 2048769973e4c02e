# SPDX-License-Identifier: Apache-2.0
"""Random scenarios: loads on detailed adapters, and workloads of listed flows. All choices are the random generator's."""

ETHERNET = (("connectx5-100gbe", 100), ("connectx4-100gbe", 100), ("connectx4-lx-25gbe", 25), ("connectx6dx-25gbe", 25), ("connectx3-40gbe", 40))
INFINIBAND = (("connectx4-edr", "sb7700", "cable-edr"), ("connectx5-edr", "sb7700", "cable-edr"), ("connectx6-hdr", "qm8700", "cable-hdr"),
              ("connectx3-fdr", "sx6036", "cable-fdr"))
BYTE_TIMES = (25, 50, 100, 200) # Gb/s: the time of a byte is a whole number of picoseconds, halved or doubled too


def adapter(rng, preset):
    """A preset with changed parameters."""
    hca = {"preset": preset}
    pcie = hca["pcie"] = {"generation": rng.choice((3, 4)), "lanes": rng.choice((8, 16))}
    if rng.random() < 0.4:
        pcie["tags"] = rng.choice((16, 32, 64, 256))
    if rng.random() < 0.3:
        pcie["completion_max"] = rng.choice(("64B", "128B", "256B"))
    if rng.random() < 0.3:
        pcie["read_latency"] = f"{rng.randint(100, 900)}ns"
    if rng.random() < 0.3:
        hca["dma"] = {"inflight": rng.choice((16, 32, 64, 128))}
    if rng.random() < 0.4:
        hca["requester_cache"] = {"entries": rng.choice((16, 64, 512)), "ways": 4}
    if rng.random() < 0.3:
        hca["doorbell"] = {"interval": f"{rng.choice((5, 20, 60, 200))}ns", "queue": rng.choice((16, 64, 256))}
    if rng.random() < 0.3:
        hca["scheduler"] = {"processing_units": rng.choice((1, 2, 4))}
    return hca


def host(rng, hca):
    """Values of the host that differ from the adapter's."""
    if rng.random() < 0.25:
        hca["iommu"] = {"enabled": True, "entries": rng.choice((16, 64)), "ways": 16, "walkers": rng.choice((2, 6)), "walk_latency": f"{rng.choice((0, 100, 280))}ns"}
    if rng.random() < 0.25:
        hca["llc"] = {"enabled": True, "ddio": rng.random() < 0.6}
    if rng.random() < 0.2:
        hca["numa"] = {"memory_node": "remote"}
    return hca


def load(rng, plain=False):
    """A load on two or three hosts; plain: hosts without IOMMU, cache and second socket."""
    if rng.random() < 0.6:
        preset, rate = rng.choice(ETHERNET)
        fabric = {"link_layer": "roce", "link": {"rate": f"{rate}Gbps"}}
    else:
        preset, switch, link = rng.choice(INFINIBAND)
        fabric = {"link_layer": "infiniband", "link": link, "switch": switch}
    hca = adapter(rng, preset)
    if not plain:
        host(rng, hca)
    count = rng.choice((2, 2, 2, 3))
    fabric["topology"] = "back-to-back" if count == 2 and rng.random() < 0.6 else "single-switch"
    if fabric["topology"] == "back-to-back":
        fabric.pop("switch", None)
    heavy = rng.random() < 0.4 # as many small requests as an adapter takes
    work = {
        "verb": rng.choice(("write", "write", "read", "send")),
        "bytes": f"{rng.choice((8, 64, 64, 256)) if heavy else rng.choice((8, 64, 512, 2048, 4096, 16384))}B",
        "threads": 8 if heavy else rng.choice((1, 2, 4)),
        "qps": 1 if heavy else rng.choice((1, 2, 8)),
        "tx_depth": 32 if heavy else rng.choice((1, 4, 16, 64)),
        "order": rng.choice(("random", "round_robin")),
        "warm_up": 400,
        "operations": 1500 if heavy else 800,
        "limit": "20ms",
    }
    if rng.random() < 0.3:
        work["post_list"] = min(work["tx_depth"], rng.choice((4, 8)))
    if rng.random() < 0.3 and work["tx_depth"] >= 4:
        work["cq_mod"] = 4
    if rng.random() < 0.2:
        work["pattern"] = rng.choice(("inbound", "all"))
    if rng.random() < 0.2:
        work["mtu"] = rng.choice(("1024B", "2048B"))
    return {"seed": rng.randint(1, 1000), "hosts": {"count": count, "hca": hca}, "fabric": fabric, "load": work}


CONGESTION = ("none", "none", "dcqcn-paper", "dcqcn-hpcc-100g", "timely-patched", "hpcc-paper", "swift", "dctcp-hpcc-100g")


def congestion(rng, names=CONGESTION):
    """A congestion control, and the switch parameters that it needs."""
    name = rng.choice(names)
    switch = {}
    if name.startswith(("dcqcn", "dctcp")):
        low = rng.choice((20, 100))
        switch["ecn"] = {"mark": "dequeue", "kmin": f"{low}KB", "kmax": f"{low * 4}KB", "pmax": rng.choice((0.1, 1))}
    if name.startswith("hpcc"):
        switch["telemetry"] = True
    return name, switch


def endpoint(rng, names=CONGESTION):
    name, switch = congestion(rng, names)
    hca = {"fidelity": "endpoint", "congestion": name}
    if rng.random() < 0.3:
        hca["port"] = {"mtu": "1024B"}
        switch["port"] = {"mtu": "1024B"}
    if rng.random() < 0.4:
        hca["recovery"] = "selective_repeat"
    return hca, switch


def flows(rng, hosts, count, bytes_max=200000, operations=("write", "write", "read", "send")):
    """Flows between random hosts, at starts that differ."""
    listed = []
    for _ in range(count):
        source = rng.randrange(hosts)
        destination = (source + rng.randrange(1, hosts)) % hosts
        listed.append([round(rng.uniform(0, 30), 3), source, destination, rng.randint(1, bytes_max), rng.choice(operations)])
    return sorted(listed)


def workload(rng, names=CONGESTION, detailed=0.3, topologies=("single-switch", "leaf-spine", "dumbbell")):
    """Listed flows on a small fabric, endpoint or detailed adapters."""
    link_layer = "roce"
    rate = rng.choice(BYTE_TIMES)
    hca, switch = endpoint(rng, names)
    if hca["congestion"] == "none" and rng.random() < 0.4:
        link_layer = "infiniband"
    if rng.random() < detailed:
        hca = {"fidelity": "detailed", "congestion": hca["congestion"], "port": hca.get("port", {})}
    kind = rng.choice(topologies)
    topology = {"single-switch": "single-switch", "leaf-spine": {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 3},
                "dumbbell": {"kind": "dumbbell", "left": 3, "right": 3}}[kind]
    hosts = rng.randint(3, 6) if kind == "single-switch" else 6
    fabric = {"link_layer": link_layer, "topology": topology, "link": {"rate": f"{rate}Gbps", "length": f"{rng.choice((2, 20, 200))}m"}}
    if switch:
        fabric["switch"] = switch
    if kind == "leaf-spine" and link_layer == "roce":
        fabric.setdefault("switch", {})["balance"] = rng.choice(("ecmp", "destination", "spray" if hca.get("recovery") else "ecmp"))
    return {"seed": rng.randint(1, 1000), "hosts": {"count": hosts, "hca": hca}, "fabric": fabric, "workload": {}, "run": {"until": "20ms"},
            "_flows": flows(rng, hosts, rng.randint(2, 14))}
