/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_fold: the state of a switch for sim/fold.h, while no packet is in it. Its ports are blocks
 * of their own. Only blocks with a state that is not comparable change the forwarding tables.
 */
#include "switch/switch_fold.h"

#include "sim/fold.h"
#include "switch/switch_state.h"

#define FIELD(member, kind) FOLD_FIELD(struct fabric_switch, member, FOLD_##kind)

static const struct fold_field fields[] = {
	FIELD(block, SKIP),
	FIELD(count, SKIP),
	FIELD(replicas, SKIP),
};

static void fold_flowlets(const struct fabric_switch *sw, struct fold *fold)
{
	for (uint64_t i = 0; sw->flowlets && i <= sw->flowlet_mask; i++) {
		const struct flowlet *entry = &sw->flowlets[i];

		fold_deadline(fold, entry->last ? entry->last + sw->params.flowlet_gap : SIM_NEVER);
		fold_number(fold, entry->port);
	}
}

static const char *trouble(const struct fabric_switch *sw)
{
	if (sw->overlay)
		return "balances with other leaves";
	if (sw->starvation)
		return "returns credits slowly";
	if (sw->plugins)
		return "has plug-ins";
	if (sw->telemetry)
		return "writes telemetry, which has absolute times";
	if (sw->replicas.in_use)
		return "has packets";
	return NULL;
}

void switch_fold(struct block *block, struct fold *fold)
{
	const struct fabric_switch *sw = container_of(block, const struct fabric_switch, block);
	const char *reason = trouble(sw);

	if (reason) {
		fold_refuse(fold, "%s %s", block->name, reason);
		return;
	}
	fold_struct(fold, sw, sizeof(*sw), fields, ARRAY_SIZE(fields));
	fold_raw(fold, sw->ports, sw->port_count * sizeof(sw->ports[0]));
	fold_raw(fold, sw->groups, sw->group_count * sizeof(sw->groups[0]));
	fold_flowlets(sw, fold);
	if (sw->buffer)
		shared_buffer_fold(sw->buffer, fold);
}
