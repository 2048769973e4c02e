/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_names: names of points, made of their values, and links with these names to the points'
 * folders.
 *
 *     DIR/by-name/NAME   a link to the folder of the point with these values: "threads=8,qps=2"
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hcasim/command/sweep.h"

/* Returns the last part of a column's name, or the whole name if another column ends alike. */
static const char *short_key(const struct scenario *scenario, const char *path)
{
	const char *dot = strrchr(path, '.');
	if (!dot || dot[1] == '\0')
		return path;
	for (uint32_t i = 0; i < scenario->axis_count; i++) {
		for (uint32_t k = 0; k < scenario->axes[i].column_count; k++) {
			const char *name = scenario->axes[i].columns[k];
			const char *other = strrchr(name, '.');
			other = other ? other + 1 : name;
			if (name != path && strcmp(other, dot + 1) == 0)
				return path;
		}
	}
	return dot + 1;
}

struct text {
	char *bytes;
	size_t length;
};

/* Appends the letters that are safe in file names, and omits others. */
static void add(struct text *text, const char *more)
{
	for (; *more && text->length + 1 < SWEEP_NAME_BYTES; more++)
		if (isalnum((unsigned char)*more) || strchr(".,=+-_", *more))
			text->bytes[text->length++] = *more;
	text->bytes[text->length] = '\0';
}

/* A map's keys stand below the column's: "pcie.lanes=8,pcie.generation=3". */
static void add_sets(struct text *text, const char *path, char **sets)
{
	size_t above = strcmp(path, ".") == 0 ? 0 : strlen(path) + 1;
	for (; *sets; sets++) {
		add(text, text->length > 0 ? "," : "");
		add(text, *sets + above);
	}
}

void sweep_names_write(const struct sweep *sweep, size_t point, char name[SWEEP_NAME_BYTES])
{
	struct text text = {.bytes = name};
	add(&text, "");
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++) {
		const struct scenario_sweep_axis *axis = &sweep->scenario->axes[i];
		const struct scenario_sweep_value *value = sweep_product_value(sweep, point, i);
		if (axis->column_count == 1 && *value->cells[0] == '{') {
			add_sets(&text, axis->columns[0], value->sets);
			continue;
		}
		for (uint32_t k = 0; k < axis->column_count; k++) {
			add(&text, text.length > 0 ? "," : "");
			add(&text, short_key(sweep->scenario, axis->columns[k]));
			add(&text, "=");
			add(&text, value->cells[k]);
		}
	}
	if (text.length == 0)
		add(&text, "as-the-file");
}

bool sweep_names_link(const struct sweep *sweep)
{
	char folder[PATH_MAX], link[PATH_MAX + SWEEP_NAME_BYTES + 32], name[SWEEP_NAME_BYTES];
	char target[32], found[32];
	snprintf(folder, sizeof(folder), "%.3000s/by-name", sweep->folder);
	if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
		say("%s: %s", folder, strerror(errno));
		return false;
	}
	for (size_t i = 0; i < sweep->count; i++) {
		if (!sweep->points[i].finished)
			continue;
		sweep_names_write(sweep, i, name);
		snprintf(target, sizeof(target), "../%s", sweep->points[i].name);
		snprintf(link, sizeof(link), "%s/%s", folder, name);
		ssize_t length = readlink(link, found, sizeof(found) - 1);
		found[length > 0 ? length : 0] = '\0';
		if (length > 0 && strcmp(found, target) == 0)
			continue;
		if (length > 0) /* different values can have the same name */
			snprintf(link, sizeof(link), "%s/%s,%s", folder, name,
				 sweep->points[i].name);
		if (symlink(target, link) != 0 && errno != EEXIST) {
			say("%s: %s", link, strerror(errno));
			return false;
		}
	}
	return true;
}
