/* SPDX-License-Identifier: Apache-2.0 */
/* violations: see violations.h. */
#include "hcasim/run/violations.h"

#include <stdlib.h>
#include <string.h>

#include "sim/json.h"

void violations_open(struct violations *violations)
{
	violations->out = open_memstream(&violations->text, &violations->bytes);
	if (!violations->out)
		abort();
}

void violations_close(struct violations *violations, FILE *reader)
{
	if (fclose(violations->out) != 0)
		abort();
	violations->out = NULL;
	fputs(violations->text, reader);
}

void violations_print_json(const struct violations *violations, FILE *out)
{
	char *left = violations->text;
	char line[1024];

	fprintf(out, "\"violations\": [");
	for (const char *separator = ""; left && *left; separator = ",") {
		size_t length = strcspn(left, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)length, left);
		fprintf(out, "%s\n    ", separator);
		json_text(out, line);
		left += length + (left[length] == '\n');
		if (!*left)
			fprintf(out, "\n  ");
	}
	fputc(']', out);
}

void violations_fini(struct violations *violations)
{
	free(violations->text);
}
