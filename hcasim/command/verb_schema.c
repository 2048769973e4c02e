/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_schema: hcasim schema: the JSON Schema of scenarios and presets, for editors and validators.
 */
#include "hcasim/command/verb.h"
#include "hcasim/schema/json_schema.h"

int verb_schema(const struct arguments *arguments)
{
	(void)arguments;
	json_schema_print(stdout);
	return EXIT_GOOD;
}
