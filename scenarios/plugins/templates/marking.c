/* SPDX-License-Identifier: Apache-2.0 */
/*
 * example: marks a packet that leaves a long queue behind it, as DCTCP does.
 * It is a start: replace on_departure(). The interface is hcasim/switch_plugins.h.
 *
 *     hcasim plugin build example.c
 *     hcasim run FILE --set fabric.switch.plugins.marking=./example.so
 */
#include "hcasim/switch_plugins.h"

/* X(name, KIND, default, range, meaning, source): a scenario sets
 * plugins: {marking_values: "threshold=50KB"}. */
#define EXAMPLE_PARAMS(X) \
	X(threshold, BYTES, "65000B", "0B..1GiB", "Longest queue without marks.", "choice")

struct example_params {
	EXAMPLE_PARAMS(PARAM_FIELD)
};

/* State of the plug-in in one switch. It is zeroed before state_init(). */
struct example_state {
	const struct switch_identity *identity;
};

enum { TRACE_MARK };
static const struct trace_point trace_points[] = {
	{"MARK", "port", "queued_bytes", "A packet was marked."}, {0}};

static void state_init(void *context, const void *params, const struct switch_identity *identity)
{
	struct example_state *state = context;

	(void)params;
	state->identity = identity;
}

static bool on_departure(void *context, const void *values, sim_time now,
			 const struct marking_packet *packet)
{
	const struct example_params *params = values;
	struct example_state *state = context;

	(void)now;
	if (packet->queued_bytes <= params->threshold)
		return false;
	plugin_trace(&state->identity->host, TRACE_MARK, packet->port, packet->queued_bytes);
	return true;
}

#define ROW(...) PARAM_ROW(struct example_params, __VA_ARGS__)
static const struct param param_list[] = {EXAMPLE_PARAMS(ROW){0}};

const struct marking_ops marking_plugin = {
	.plugin =
		{
			.version = SWITCH_PLUGIN_VERSION,
			.name = "example",
			.meaning = "marks above a threshold",
			.params = param_list,
			.params_bytes = sizeof(struct example_params),
			.state_bytes = sizeof(struct example_state),
			.trace_points = trace_points,
			.state_init = state_init,
		},
	.on_departure = on_departure,
};
