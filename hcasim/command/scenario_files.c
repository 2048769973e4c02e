/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_files: see scenario_files.h. */
#include "hcasim/command/scenario_files.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/say.h"
#include "sim/install_paths.h"
#include "sim/yaml.h"

#define SUFFIX    ".yaml"
#define FILES_MAX 1024

static const char folder[] = "scenarios";

/* Names in the order of the tree, such as "scenarios/studies/incast-dcqcn.yaml". */
struct scenario_files {
	char *names[FILES_MAX];
	const char *stems[FILES_MAX]; /* the last part of each, without SUFFIX */
	size_t count;
};

char *scenario_files_find(const char *name)
{
	char path[PATH_MAX];
	size_t length = strlen(folder);

	if (strncmp(name, folder, length) != 0 || name[length] != '/' ||
	    !install_paths_data(name, path))
		return NULL;
	return realpath(path, NULL);
}

static int by_name(const FTSENT **one, const FTSENT **other)
{
	return strcmp((*one)->fts_name, (*other)->fts_name);
}

static bool is_scenario(const FTSENT *entry)
{
	size_t length = entry->fts_namelen, suffix = strlen(SUFFIX);

	return entry->fts_info == FTS_F && length > suffix &&
	       strcmp(entry->fts_name + length - suffix, SUFFIX) == 0;
}

/* Presets and published rows are no scenarios that run. */
static bool is_skipped(const FTSENT *entry)
{
	return entry->fts_info == FTS_D && (strcmp(entry->fts_name, "presets") == 0 ||
					    strcmp(entry->fts_name, "published") == 0);
}

static char *copy(const char *text, size_t length)
{
	char *copied = strndup(text, length);

	if (!copied)
		abort();
	return copied;
}

static void add(struct scenario_files *files, const char *name)
{
	const char *last = strrchr(name, '/') + 1;

	files->names[files->count] = copy(name, strlen(name));
	files->stems[files->count++] = copy(last, strlen(last) - strlen(SUFFIX));
}

static void list(struct scenario_files *files)
{
	char root[PATH_MAX], *roots[] = {root, NULL};
	size_t before;
	FTSENT *entry;
	FTS *tree;

	files->count = 0;
	if (!install_paths_data(folder, root) ||
	    !(tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name)))
		return;
	before = strlen(root) - strlen(folder);
	while ((entry = fts_read(tree)) && files->count < FILES_MAX) {
		if (is_skipped(entry))
			fts_set(tree, entry, FTS_SKIP);
		if (is_scenario(entry))
			add(files, entry->fts_path + before);
	}
	fts_close(tree);
}

static const char *nearest(const struct scenario_files *files, const char *word)
{
	const char *last = strrchr(word, '/'), *near, *name = NULL;
	size_t length;
	char *stem;

	last = last ? last + 1 : word;
	length = strlen(last);
	if (length > strlen(SUFFIX) && strcmp(last + length - strlen(SUFFIX), SUFFIX) == 0)
		length -= strlen(SUFFIX);
	stem = copy(last, length);
	near = yaml_suggest(stem, files->stems, files->count);
	for (size_t i = 0; i < files->count && near && !name; i++)
		if (strcmp(files->stems[i], near) == 0)
			name = files->names[i];
	free(stem);
	return name;
}

void scenario_files_suggest(const char *word)
{
	struct scenario_files files;
	const char *near;

	list(&files);
	near = nearest(&files, word);
	if (near)
		say("no file %s; did you mean %s?", word, near);
	for (size_t i = 0; i < files.count; i++) {
		free(files.names[i]);
		free((char *)files.stems[i]);
	}
}
