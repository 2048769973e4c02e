/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_check: `hcasim check FILE [--json]` prints all errors and warnings of a scenario. They are
 * text on standard error, or JSON on standard output.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "hcasim/command/verb.h"
#include "hcasim/report/run_values.h"
#include "sim/json.h"

#define ERROR_BYTES 1024

/* Prints the paths of all values of the scenario, as --set takes them. */
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
	differences_free_values(&values);
	yaml_close(document);
	free(text);
}

/* Adds errors that a run would report before its first event. */
static void check_run(const struct arguments *arguments, const struct scenario *scenario,
		      struct yaml_errors *errors)
{
	char error[ERROR_BYTES] = "";
	if (dry_run(scenario, error, sizeof(error)))
		sweep_product_check(arguments, scenario, errors);
	else
		yaml_error_parse(errors, scenario->file, error);
}

static void print_json(const struct arguments *arguments, const struct scenario *scenario,
		       const struct yaml_errors *errors)
{
	const struct yaml_errors none = {0};
	printf("{\n  \"file\": ");
	json_text(stdout, arguments->word);
	printf(",\n  \"errors\": ");
	yaml_errors_print_json(errors, stdout);
	printf(",\n  \"warnings\": ");
	yaml_errors_print_json(scenario ? &scenario->warnings : &none, stdout);
	printf("\n}\n");
}

int verb_check(const struct arguments *arguments)
{
	struct yaml_errors errors = {0};
	struct scenario *scenario = arguments_read_scenario(arguments, &errors);
	unsigned unread = errors.count;
	if (scenario && !arguments->words)
		check_run(arguments, scenario, &errors);
	if (arguments->json) {
		print_json(arguments, scenario, &errors);
	} else {
		if (scenario)
			yaml_errors_print(&scenario->warnings, stderr);
		yaml_errors_print(&errors, stderr);
		if (unread > 0)
			say("%u problem%s in %s", unread, unread == 1 ? "" : "s", arguments->word);
	}
	bool good = errors.count == 0;
	if (good && arguments->words)
		print_words(scenario);
	else if (good && arguments->effective && !arguments->json)
		scenario_print(scenario, stdout);
	yaml_errors_free(&errors);
	scenario_destroy(scenario);
	return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}
