/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reroute: see reroute.h. It derives the state of links `delay` ago from the plans of the faults.
 * When that state changes, it fills the tables again. Each switch has its own event for the change,
 * of its own block. The number of events is therefore independent of the number of LPs. The first
 * event of an LP does the work for all of its switches.
 */
#include "fabric/reroute.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port_state.h"
#include "fabric/topology_state.h"
#include "sim/parallel.h"

struct outage {
	struct port_fault_plan plan;
	struct reroute *reroute;
	uint64_t begun, ended;
	/* next change of the links, or SIM_NEVER if there is none or it is unknown */
	sim_time next;
	uint32_t count;
	uint32_t *ports;
};

struct hand {
	struct event event; /* runs `delay` after the next change */
	struct reroute *reroute;
};

struct reroute {
	struct block block; /* block of the first LP's instance */
	struct reroute_counters count;
	struct sim *lp;
	struct topology *topology;
	sim_time delay;
	bool *down; /* by port number */
	struct outage **outages;
	unsigned outage_count;
	bool counts;
	unsigned hand_count;
	struct hand hands[];
};

static void schedule(struct hand *hand)
{
	const struct reroute *reroute = hand->reroute;
	sim_time next = SIM_NEVER;

	sim_cancel(&hand->event);
	for (unsigned i = 0; i < reroute->outage_count; i++)
		if (reroute->outages[i]->next < next)
			next = reroute->outages[i]->next;
	if (next < SIM_NEVER - reroute->delay)
		sim_schedule_at(&hand->event, next + reroute->delay);
}

static void schedule_all(struct reroute *reroute)
{
	for (unsigned i = 0; i < reroute->hand_count; i++)
		schedule(&reroute->hands[i]);
}

/* Applies the next change of the links of an outage. */
static void change(struct outage *outage)
{
	const struct port_fault_plan *plan = &outage->plan;
	bool begins = outage->begun == outage->ended;

	for (uint32_t i = 0; i < outage->count; i++)
		outage->reroute->down[outage->ports[i]] = begins;
	outage->begun += begins;
	outage->ended += !begins;
	if (begins && plan->lasts < SIM_NEVER - outage->next)
		outage->next += plan->lasts;
	else if (!begins && outage->begun < plan->times)
		outage->next += plan->period - plan->lasts;
	else
		outage->next = SIM_NEVER;
}

static void fire(struct event *event)
{
	struct hand *hand = container_of(event, struct hand, event);
	struct reroute *reroute = hand->reroute;
	sim_time known = sim_now(reroute->lp) - reroute->delay;
	bool changed = false;

	for (unsigned i = 0; i < reroute->outage_count; i++) {
		while (reroute->outages[i]->next <= known) {
			change(reroute->outages[i]);
			changed = true;
		}
	}
	if (changed) {
		topology_reroute(reroute->topology, reroute->down, reroute->lp);
		reroute->count.changes++;
	}
	schedule(hand);
}

static void begins(void *context)
{
	struct outage *outage = context;

	outage->next = sim_now(outage->reroute->lp);
	schedule_all(outage->reroute);
}

void reroute_add(struct reroute *reroute, const struct port_fault_plan *plan, const uint32_t *ports,
		 uint32_t count, struct port_fault *fault)
{
	size_t outages = reroute->outage_count + 1;
	struct outage *outage = calloc(1, sizeof(*outage));

	reroute->outages = realloc(reroute->outages, outages * sizeof(struct outage *));
	assert(outage && reroute->outages && plan->kind == PORT_FAULT_link_down);
	*outage = (struct outage){
		.plan = *plan,
		.reroute = reroute,
		.next = plan->watched ? SIM_NEVER : plan->from,
		.count = count,
		.ports = malloc((count + 1) * sizeof(uint32_t)),
	};
	assert(outage->ports);
	memcpy(outage->ports, ports, count * sizeof(uint32_t));
	reroute->outages[reroute->outage_count++] = outage;
	if (plan->watched)
		port_fault_follow(fault, begins, outage);
	schedule_all(reroute);
}

/* clang-format off */
static const struct block_type reroute_type = {
	.name     = "reroute",
	.counters = (const struct counter[]){ REROUTE_COUNTERS(COUNTER_ENTRY) { 0 } },
};
/* clang-format on */

static void add_hand(struct reroute *reroute, struct block *block)
{
	struct hand *hand = &reroute->hands[reroute->hand_count++];

	hand->reroute = reroute;
	event_init_priority(&hand->event, block, fire, PRIORITY_FIRST);
}

struct reroute *reroute_create(struct sim *lp, struct topology *topology, sim_time delay)
{
	struct reroute *reroute =
		calloc(1, sizeof(*reroute) + (topology->count + 1) * sizeof(struct hand));

	assert(reroute && delay);
	reroute->lp = lp;
	reroute->topology = topology;
	reroute->delay = delay;
	reroute->counts = sim_lp_number(lp) == 0;
	reroute->down = calloc(topology_ports(topology) + 1, sizeof(bool));
	assert(reroute->down);
	if (reroute->counts) {
		block_init(&reroute->block, lp, &reroute_type, "reroute", NULL, &reroute->count);
		add_hand(reroute, &reroute->block);
	}
	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *node = &topology->nodes[i];

		if (node->is_switch && port_sim(topology_port_of(node, 0)) == lp)
			add_hand(reroute, &topology_port_of(node, 0)->block);
	}
	return reroute;
}

void reroute_destroy(struct reroute *reroute)
{
	for (unsigned i = 0; i < reroute->hand_count; i++)
		sim_cancel(&reroute->hands[i].event);
	if (reroute->counts)
		block_fini(&reroute->block);
	for (unsigned i = 0; i < reroute->outage_count; i++) {
		free(reroute->outages[i]->ports);
		free(reroute->outages[i]);
	}
	free(reroute->outages);
	free(reroute->down);
	free(reroute);
}
