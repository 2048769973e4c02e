#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two pcapng files byte for byte, without the payload and the checksum of TCP segments:
some programs send measured figures over TCP, which differ by the last digit (UCX). Exit code 1:
they differ."""
import struct
import sys

ENHANCED_PACKET, DATA_AT, IP_AT, TCP = 6, 28, 14, 6


def frames(path):
    data = open(path, "rb").read()
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        block = bytearray(data[at : at + length])
        ip = DATA_AT + IP_AT
        if kind == ENHANCED_PACKET and block[ip - 2 : ip] == b"\x08\x00" and block[ip + 9] == TCP:
            tcp = ip + 20
            payload = tcp + (block[tcp + 12] >> 4) * 4
            block[tcp + 16 : tcp + 18] = bytes(2)
            block[payload:] = bytes(length - payload)
        yield bytes(block)
        at += length


one, other = (list(frames(path)) for path in sys.argv[1:3])
for number, (left, right) in enumerate(zip(one, other)):
    if left != right:
        sys.exit(f"block {number} differs")
sys.exit(0 if len(one) == len(other) else f"{len(one)} and {len(other)} blocks")
