/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_init: hcasim init [KIND] [FILE]: writes a commented scenario to start from. The kinds are
 * the files of scenarios/init/, and the first comment of a file is its description.
 */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/verb.h"
#include "sim/install_paths.h"
#include "sim/yaml.h"

#define KINDS_MAX  32
#define LINE_BYTES 256

struct kinds {
	glob_t files;
	const char *names[KINDS_MAX]; /* point into texts */
	char texts[KINDS_MAX][NAME_MAX];
	size_t count;
};

/* Returns false, having said why, if the files are not there. */
static bool find_kinds(struct kinds *kinds)
{
	char folder[PATH_MAX], pattern[PATH_MAX + 8];

	*kinds = (struct kinds){.count = 0};
	if (install_paths_data("scenarios/init", folder)) {
		snprintf(pattern, sizeof(pattern), "%s/*.yaml", folder);
		glob(pattern, 0, NULL, &kinds->files);
	}
	for (size_t i = 0; i < kinds->files.gl_pathc && kinds->count < KINDS_MAX; i++) {
		char *text = kinds->texts[kinds->count];
		const char *name = strrchr(kinds->files.gl_pathv[i], '/') + 1;

		snprintf(text, NAME_MAX, "%.*s", (int)(strlen(name) - strlen(".yaml")), name);
		kinds->names[kinds->count++] = text;
	}
	if (kinds->count == 0)
		say("share/hcasim/scenarios/init is not there: the installation is not complete");
	return kinds->count > 0;
}

static void list_kinds(const struct kinds *kinds, bool words)
{
	char line[LINE_BYTES];

	for (size_t i = 0; i < kinds->count; i++) {
		FILE *file = words ? NULL : fopen(kinds->files.gl_pathv[i], "r");

		if (!file || !fgets(line, sizeof(line), file))
			snprintf(line, sizeof(line), "\n");
		if (file)
			fclose(file);
		if (words)
			printf("%s\n", kinds->names[i]);
		else
			printf("  %-10s %s", kinds->names[i], line + strspn(line, "# "));
	}
}

/* Returns the file of that kind. Otherwise prints the list of kinds and returns NULL. */
static const char *find_kind(const struct kinds *kinds, const char *kind)
{
	for (size_t i = 0; i < kinds->count; i++)
		if (strcmp(kinds->names[i], kind) == 0)
			return kinds->files.gl_pathv[i];
	const char *near = yaml_suggest(kind, kinds->names, kinds->count);
	say("no kind of scenario \"%s\"; %s%s%s", kind, near ? "did you mean " : "",
	    near ? near : "hcasim init lists them", near ? "?" : "");
	return NULL;
}

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
	struct kinds kinds;
	char name[NAME_MAX + 8];
	const char *kind = arguments->word_count > 0 ? arguments->words_given[0] : NULL;
	int code = EXIT_BAD_INPUT;

	if (find_kinds(&kinds)) {
		const char *from = kind ? find_kind(&kinds, kind) : NULL;

		if (!kind) {
			list_kinds(&kinds, arguments->words);
			code = EXIT_GOOD;
		} else if (from) {
			snprintf(name, sizeof(name), "%s.yaml", kind);
			code = write_scenario(
				from, arguments->word_count > 1 ? arguments->words_given[1] : name);
		}
	}
	globfree(&kinds.files);
	return code;
}
