/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_error: see yaml_error.h. Fixed phrases mark the parts of a message. */
#include "sim/yaml_error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/json.h"
#include "sim/yaml.h"

static const char expected_mark[] = "expected ";
static const char *const suggestion_marks[] = {"did you mean \"", "it is now \""};

static char *copy(const char *text, size_t length)
{
	char *all = strndup(text, length);
	if (!all)
		abort();
	return all;
}

void yaml_error_path(const struct yaml_node *node, char path[YAML_PATH_BYTES])
{
	char below[YAML_PATH_BYTES] = "";
	*path = '\0';
	for (; node && node->parent; node = node->parent) {
		char number[24];
		unsigned place = 0;
		const struct yaml_node *parent = node->parent;
		for (const struct yaml_node *child = parent->children; child && child != node;
		     child = child->next)
			place++;
		snprintf(number, sizeof(number), "%u", place);
		snprintf(path, YAML_PATH_BYTES, "%s%s%.400s", node->key ? node->key : number,
			 *below != '\0' ? "." : "", below);
		memcpy(below, path, YAML_PATH_BYTES);
	}
}

static void split(struct yaml_problem *problem)
{
	const char *at = strstr(problem->message, expected_mark);
	if (at && (at == problem->message || at[-1] == ' ')) {
		at += strlen(expected_mark);
		const char *end = strstr(at, "; did you mean");
		problem->expected = copy(at, end ? (size_t)(end - at) : strlen(at));
	}
	for (size_t i = 0; i < sizeof(suggestion_marks) / sizeof(*suggestion_marks); i++) {
		at = strstr(problem->message, suggestion_marks[i]);
		if (!at)
			continue;
		at += strlen(suggestion_marks[i]);
		problem->suggestion = copy(at, strcspn(at, "\""));
		return;
	}
}

/* Returns a new record without texts, or NULL if there are enough. */
static struct yaml_problem *take(struct yaml_errors *errors)
{
	free(errors->text);
	errors->text = NULL;
	if (errors->count++ >= YAML_ERRORS_MAX)
		return NULL;
	errors->list = realloc(errors->list, (errors->kept + 1) * sizeof(*errors->list));
	if (!errors->list)
		abort();
	struct yaml_problem *problem = &errors->list[errors->kept++];
	*problem = (struct yaml_problem){0};
	return problem;
}

static void add(struct yaml_errors *errors, const struct yaml_node *node, bool at_key,
		const char *format, va_list arguments)
{
	char path[YAML_PATH_BYTES];
	struct yaml_problem *problem = take(errors);
	if (!problem)
		return;
	yaml_error_path(node, path);
	problem->file = copy(node->file, strlen(node->file));
	problem->line = at_key ? node->key_line : node->line;
	problem->column = at_key ? node->key_column : node->column;
	problem->key = copy(path, strlen(path));
	const char *found = at_key                      ? node->key
			    : node->kind == YAML_SCALAR ? node->text
			    : node->parent              ? yaml_kind_name(node->kind)
							: NULL;
	if (found)
		problem->found = copy(found, strlen(found));
	if (vasprintf(&problem->message, format, arguments) < 0)
		abort();
	split(problem);
}

void yaml_error(struct yaml_errors *errors, const struct yaml_node *node, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	add(errors, node, false, format, arguments);
	va_end(arguments);
}

void yaml_error_key(struct yaml_errors *errors, const struct yaml_node *node, const char *format,
		    ...)
{
	va_list arguments;
	va_start(arguments, format);
	add(errors, node, true, format, arguments);
	va_end(arguments);
}

void yaml_error_parse(struct yaml_errors *errors, const char *file, const char *text)
{
	struct yaml_problem *problem = take(errors);
	const char *message = strstr(text, ": ");
	unsigned line = 0, column = 0;
	if (!problem)
		return;
	size_t place = message ? (size_t)(message - text) : 0;
	size_t name = place;
	char *end = NULL;
	for (unsigned *number = &column; number; number = number == &column ? &line : NULL) {
		const char *colon = name > 0 ? memrchr(text, ':', name) : NULL;
		if (!colon)
			break;
		*number = (unsigned)strtoul(colon + 1, &end, 10);
		if (end != text + name)
			break;
		name = (size_t)(colon - text);
	}
	bool has_place = line > 0 && column > 0;
	bool is_whole = place == strlen(file) && strncmp(text, file, place) == 0;
	problem->file = has_place ? copy(text, name) : copy(file, strlen(file));
	problem->line = has_place ? line : 0;
	problem->column = has_place ? column : 0;
	problem->key = copy("", 0);
	message = has_place || is_whole ? message + 2 : text;
	problem->message = copy(message, strlen(message));
	split(problem);
}

void yaml_error_move(struct yaml_problem *problem, const char *file, uint32_t line, uint32_t column,
		     const char *context)
{
	char *message = NULL;
	if (asprintf(&message, "%s: %s", context, problem->message) < 0)
		abort();
	free(problem->message);
	free(problem->file);
	problem->message = message;
	problem->file = copy(file, strlen(file));
	problem->line = line;
	problem->column = column;
}

static void free_texts(struct yaml_problem *problem)
{
	free(problem->file);
	free(problem->key);
	free(problem->found);
	free(problem->message);
	free(problem->expected);
	free(problem->suggestion);
}

void yaml_errors_append(struct yaml_errors *errors, struct yaml_errors *from)
{
	for (size_t i = 0; i < from->kept; i++) {
		struct yaml_problem *problem = take(errors);
		if (problem)
			*problem = from->list[i];
		else
			free_texts(&from->list[i]);
	}
	errors->count += from->count - (unsigned)from->kept;
	from->kept = 0;
	yaml_errors_free(from);
}

void yaml_errors_print(const struct yaml_errors *errors, FILE *out)
{
	for (size_t i = 0; i < errors->kept; i++) {
		const struct yaml_problem *problem = &errors->list[i];
		fprintf(out, "%s", problem->file);
		if (problem->line > 0)
			fprintf(out, ":%u:%u", problem->line, problem->column);
		fprintf(out, ": %s\n", problem->message);
	}
}

void yaml_errors_print_json(const struct yaml_errors *errors, FILE *out)
{
	fputc('[', out);
	for (size_t i = 0; i < errors->kept; i++) {
		const struct yaml_problem *problem = &errors->list[i];
		const struct {
			const char *key, *value;
		} texts[] = {{"key", problem->key},
			     {"message", problem->message},
			     {"found", problem->found},
			     {"expected", problem->expected},
			     {"suggestion", problem->suggestion}};
		fprintf(out, "%s\n    {\"file\": ", i > 0 ? "," : "");
		json_text(out, problem->file);
		fprintf(out, ", \"line\": %u, \"column\": %u", problem->line, problem->column);
		for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
			fprintf(out, ", \"%s\": ", texts[k].key);
			if (texts[k].value)
				json_text(out, texts[k].value);
			else
				fprintf(out, "null");
		}
		fputc('}', out);
	}
	fprintf(out, "%s]", errors->kept > 0 ? "\n  " : "");
}

const char *yaml_errors_text(struct yaml_errors *errors)
{
	size_t length = 0;
	if (errors->text || errors->kept == 0)
		return errors->text;
	FILE *out = open_memstream(&errors->text, &length);
	if (!out)
		abort();
	yaml_errors_print(errors, out);
	fclose(out);
	return errors->text;
}

void yaml_errors_free(struct yaml_errors *errors)
{
	for (size_t i = 0; i < errors->kept; i++)
		free_texts(&errors->list[i]);
	free(errors->list);
	free(errors->text);
	*errors = (struct yaml_errors){0};
}
