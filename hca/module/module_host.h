/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_host: what the adapter's sides of all modules (translation_adapter, scheduler_adapter, dma_adapter) share: a module's life,
 * calls into it, and the order of what it asks for.
 *
 *     adapter --module_host_enter()--> function of the module's table --> service of the adapter --module_host_schedule()--> event
 *          --module_host_leave()
 *
 * `calls` tells where a service is called from. Inside of a call of ours it is the model's event that goes on, and its
 * order is the model's. From a process of the module's it comes after all that the models do at that instant.
 */
#ifndef HCA_MODULE_MODULE_HOST_H
#define HCA_MODULE_MODULE_HOST_H

#include "hca/module/module.h"
#include "sim/block.h"
#include "sim/systemc_vcd.h"

struct module_host {
	struct block *block; /* in whose place the module stands; outlives the host */
	void *module;
	void (*destroy)(void *module);
	unsigned calls; /* of the module that have not returned */
};

/* The module is made by create(argument), in the SystemC engine's context, and its signals are offered; NULL: it
 * shows none. The run has SystemC, or the program ends. */
void module_host_fill(struct module_host *host, struct block *block,
		      void *(*create)(void *argument), void *argument,
		      void (*destroy)(void *module), systemc_trace_function *signals);
void module_host_clear(struct module_host *host);

/* Around each call of a function of the module's table; enter() says how far the models' time is ahead of SystemC's (ps). */
sim_time module_host_enter(struct module_host *host);
void module_host_leave(struct module_host *host);

/* Is this inside of a call, at the time that the module names? Then what it asks for is done at once. */
bool module_host_is_now(const struct module_host *host, sim_time at);

/* An event of `owner`, not pending, at the time that the module names. A time that is over ends the program. */
void module_host_schedule(struct module_host *host, struct event *event, struct block *owner,
			  void (*fire)(struct event *), sim_time at);

#endif
