/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules: shared objects that a scenario or preset uses in place of an adapter's blocks
 * (`translation: {module: tlm_cache}`). They are found and checked while the file is read, so that
 * errors have a line number.
 */
#ifndef HCASIM_SCHEMA_MODULES_H
#define HCASIM_SCHEMA_MODULES_H

#include "sim/yaml.h"

/* Replaces the module names of an adapter's map by paths in `params` (struct hca_params). A name
 * with a slash is a path relative to the file. Any other name is ../lib/hcasim/NAME.so relative to
 * the program. */
void modules_find(struct yaml_node *map, void *params, struct yaml_errors *errors);

/* Checks that the modules accept the adapter's final parameters. `node` is the map of the
 * adapter. */
void modules_check(const struct yaml_node *node, const void *params, struct yaml_errors *errors);

struct scenario;

/* Returns true if a host has a module, and sets *host and *block to the first one. */
bool modules_first(const struct scenario *scenario, const char **host, const char **block);

#endif
