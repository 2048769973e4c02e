# SPDX-License-Identifier: Apache-2.0
"""Runs a scenario and reads its results. A scenario is a dict, written as YAML's subset JSON.

Keys that begin with `_` are not part of the scenario. `_flows` is a list of [start_us, source,
destination, bytes, operation] that becomes the CSV file of the workload. The others are further
values that a law has drawn.
"""
import copy
import csv
import json
import os
import resource
import shutil
import subprocess
import tempfile

PROCESSOR_S = 60 # of a run, which ends by a signal then
TIMEOUT_S = 600 # of the clock, on a machine that has other work


class Refused(Exception):
    """The command said that it cannot run this: exit code 2."""


class Broken(Exception):
    """The run ended with an invariant that does not hold, a signal, or not at all."""


class Result:
    """metrics: of summary.json; flows: dicts of flows.csv with times in picoseconds; counters: by block."""

    def __init__(self, summary, flows, counters, text, ports):
        self.metrics = summary.get("metrics", {}) # none of programs
        self.time = summary["time_ps"]
        self.window = summary["measured_ps"]
        self.demands = {one["name"]: one["demand_ps"] / one["capacity"] for one in summary["bounds"].get("resources", ()) if one["kind"] == "BUSY"}
        self.uses = {use["name"]: use["use"] for use in summary["uses"]}
        self.flows = flows
        self.counters = counters
        self.text = text
        self.ports = ports

    def counter(self, block, name):
        """A counter of one block, or the sum over all blocks with this end (`*.mtt`)."""
        total = 0
        for key, value in self.counters.items():
            if key == block or (block.startswith("*") and key.endswith(block[1:])):
                total += int(str(value["counters"].get(name, 0)), 0)
        return total


def picoseconds(microseconds):
    whole, part = microseconds.split(".")
    return int(whole) * 1000000 + int(part)


def files(scenario):
    """The scenario's text, and that of its flows or None."""
    plain = {key: value for key, value in scenario.items() if not key.startswith("_")}
    flows = scenario.get("_flows")
    if flows is not None:
        plain = copy.deepcopy(plain)
        plain.setdefault("workload", {}).update({"pattern": "trace", "trace": "flows.csv"})
        flows = "".join(",".join(str(word) for word in flow) + "\n" for flow in flows)
    return json.dumps(plain, indent=1), flows


def write(folder, text, flows):
    with open(os.path.join(folder, "case.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    if flows is not None:
        with open(os.path.join(folder, "flows.csv"), "w", encoding="utf-8") as file:
            file.write(flows)
    return os.path.join(folder, "case.yaml")


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))


