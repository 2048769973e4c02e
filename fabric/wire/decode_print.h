/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_print: one packet as a line, as fields, or as a JSON object. Used by decode.c only.
 */
#ifndef FABRIC_WIRE_DECODE_PRINT_H
#define FABRIC_WIRE_DECODE_PRINT_H

#include <stdio.h>

#include "fabric/wire/capture.h"
#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

struct decoded {
	const struct capture_record *record;
	const struct packet *packet;
	enum parse_status status;
	bool malformed; /* and it is not the capture's fault */
};

/* As `hcasim decode` has it; fields: with -v; JSON: with --json. */
void decode_print_line(FILE *out, const struct decoded *decoded);
void decode_print_fields(FILE *out, const struct decoded *decoded);
void decode_print_json(FILE *out, const struct decoded *decoded);

#endif
