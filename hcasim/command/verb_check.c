/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_check: hcasim check FILE.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "hcasim/command/verb.h"
#include "hcasim/report/run_values.h"

#define ERROR_BYTES 1024

/* The paths of all its values, as --set takes them. */
static void print_words(const struct scenario *scenario)
{
	char *text = NULL;
	size_t length = 0;
	struct yaml_errors errors = {0};
	struct values values = {0};
	FILE *out = open_memstream(&text, &length);
	if (!out)
		abort();
	scenario_print(scenario, out);
	fclose(out);
	struct yaml_document *document = yaml_read_text(scenario->file, text, &errors);
	assert(document);
	run_values_add_tree(&values, "", yaml_root(document));
	for (size_t i = 0; i < values.count; i++)
		printf("%s\n", values.list[i].name);
	values_free(&values);
	yaml_close(document);
	free(text);
}

int verb_check(const struct arguments *arguments)
{
	struct scenario *scenario = arguments_scenario(arguments);
	if (!scenario)
		return EXIT_BAD_INPUT;
	char error[ERROR_BYTES] = "";
	bool good = arguments->words || dry_run(scenario, error, sizeof(error));
	if (!good)
		say("%s", error);
	good = good && (arguments->words || sweep_check(arguments, scenario));
	if (good && arguments->words)
		print_words(scenario);
	else if (good && arguments->effective)
		scenario_print(scenario, stdout);
	scenario_destroy(scenario);
	return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}
