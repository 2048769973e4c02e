/* SPDX-License-Identifier: Apache-2.0 */
/*
 * example: serves the VLs of a port in turn, packet by packet.
 * It is a start: replace choose(). The interface is hcasim/switch_plugins.h.
 *
 *     hcasim plugin build example.c
 *     hcasim run FILE --set fabric.switch.plugins.schedule=./example.so
 */
#include "hcasim/switch_plugins.h"

/* State of the plug-in at one port. It is zeroed before state_init(). */
struct example_state {
	const struct switch_identity *identity;
	uint32_t last; /* VL that was served last */
};

enum { COUNT_BYTES };
static const struct counter counters[] = {{"bytes", "bytes", "Bytes of packets that left."}, {0}};

static void state_init(void *context, const void *params, const struct switch_identity *identity)
{
	struct example_state *state = context;

	(void)params;
	state->identity = identity;
}

/* The queues are in the order of their VLs. */
static uint32_t choose(void *context, const void *params, sim_time now,
		       const struct schedule_queue *queues, uint32_t count)
{
	const struct example_state *state = context;

	(void)params, (void)now;
	for (uint32_t i = 0; i < count; i++)
		if (queues[i].vl > state->last)
			return i;
	return 0;
}

static void on_departure(void *context, const void *params, sim_time now, uint32_t vl,
			 uint32_t wire_bytes, bool empty)
{
	struct example_state *state = context;

	(void)params, (void)now, (void)empty;
	state->last = vl;
	plugin_count(&state->identity->host, COUNT_BYTES, wire_bytes);
}

const struct schedule_ops schedule_plugin = {
	.plugin =
		{
			.version = SWITCH_PLUGIN_VERSION,
			.name = "example",
			.meaning = "a packet of each VL in turn",
			.state_bytes = sizeof(struct example_state),
			.counters = counters,
			.state_init = state_init,
		},
	.choose = choose,
	.on_departure = on_departure,
};
