/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published_program: driver program: runs programs on a simulated fabric, as `hcasim exec` does,
 * and takes one number from their output. Keys:
 *
 * - scenario: file, relative to the row's file
 * - arguments: of exec, before --
 * - host0, host1: command lines without names of hosts
 * - line: beginning of the line with the number
 * - column: of the number, from 1
 * - times: a factor for the result
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hcasim/command/published.h"
#include "verbs-shim/session/executable.h"

enum { COMMAND_BYTES = 8192, LINE_BYTES_MAX = 4096, PROGRAM_BYTES = 256 };

/* Returns true if the first word of a command line is a program that can run on this machine. */
static bool can_run(const char *command, char *error)
{
	char program[PROGRAM_BYTES];
	size_t length = strcspn(command, " ");

	snprintf(program, sizeof(program), "%.*s", (int)length, command);
	return executable_check(program, error, PUBLISHED_ERROR_BYTES);
}

static bool take_number(char *line, const char *begin, unsigned column, double *number)
{
	char *rest = NULL, *word, *end;

	word = strstr(line, "| "); /* after the host's name */
	if (word)
		line = word + 2;
	line += strspn(line, " \t");
	if (strncmp(line, begin, strlen(begin)) != 0)
		return false;
	word = strtok_r(line, " \t\n", &rest);
	for (unsigned i = 1; word && i < column; i++)
		word = strtok_r(NULL, " \t\n", &rest);
	if (!word)
		return false;
	*number = strtod(word, &end);
	return end != word;
}

static bool read_output(FILE *output, const struct published_settings *settings, double *number)
{
	const char *begin = published_text(settings, "line", "");
	unsigned column = (unsigned)published_number(settings, "column", 1);
	char line[LINE_BYTES_MAX];
	bool found = false;

	while (fgets(line, sizeof(line), output))
		found |= take_number(line, begin, column, number);
	return found;
}

bool published_program(const struct published_settings *settings, double *ours, char *error)
{
	const char *host0 = published_text(settings, "host0", ""),
		   *host1 = published_text(settings, "host1", "");
	const char *arguments = published_text(settings, "arguments", "");
	struct yaml_node *scenario = published_get(settings, "scenario");
	struct yaml_node *varied = settings->varied ? yaml_get(settings->varied, "values") : NULL;
	char self[PATH_MAX], command[COMMAND_BYTES];
	const char *slash;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	FILE *output;
	bool found;

	if (!scenario || !scenario->text || length <= 0) {
		snprintf(error, PUBLISHED_ERROR_BYTES, "no scenario");
		return false;
	}
	self[length] = '\0';
	if (!can_run(host0, error) || !can_run(host1, error))
		return false;
	slash = strrchr(scenario->file, '/');
	length = snprintf(command, sizeof(command),
			  "'%s' exec %s %s%s%s%s '%.*s%s' -- host0: %s : host1: %s 2>/dev/null",
			  self, arguments, varied ? "--set " : "",
			  varied ? varied->children->key : "", varied ? "=" : "",
			  varied ? varied->children->text : "",
			  slash ? (int)(slash - scenario->file) + 1 : 0, scenario->file,
			  scenario->text, host0, host1);
	if (length < 0 || (size_t)length >= sizeof(command)) {
		snprintf(error, PUBLISHED_ERROR_BYTES, "the command is too long");
		return false;
	}
	output = popen(command, "r");
	if (!output) {
		snprintf(error, PUBLISHED_ERROR_BYTES, "%s", strerror(errno));
		return false;
	}
	found = read_output(output, settings, ours);
	if (pclose(output) != 0 || !found) {
		snprintf(error, PUBLISHED_ERROR_BYTES,
			 "the programs failed or printed no such number");
		return false;
	}
	*ours *= published_number(settings, "times", 1);
	return true;
}
