/* figures: see figures.h. */
#include "scenarios/figures.h"

#include <stdio.h>
#include <string.h>

#include "sim/yaml.h"

/* clang-format off */
#define INFO(name, unit, meaning) {#name, unit, meaning},
const struct figure_info figure_list[] = { FIGURES(INFO) {0} };
const struct figure_info flow_figure_list[] = { FLOW_FIGURES(INFO) {0} };
const struct figure_info port_figure_list[] = { PORT_FIGURES(INFO) {0} };
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

bool figure_name_valid(const char *name, char *why, size_t why_bytes)
{
	const char *names[NAMES_MAX], *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
	size_t count = 0;
	if (dot == NULL && figure_index(figure_list, name) >= 0)
		return true;
	if (dot != NULL && (figure_index(flow_figure_list, last) >= 0 ||
			    figure_index(port_figure_list, last) >= 0))
		return true;
	const struct figure_info *lists[] = {dot ? flow_figure_list : figure_list,
					     dot ? port_figure_list : NULL};
	for (size_t i = 0; i < 2; i++) {
		for (const struct figure_info *info = lists[i]; info && info->name; info++)
			names[count++] = info->name;
	}
	const char *near = yaml_suggest(last, names, count);
	snprintf(why, why_bytes, "no figure \"%s\"%s%s%s", last, near ? "; did you mean \"" : "",
		 near ? near : "", near ? "\"?" : "");
	return false;
}
