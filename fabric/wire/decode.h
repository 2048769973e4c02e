/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode: prints the packets of a capture file and checks their CRCs: `hcasim decode FILE`.
 */
#ifndef FABRIC_WIRE_DECODE_H
#define FABRIC_WIRE_DECODE_H

#include <stdbool.h>
#include <stdio.h>

struct decode_options {
	bool verbose; /* each field on its own line */
	bool json;    /* one JSON object per line and packet; overrides verbose */
};

/*
 * Prints the packets to `out`, and errors of the file to `err`. Returns the exit status. 0: no
 * error. 1: a CRC is wrong, or a packet is malformed. 2: the file cannot be read to its end, or
 * `out` cannot be written. Packets of other protocols, and packets that the capture cut short, are
 * printed and not checked.
 */
int decode_file(const char *path, FILE *out, FILE *err, const struct decode_options *options);

#endif
