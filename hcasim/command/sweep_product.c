/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_product: points of a sweep, one for each combination of the values of all axes, and the
 * scenario of each point. All points are read before the first one runs, so that all errors are
 * reported together.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/sweep.h"

#define POINTS_MAX  1000000
#define ERROR_BYTES 1024

const struct scenario_sweep_value *sweep_product_value(const struct sweep *sweep, size_t point,
						       uint32_t axis)
{
	const struct scenario *scenario = sweep->scenario;
	for (uint32_t i = scenario->axis_count - 1; i > axis; i--)
		point /= scenario->axes[i].count;
	return &scenario->axes[axis].values[point % scenario->axes[axis].count];
}

/* Returns true if "key.path=value" is a value of the axis. */
static bool is_of_axis(const struct scenario_sweep_axis *axis, const char *text)
{
	for (uint32_t i = 0; i < axis->count; i++) {
		for (char **set = axis->values[i].sets; *set; set++) {
			size_t length = strcspn(*set, "=") + 1;
			if (strncmp(text, *set, length) == 0)
				return true;
		}
	}
	return false;
}

/* A value of the sweep is an override, as one of --set is. Its errors are at the key of the sweep
 * in the file. */
static void place_errors(const struct scenario *scenario, struct yaml_errors *errors)
{
	static const char set[] = "--set ";
	for (size_t i = 0; i < errors->kept; i++) {
		struct yaml_problem *problem = &errors->list[i];
		if (strncmp(problem->file, set, strlen(set)) != 0)
			continue;
		const char *value = problem->file + strlen(set);
		for (uint32_t k = 0; k < scenario->axis_count; k++) {
			const struct scenario_sweep_axis *axis = &scenario->axes[k];
			char context[ERROR_BYTES];
			if (!is_of_axis(axis, value))
				continue;
			snprintf(context, sizeof(context), "sweep: %s", value);
			yaml_error_move(problem, scenario->file, axis->line, axis->column, context);
			break;
		}
	}
}

static unsigned depth_of(const char *set)
{
	unsigned depth = 1;
	for (; *set != '=' && *set != '\0'; set++)
		depth += *set == '.';
	return depth;
}

/* Adds copies of all sets of the point. A key precedes the keys below it, so that each of them
 * takes effect for any order of the axes. Returns the new count. */
static size_t add_sets(const struct sweep *sweep, size_t point, char **overrides, size_t count)
{
	const struct scenario *scenario = sweep->scenario;
	for (unsigned depth = 1, deeper = 1; deeper > 0; depth++) {
		deeper = 0;
		for (uint32_t i = 0; i < scenario->axis_count; i++) {
			char **set = sweep_product_value(sweep, point, i)->sets;
			for (; *set; set++) {
				deeper += depth_of(*set) > depth;
				if (depth_of(*set) == depth)
					overrides[count++] = strdup(*set);
			}
		}
	}
	return count;
}

static bool has_same_workloads(const struct scenario *one, const struct scenario *other)
{
	if (one->has_workloads != other->has_workloads)
		return false;
	if (!one->has_workloads)
		return true;
	if (one->workload_count != other->workload_count)
		return false;
	for (uint32_t i = 0; i < one->workload_count; i++)
		if (strcmp(one->workloads[i].name, other->workloads[i].name) != 0)
			return false;
	return true;
}

struct scenario *sweep_product_read(const struct sweep *sweep, size_t point,
				    struct yaml_errors *errors)
{
	const struct arguments *arguments = sweep->arguments;
	const struct scenario *scenario = sweep->scenario;
	size_t count = 0, room = arguments->override_count + 1;
	for (uint32_t i = 0; i < scenario->axis_count; i++)
		for (char **set = sweep_product_value(sweep, point, i)->sets; *set; set++)
			room++;
	char **overrides = calloc(room, sizeof(*overrides));
	struct yaml_errors found = {0};
	if (!overrides)
		abort();
	for (size_t i = 0; i < arguments->override_count; i++)
		overrides[count++] = strdup(arguments->overrides[i]);
	count = add_sets(sweep, point, overrides, count);
	if (!arguments->expect) /* `expect` is for the file's own values */
		overrides[count++] = strdup("expect=[]");
	struct scenario *read =
		scenario_read(arguments->word, (const char *const *)overrides, count, &found);
	place_errors(scenario, &found);
	yaml_errors_append(errors, &found);
	for (size_t i = 0; i < count; i++)
		free(overrides[i]);
	free(overrides);
	return read;
}

bool sweep_product_find(struct sweep *sweep)
{
	bool good = true;
	sweep->count = 1;
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++)
		sweep->count *= sweep->scenario->axes[i].count;
	if (sweep->count > POINTS_MAX) {
		say("%zu points; expected at most %d", sweep->count, POINTS_MAX);
		return false;
	}
	sweep->points = calloc(sweep->count, sizeof(*sweep->points));
	if (!sweep->points)
		abort();
	for (size_t i = 0; good && i < sweep->count; i++) {
		struct yaml_errors errors = {0};
		struct scenario *scenario = sweep_product_read(sweep, i, &errors);
		yaml_errors_print(&errors, stderr);
		yaml_errors_free(&errors);
		good = scenario && (scenario->has_workload || scenario->has_load);
		if (scenario && !good)
			say("%s: no workload or load to sweep", scenario->file);
		if (good && !has_same_workloads(scenario, sweep->scenario)) {
			say("%s: sweep: with %s=%s the workloads have other names than in the "
			    "file; expected the same names at all points, because they name "
			    "columns of the tables",
			    scenario->file, sweep->scenario->axes[0].columns[0],
			    sweep_product_value(sweep, i, 0)->cells[0]);
			good = false;
		}
		if (good)
			snprintf(sweep->points[i].name, sizeof(sweep->points[i].name),
				 "%016" PRIx64, scenario_hash(scenario));
		scenario_destroy(scenario);
	}
	return good;
}

/* Checks that a value that can be read can be run. */
static bool check_point(const struct sweep *sweep, uint32_t number, size_t value,
			const struct scenario *scenario, struct yaml_errors *errors)
{
	const struct scenario_sweep_axis *axis = &sweep->scenario->axes[number];
	char error[ERROR_BYTES] = "", context[ERROR_BYTES];
	struct yaml_errors found = {0};
	if (dry_run(scenario, error, sizeof(error)))
		return true;
	const char *text = error;
	for (char **one = axis->values[value].sets; *one; one++) {
		char set[ERROR_BYTES];
		int length = snprintf(set, sizeof(set), "--set %s: ", *one);
		if (strncmp(error, set, (size_t)length) == 0)
			text = error + length;
	}
	snprintf(context, sizeof(context), "sweep: %s=%s", axis->columns[0],
		 axis->values[value].cells[0]);
	yaml_error(&found, &(struct yaml_node){.file = scenario->file}, "%s", text);
	yaml_error_move(&found.list[0], scenario->file, axis->line, axis->column, context);
	yaml_errors_append(errors, &found);
	return false;
}

void sweep_product_check(const struct arguments *arguments, const struct scenario *scenario,
			 struct yaml_errors *errors)
{
	const struct sweep sweep = {.arguments = arguments, .scenario = scenario};
	size_t step = 1;
	for (uint32_t axis = scenario->axis_count; axis-- > 0;) {
		bool good = true;
		for (size_t i = 0; good && i < scenario->axes[axis].count; i++) {
			struct scenario *read = sweep_product_read(&sweep, i * step, errors);
			good = read && check_point(&sweep, axis, i, read, errors);
			scenario_destroy(read);
		}
		step *= scenario->axes[axis].count;
	}
}
