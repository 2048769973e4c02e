/* SPDX-License-Identifier: Apache-2.0 */
/*
 * example: sends each flow by the path that a hash selects, as ECMP does.
 * It is a start: replace choose(). The interface is hcasim/switch_plugins.h.
 *
 *     hcasim plugin build example.c
 *     hcasim run FILE --set fabric.switch.plugins.balance=./example.so
 */
#include "hcasim/switch_plugins.h"

/* X(name, KIND, default, range, meaning, source): a scenario sets
 * plugins: {balance_values: "rotate=1"}. */
#define EXAMPLE_PARAMS(X) \
	X(rotate, COUNT, "0", "0..255", "Added to the index of the path.", "choice")

struct example_params {
	EXAMPLE_PARAMS(PARAM_FIELD)
};

/* State of the plug-in in one switch. It is zeroed before state_init(). */
struct example_state {
	const struct switch_identity *identity;
};

enum { COUNT_CHOICES };
static const struct counter counters[] = {
	{"choices", "packets", "Packets for which a path was chosen."}, {0}};

enum { TRACE_CHOICE };
static const struct trace_point trace_points[] = {
	{"CHOICE", "port", "queued_bytes", "A path was chosen."}, {0}};

static void state_init(void *context, const void *params, const struct switch_identity *identity)
{
	struct example_state *state = context;

	(void)params;
	state->identity = identity;
}

static uint32_t choose(void *context, const void *values, sim_time now,
		       const struct balance_packet *packet, const struct balance_port *ports,
		       uint32_t count)
{
	const struct example_params *params = values;
	struct example_state *state = context;
	uint32_t index = (uint32_t)((packet->flow_hash >> 32) * count >> 32);

	(void)now;
	index = (uint32_t)((index + params->rotate) % count);
	plugin_count(&state->identity->host, COUNT_CHOICES, 1);
	plugin_trace(&state->identity->host, TRACE_CHOICE, ports[index].port,
		     ports[index].queued_bytes);
	return index;
}

#define ROW(...) PARAM_ROW(struct example_params, __VA_ARGS__)
static const struct param param_list[] = {EXAMPLE_PARAMS(ROW){0}};

const struct balance_ops balance_plugin = {
	.plugin =
		{
			.version = SWITCH_PLUGIN_VERSION,
			.name = "example",
			.meaning = "a path for each flow, by a hash",
			.params = param_list,
			.params_bytes = sizeof(struct example_params),
			.state_bytes = sizeof(struct example_state),
			.counters = counters,
			.trace_points = trace_points,
			.state_init = state_init,
		},
	.choose = choose,
};
