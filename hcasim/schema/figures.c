/* SPDX-License-Identifier: Apache-2.0 */
/* figures: see figures.h. */
#include "hcasim/schema/figures.h"

#include <stdio.h>
#include <string.h>

#include "sim/renamed_keys.h"

/* clang-format off */
#define INFO(name, unit, meaning) {#name, unit, meaning},
const struct figure_info figure_list[] = { FIGURES(INFO) {0} };
const struct figure_info flow_figure_list[] = { FLOW_FIGURES(INFO) {0} };
const struct figure_info port_figure_list[] = { PORT_FIGURES(INFO) {0} };
const struct figure_info load_figure_list[] = { LOAD_FIGURES(INFO) {0} };
/* clang-format on */

#define NAMES_MAX 96

int figure_index(const struct figure_info *list, const char *name)
{
	for (int i = 0; list[i].name != NULL; i++) {
		if (strcmp(list[i].name, name) == 0)
			return i;
	}
	return -1;
}

/* Says what is near, of two lists, either of which may be NULL. */
static bool refuse(const char *name, const struct figure_info *one, const struct figure_info *other,
		   char *why, size_t why_bytes)
{
	const struct figure_info *lists[] = {one, other};
	const char *names[NAMES_MAX];
	size_t count = 0;
	for (size_t i = 0; i < 2; i++) {
		for (const struct figure_info *info = lists[i]; info && info->name; info++)
			names[count++] = info->name;
	}
	char hint[256];
	renamed_key_hint(renamed_key("metric", name), name, names, count, hint, sizeof(hint));
	snprintf(why, why_bytes, "no figure \"%s\"%s", name, hint);
	return false;
}

bool figure_name_valid(const char *name, char *why, size_t why_bytes)
{
	const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
	if (dot == NULL && figure_index(figure_list, name) >= 0)
		return true;
	if (dot != NULL && (figure_index(flow_figure_list, last) >= 0 ||
			    figure_index(port_figure_list, last) >= 0))
		return true;
	return refuse(last, dot ? flow_figure_list : figure_list, dot ? port_figure_list : NULL,
		      why, why_bytes);
}

bool load_figure_name_valid(const char *name, char *why, size_t why_bytes)
{
	return figure_index(load_figure_list, name) >= 0 ||
	       refuse(name, load_figure_list, NULL, why, why_bytes);
}

double load_figure(const struct load_result *result, int index)
{
	static const size_t places[] = {
#define PLACE(name, unit, meaning) offsetof(struct load_result, name),
		LOAD_FIGURES(PLACE)
#undef PLACE
	};
	return *(const double *)(const void *)((const char *)result + places[index]);
}
