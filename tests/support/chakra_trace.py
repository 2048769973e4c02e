#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""chakra_trace: writes Chakra execution traces (MLCommons, et_def.proto) from lines of text.

Usage: chakra_trace.py PREFIX < TEXT writes PREFIX.0.et, PREFIX.1.et, ... A line of TEXT is

    rank 0                       the following nodes are of this rank
    ID TYPE [us=N] [data=ID,ID] [ctrl=ID,ID] [KEY=VALUE ...]

TYPE is comp, meta, load, store, send, recv, a name of COLLECTIVES, or a number. Other keys are
attributes: text in quotes is a string, true or false a bool, u:N a uint64, s:N a sint32, another
number an int64.
"""
import shlex
import sys

TYPES = {"meta": 1, "load": 2, "store": 3, "comp": 4, "send": 5, "recv": 6}
COLLECTIVES = ["all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast",
               "all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier"]
COLLECTIVE = 7


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def piece(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    data = piece(1, name.encode())
    if value in ("true", "false"):
        return data + number(27, value == "true")
    if value[:2] == "u:":
        return data + number(13, int(value[2:]))
    if value[:2] == "s:":
        signed = int(value[2:])
        return data + number(15, signed << 1 ^ signed >> 31)
    if value.lstrip("-").isdigit():
        return data + number(9, int(value))
    return data + piece(29, value.encode())


def node(words):
    known = dict(word.split("=", 1) for word in words[2:])
    kind = words[1]
    data = number(1, int(words[0])) + piece(2, kind.encode())
    if kind in COLLECTIVES:
        data += number(3, COLLECTIVE)
        known["comm_type"] = str(COLLECTIVES.index(kind))
    else:
        data += number(3, TYPES[kind] if kind in TYPES else int(kind))
    for field, key in ((4, "ctrl"), (5, "data")):
        if key in known:
            data += piece(field, b"".join(varint(int(one)) for one in known.pop(key).split(",")))
    if "us" in known:
        data += number(7, int(known.pop("us")))
    for name, value in known.items():
        data += piece(10, attribute(name, value))
    return data


def main():
    out = None
    for line in sys.stdin:
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] == "rank":
            out = open(f"{sys.argv[1]}.{words[1]}.et", "wb")
            metadata = piece(1, b"0.0.4")
            out.write(varint(len(metadata)) + metadata)
        else:
            data = node(words)
            out.write(varint(len(data)) + data)


main()
