/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_scenario: reads any bytes as a scenario file. It is refused with errors, or the effective
 * configuration reads back to the same scenario.
 */
#include <assert.h>
#include <string.h>

#include "hcasim/schema/scenario.h"
#include "tests/fuzz/input_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static struct input_file input;

static char *print(const struct scenario *scenario, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	assert(out);
	scenario_print(scenario, out);
	fclose(out);
	return text;
}

static void check_reads_back(const char *text, size_t length)
{
	struct yaml_errors errors = {0};
	size_t again_length = 0;

	input_file_fill(&input, text, length);
	struct scenario *again = scenario_read(input.path, NULL, 0, &errors);

	if (!again)
		fprintf(stderr, "%s", yaml_errors_text(&errors));
	assert(again);
	char *again_text = print(again, &again_length);

	assert(length == again_length && memcmp(text, again_text, length) == 0);
	free(again_text);
	scenario_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct yaml_errors errors = {0};
	size_t text_length = 0;

	if (!input.fd)
		input = input_file_create("scenario.yaml");
	input_file_fill(&input, bytes, length);
	struct scenario *scenario = scenario_read(input.path, NULL, 0, &errors);

	assert((scenario == NULL) == (errors.count > 0));
	if (scenario) {
		char *text = print(scenario, &text_length);

		check_reads_back(text, text_length);
		free(text);
		scenario_destroy(scenario);
	}
	yaml_errors_free(&errors);
	return 0;
}
