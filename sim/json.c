/* SPDX-License-Identifier: Apache-2.0 */
/* json: see json.h. */
#include "sim/json.h"

#include <inttypes.h>

void json_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

void json_u64(FILE *out, uint64_t value)
{
	if (value <= UINT64_C(1) << 53)
		fprintf(out, "%" PRIu64, value);
	else
		fprintf(out, "\"0x%" PRIx64 "\"", value);
}