class Runner:
    """Runs scenarios with one program, each in a folder of its own."""

    def __init__(self, hcasim):
        self.hcasim = os.path.abspath(hcasim)
        self.runs = 0

    def command(self, *arguments):
        try:
            done = subprocess.run([self.hcasim, *arguments], capture_output=True, text=True, check=False, timeout=TIMEOUT_S, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            raise Broken(f"did not end within {TIMEOUT_S} s") from None
        said = (done.stdout + done.stderr).strip()
        if done.returncode == 2:
            raise Refused(said)
        if done.returncode != 0:
            end = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
            lines = [line for line in done.stderr.splitlines() if line.strip()] or said.splitlines()
            raise Broken(f"{end}: " + " / ".join(lines[-4:])[:600])
        return done.stdout

    def test(self, name, seed):
        """Output of a test program of the same build for its own random cases, or None. Empty if it
        is not built."""
        program = os.path.join(os.path.dirname(self.hcasim), "..", "tests", name)
        if not os.path.exists(program):
            return None
        self.runs += 1
        environment = {**os.environ, "HCASIM_LAWS_SEED": str(seed), "HCASIM_LAWS_CASES": "100"}
        done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=TIMEOUT_S, env=environment)
        found = [line.split("...")[-1].strip() for line in done.stdout.splitlines() if "seed " in line or line.startswith(("  receive", "  type"))]
        return None if done.returncode == 0 else " / ".join(found) or f"{name}: exit code {done.returncode}"

    def run(self, scenario, *arguments):
        text, flows = files(scenario)
        return self.run_text(text, flows, *arguments)

    def run_text(self, text, flows, *arguments):
        """Runs a scenario's text beside its flows."""
        self.runs += 1
        folder = tempfile.mkdtemp(prefix="laws.")
        try:
            out = os.path.join(folder, "out")
            return read(self.command("run", write(folder, text, flows), "--out", out, *arguments), out)
        finally:
            shutil.rmtree(folder)

    def results(self, scenario):
        """The files of a run's result folder, as bytes by name, without the copy of the scenario."""
        self.runs += 1
        folder = tempfile.mkdtemp(prefix="laws.")
        try:
            out = os.path.join(folder, "out")
            self.command("run", write(folder, *files(scenario)), "--out", out)
            contents = {}
            for name in sorted(os.listdir(out)):
                if name != "scenario.yaml":
                    with open(os.path.join(out, name), "rb") as file:
                        contents[name] = file.read()
            return contents
        finally:
            shutil.rmtree(folder)

    def fluid(self, scenario):
        """Rows of hcasim fluid: packets, the fluid model, and the model with marks at egress, by
        the row's name."""
        self.runs += 1
        folder = tempfile.mkdtemp(prefix="laws.")
        try:
            said = self.command("fluid", write(folder, *files(scenario)))
            return {line.split(",")[0]: [float(word) for word in line.split()[-3:]] for line in said.splitlines()[1:]}
        finally:
            shutil.rmtree(folder)

    def trace(self, scenario, block):
        """The trace points of one block in a run, in order: (point, first value)."""
        self.runs += 1
        folder = tempfile.mkdtemp(prefix="laws.")
        try:
            out = os.path.join(folder, "out")
            self.command("run", write(folder, *files(changed(scenario, {"record": {"trace": [block]}}))), "--out", out)
            lines = [line.split() for line in self.command("trace", os.path.join(out, "trace.bin")).splitlines()[1:]]
            return [(words[3], int(words[4].split("=")[1])) for words in lines]
        finally:
            shutil.rmtree(folder)

    def execute(self, scenario, program):
        """Output of a program between two hosts, and counters and time of its run. The first host
        is its server."""
        if not shutil.which(program[0]):
            raise Refused(f"{program[0]} is not installed")
        self.runs += 1
        folder = tempfile.mkdtemp(prefix="laws.")
        try:
            out = os.path.join(folder, "out")
            said = self.command("exec", write(folder, *files(scenario)), "--out", out, "--", "host0:", *program, ":", "host1:", *program, "host0")
            result = read(said, out)
            return result.text, result.time, result.counters
        finally:
            shutil.rmtree(folder)

    def effective(self, scenario):
        """The text with every value that the run goes by."""
        folder = tempfile.mkdtemp(prefix="laws.")
        try:
            return self.command("check", "--effective", write(folder, *files(scenario)))
        finally:
            shutil.rmtree(folder)


def read(text, out):
    """Contents of a run's result folder."""
    with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    with open(os.path.join(out, "counters.json"), encoding="utf-8") as file:
        counters = json.load(file)
    flows = []
    if os.path.exists(os.path.join(out, "flows.csv")):
        with open(os.path.join(out, "flows.csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                for key in list(row):
                    if key.endswith("_us"):
                        row[key[:-3]] = picoseconds(row[key]) if row[key] else None
                flows.append(row)
    ports = {}
    if os.path.exists(os.path.join(out, "links.csv")):
        with open(os.path.join(out, "links.csv"), encoding="utf-8") as file:
            ports = {row["port"]: row for row in csv.DictReader(file)}
    return Result(summary, flows, counters, text, ports)


# ---- scenarios with one value changed ----


def get(scenario, path, default=None):
    node = scenario
    for key in path.split("."):
        if not isinstance(node, dict) or key not in node:
            return default
        node = node[key]
    return node


def put(scenario, path, value):
    node = scenario
    keys = path.split(".")
    for key in keys[:-1]:
        node = node.setdefault(key, {})
    node[keys[-1]] = value


def changed(scenario, changes):
    """A copy with other values: {"load.tx_depth": 8, "hosts.hca.iommu": {...}}."""
    other = copy.deepcopy(scenario)
    for path, value in changes.items():
        put(other, path, value)
    return other


# ---- how results relate ----


def differing(first, other, names=None):
    """The first metric that differs, as text, or None."""
    for name in names or first.metrics:
        if first.metrics[name] != other.metrics[name]:
            return f"{name} {first.metrics[name]} and {other.metrics[name]}"
    return None


def differing_flows(first, other, shift=0, pairs=None, columns=("started", "arrived", "finished")):
    """The first flow whose times differ by another value than shift. pairs: flows of `other` for
    those of `first`, in their order."""
    pairs = pairs if pairs is not None else range(len(first.flows))
    for number, place in enumerate(pairs):
        flow, like = first.flows[number], other.flows[place]
        for column in columns:
            if flow["status"] != like["status"]:
                return f"flow {number}: {flow['status']} and {like['status']}"
            if flow[column] is not None and flow[column] + shift != like[column]:
                return f"flow {number} {column} {flow[column]} ps and {like[column]} ps" + (f", expected {shift} ps later" if shift else "")
    return None
