/* SPDX-License-Identifier: Apache-2.0 */
/* problems: see problems.h. */
#include "hcasim/library/problems.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The text lives as long as the list. */
static const char *keep(const char *text)
{
	char *kept = strdup(text ? text : "");

	if (!kept)
		abort();
	return kept;
}

static void add(struct problems *problems, const struct yaml_problem *problem, bool is_warning)
{
	problems->list = realloc(problems->list, (problems->count + 1) * sizeof(*problems->list));
	if (!problems->list)
		abort();
	problems->list[problems->count++] = (struct hcasim_problem){
		.is_warning = is_warning,
		.file = keep(problem->file),
		.line = problem->line,
		.column = problem->column,
		.key = keep(problem->key),
		.text = keep(problem->message),
		.found = keep(problem->found),
		.expected = keep(problem->expected),
		.suggestion = keep(problem->suggestion),
	};
}

void problems_take(struct problems *problems, const struct yaml_errors *errors, bool are_warnings)
{
	for (size_t i = 0; i < errors->kept; i++)
		add(problems, &errors->list[i], are_warnings);
}

bool problems_add(struct problems *problems, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	add(problems, &(const struct yaml_problem){.message = text}, false);
	return false;
}

bool problems_add_placed(struct problems *problems, const char *file, const char *text)
{
	struct yaml_errors errors = {0};

	yaml_error_parse(&errors, file, text);
	problems_take(problems, &errors, false);
	yaml_errors_free(&errors);
	return false;
}

void problems_fini(struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct hcasim_problem *problem = &problems->list[i];
		const char *texts[] = {problem->file,  problem->key,      problem->text,
				       problem->found, problem->expected, problem->suggestion};

		for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++)
			free((char *)texts[j]);
	}
	free(problems->list);
}
