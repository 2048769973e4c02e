#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""laws: random runs are held to laws (docs/explanation/laws.md). See run.sh for how to start it.

    laws.py      the command: cases in two processes, what they found
    draw.py      random scenarios
    play.py      runs one, reads what it leaves, compares
    relate.py    laws about pairs of runs
    scale.py     the law of scale
    repeat.py    the law of repetition
    known.py     runs whose answer is known
    shrink.py    makes a failing case smaller

A law is a class with draw(rng), which returns a scenario, and judge(runner, scenario), which
returns None or the violation. judge() derives the second run from the first run's scenario, so that
it can also judge a smaller scenario.
"""
import argparse
import multiprocessing
import os
import random
import sys
import time

import known
import play
import relate
import repeat
import scale
import shrink

LAWS = {law.name: law for law in (*relate.LAWS, scale.Scale, repeat.Repeat, *known.LAWS)}
DRAWS_MAX = 20 # scenarios that the command refuses are drawn again


def names(chosen):
    """The laws of a run, in turn; `known` stands for all known answers."""
    listed = [name for name in LAWS if not chosen or name == chosen or name.startswith(chosen + "-")]
    if not listed:
        sys.exit(f"laws: no law `{chosen}`; there are: {' '.join(LAWS)}")
    return listed


def case(job):
    """One case: (number, law, violation or None, its scenario, number of refusals, runs,
    seconds)."""
    hcasim, seed, number, listed = job
    name = listed[number % len(listed)]
    law = LAWS[name]()
    runner = play.Runner(hcasim)
    began = time.monotonic()
    refused = 0
    said = ""
    for turn in range(DRAWS_MAX):
        scenario = law.draw(random.Random(f"{seed}:{number}:{turn}"))
        violation, said = shrink.judge(law, runner, scenario)
        if violation is None and said:
            refused += 1
            continue
        if violation:
            scenario, violation = shrink.smaller(law, runner, scenario, violation)
        return number, name, violation, scenario, refused, runner.runs, time.monotonic() - began
    return number, name, f"{DRAWS_MAX} scenarios refused, the last one: {said}", {}, refused, runner.runs, time.monotonic() - began


def show(seed, number, name, violation, scenario):
    """A case that fails, as commands for a shell."""
    print(f"VIOLATION of {name}: {violation}")
    print(f"  again: run.sh -s {seed} -c {number}")
    if not scenario:
        return
    text, flows = play.files(scenario)
    print("cat >case.yaml <<'END'\n" + text + "\nEND")
    if flows is not None:
        print("cat >flows.csv <<'END'\n" + flows + "END")
    drawn = {key: value for key, value in scenario.items() if key.startswith("_") and key != "_flows"}
    if drawn:
        print(f"# the law's own: {drawn}")
    for note in LAWS[name].how(scenario):
        print(f"# {note}")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description="hold random runs to laws")
    parser.add_argument("-n", type=int, default=50, dest="cases")
    parser.add_argument("-s", default="1", dest="seed")
    parser.add_argument("-l", default="", dest="law")
    parser.add_argument("-c", type=int, dest="case")
    parser.add_argument("hcasim")
    options = parser.parse_args()
    if not os.access(options.hcasim, os.X_OK):
        sys.exit(f"laws: no program {options.hcasim}")
    listed = names(options.law)
    numbers = range(options.cases) if options.case is None else [options.case]
    jobs = [(options.hcasim, options.seed, number, listed) for number in numbers]
    table = {name: [0, 0, 0, 0, 0.0] for name in listed}
    with multiprocessing.Pool(2) as pool:
        for number, name, violation, scenario, refused, runs, seconds in pool.imap(case, jobs):
            row = table[name]
            row[0] += 1
            row[1] += 1 if violation else 0
            row[2] += refused
            row[3] += runs
            row[4] += seconds
            if violation:
                show(options.seed, number, name, violation, scenario)
    print(f"{'law':16} cases violations refused  runs seconds")
    for name, row in table.items():
        print(f"{name:16} {row[0]:5} {row[1]:8} {row[2]:7} {row[3]:5} {row[4]:7.1f}")
    violations = sum(row[1] for row in table.values())
    print(f"{len(jobs)} cases, {violations} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
