#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vcd_check FILE COUNTERS.json MIN: reads a waveform as IEEE 1364-2005, clause 18, has it.

Each counter ends with its value in COUNTERS.json. Times increase. Each change is of a declared
signal. Prints how many counters and how many other signals there are; at least MIN of the former.
"""
import json
import sys


def read(path):
    names, values, scopes, time, changes = {}, {}, [], -1, 0
    with open(path, encoding="ascii") as file:
        words = iter(file.read().split())
    for word in words:
        if word == "$scope":
            scopes.append([next(words), next(words)][1])
        elif word == "$upscope":
            scopes.pop()
        elif word == "$var":
            next(words), next(words)
            code = next(words)
            assert code not in names, f"{code} is declared twice"
            names[code] = ".".join(scopes[1:] + [next(words)])
        elif word in ("$version", "$timescale", "$date", "$comment"):
            while next(words) != "$end":
                pass
            assert word != "$date", "the day is in it"
        elif word[0] == "#":
            assert int(word[1:]) > time, f"{word} is not later than {time}"
            time = int(word[1:])
        elif word[0] == "b":
            code, value = next(words), int(word[1:], 2)
            assert code in names, f"{code} is not declared"
            values[code] = value
            changes += 1
        elif word[0] in "01":
            assert word[1:] in names, f"{word[1:]} is not declared"
            values[word[1:]] = int(word[0])
            changes += 1
    assert not scopes, "scopes are left open"
    return {names[code]: value for code, value in values.items()}, changes


def main():
    ends, changes = read(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        blocks = json.load(file)
    expected = {f"{name}.{counter}": value
                for name, block in blocks.items() for counter, value in block["counters"].items()}
    compared = 0
    for name, value in ends.items():
        if name in expected:
            assert value == expected[name], f"{name} ends at {value}, not at {expected[name]}"
            compared += 1
    assert compared >= int(sys.argv[3]), f"only {compared} counters"
    assert changes > len(ends), "nothing changes"
    print(f"{compared} counters, {len(ends) - compared} other signals")


main()
