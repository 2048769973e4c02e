/* SPDX-License-Identifier: Apache-2.0 */
/* templates: see templates.h. */
#include "hcasim/command/templates.h"

#include <stdio.h>
#include <string.h>

#include "hcasim/command/say.h"
#include "sim/install_paths.h"
#include "sim/yaml.h"

#define LINE_BYTES 512

bool templates_find(struct templates *templates, const struct template_folder *folder)
{
	char path[PATH_MAX], pattern[PATH_MAX + 16];

	*templates = (struct templates){.folder = folder};
	if (install_paths_data(folder->folder, path)) {
		snprintf(pattern, sizeof(pattern), "%s/*%s", path, folder->suffix);
		glob(pattern, 0, NULL, &templates->files);
	}
	for (size_t i = 0; i < templates->files.gl_pathc && templates->count < TEMPLATES_MAX; i++) {
		char *text = templates->texts[templates->count];
		const char *name = strrchr(templates->files.gl_pathv[i], '/') + 1;

		snprintf(text, NAME_MAX, "%.*s", (int)(strlen(name) - strlen(folder->suffix)),
			 name);
		templates->names[templates->count++] = text;
	}
	if (templates->count == 0)
		say("share/hcasim/%s is not there: the installation is not complete",
		    folder->folder);
	return templates->count > 0;
}

void templates_free(struct templates *templates)
{
	globfree(&templates->files);
}

/* Prints the file's description. A file without one has an empty line. */
static void print_description(const struct template_folder *folder, const char *path)
{
	char line[LINE_BYTES] = "";
	FILE *file = fopen(path, "r");
	const char *mark;
	unsigned number = 0;

	while (file && number < folder->line && fgets(line, sizeof(line), file))
		number++;
	if (file)
		fclose(file);
	mark = number == folder->line ? strstr(line, folder->mark) : NULL;
	fputs(mark ? mark + strlen(folder->mark) : "\n", stdout);
}

void templates_list(const struct templates *templates, bool words)
{
	for (size_t i = 0; i < templates->count; i++) {
		if (words) {
			puts(templates->names[i]);
			continue;
		}
		printf("  %-10s ", templates->names[i]);
		print_description(templates->folder, templates->files.gl_pathv[i]);
	}
}

const char *templates_choose(const struct templates *templates, const char *kind)
{
	const char *near;

	for (size_t i = 0; i < templates->count; i++)
		if (strcmp(templates->names[i], kind) == 0)
			return templates->files.gl_pathv[i];
	near = yaml_suggest(kind, templates->names, templates->count);
	say("no kind of %s \"%s\"; %s%s%s", templates->folder->what, kind,
	    near ? "did you mean " : "", near ? near : templates->folder->lister,
	    near ? "?" : " lists them");
	return NULL;
}
