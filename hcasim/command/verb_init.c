/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_init: hcasim init [KIND] [FILE]: writes a commented scenario to start from. The kinds are
 * the files of scenarios/init/, and the first comment of a file is its description.
 */
#include <errno.h>
#include <string.h>

#include "hcasim/command/templates.h"
#include "hcasim/command/verb.h"

static const struct template_folder folder = {"scenarios/init", ".yaml", "scenario",
					      "hcasim init",    1,       "# "};

/* Copies a whole file. Returns false with errno set. */
static bool copy(FILE *from, FILE *to)
{
	char bytes[BUFSIZ];
	size_t count;

	while ((count = fread(bytes, 1, sizeof(bytes), from)) > 0)
		if (fwrite(bytes, 1, count, to) != count)
			return false;
	return !ferror(from) && fflush(to) == 0;
}

static int write_scenario(const char *from, const char *to)
{
	bool standard = strcmp(to, "-") == 0;
	FILE *in = fopen(from, "r");
	FILE *out = !in ? NULL : standard ? stdout : fopen(to, "wx");
	int error = errno;
	bool good = out && copy(in, out);

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
				from, arguments->word_count > 1 ? arguments->words_given[1] : name);
		}
	}
	templates_free(&templates);
	return code;
}
