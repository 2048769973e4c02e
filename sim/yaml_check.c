/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_check: finds nodes in a tree that yaml.c has read, and reports errors in them. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/block.h"
#include "sim/renamed_keys.h"
#include "sim/yaml.h"

#define WORD_MAX 64  /* longer words get no suggestion */
#define PART_MIN 3   /* letters of a name that may be a part of another */
#define HINT_MAX 200 /* bytes of the end of a message about an unknown key */

struct yaml_node *yaml_get(struct yaml_node *map, const char *key)
{
	if (!map || map->kind != YAML_MAP)
		return NULL;
	for (struct yaml_node *entry = map->children; entry; entry = entry->next) {
		if (strcmp(entry->key, key) == 0) {
			entry->used = true;
			return entry;
		}
	}
	return NULL;
}

static const struct yaml_node *child_of(const struct yaml_node *node, const char *key,
					size_t length)
{
	const struct yaml_node *child =
		node->kind == YAML_MAP || node->kind == YAML_LIST ? node->children : NULL;
	unsigned long number = strtoul(key, NULL, 10);
	for (; child; child = child->next) {
		if (node->kind == YAML_LIST
			    ? number-- == 0
			    : strncmp(child->key, key, length) == 0 && child->key[length] == '\0')
			return child;
	}
	return NULL;
}

const struct yaml_node *yaml_find(const struct yaml_node *root, const char *path)
{
	while (*path != '\0') {
		size_t length = strcspn(path, ".");
		const struct yaml_node *child = child_of(root, path, length);
		if (!child)
			return root;
		root = child;
		path += length + (path[length] == '.');
	}
	return root;
}

const char *yaml_kind_name(enum yaml_kind kind)
{
	static const char *const names[] = {"nothing", "a text", "a list", "a map"};
	assert(kind <= YAML_MAP);
	return names[kind];
}

bool yaml_expect_map(const struct yaml_node *node, const char *what, struct yaml_errors *errors)
{
	if (node->kind == YAML_MAP)
		return true;
	yaml_error(errors, node, "found %s; expected %s, as a map (key: value)",
		   yaml_kind_name(node->kind), what);
	return false;
}

const char *yaml_expect_text(const struct yaml_node *node, const char *what,
			     struct yaml_errors *errors)
{
	if (node->kind == YAML_SCALAR)
		return node->text;
	yaml_error(errors, node, "found %s; expected %s", yaml_kind_name(node->kind), what);
	return NULL;
}

/* Folds differences that cost nothing in a comparison: case, and - for _. */
static char fold(char letter)
{
	if (letter >= 'A' && letter <= 'Z')
		return (char)(letter - 'A' + 'a');
	return letter == '-' ? '_' : letter;
}

/* Returns the number of letters to insert, delete, replace, or swap with the next one (optimal
 * string alignment). */
static size_t edit_distance(const char *one, const char *other)
{
	size_t rows[3][WORD_MAX + 1];
	size_t length = strlen(one), width = strlen(other);
	for (size_t x = 0; x <= width; x++)
		rows[0][x] = x;
	for (size_t y = 1; y <= length; y++) {
		size_t *row = rows[y % 3], *above = rows[(y + 2) % 3], *above2 = rows[(y + 1) % 3];
		row[0] = y;
		for (size_t x = 1; x <= width; x++) {
			char a = fold(one[y - 1]), b = fold(other[x - 1]);
			size_t best = above[x - 1] + (a != b);
			best = row[x - 1] + 1 < best ? row[x - 1] + 1 : best;
			best = above[x] + 1 < best ? above[x] + 1 : best;
			if (y > 1 && x > 1 && a == fold(other[x - 2]) && fold(one[y - 2]) == b &&
			    above2[x - 2] + 1 < best)
				best = above2[x - 2] + 1;
			row[x] = best;
		}
	}
	return rows[length % 3][width];
}

