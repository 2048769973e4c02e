/* SPDX-License-Identifier: Apache-2.0 */
/* renamed_keys: see renamed_keys.h. */
#include "sim/renamed_keys.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sim/yaml.h"

/* clang-format off */
#define ROW(section, old, now) {section, old, now},
const struct renamed_key renamed_keys[] = { RENAMED_KEYS(ROW) {0} };
/* clang-format on */

const char *renamed_key(const char *section, const char *old)
{
	for (const struct renamed_key *key = renamed_keys; key->section; key++) {
		if (strcmp(key->section, section) == 0 && strcmp(key->old, old) == 0)
			return key->now;
	}
	return NULL;
}

/* Returns true if the path of the map ends with the section. Entries of lists have no key. */
static bool ends_with(const struct yaml_node *map, const char *section, size_t length)
{
	while (map && length > 0) {
		size_t start = length;
		while (start > 0 && section[start - 1] != '.')
			start--;
		for (; map && !map->key; map = map->parent)
			;
		bool any = length - start == 1 && section[start] == '*';
		if (!map || (!any && (strlen(map->key) != length - start ||
				      strncmp(map->key, section + start, length - start) != 0)))
			return false;
		map = map->parent;
		length = start > 0 ? start - 1 : 0;
	}
	return length == 0;
}

static bool is_of(const struct yaml_node *map, const char *sections)
{
	for (const char *section = sections;; section++) {
		size_t length = strcspn(section, "|");
		if (ends_with(map, section, length))
			return true;
		section += length;
		if (*section == '\0')
			return false;
	}
}

const char *renamed_key_in(const struct yaml_node *map, const char *old)
{
	for (const struct renamed_key *key = renamed_keys; key->section; key++) {
		if (strcmp(key->old, old) == 0 && is_of(map, key->section))
			return key->now;
	}
	return NULL;
}

const char *renamed_key_of_block(const char *name)
{
	for (const struct renamed_key *key = renamed_keys; key->section; key++) {
		size_t length = strlen(key->old);
		if (strcmp(key->section, "block") != 0)
			continue;
		for (const char *part = name; part; part = strchr(part, '.')) {
			part += *part == '.';
			if (strncmp(part, key->old, length) == 0 &&
			    (part[length] == '.' || part[length] == '\0'))
				return key->now;
		}
	}
	return NULL;
}

const char *renamed_key_of_counter(const char *name)
{
	const char *dot = strrchr(name, '.');
	const char *now = renamed_key("counter", dot ? dot + 1 : name);
	return now ? now : renamed_key_of_block(name);
}

/* Returns true if the path is the section or ends with `.section`. */
static bool path_ends(const char *path, size_t path_length, const char *section, size_t length)
{
	return length <= path_length &&
	       strncmp(path + path_length - length, section, length) == 0 &&
	       (length == 0 || length == path_length || path[path_length - length - 1] == '.');
}

const char *renamed_key_of_column(const char *name)
{
	const char *dot = strrchr(name, '.');
	if (!dot)
		return renamed_key("metric", name);
	for (const struct renamed_key *key = renamed_keys; key->section; key++) {
		if (strcmp(key->old, dot + 1) != 0)
			continue;
		const char *section = key->section;
		while (true) {
			size_t length = strcspn(section, "|");
			if (path_ends(name, (size_t)(dot - name), section, length))
				return key->now;
			if (section[length] == '\0')
				break;
			section += length + 1;
		}
	}
	return renamed_key("metric", dot + 1);
}

void renamed_key_hint(const char *now, const char *name, const char *const *candidates,
		      size_t count, char *hint, size_t hint_bytes)
{
	const char *near = now || count == 0 ? NULL : yaml_suggest(name, candidates, count);
	if (now)
		snprintf(hint, hint_bytes, "; it is now \"%s\"", now);
	else if (near)
		snprintf(hint, hint_bytes, "; did you mean \"%s\"?", near);
	else
		*hint = '\0';
}
