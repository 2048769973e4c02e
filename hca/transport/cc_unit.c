/* SPDX-License-Identifier: Apache-2.0 */
/* cc_unit: see cc_unit.h. */
#include "hca/transport/cc_unit.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "hca/transport/notification.h"
#include "hca/transport/transport.h"
#include "sim/plugin_block.h"

#define ROW(...)       PARAM_ROW(struct notification_params, __VA_ARGS__)
#define SLAB_STATES    16
#define PREAMBLE_BYTES 8
#define GAP_BYTES      12
#define NAME_BYTES     256

/* clang-format off */
const struct param notification_param_list[] = {NOTIFICATION_PARAMS(ROW) {0}};

static const struct block_type cc_unit_type = {
	.name         = "congestion",
	.params       = notification_param_list,
	.counters     = (const struct counter[]){CC_UNIT_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){CC_UNIT_TRACE(TRACE_ENTRY) {0}},
};
/* clang-format on */

static bool reacts(const struct congestion_choice *choice)
{
	const struct congestion_ops *ops = choice->congestion.ops;

	return ops && ops != congestion_list()[0]; /* the first algorithm of the list is `none` */
}

static enum notification_mode mode_of(const struct notification_params *params,
				      const struct congestion_choice *choice)
{
	enum notification_mode mode = (enum notification_mode)params->notify;

	if (mode != NOTIFICATION_AUTO)
		return mode;
	return reacts(choice) ? NOTIFICATION_CNP : NOTIFICATION_NONE;
}

struct qp_congestion *cc_unit_state(struct qp *qp)
{
	assert(!qp_is_datagram(qp));
	if (!qp->congestion)
		qp->congestion = pool_take_zeroed(&qp->transport->congestion->states);
	return qp->congestion;
}

void cc_unit_forget(struct qp *qp)
{
	struct cc_unit *unit = qp->transport->congestion;
	struct qp_congestion *state = qp->congestion;

	if (!state)
		return;
	if (state->telemetry)
		packet_telemetry_free(qp->transport->blocks.packets, state->telemetry);
	if (state->sends) {
		unit->count.cc_states--;
		unit->count.rate_now -= state->rate_seen;
	}
	pool_give(&unit->states, state);
	qp->congestion = NULL;
}

/* Adds the block of a plug-in beside the block of the unit. */
static void add_plugin(struct cc_unit *unit)
{
	const struct congestion_ops *ops = unit->congestion->ops;
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "%s.plugin", unit->block.name);
	unit->plugin = calloc(1, sizeof(*unit->plugin));
	assert(unit->plugin);
	plugin_block_init(unit->plugin, unit->block.sim, name, ops->name, ops->name, ops->counters,
			  ops->trace_points);
}

struct cc_unit *cc_unit_create(struct transport_block *transport, const char *name,
			       const struct notification_params *params)
{
	const struct congestion_choice *choice = transport->facts.congestion;
	enum notification_mode notify = mode_of(params, choice);
	bool ethernet = transport->facts.link_layer == LINK_ETHERNET;
	struct cc_unit *unit;
	size_t state_bytes = 0;

	if (notify == NOTIFICATION_NONE && !reacts(choice))
		return NULL;
	unit = calloc(1, sizeof(*unit));
	assert(unit);
	unit->transport = transport;
	unit->params = params;
	unit->notify = notify;
	unit->ecn = ethernet && notify != NOTIFICATION_NONE ? ECN_ECT0 : ECN_NOT_ECT;
	unit->gap_bytes = ethernet ? PREAMBLE_BYTES + GAP_BYTES : 0;
	if (reacts(choice)) {
		unit->congestion = &choice->congestion;
		state_bytes = unit->congestion->ops->state_bytes;
	}
	block_init(&unit->block, transport->block.sim, &cc_unit_type, name, unit->params,
		   (const uint64_t *)&unit->count);
	if (unit->congestion && unit->congestion->guarded)
		add_plugin(unit);
	pool_init(&unit->states, sizeof(struct qp_congestion) + state_bytes, SLAB_STATES);
	notification_init(unit);
	return unit;
}

void cc_unit_destroy(struct cc_unit *unit)
{
	if (!unit)
		return;
	assert(!unit->states.in_use);
	notification_fini(unit);
	pool_fini(&unit->states);
	if (unit->plugin)
		plugin_block_fini(unit->plugin);
	free(unit->plugin);
	block_fini(&unit->block);
	free(unit);
}

const struct cc_unit_counters *cc_unit_counters(const struct cc_unit *unit)
{
	return &unit->count;
}
