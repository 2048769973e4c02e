/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_summary: the summary.json of a result folder, as `hcasim explain RUN --bottleneck` and
 * `--bounds` read it.
 */
#ifndef HCASIM_COMMAND_EXPLAIN_SUMMARY_H
#define HCASIM_COMMAND_EXPLAIN_SUMMARY_H

#include <limits.h>

#include "sim/yaml.h"

struct explain_summary {
	char path[PATH_MAX];
	struct yaml_document *document; /* NULL: it could not be read; its errors were printed */
	struct yaml_node *root;         /* NULL: it is not there, or no map */
};

/* Reads FOLDER/summary.json. Prints what is wrong with the file. */
void explain_summary_open(struct explain_summary *summary, const char *folder);
void explain_summary_close(struct explain_summary *summary);

/* Returns the value of a key of the summary, or NULL if there is no summary or no such key. */
struct yaml_node *explain_summary_get(const struct explain_summary *summary, const char *key);

/* Returns the text of a scalar of the map, or "" if there is none. */
const char *explain_text(struct yaml_node *map, const char *key);

/* Returns the same as a number, or 0 if there is none. */
double explain_number(struct yaml_node *map, const char *key);

#endif
