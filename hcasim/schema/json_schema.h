/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_schema: one JSON Schema (draft 7) of scenarios and presets, from the tables that the readers
 * use. Editors complete and check files with it. It describes each key and value separately.
 * `hcasim check` also checks rules between values.
 */
#ifndef HCASIM_SCHEMA_JSON_SCHEMA_H
#define HCASIM_SCHEMA_JSON_SCHEMA_H

#include <stdio.h>

/* Prints the schema. Its top is a preset if the file has the key `kind`, and a scenario otherwise.
 * An object forbids unknown keys where the tables know all of them. */
void json_schema_print(FILE *out);

#endif
