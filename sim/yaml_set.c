/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_set: puts one value of a command line's --set into a tree that yaml.c has read. The
 * value is a separate document, so that errors in it are reported at "--set ...".
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/yaml_document.h"

#define SET_NAME "--set " /* start of the file name of such a value */

struct setting {
	struct yaml_document *document; /* of the value */
	struct yaml_errors *errors;
	const struct yaml_node *place; /* "--set ...", for messages */
	unsigned found;                /* number of entries that were set */
};

static void set_below(struct setting *setting, struct yaml_node *node, const char *path);

static const char *keep(struct setting *setting, const char *text, size_t length)
{
	char *copy = yaml_take(setting->document, length + 1);
	memcpy(copy, text, length);
	return copy;
}

/* Converts a node to a map. A text is the name of a preset, and becomes the entry `preset`. An
 * empty node becomes an empty map. */
static void make_map(struct setting *setting, struct yaml_node *node)
{
	if (node->kind == YAML_SCALAR) {
		struct yaml_node *preset = yaml_take(setting->document, sizeof(*preset));
		*preset = *node;
		preset->key = "preset";
		preset->key_line = node->line;
		preset->key_column = node->column;
		preset->parent = node;
		preset->next = preset->children = NULL;
		node->children = preset;
		node->text = NULL;
	}
	node->kind = YAML_MAP;
}

static struct yaml_node *add_entry(struct setting *setting, struct yaml_node *map, const char *key)
{
	struct yaml_node **last = &map->children;
	while (*last)
		last = &(*last)->next;
	struct yaml_node *entry = yaml_take(setting->document, sizeof(*entry));
	entry->kind = YAML_NULL;
	entry->file = setting->document->file;
	entry->key = key;
	entry->parent = map;
	*last = entry;
	return entry;
}

/* Replaces the value of the entry. */
static void replace(struct setting *setting, struct yaml_node *entry)
{
	const struct yaml_node *value = setting->document->root;
	entry->kind = value->kind;
	entry->file = value->file;
	entry->line = entry->column = entry->key_line = entry->key_column = 0;
	entry->text = value->text;
	entry->quoted = value->quoted;
	entry->children = value->children;
	for (struct yaml_node *child = entry->children; child; child = child->next)
		child->parent = entry;
	setting->found++;
}

static void set_entry(struct setting *setting, struct yaml_node *entry, const char *rest)
{
	if (*rest == '\0')
		replace(setting, entry);
	else
		set_below(setting, entry, rest + 1);
}

static void set_in_list(struct setting *setting, struct yaml_node *list, const char *key,
			const char *rest)
{
	char *end = NULL;
	unsigned long number = strtoul(key, &end, 10), at = 0;
	bool all = strcmp(key, "*") == 0;
	for (struct yaml_node *entry = list->children; entry; entry = entry->next, at++) {
		if (all || (*end == '\0' && at == number))
			set_entry(setting, entry, rest);
	}
}

static void set_below(struct setting *setting, struct yaml_node *node, const char *path)
{
	size_t length = strcspn(path, ".");
	const char *key = keep(setting, path, length), *rest = path + length;
	if (node->kind == YAML_LIST) {
		set_in_list(setting, node, key, rest);
		return;
	}
	make_map(setting, node);
	bool found = false;
	for (struct yaml_node *entry = node->children; entry; entry = entry->next) {
		if (strcmp(key, "*") == 0 || strcmp(entry->key, key) == 0) {
			found = true;
			set_entry(setting, entry, rest);
		}
	}
	if (!found && strcmp(key, "*") != 0)
		set_entry(setting, add_entry(setting, node, key), rest);
}

bool yaml_is_set(const struct yaml_node *node)
{
	return strncmp(node->file, SET_NAME, strlen(SET_NAME)) == 0;
}

bool yaml_set(struct yaml_document *document, const char *assignment, struct yaml_errors *errors)
{
	const char *equals = strchr(assignment, '=');
	char name[256];
	snprintf(name, sizeof(name), SET_NAME "%s", assignment);
	struct yaml_node place = {.file = name};
	size_t path_bytes = equals ? (size_t)(equals - assignment) : 0;
	if (!equals || path_bytes == 0 || assignment[0] == '.' || equals[-1] == '.' ||
	    memmem(assignment, path_bytes, "..", 2)) {
		yaml_error(errors, &place, "expected key.path=value");
		return false;
	}
	struct yaml_document *value = yaml_read_text(name, equals + 1, errors);
	if (!value)
		return false;
	struct yaml_document **last = &document->attached;
	while (*last)
		last = &(*last)->attached;
	*last = value;
	struct setting setting = {.document = value, .errors = errors, .place = &place};
	set_below(&setting, document->root, keep(&setting, assignment, path_bytes));
	if (setting.found == 0)
		yaml_error(errors, &place, "no such entry");
	return setting.found > 0;
}
