/* SPDX-License-Identifier: Apache-2.0 */
/*
 * violations: collects the lines in which checks report violations, for standard error and for
 * summary.json.
 *
 *     experiment_check(), bounds_check() --lines--> violations --> stderr, "violations": [...]
 */
#ifndef HCASIM_RUN_VIOLATIONS_H
#define HCASIM_RUN_VIOLATIONS_H

#include <stdio.h>

struct violations { /* all zero: no violations */
	char *text;
	size_t bytes;
	FILE *out; /* target of the checks, valid between open and close */
};

/* Opens violations->out for writing. */
void violations_open(struct violations *violations);

/* Also writes the lines to `reader`. No lines can be added afterwards. */
void violations_close(struct violations *violations, FILE *reader);

/* Prints a member of a JSON object: "violations": [...] */
void violations_print_json(const struct violations *violations, FILE *out);

void violations_fini(struct violations *violations);

#endif
