/* SPDX-License-Identifier: Apache-2.0 */
/* explain_summary: see explain_summary.h. */
#include "hcasim/command/explain_summary.h"

#include <stdio.h>
#include <stdlib.h>

void explain_summary_open(struct explain_summary *summary, const char *folder)
{
	struct yaml_errors errors = {0};
	struct yaml_node *root;

	snprintf(summary->path, sizeof(summary->path), "%s/summary.json", folder);
	summary->document = yaml_read_file(summary->path, &errors);
	root = summary->document ? yaml_root(summary->document) : NULL;
	summary->root = root && root->kind == YAML_MAP ? root : NULL;
	yaml_errors_print(&errors, stderr);
	yaml_errors_free(&errors);
}

void explain_summary_close(struct explain_summary *summary)
{
	if (summary->document)
		yaml_close(summary->document);
}

struct yaml_node *explain_summary_get(const struct explain_summary *summary, const char *key)
{
	return summary->root ? yaml_get(summary->root, key) : NULL;
}

const char *explain_summary_text(struct yaml_node *map, const char *key)
{
	struct yaml_node *node = yaml_get(map, key);

	return node && node->kind == YAML_SCALAR ? node->text : "";
}

double explain_summary_number(struct yaml_node *map, const char *key)
{
	return strtod(explain_summary_text(map, key), NULL);
}
