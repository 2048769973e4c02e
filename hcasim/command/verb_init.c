/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_init: hcasim init [KIND] [FILE]: writes a commented scenario to start from. The kinds are
 * the files of scenarios/init/, and the first comment of a file is its description.
 */
#include <errno.h>
#include <string.h>

#include "hcasim/command/templates.h"
#include "hcasim/command/verb.h"

#define LINE_BYTES 1024 /* longer lines are copied in parts */

static const struct template_folder folder = {"scenarios/init", ".yaml", "scenario",
					      "hcasim init",    1,       "# "};

/* Copies a whole file. The comments name the file that the template has by default; the copy names
 * its own file. Returns false with errno set. */
static bool copy(FILE *from, FILE *to, const char *by_default, const char *name)
{
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), from)) {
		const char *rest = line, *found;

		while (*line == '#' && (found = strstr(rest, by_default))) {
			if (fprintf(to, "%.*s%s", (int)(found - rest), rest, name) < 0)
				return false;
			rest = found + strlen(by_default);
		}
		if (fputs(rest, to) == EOF)
			return false;
	}
	return !ferror(from) && fflush(to) == 0;
}

/* `by_default`: the name of the file without FILE, which `-` keeps. */
static int write_scenario(const char *from, const char *to, const char *by_default)
{
	bool standard = strcmp(to, "-") == 0;
	FILE *in = fopen(from, "r");
	FILE *out = !in ? NULL : standard ? stdout : fopen(to, "wx");
	int error = errno;
	bool good = out && copy(in, out, by_default, standard ? by_default : to);

	if (out && !good)
		error = errno;
	if (in)
		fclose(in);
	if (out && !standard && fclose(out) != 0 && good) {
		error = errno;
		good = false;
	}
	if (out && !standard && !good)
		remove(to);
	if (!in)
		say("%s: %s", from, strerror(error));
	else if (!out && error == EEXIST)
		say("%s exists, and init does not overwrite files; name another FILE", to);
	else if (!good)
		say("%s: %s", standard ? "standard output" : to, strerror(error));
	else if (!standard)
		printf("%s: hcasim run %s\n", to, to);
	return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}

int verb_init(const struct arguments *arguments)
{
	struct templates templates;
	char name[NAME_MAX + 8];
	const char *kind = arguments->word_count > 0 ? arguments->words_given[0] : NULL;
	int code = EXIT_BAD_INPUT;

	if (templates_find(&templates, &folder)) {
		const char *from = kind ? templates_choose(&templates, kind) : NULL;

		if (!kind) {
			templates_list(&templates, arguments->words);
			code = EXIT_GOOD;
		} else if (from) {
			snprintf(name, sizeof(name), "%s.yaml", kind);
			code = write_scenario(
				from, arguments->word_count > 1 ? arguments->words_given[1] : name,
				name);
		}
	}
	templates_free(&templates);
	return code;
}
