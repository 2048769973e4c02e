/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_summary: the summary.json of a result folder, as `hcasim explain RUN --bottleneck`,
 * `--bounds` and `--cpu` read it.
 */
#ifndef HCASIM_COMMAND_EXPLAIN_SUMMARY_H
#define HCASIM_COMMAND_EXPLAIN_SUMMARY_H

#include <limits.h>

#include "sim/yaml.h"

struct explain_summary {
	char path[PATH_MAX];
	/* NULL: the file could not be read; its errors have been printed */
	struct yaml_document *document;
	struct yaml_node *root; /* NULL: missing, or not a map */
};

/* Reads FOLDER/summary.json. Prints the errors of the file. */
void explain_summary_open(struct explain_summary *summary, const char *folder);
void explain_summary_close(struct explain_summary *summary);

/* Returns the value of a key of the summary, or NULL if there is no summary or no such key. */
struct yaml_node *explain_summary_get(const struct explain_summary *summary, const char *key);

/* Returns the text of a scalar of the map, or "" if the key is missing. */
const char *explain_summary_text(struct yaml_node *map, const char *key);

/* Returns a scalar of the map as a number, or 0 if the key is missing. */
double explain_summary_number(struct yaml_node *map, const char *key);

#endif
