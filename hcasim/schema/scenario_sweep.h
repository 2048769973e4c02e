/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_sweep: builders of the axes of a sweep, shared by the files that read `sweep` and
 * `variants`. Other folders do not include it.
 */
#ifndef HCASIM_SCHEMA_SCENARIO_SWEEP_H
#define HCASIM_SCHEMA_SCENARIO_SWEEP_H

#include "hcasim/schema/scenario_read.h"

#define SCENARIO_SWEEP_VALUES_MAX 10000 /* of an axis */

/* Adds an axis without values. Its errors are reported at the node's key. */
struct scenario_sweep_axis *scenario_sweep_add_axis(struct scenario *scenario,
						    const struct yaml_node *node);

/* Adds a column of the tables. All columns are added before the first value. The name is not
 * copied. */
void scenario_sweep_add_column(struct scenario_sweep_axis *axis, const char *name);

/* Adds a value that sets no key yet. Its cells are empty. */
struct scenario_sweep_value *scenario_sweep_add_value(struct scenario_sweep_axis *axis);

/* Sets the text of a cell. The text is copied. */
void scenario_sweep_set_cell(struct scenario_sweep_value *value, uint32_t column, const char *text);

/* Lets the value set a key. */
void scenario_sweep_set_key(struct scenario_sweep_value *value, const char *path, const char *text);

/* Lets the value set the key at `path` to a node. A map sets each of its keys below the path and
 * leaves the others as the file has them. The path "." is the top of the file. */
void scenario_sweep_set_tree(struct scenario_sweep_value *value, const char *path,
			     struct yaml_node *node);

/* Returns the node as one line of YAML. The caller releases it with free(). */
char *scenario_sweep_text(const struct yaml_node *node);

/* Reads a number. Returns false and adds an error if the node is not a number. `has_unit`: a key
 * beside it has the unit, which the error then names. */
bool scenario_sweep_number(struct scenario_reader *reader, struct yaml_node *node, bool has_unit,
			   double *number);

/* Reads the entry `design` of a sweep: random or quasi-random points (scenario_design.c). */
void scenario_design_read(struct scenario_reader *reader, struct yaml_node *node);

#endif
