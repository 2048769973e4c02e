/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_seat: what the adapter's sides of all modules (translation_port, scheduler_port, dma_port) share: a module's life,
 * calls into it, and the order of what it asks for.
 *
 *     port --module_seat_enter()--> function of the module's table --> service of the port --module_seat_schedule()--> event
 *          --module_seat_leave()
 *
 * `calls` tells where a service is called from. Inside of a call of ours it is the model's event that goes on, and its
 * order is the model's. From a process of the module's it comes after all that the models do at that instant.
 */
#ifndef HCA_MODULE_MODULE_SEAT_H
#define HCA_MODULE_MODULE_SEAT_H

#include "hca/module/module.h"
#include "sim/block.h"
#include "sim/systemc_vcd.h"

struct module_seat {
	struct block *block; /* in whose place the module stands; outlives the seat */
	void *module;
	void (*destroy)(void *module);
	unsigned calls; /* of the module that have not returned */
};

/* The module is made by create(argument), in the SystemC engine's context, and its signals are offered; NULL: it
 * shows none. The run has SystemC, or the program ends. */
void module_seat_fill(struct module_seat *seat, struct block *block,
		      void *(*create)(void *argument), void *argument,
		      void (*destroy)(void *module), systemc_trace_function *signals);
void module_seat_clear(struct module_seat *seat);

/* Around each call of a function of the module's table; enter() says how far the models' time is ahead of SystemC's (ps). */
sim_time module_seat_enter(struct module_seat *seat);
void module_seat_leave(struct module_seat *seat);

/* Is this inside of a call, at the time that the module names? Then what it asks for is done at once. */
bool module_seat_is_now(const struct module_seat *seat, sim_time at);

/* An event of `owner`, not pending, at the time that the module names. A time that is over ends the program. */
void module_seat_schedule(struct module_seat *seat, struct event *event, struct block *owner,
			  void (*fire)(struct event *), sim_time at);

#endif