/* Synonyms in names, the shortest first. */
static const char *const synonyms[][3] = {
	{"reply", "answer", "response"},
	{"delay", "latency"},
	{"size", "bytes", "length"},
	{"rate", "speed", "bandwidth"},
};

static const char *first_synonym(const char *word, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(synonyms); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(synonyms[i]) && synonyms[i][j]; j++) {
			const char *synonym = synonyms[i][j];
			if (strlen(synonym) == length && strncasecmp(synonym, word, length) == 0)
				return synonyms[i][0];
		}
	}
	return NULL;
}

/* Replaces each word of the name by its first synonym. The name does not become longer. */
static void unify(const char *name, char unified[WORD_MAX + 1])
{
	while (*name != '\0') {
		size_t length = strcspn(name, "_-");
		const char *synonym = first_synonym(name, length);
		size_t bytes = synonym ? strlen(synonym) : length;
		memcpy(unified, synonym ? synonym : name, bytes);
		unified += bytes;
		name += length;
		if (*name != '\0')
			*unified++ = *name++;
	}
	*unified = '\0';
}

/* Returns the distance of two names. A synonym is one mistake, independent of its number of
 * letters. */
static size_t name_distance(const char *one, const char *other)
{
	char unified[2][WORD_MAX + 1];
	unify(one, unified[0]);
	unify(other, unified[1]);
	size_t letters = edit_distance(one, other),
	       words = edit_distance(unified[0], unified[1]) + 1;
	return letters < words ? letters : words;
}

/* Returns true if the name begins or ends with the part, as congestion_control with congestion. */
static bool has_part(const char *name, const char *part)
{
	size_t bytes = strlen(name), length = strlen(part);
	return length >= PART_MIN && length < bytes &&
	       ((strncmp(name, part, length) == 0 && name[length] == '_') ||
		(strcmp(name + bytes - length, part) == 0 && name[bytes - length - 1] == '_'));
}

/* Returns the only candidate that is a part of the word, or has the word as a part. Otherwise
 * returns NULL. */
static const char *find_part(const char *word, const char *const *candidates, size_t count)
{
	const char *found = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!has_part(word, candidates[i]) && !has_part(candidates[i], word))
			continue;
		if (found)
			return NULL;
		found = candidates[i];
	}
	return found;
}

const char *yaml_suggest(const char *word, const char *const *candidates, size_t count)
{
	const char *nearest = NULL;
	size_t length = strlen(word);
	if (length > WORD_MAX)
		return NULL;
	size_t least = length / 3 + 2; /* names at this distance or farther are not similar */
	for (size_t i = 0; i < count; i++) {
		if (strlen(candidates[i]) > WORD_MAX)
			continue;
		size_t distance = name_distance(word, candidates[i]);
		if (distance < least && distance < strlen(candidates[i])) {
			least = distance;
			nearest = candidates[i];
		}
	}
	return nearest ? nearest : find_part(word, candidates, count);
}

void yaml_path(const struct yaml_node *node, const char *name, char path[PATH_MAX])
{
	const char *slash = yaml_is_set(node) ? NULL : strrchr(node->file, '/');
	int bytes = slash && *name != '/' ? (int)(slash - node->file) + 1 : 0;
	snprintf(path, PATH_MAX, "%.*s%s", bytes, node->file, name);
}

/* Writes the known keys as the end of a message, as many as have room. */
static void list_known(const char *const *known, size_t count, char *hint, size_t hint_bytes)
{
	static const char more[] = ", ...";
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		const char *before = i == 0 ? "; expected " : i + 1 == count ? " or " : ", ";
		if (used + strlen(before) + strlen(known[i]) + sizeof(more) > hint_bytes) {
			memcpy(hint + used, more, sizeof(more));
			return;
		}
		used += (size_t)snprintf(hint + used, hint_bytes - used, "%s%s", before, known[i]);
	}
}

