/* SPDX-License-Identifier: Apache-2.0 */
/* module_seat: see module_seat.h. */
#include "hca/module/module_seat.h"

#include <assert.h>

#include "sim/foreign.h"
#include "sim/systemc.h"

sim_time module_seat_enter(struct module_seat *seat)
{
	if (!seat->calls++)
		foreign_enter(seat->block->name, "the module in its place");
	return systemc_enter(seat->block->sim);
}

void module_seat_leave(struct module_seat *seat)
{
	assert(seat->calls);
	if (!--seat->calls)
		foreign_leave();
}

bool module_seat_is_now(const struct module_seat *seat, sim_time at)
{
	return seat->calls && at == sim_now(seat->block->sim);
}

void module_seat_schedule(struct module_seat *seat, struct event *event, struct block *owner,
			  void (*fire)(struct event *), sim_time at)
{
	module_check_time(seat->block->sim, seat->block->name, at);
	event_init_priority(event, owner, fire, seat->calls ? PRIORITY_DEFAULT : PRIORITY_EXTERNAL);
	sim_schedule_at(event, at);
}

/* ---- life ---- */

struct creation {
	struct module_seat *seat;
	void *(*create)(void *argument);
	void *argument;
};

static void create_module(void *argument)
{
	const struct creation *creation = argument;

	creation->seat->module = creation->create(creation->argument);
	assert(creation->seat->module);
}

static void destroy_module(void *argument)
{
	struct module_seat *seat = argument;

	seat->destroy(seat->module);
}

static void in_systemc(struct module_seat *seat, void (*call)(void *argument), void *argument)
{
	if (!systemc_call(seat->block->sim, call, argument))
		module_broke(seat->block->name, "needs the engine systemc or systemc-reference");
}

void module_seat_fill(struct module_seat *seat, struct block *block,
		      void *(*create)(void *argument), void *argument,
		      void (*destroy)(void *module), systemc_trace_function *signals)
{
	struct creation creation = {seat, create, argument};

	*seat = (struct module_seat){.block = block, .destroy = destroy};
	foreign_watch();
	in_systemc(seat, create_module, &creation);
	if (signals)
		systemc_vcd_offer(block->sim, block->name, signals, seat->module);
}

void module_seat_clear(struct module_seat *seat)
{
	systemc_vcd_withdraw(seat->block->sim, seat->module);
	in_systemc(seat, destroy_module, seat);
}
