/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_print: effective configuration: every value of a run, from any preset or default, as a
 * scenario file that reads back to an equal scenario.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/schema/scenario_sections.h"
#include "sim/hash.h"
#include "sim/input.h"

static _Thread_local bool by_contents; /* the contents of files replace their names */

/* Prints a text in double quotes, so that YAML never reads it as another type. */
void scenario_print_text(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		unsigned char letter = (unsigned char)*text;
		if (letter == '"' || letter == '\\')
			fprintf(out, "\\%c", letter);
		else if (letter < 0x20 || letter == 0x7f)
			fprintf(out, "\\x%02x", letter);
		else
			fputc(letter, out);
	}
	fputc('"', out);
}

void scenario_print_list(const struct param *list, const void *params, int indent, FILE *out)
{
	char text[PARAM_TEXT_BYTES];
	for (const struct param *param = list; param->name; param++) {
		param_print(param, params, text, sizeof(text));
		fprintf(out, "%*s%s: ", indent, "", param->name);
		if (param->kind == PARAM_TEXT && text[strspn(text, "0123456789")] != '\0')
			scenario_print_text(text, out);
		else
			fputs(text, out);
		fputc('\n', out);
	}
}

void scenario_print_texts(const char *key, int indent, const char *const *texts, uint32_t count,
			  FILE *out)
{
	if (count > 0)
		fprintf(out, "%*s%s:\n", indent, "", key);
	for (uint32_t i = 0; i < count; i++) {
		fprintf(out, "%*s- ", indent + 2, "");
		scenario_print_text(texts[i], out);
		fputc('\n', out);
	}
}

bool scenario_blame(const struct scenario *scenario, const char *path, char *error,
		    size_t error_bytes)
{
	struct yaml_errors errors = {0};
	const struct yaml_node *root = yaml_root(scenario->document);
	const struct yaml_node *node = yaml_find(root, path);
	const struct yaml_node whole = {.file = scenario->file};
	if (node == root)
		yaml_error(&errors, &whole, "%s", error);
	else if (node->key)
		yaml_error_key(&errors, node, "%s", error);
	else
		yaml_error(&errors, node, "%s", error);
	const char *text = yaml_errors_text(&errors);
	snprintf(error, error_bytes, "%.*s", (int)strlen(text) - 1, text);
	yaml_errors_free(&errors);
	return false;
}

static void print_contents(const char *path, FILE *out)
{
	uint64_t hash = HASH_BEGIN;
	char bytes[4096];
	size_t count;
	FILE *in = input_open(path);
	while (in && (count = fread(bytes, 1, sizeof(bytes), in)) > 0)
		hash = hash_bytes(hash, bytes, count);
	if (in)
		fclose(in);
	fprintf(out, "\"%016" PRIx64 "\"", hash);
}

void scenario_print_file(const char *path, FILE *out)
{
	char whole[PATH_MAX];
	if (by_contents) {
		print_contents(path, out);
		return;
	}
	scenario_print_text(realpath(path, whole) ? whole : path, out);
}

void scenario_print_name(const char *name, FILE *out)
{
	if (strchr(name, '/'))
		scenario_print_file(name, out);
	else
		scenario_print_text(name, out);
}

void scenario_print(const struct scenario *scenario, FILE *out)
{
	fprintf(out, "# the effective configuration: all values, whatever preset or default they "
		     "came from\n");
	scenario_sections_print(scenario, out);
}

uint64_t scenario_hash(const struct scenario *scenario)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	if (!out)
		abort();
	by_contents = true;
	scenario_print(scenario, out);
	by_contents = false;
	fclose(out);
	uint64_t hash = hash_bytes(HASH_BEGIN, text, length);
	free(text);
	return hash;
}
