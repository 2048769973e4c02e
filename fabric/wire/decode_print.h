/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_print: prints one packet as a line, as fields, or as a JSON object. Only decode.c calls
 * these functions.
 */
#ifndef FABRIC_WIRE_DECODE_PRINT_H
#define FABRIC_WIRE_DECODE_PRINT_H

#include <stdio.h>

#include "fabric/wire/capture.h"
#include "fabric/wire/erspan.h"
#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

struct decoded {
	const struct capture_record *record;
	const struct packet *packet;
	enum parse_status status;
	bool malformed; /* malformed, and not because the capture cut it short */
	/* the record and the packet are those of the frame in an ERSPAN packet */
	bool is_mirrored;
	struct erspan erspan;
};

/* Print a packet in the formats of `hcasim decode`: a line, fields (-v), or JSON (--json). */
void decode_print_line(FILE *out, const struct decoded *decoded);
void decode_print_fields(FILE *out, const struct decoded *decoded);
void decode_print_json(FILE *out, const struct decoded *decoded);

#endif
