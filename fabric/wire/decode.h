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
	bool json;    /* one object a packet, one a line; wins over verbose */
};

/*
 * Packets go to `out`, complaints about the file to `err`. Returns the exit status: 0; 1: a CRC is wrong, or a
 * packet malformed; 2: the file cannot be read to its end, or `out` not be written. Packets of other protocols,
 * and those that the capture cut short, are shown and not judged.
 */
int decode_file(const char *path, FILE *out, FILE *err, const struct decode_options *options);

#endif
