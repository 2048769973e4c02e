/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_expect: section `expect`: bounds of counters and metrics at the end of a run.
 *
 *     expect:
 *       - {counter: "*.fault_drops", at_least: 1}
 *       - {metric: switch0.port2.queue_mean_bytes, equals: 20000, tolerance: 20%, row: D-01}
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "hcasim/schema/metrics.h"
#include "hcasim/schema/scenario_read.h"

/* Bounds of a counter: equals, or at_least and at_most. */
static void refuse_bounds(struct scenario_reader *reader, const struct yaml_node *node)
{
	yaml_error(reader->errors, node, "at_least is above at_most, so no value meets both");
}

static void read_counter(struct scenario_reader *reader, struct yaml_node *node,
			 struct scenario_expectation *expectation)
{
	static const char *const keys[] = {"counter", "equals", "at_least", "at_most", "row", NULL};
	static const size_t low = offsetof(struct scenario_expectation, low);
	static const struct param exact[] = {{"equals", PARAM_COUNT, low, "0", "", "", ""}, {0}};
	static const struct param bounds[] = {{"at_least", PARAM_COUNT, low, "0", "", "", ""},
					      {"at_most", PARAM_COUNT,
					       offsetof(struct scenario_expectation, high), "0", "",
					       "", ""},
					      {0}};
	struct yaml_node *counter = yaml_get(node, "counter"), *equals = yaml_get(node, "equals");
	if (!counter)
		yaml_error(reader->errors, node,
			   "no counter; expected counter: block.name.counter");
	else
		expectation->counter =
			yaml_expect_text(counter, "block.name.counter", reader->errors);
	yaml_override_params(node, bounds, expectation, reader->errors);
	if (equals && (expectation->low != 0 || expectation->high != UINT64_MAX))
		yaml_error(reader->errors, equals,
			   "equals excludes at_least and at_most; remove one of them");
	if (expectation->low > expectation->high)
		refuse_bounds(reader, node);
	if (equals) {
		yaml_override_params(node, exact, expectation, reader->errors);
		expectation->high = expectation->low;
	}
	scenario_refuse_unused(reader, node, NULL, keys);
}

struct metric_bounds {
	double equals, tolerance, at_least, at_most;
	bool gated;
};

static void read_metric(struct scenario_reader *reader, struct yaml_node *node,
			struct scenario_expectation *expectation)
{
#define BOUND(name, kind, default_text, range)                                                  \
	{                                                                                       \
#name, PARAM_##kind, offsetof(struct metric_bounds, name), default_text, range, \
			"", ""                                                                  \
	}
	static const struct param list[] = {
		BOUND(equals, RATIO, "0", ""),
		BOUND(tolerance, RATIO, "0",
		      /* the tolerance is a share of the expected value; above 1 it bounds
		       * nothing */
		      "0..1"),
		BOUND(at_least, RATIO, "0", ""),
		BOUND(at_most, RATIO, "0", ""),
		BOUND(gated, FLAG, "true", ""),
		{0}};
	static const char *const keys[] = {"metric", "row", NULL};
	struct metric_bounds bounds;
	char error[256];
	struct yaml_node *metric = yaml_get(node, "metric"), *equals = yaml_get(node, "equals");
	bool least = yaml_get(node, "at_least"), most = yaml_get(node, "at_most");
	params_default(list, &bounds);
	yaml_override_params(node, list, &bounds, reader->errors);
	expectation->metric = yaml_expect_text(metric, "a metric's name", reader->errors);
	expectation->gated = bounds.gated;
	expectation->least = least ? bounds.at_least : -INFINITY;
	expectation->most = most ? bounds.at_most : INFINITY;
	bool of_load = reader->scenario->has_load;
	if (expectation->metric && !(of_load ? metric_load_name_valid : metric_name_valid)(
					   expectation->metric, error, sizeof(error)))
		yaml_error(reader->errors, metric, "%s", error);
	if (!reader->scenario->has_workload && !of_load)
		yaml_error(reader->errors, metric,
			   "metrics need a workload or a load; the scenario has neither");
	if (equals && (least || most))
		yaml_error(reader->errors, equals,
			   "equals excludes at_least and at_most; remove one of them");
	if (least && most && bounds.at_least > bounds.at_most)
		refuse_bounds(reader, node);
	if (!equals && !least && !most)
		yaml_error(reader->errors, node, "no bounds; expected equals, at_least or at_most");
	if (equals) {
		double width = fabs(bounds.equals) * bounds.tolerance;
		expectation->least = bounds.equals - width;
		expectation->most = bounds.equals + width;
	}
	scenario_refuse_unused(reader, node, list, keys);
}

static void read_expectation(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_expectation *expectation =
		&scenario->expectations[scenario->expectation_count++];
	*expectation = (struct scenario_expectation){.high = UINT64_MAX, .gated = true};
	if (!yaml_expect_map(node, "a counter and its bounds", reader->errors))
		return;
	struct yaml_node *row = yaml_get(node, "row");
	if (row)
		expectation->row = yaml_expect_text(row, "a row's name", reader->errors);
	if (yaml_get(node, "metric"))
		read_metric(reader, node, expectation);
	else
		read_counter(reader, node, expectation);
}

const char *const *scenario_expect_read(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (!node || !scenario_expect_list(reader, node, "expectations"))
		return NULL;
	scenario->expectations = scenario_take_entries(node, sizeof(*scenario->expectations),
						       &scenario->expectation_count);
	for (struct yaml_node *entry = node->children; entry; entry = entry->next)
		read_expectation(reader, entry);
	return NULL;
}

void scenario_expect_print(const struct scenario *scenario, FILE *out)
{
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const struct scenario_expectation *expectation = &scenario->expectations[i];
		if (!expectation->metric) {
			fprintf(out, "  - counter: ");
			scenario_print_text(expectation->counter, out);
			fprintf(out, "\n    at_least: %" PRIu64 "\n    at_most: %" PRIu64 "\n",
				expectation->low, expectation->high);
		} else {
			fprintf(out, "  - metric: ");
			scenario_print_text(expectation->metric, out);
			fputc('\n', out);
			if (isfinite(expectation->least))
				fprintf(out, "    at_least: %.17g\n", expectation->least);
			if (isfinite(expectation->most))
				fprintf(out, "    at_most: %.17g\n", expectation->most);
			fprintf(out, "    gated: %s\n", expectation->gated ? "true" : "false");
		}
		if (expectation->row) {
			fprintf(out, "    row: ");
			scenario_print_text(expectation->row, out);
			fputc('\n', out);
		}
	}
}

void scenario_expect_release(struct scenario *scenario)
{
	free(scenario->expectations);
}
