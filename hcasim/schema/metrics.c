/* SPDX-License-Identifier: Apache-2.0 */
/* metrics: see metrics.h. */
#include "hcasim/schema/metrics.h"

#include <stdio.h>
#include <string.h>

#include "sim/renamed_keys.h"

/* clang-format off */
#define INFO(name, unit, meaning) {#name, unit, meaning},
const struct metric_info metric_list[] = { METRICS(INFO) {0} };
const struct metric_info flow_metric_list[] = { FLOW_METRICS(INFO) {0} };
const struct metric_info port_metric_list[] = { PORT_METRICS(INFO) {0} };
const struct metric_info load_metric_list[] = { LOAD_METRICS(INFO) {0} };
/* clang-format on */

#define NAMES_MAX 96

int metric_index(const struct metric_info *list, const char *name)
{
	for (int i = 0; list[i].name; i++) {
		if (strcmp(list[i].name, name) == 0)
			return i;
	}
	return -1;
}

/* Says what is near, of two lists, either of which may be NULL. */
static bool refuse(const char *name, const struct metric_info *one, const struct metric_info *other,
		   char *error, size_t error_bytes)
{
	const struct metric_info *lists[] = {one, other};
	const char *names[NAMES_MAX];
	size_t count = 0;
	for (size_t i = 0; i < 2; i++) {
		for (const struct metric_info *info = lists[i]; info && info->name; info++)
			names[count++] = info->name;
	}
	char hint[256];
	renamed_key_hint(renamed_key("metric", name), name, names, count, hint, sizeof(hint));
	snprintf(error, error_bytes, "no metric \"%s\"%s", name, hint);
	return false;
}

bool metric_name_valid(const char *name, char *error, size_t error_bytes)
{
	const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
	if (!dot && metric_index(metric_list, name) >= 0)
		return true;
	if (dot && (metric_index(flow_metric_list, last) >= 0 ||
		    metric_index(port_metric_list, last) >= 0))
		return true;
	return refuse(last, dot ? flow_metric_list : metric_list, dot ? port_metric_list : NULL,
		      error, error_bytes);
}

bool load_metric_name_valid(const char *name, char *error, size_t error_bytes)
{
	return metric_index(load_metric_list, name) >= 0 ||
	       refuse(name, load_metric_list, NULL, error, error_bytes);
}

double load_metric(const struct load_result *result, int index)
{
	static const size_t places[] = {
#define PLACE(name, unit, meaning) offsetof(struct load_result, name),
		LOAD_METRICS(PLACE)
#undef PLACE
	};
	return *(const double *)(const void *)((const char *)result + places[index]);
}
