/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules: the shared objects that a scenario or preset puts in the places of an adapter's blocks (`translation: {module:
 * tlm_cache}`): found, and looked at, while the file is read, so that what is wrong has its line.
 */
#ifndef HCASIM_SCHEMA_MODULES_H
#define HCASIM_SCHEMA_MODULES_H

#include "sim/yaml.h"

/* The map is an adapter's, its values are in the params struct (struct hca_params): names become paths. A name with a
 * slash is a path from the file; any other is ../lib/hcasim/NAME.so from the program. */
void modules_find(struct yaml_node *map, void *params, struct yaml_errors *errors);

/* Do they take what the adapter's parameters have become? node: of the adapter. */
void modules_check(const struct yaml_node *node, const void *params, struct yaml_errors *errors);

struct scenario;

/* The name of the first host with a module, and of the block; false: there is none. */
bool modules_first(const struct scenario *scenario, const char **host, const char **block);

#endif
