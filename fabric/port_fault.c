/*
 * port_fault: see port_fault.h.
 */
#include "fabric/port_fault.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct port_fault {
	struct event event;
	struct block block;
	struct port_fault_counters count;
	struct port_fault_plan plan;
	unsigned ports_count;
	struct port *ports[];
};

static void apply(struct port_fault *fault, struct port *port, bool begins)
{
	switch (fault->plan.kind) {
	case PORT_FAULT_link_down:
		port_set_link(port, !begins);
		break;
	case PORT_FAULT_pause_storm:
		port_storm(port, fault->plan.priorities, begins);
		break;
	case PORT_FAULT_slow_receiver:
		port_set_drain_rate(port, begins ? fault->plan.rate_bps : 0);
		break;
	case PORT_FAULT_COUNT:
		break;
	}
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
	const struct port_fault_plan *plan = &fault->plan;
	bool begins = fault->count.begun == fault->count.ended;

	if (awaits_counter(fault)) {
		look_again(fault);
		return;
	}
	for (unsigned i = 0; i < fault->ports_count; i++)
		if (port_peer(fault->ports[i]))
			apply(fault, fault->ports[i], begins);
	fault->count.begun += begins;
	fault->count.ended += !begins;
	if (begins && plan->lasts != SIM_NEVER)
		sim_schedule(&fault->event, plan->lasts);
	else if (!begins && fault->count.begun < plan->times)
		sim_schedule(&fault->event, plan->period - plan->lasts);
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

struct port_fault *port_fault_create(struct sim *sim, const char *name,
				     const struct port_fault_plan *plan, struct port *const *ports,
				     unsigned count)
{
	struct port_fault *fault = calloc(1, sizeof(*fault) + count * sizeof(fault->ports[0]));

	assert(fault && plan->kind < PORT_FAULT_COUNT && plan->lasts > 0);
	assert(plan->times == 1 || (plan->times > 1 && plan->period > plan->lasts));
	assert(!plan->watched || plan->every > 0);
	assert(plan->kind != PORT_FAULT_slow_receiver || plan->rate_bps);
	fault->plan = *plan;
	fault->ports_count = count;
	for (unsigned i = 0; i < count; i++)
		fault->ports[i] = ports[i];
	block_init(&fault->block, sim, &port_fault_type, name, NULL, &fault->count);
	event_init(&fault->event, &fault->block, fire);
	sim_schedule_at(&fault->event, plan->from);
	return fault;
}

void port_fault_destroy(struct port_fault *fault)
{
	sim_cancel(&fault->event);
	block_fini(&fault->block);
	free(fault);
}
