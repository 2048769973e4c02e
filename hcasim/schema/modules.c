/* SPDX-License-Identifier: Apache-2.0 */
/* modules: see modules.h. */
#include "hcasim/schema/modules.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hca/device/hca_modules.h"
#include "hca/device/hca_params.h"
#include "hcasim/schema/scenario.h"
#include "sim/install_paths.h"

#define ERROR_BYTES 1024

static void candidate(const struct yaml_node *node, const char *name, char path[PATH_MAX])
{
	if (strchr(name, '/'))
		yaml_path(node, name, path);
	else
		install_paths_module(name, path);
}

static void find(enum module_kind kind, const struct yaml_node *node, struct param_text *module,
		 struct yaml_errors *errors)
{
	char path[PATH_MAX], whole[PATH_MAX], error[ERROR_BYTES];
	candidate(node, module->text, path);
	if (!realpath(path, whole)) {
		yaml_error(errors, node,
			   "no module \"%s\" for %s: there is no file %s; expected a shared object",
			   module->text, module_block(kind), path);
		return;
	}
	if (strlen(whole) >= sizeof(module->text)) {
		yaml_error(errors, node, "the path of the module is too long: %s", whole);
		return;
	}
	memcpy(module->text, whole, strlen(whole) + 1);
	if (!hca_module_find(kind, whole, error, sizeof(error)))
		yaml_error(errors, node, "%s", error);
}

void modules_find(struct yaml_node *map, void *params, struct yaml_errors *errors)
{
	for (unsigned i = 0; i < MODULE_KIND_COUNT; i++) {
		enum module_kind kind = (enum module_kind)i;
		struct yaml_node *block = yaml_get(map, module_block(kind));
		struct yaml_node *node = yaml_get(block, "module");
		struct param_text *module = hca_module_text(params, kind);
		if (node && node->kind == YAML_SCALAR && *module->text != '\0')
			find(kind, node, module, errors);
	}
}

void modules_check(const struct yaml_node *node, const void *params, struct yaml_errors *errors)
{
	char error[ERROR_BYTES];
	if (!hca_modules_accept(params, error, sizeof(error)))
		yaml_error(errors, node, "%s", error);
}

bool modules_first(const struct scenario *scenario, const char **host, const char **block)
{
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		for (unsigned kind = 0; scenario->hosts[i].detailed && kind < MODULE_KIND_COUNT;
		     kind++) {
			*host = scenario->hosts[i].name;
			*block = module_block((enum module_kind)kind);
			if (*hca_module_text(scenario->hosts[i].detailed, (enum module_kind)kind)
				     ->text)
				return true;
		}
	}
	return false;
}
