/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_fault: see port_fault.h. Each end that a fault affects has its own event, of its port's
 * block. The event is therefore in the LP of a parallel run that owns the port. Both ends of a link
 * follow the same plan. The fault's own event counts, and reads the counter of its condition.
 *
 * All these events run before other events at their time, so the order of the ends of a link has no
 * effect.
 */
#include "fabric/port_fault.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/port_state.h"

struct hand {
	struct event event;
	const struct port_fault_plan *plan;
	struct port *port;
	uint64_t begun, ended;
};

struct port_fault {
	struct event event;
	struct block block;
	struct port_fault_counters count;
	struct port_fault_plan plan;
	void (*begins)(void *context); /* NULL if no function is registered */
	void *context;
	unsigned hand_count;
	struct hand hands[];
};

static void apply(struct hand *hand, bool begins)
{
	const struct port_fault_plan *plan = hand->plan;

	switch (plan->kind) {
	case PORT_FAULT_link_down:
		if (hand->port->ethernet)
			port_set_end(hand->port, !begins);
		else
			port_set_link(hand->port, !begins);
		break;
	case PORT_FAULT_pause_storm:
		port_storm(hand->port, plan->priorities, begins);
		break;
	case PORT_FAULT_slow_receiver:
		port_set_drain_rate(hand->port, begins ? plan->rate_bps : 0);
		break;
	case PORT_FAULT_COUNT:
		break;
	}
}

/* Returns true if the fault begins now, false if it ends. Counts the change and schedules the next
 * one. */
static bool step(struct event *event, const struct port_fault_plan *plan, uint64_t *begun,
		 uint64_t *ended)
{
	bool begins = *begun == *ended;

	*begun += begins;
	*ended += !begins;
	if (begins && plan->lasts != SIM_NEVER)
		sim_schedule(event, plan->lasts);
	else if (!begins && *begun < plan->times)
		sim_schedule(event, plan->period - plan->lasts);
	return begins;
}

static void hand_fire(struct event *event)
{
	struct hand *hand = container_of(event, struct hand, event);
	bool begins = step(event, hand->plan, &hand->begun, &hand->ended);

	apply(hand, begins);
}

static bool awaits_counter(const struct port_fault *fault)
{
	return fault->plan.watched && !fault->count.begun &&
	       *fault->plan.watched < fault->plan.reaches;
}

static void look_again(struct port_fault *fault)
{
	sim_time next = sim_now(fault->block.sim) + fault->plan.every;

	if (next <= fault->plan.give_up)
		sim_schedule_at(&fault->event, next);
}

static void fire(struct event *event)
{
	struct port_fault *fault = container_of(event, struct port_fault, event);
	bool first = fault->plan.watched && !fault->count.begun;

	if (awaits_counter(fault)) {
		look_again(fault);
		return;
	}
	step(event, &fault->plan, &fault->count.begun, &fault->count.ended);
	for (unsigned i = 0; first && i < fault->hand_count; i++)
		sim_schedule(&fault->hands[i].event, 0);
	if (first && fault->begins)
		fault->begins(fault->context);
}

void port_fault_follow(struct port_fault *fault, void (*begins)(void *context), void *context)
{
	assert(fault->plan.watched && !fault->begins);
	fault->begins = begins;
	fault->context = context;
}

const struct port_fault_counters *port_fault_counters(const struct port_fault *fault)
{
	return &fault->count;
}

/* clang-format off */
static const struct block_type port_fault_type = {
	.name     = "port_fault",
	.counters = (const struct counter[]){ PORT_FAULT_COUNTERS(COUNTER_ENTRY) { 0 } },
};
/* clang-format on */

static void add_hand(struct port_fault *fault, struct port *port)
{
	struct hand *hand = &fault->hands[fault->hand_count++];

	hand->plan = &fault->plan;
	hand->port = port;
	event_init_priority(&hand->event, &port->block, hand_fire, PRIORITY_FIRST);
	if (!fault->plan.watched)
		sim_schedule_at(&hand->event, fault->plan.from);
}

struct port_fault *port_fault_create(struct sim *sim, const char *name,
				     const struct port_fault_plan *plan, struct port *const *ports,
				     unsigned count)
{
	bool both_ends = plan->kind == PORT_FAULT_link_down;
	struct port_fault *fault = calloc(1, sizeof(*fault) + 2 * count * sizeof(fault->hands[0]));

	assert(fault && plan->kind < PORT_FAULT_COUNT && plan->lasts > 0);
	assert(plan->times == 1 || (plan->times > 1 && plan->period > plan->lasts));
	assert(!plan->watched || plan->every > 0);
	assert(plan->kind != PORT_FAULT_slow_receiver || plan->rate_bps);
	fault->plan = *plan;
	block_init(&fault->block, sim, &port_fault_type, name, NULL, &fault->count);
	event_init_priority(&fault->event, &fault->block, fire, PRIORITY_FIRST);
	sim_schedule_at(&fault->event, plan->from);
	for (unsigned i = 0; i < count; i++) {
		assert(ports[i]->peer);
		add_hand(fault, ports[i]);
		if (both_ends && ports[i]->ethernet)
			add_hand(fault, ports[i]->peer);
	}
	return fault;
}

void port_fault_destroy(struct port_fault *fault)
{
	sim_cancel(&fault->event);
	for (unsigned i = 0; i < fault->hand_count; i++)
		sim_cancel(&fault->hands[i].event);
	block_fini(&fault->block);
	free(fault);
}
