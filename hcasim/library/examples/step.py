#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""step: runs simulations from Python, by ctypes and libhcasim.so.0.

Compares congestion controls in an incast of sixteen hosts, and prints packets that the receiver's
link carried in each millisecond. HCASIM_LIBRARY names the library if the system does not find it.

    python3 step.py [CONGESTION...]
"""
import ctypes
import os
import sys

US = 1_000_000  # picoseconds
END = (2 ** 64 - 1) >> 3


class Problem(ctypes.Structure):
    """struct hcasim_problem"""
    _fields_ = [("is_warning", ctypes.c_bool), ("file", ctypes.c_char_p),
                ("line", ctypes.c_uint32), ("column", ctypes.c_uint32),
                ("key", ctypes.c_char_p), ("text", ctypes.c_char_p), ("found", ctypes.c_char_p),
                ("expected", ctypes.c_char_p), ("suggestion", ctypes.c_char_p)]


library = ctypes.CDLL(os.environ.get("HCASIM_LIBRARY", "libhcasim.so.0"))
library.hcasim_load.restype = ctypes.c_void_p
library.hcasim_now.restype = ctypes.c_uint64
library.hcasim_problem_count.restype = ctypes.c_size_t
library.hcasim_problem.restype = ctypes.POINTER(Problem)
library.hcasim_result.restype = ctypes.c_char_p
for name in ("set", "start", "step", "counter", "metric"):
    getattr(library, "hcasim_" + name).restype = ctypes.c_bool


class Simulation:
    """One simulation. A call that fails raises ValueError with all problems."""

    def __init__(self, scenario):
        self.handle = ctypes.c_void_p(library.hcasim_load(scenario.encode()))

    def __del__(self):
        library.hcasim_destroy(self.handle)

    def problems(self):
        """The errors and warnings so far, as lines."""
        count = library.hcasim_problem_count(self.handle)
        list_ = [library.hcasim_problem(self.handle, ctypes.c_size_t(i))[0] for i in range(count)]
        return [f"{p.file.decode()}:{p.line}:{p.column}: {p.text.decode()}" for p in list_]

    def check(self, good):
        if not good:
            raise ValueError("\n".join(self.problems()))

    def set(self, assignment):
        self.check(library.hcasim_set(self.handle, assignment.encode()))

    def start(self):
        self.check(library.hcasim_start(self.handle))

    def step(self, time_ps):
        """Runs until that time. Returns whether the run goes on."""
        return library.hcasim_step(self.handle, ctypes.c_uint64(time_ps))

    def now(self):
        return library.hcasim_now(self.handle)

    def counter(self, pattern):
        value = ctypes.c_uint64()
        self.check(library.hcasim_counter(self.handle, pattern.encode(), ctypes.byref(value)))
        return value.value

    def metric(self, metric):
        value = ctypes.c_double()
        self.check(library.hcasim_metric(self.handle, metric.encode(), ctypes.byref(value)))
        return value.value

    def result(self, file):
        """The text of a file of the result folder."""
        text = library.hcasim_result(self.handle, file.encode())
        self.check(text is not None)
        return text.decode()


def main():
    for congestion in sys.argv[1:] or ["dcqcn-paper", "none"]:
        simulation = Simulation("scenarios/studies/incast-dcqcn.yaml")
        try:
            simulation.set("expect=[]")
            simulation.set(f"hosts.hca.congestion={congestion}")
            simulation.start()
        except ValueError as error:
            sys.exit(str(error))
        rates, before = [], 0
        while simulation.step(simulation.now() + 1000 * US):
            received = simulation.counter("host0.*.packets_received")
            rates.append(received - before)
            before = received
        print(f"{congestion}: packets to host0 in each ms: {rates[:5]} ...")
        print(f"{congestion}: goodput {simulation.metric('goodput_gbps'):.2f} Gb/s, "
              f"pauses {simulation.metric('pauses'):.0f}")


if __name__ == "__main__":
    main()
