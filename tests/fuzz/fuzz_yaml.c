/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_yaml: reads any bytes as a scenario file, visits it, reads it into parameters, and applies
 * overrides. It must not crash, and a refused text must have a reason.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/block.h"
#include "sim/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* clang-format off */
#define ANY_PARAMS(X) \
	X(count,  COUNT,  "1",       "1..64",          "one of each kind", "choice") \
	X(time,   TIME,   "1us",     "",               "one of each kind", "choice") \
	X(bytes,  BYTES,  "1KiB",    "",               "one of each kind", "choice") \
	X(rate,   RATE,   "100Gbps", "1Mbps..3.2Tbps", "one of each kind", "choice") \
	X(freq,   FREQ,   "1GHz",    "",               "one of each kind", "choice") \
	X(metres, METRES, "0.5m",    "0m..100km",      "one of each kind", "choice") \
	X(ratio,  RATIO,  "1%",      "0..1",           "one of each kind", "choice") \
	X(flag,   FLAG,   "true",    "",               "one of each kind", "choice") \
	X(choice, CHOICE, "b",       "a|b|c",          "one of each kind", "choice")
struct any_params { ANY_PARAMS(PARAM_FIELD) };
#define ROW(...) PARAM_ROW(struct any_params, __VA_ARGS__)
static const struct param list[] = { ANY_PARAMS(ROW) {0} };
/* clang-format on */

/* The value prints as a text that reads back to the same value. */
static void check_reads_back(const struct any_params *params)
{
	for (const struct param *param = list; param->name != NULL; param++) {
		char text[128], again_text[128], error[256];
		struct any_params again = *params;
		param_print(param, params, text, sizeof(text));
		bool good = param_parse(param, text, &again, error, sizeof(error));
		assert(good);
		param_print(param, &again, again_text, sizeof(again_text));
		assert(strcmp(text, again_text) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char *text = malloc(length + 1);
	struct yaml_errors errors = {0};
	struct any_params params;
	if (text == NULL)
		abort();
	memcpy(text, bytes, length);
	text[length] = '\0';
	struct yaml_document *document = yaml_read_text("fuzz.yaml", text, &errors);
	assert((document == NULL) == (errors.count > 0));
	if (document != NULL) {
		yaml_read_params(yaml_root(document), list, &params, &errors);
		check_reads_back(&params);
		yaml_set(document, text, &errors);
	}
	yaml_close(document);
	yaml_errors_free(&errors);
	free(text);
	return 0;
}
