/* SPDX-License-Identifier: Apache-2.0 */
/* metrics: see metrics.h. */
#include "hcasim/schema/metrics.h"

#include <stdio.h>
#include <string.h>

#include "sim/renamed_keys.h"

/* clang-format off */
#define INFO(name, unit, meaning) {#name, unit, meaning},
const struct metric_info metric_list[] = { METRICS(INFO) {0} };
const struct metric_info metric_flow_list[] = { FLOW_METRICS(INFO) {0} };
const struct metric_info metric_port_list[] = { PORT_METRICS(INFO) {0} };
const struct metric_info metric_workload_list[] = { WORKLOAD_METRICS(INFO) {0} };
const struct metric_info metric_storage_list[] = { STORAGE_METRICS(INFO) {0} };
const struct metric_info metric_load_list[] = { LOAD_METRICS(INFO) {0} };
/* clang-format on */

#define NAMES_MAX 128

int metric_index(const struct metric_info *list, const char *name)
{
	for (int i = 0; list[i].name; i++) {
		if (strcmp(list[i].name, name) == 0)
			return i;
	}
	return -1;
}

/* Writes an error with the most similar name of the lists, which end with NULL. Returns false. */
static bool refuse(const char *name, const struct metric_info *const *lists, char *error,
		   size_t error_bytes)
{
	const char *names[NAMES_MAX];
	size_t count = 0;
	for (; *lists; lists++) {
		for (const struct metric_info *info = *lists; info->name; info++)
			names[count++] = info->name;
	}
	char hint[256];
	renamed_key_hint(renamed_key("metric", name), name, names, count, hint, sizeof(hint));
	snprintf(error, error_bytes, "no metric \"%s\"%s", name, hint);
	return false;
}

bool metric_name_valid(const char *name, char *error, size_t error_bytes)
{
	static const struct metric_info *const of_run[] = {metric_list, metric_storage_list, NULL};
	static const struct metric_info *const of_parts[] = {metric_flow_list, metric_port_list,
							     metric_workload_list,
							     metric_storage_list, NULL};
	const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
	const struct metric_info *const *lists = dot ? of_parts : of_run;
	for (size_t i = 0; lists[i]; i++)
		if (metric_index(lists[i], last) >= 0)
			return true;
	return refuse(last, lists, error, error_bytes);
}

bool metric_load_name_valid(const char *name, char *error, size_t error_bytes)
{
	static const struct metric_info *const lists[] = {metric_load_list, NULL};
	return metric_index(metric_load_list, name) >= 0 || refuse(name, lists, error, error_bytes);
}

double metric_of_load(const struct load_result *result, int index)
{
	static const size_t places[] = {
#define PLACE(name, unit, meaning) offsetof(struct load_result, name),
		LOAD_METRICS(PLACE)
#undef PLACE
	};
	return *(const double *)(const void *)((const char *)result + places[index]);
}
