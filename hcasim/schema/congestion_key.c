/* SPDX-License-Identifier: Apache-2.0 */
/* congestion_key: see congestion_key.h. */
#include "hcasim/schema/congestion_key.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/schema/scenario_read.h"

#define NOTHING "none" /* without a choice */

static void read_name(struct yaml_node *node, struct congestion_choice *choice,
		      struct yaml_errors *errors)
{
	char error[512], path[PATH_MAX], whole[PATH_MAX];
	const char *name = yaml_expect_text(node, "a congestion control's name", errors);
	if (name && strchr(name, '/')) {
		yaml_path(node, name, path);
		name = realpath(path, whole) ? whole : path;
	}
	if (name && !congestion_choose(choice, name, error, sizeof(error)))
		yaml_error(errors, node, "%s", error);
}

void congestion_key_read(struct yaml_node *node, struct congestion_choice *choice,
			 struct yaml_errors *errors)
{
	char error[512];
	if (!choice->congestion.ops) {
		bool good = congestion_choose(choice, NOTHING, error, sizeof(error));
		assert(good);
	}
	if (node->kind == YAML_SCALAR) {
		read_name(node, choice, errors);
		return;
	}
	if (!yaml_expect_map(node, "a congestion control's name, or preset: and its parameters",
			     errors))
		return;
	struct yaml_node *preset = yaml_get(node, "preset");
	if (preset)
		read_name(preset, choice, errors);
	for (struct yaml_node *entry = node->children; entry; entry = entry->next) {
		if (entry == preset)
			continue;
		entry->used = true;
		const char *text = yaml_expect_text(entry, "a value", errors);
		if (text &&
		    !congestion_set(&choice->congestion, entry->key, text, error, sizeof(error)))
			yaml_error(errors, entry, "%s", error);
	}
}

void congestion_key_print(const struct congestion_choice *choice, unsigned indent, FILE *out)
{
	const struct congestion *congestion = &choice->congestion;
	char text[PARAM_TEXT_BYTES];
	fprintf(out, "%*scongestion:\n%*spreset: ", (int)indent, "", (int)indent + 2, "");
	scenario_print_name(congestion->ops ? choice->name : NOTHING, out);
	fputc('\n', out);
	for (const struct param *param = congestion->ops ? congestion->ops->params : NULL;
	     param && param->name; param++) {
		const char *quote = param->kind == PARAM_TEXT ? "\"" : "";
		param_print(param, congestion->params, text, sizeof(text));
		fprintf(out, "%*s%s: %s%s%s\n", (int)indent + 2, "", param->name, quote, text,
			quote);
	}
}