static void write_key_hint(const struct yaml_node *entry, const char *const *known, size_t count,
			   const struct yaml_errors *errors, char hint[HINT_MAX])
{
	renamed_key_hint(renamed_key_in(entry->parent, entry->key), entry->key, known, count, hint,
			 HINT_MAX);
	if (*hint == '\0' && errors->key_places) {
		char path[YAML_PATH_BYTES];
		yaml_error_path(entry, path);
		errors->key_places(path, hint, HINT_MAX);
	}
	if (*hint == '\0')
		list_known(known, count, hint, HINT_MAX);
}

void yaml_refuse_unused(const struct yaml_node *map, const char *const *known, size_t count,
			struct yaml_errors *errors)
{
	for (const struct yaml_node *entry = map->children; entry; entry = entry->next) {
		if (entry->used)
			continue;
		char hint[HINT_MAX] = "";
		if (errors->kept < YAML_ERRORS_MAX)
			write_key_hint(entry, known, count, errors, hint);
		yaml_error_key(errors, entry, "unknown key \"%s\"%s", entry->key, hint);
	}
}

/* Overrides a list of sizes, which is parsed as one text. */
static void override_sizes(const struct yaml_node *entry, const struct param *param, void *params,
			   struct yaml_errors *errors)
{
	char text[PARAM_SIZES_MAX * 24] = "", error[512];
	size_t length = 0;
	for (const struct yaml_node *child = entry->children; child; child = child->next) {
		if (child->kind != YAML_SCALAR || length + strlen(child->text) + 2 > sizeof(text)) {
			yaml_error(errors, child, "%s: found %s; expected %s", param->name,
				   yaml_kind_name(child->kind), param_kind_unit(param->kind));
			return;
		}
		length +=
			(size_t)snprintf(text + length, sizeof(text) - length, "%s ", child->text);
	}
	if (!param_parse(param, text, params, error, sizeof(error)))
		yaml_error(errors, entry, "%s: %s", param->name, error);
}

void yaml_override_params(struct yaml_node *map, const struct param *list, void *params,
			  struct yaml_errors *errors)
{
	char error[512];
	for (const struct param *param = list; param->name; param++) {
		struct yaml_node *entry = yaml_get(map, param->name);
		if (!entry)
			continue;
		if (entry->kind == YAML_LIST && param_is_list(param->kind))
			override_sizes(entry, param, params, errors);
		else if (entry->kind != YAML_SCALAR)
			yaml_error(errors, entry, "%s: found %s; expected %s", param->name,
				   yaml_kind_name(entry->kind), param_kind_unit(param->kind));
		else if (!param_parse(param, entry->text, params, error, sizeof(error)))
			yaml_error(errors, entry, "%s: %s", param->name, error);
	}
}

void yaml_read_params(struct yaml_node *map, const struct param *list, void *params,
		      struct yaml_errors *errors)
{
	params_default(list, params);
	if (!map || !yaml_expect_map(map, "parameters", errors))
		return;
	yaml_override_params(map, list, params, errors);
	const char *known[WORD_MAX];
	size_t count = 0;
	for (const struct param *param = list; param->name && count < WORD_MAX; param++)
		known[count++] = param->name;
	yaml_refuse_unused(map, known, count, errors);
}

void yaml_override_sections(struct yaml_node *map, const struct param_section *sections,
			    void *params, struct yaml_errors *errors)
{
	for (const struct param_section *section = sections; section->name; section++) {
		struct yaml_node *entry = yaml_get(map, section->name);
		if (!entry || !yaml_expect_map(entry, section->meaning, errors))
			continue;
		yaml_override_params(entry, section->list, (char *)params + section->offset,
				     errors);
		const char *known[WORD_MAX];
		size_t count = 0;
		for (const struct param *param = section->list; param->name; param++) {
			assert(count < WORD_MAX);
			known[count++] = param->name;
		}
		yaml_refuse_unused(entry, known, count, errors);
	}
}
