/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preset: see preset.h. Finds the file and reads it first, then the keys beside `preset:`, which
 * take precedence.
 */
#include "hcasim/schema/preset.h"
#include "sim/install_paths.h"
#include "sim/renamed_keys.h"

#include <assert.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX  8
#define OTHERS_MAX 8
#define NAMES_MAX  256

struct preset_reader {
	enum composite_kind kind;
	void *params;
	uint64_t *given;
	struct yaml_errors *errors;
	unsigned depth; /* maximum depth of presets that are based on presets */
};

static struct {
	const char *name;
	const char *const *assignments;
	size_t count;
	bool was_read;
} replaced;

static void read_value(struct preset_reader *reader, struct yaml_node *node,
		       const char *const *others);

void preset_replace(const char *name, const char *const *assignments, size_t count)
{
	replaced.name = name;
	replaced.assignments = assignments;
	replaced.count = count;
	replaced.was_read = false;
}

bool preset_was_replaced(void)
{
	return replaced.was_read;
}

const char *preset_directory(void)
{
	static char directory[PATH_MAX];
	if (*directory != '\0')
		return directory;
	char path[PATH_MAX + 32];
	if (*install_paths_program() == '\0')
		return "";
	snprintf(path, sizeof(path), "%s../share/hcasim/scenarios/presets",
		 install_paths_program());
	return realpath(path, directory) ? directory : "";
}

/* Lists the folders in which a preset named in that file is searched. Returns their number. */
static size_t list_directories(const char *file, char directories[3][PATH_MAX])
{
	const char *slash = strrchr(file, '/');
	int bytes = slash ? (int)(slash - file) + 1 : 0;
	snprintf(directories[0], PATH_MAX, "%.*s", bytes, file);
	snprintf(directories[1], PATH_MAX, "%.*spresets/", bytes, file);
	if (*preset_directory() == '\0')
		return 2;
	snprintf(directories[2], PATH_MAX, "%s/", preset_directory());
	return 3;
}

static bool find_file(const char *file, const char *name, char path[PATH_MAX])
{
	char directories[3][PATH_MAX];
	size_t count = list_directories(file, directories);
	if (strchr(name, '/')) {
		int length =
			snprintf(path, PATH_MAX, "%s%s", *name == '/' ? "" : directories[0], name);
		return length < PATH_MAX && access(path, R_OK) == 0;
	}
	for (size_t i = 0; i < count; i++) {
		int length = snprintf(path, PATH_MAX, "%s%s.yaml", directories[i], name);
		if (length < PATH_MAX && access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* Adds an error for an unknown preset, with the most similar name. */
static void report_missing(struct preset_reader *reader, const struct yaml_node *node,
			   const char *name)
{
	char directories[3][PATH_MAX], *names[NAMES_MAX];
	size_t places = list_directories(node->file, directories), count = 0;
	for (size_t i = 1; i < places; i++) { /* places[0] has no scenarios */
		DIR *directory = opendir(directories[i]);
		for (struct dirent *entry; directory && (entry = readdir(directory));) {
			size_t length = strlen(entry->d_name);
			if (length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0 &&
			    count < NAMES_MAX)
				names[count++] = strndup(entry->d_name, length - 5);
		}
		if (directory)
			closedir(directory);
	}
	char hint[PATH_MAX];
	renamed_key_hint(renamed_key("preset", name), name, (const char *const *)names, count, hint,
			 sizeof(hint));
	if (*hint != '\0')
		yaml_error(reader->errors, node, "no preset \"%s\"%s", name, hint);
	else
		yaml_error(reader->errors, node, "no preset \"%s\" in %s", name,
			   directories[places - 1]);
	for (size_t i = 0; i < count; i++)
		free(names[i]);
}

static void read_file(struct preset_reader *reader, const struct yaml_node *node, const char *name)
{
	static const char *const others[] = {"kind", NULL};
	const char *kind_name = composite_of(reader->kind)->name;
	char path[PATH_MAX];
	if (reader->depth >= DEPTH_MAX) {
		yaml_error(reader->errors, node, "preset \"%s\" is based on itself", name);
		return;
	}
	if (!find_file(node->file, name, path)) {
		report_missing(reader, node, name);
		return;
	}
	struct yaml_document *document = yaml_read_file(path, reader->errors);
	if (!document)
		return;
	if (replaced.count > 0 && strcmp(name, replaced.name) == 0) {
		for (size_t i = 0; i < replaced.count; i++)
			yaml_set(document, replaced.assignments[i], reader->errors);
		replaced.was_read = true;
	}
	struct yaml_node *root = yaml_root(document), *kind = yaml_get(root, "kind");
	reader->depth++;
	if (!kind || kind->kind != YAML_SCALAR)
		yaml_error(reader->errors, root,
			   "the first key of a preset is its kind; expected \"kind: %s\"",
			   kind_name);
	else if (strcmp(kind->text, kind_name) != 0)
		yaml_error(reader->errors, node, "preset \"%s\" is of kind %s; expected kind %s",
			   name, kind->text, kind_name);
	else
		read_value(reader, root, others);
	reader->depth--;
	yaml_close(document);
}

static void read_value(struct preset_reader *reader, struct yaml_node *node,
		       const char *const *others)
{
	const struct composite *composite = composite_of(reader->kind);
	if (node->kind == YAML_SCALAR) {
		read_file(reader, node, node->text);
		return;
	}
	if (!yaml_expect_map(node, "a preset's name, or its parameters", reader->errors))
		return;
	struct yaml_node *preset = yaml_get(node, "preset");
	if (preset && yaml_expect_text(preset, "a preset's name", reader->errors))
		read_file(reader, preset, preset->text);
	const struct param *param = composite->list;
	for (unsigned i = 0; reader->given && param && param->name; i++, param++) {
		if (yaml_get(node, param->name))
			*reader->given |= UINT64_C(1) << i;
	}
	const char *allowed[OTHERS_MAX + 2] = {"preset"};
	for (size_t i = 0; others && others[i]; i++) {
		assert(i < OTHERS_MAX);
		allowed[i + 1] = others[i];
	}
	composite_override(reader->kind, node, allowed, reader->params, reader->errors);
}

void preset_read(enum composite_kind kind, struct yaml_node *node, const char *const *others,
		 void *params, uint64_t *given, struct yaml_errors *errors)
{
	struct preset_reader reader = {
		.kind = kind, .params = params, .given = given, .errors = errors};
	read_value(&reader, node, others);
}
