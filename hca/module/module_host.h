/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_host: functions that the adapters of all modules share: creation and destruction of a
 * module, calls into it, and the order of its events. A built-in block may implement the same table
 * and then needs no SystemC.
 *
 *     adapter --module_host_enter()--> function of the module's table --> module_host_leave()
 *                                          `--> service of the adapter
 *                                                   --module_host_schedule()--> event
 *
 * `calls` shows where the module calls a service. Inside a call of the adapter, the service belongs
 * to the model's current event and has its order. Called from a process of the module, the service
 * takes effect after all events of the models at that time.
 */
#ifndef HCA_MODULE_MODULE_HOST_H
#define HCA_MODULE_MODULE_HOST_H

#include "hca/module/module.h"
#include "sim/block.h"
#include "sim/quantity.h"
#include "sim/systemc_vcd.h"

struct module_host {
	struct block *block; /* block that the module replaces; outlives the host */
	void *module;
	void (*destroy)(void *module);
	/* calls into the module that have not returned; always 1 for a built-in block */
	unsigned calls;
	bool builtin;
};

/* Returns the table of the module that the parameter names, or `builtin` if it names none. A module
 * that cannot be loaded ends the program. */
const void *module_host_table(enum module_kind kind, size_t table_bytes, const char *block,
			      const struct param_text *module, const void *builtin);

/* Creates the module by create(argument) in the SystemC engine's context, and offers its signals
 * for waveforms. `signals` may be NULL. Ends the program if the run does not use SystemC. A
 * built-in block needs no SystemC. */
void module_host_fill(struct module_host *host, struct block *block, bool builtin,
		      void *(*create)(void *argument), void *argument,
		      void (*destroy)(void *module), systemc_trace_function *signals);
void module_host_clear(struct module_host *host);

/* Surround each call of a function of the module's table. module_host_enter() returns the time by
 * which the models are ahead of SystemC, in ps. It is 0 for a built-in block. */
sim_time module_host_enter(struct module_host *host);
void module_host_leave(struct module_host *host);

/* Returns true inside a call if `at` is now. The adapter then executes the service at once. */
bool module_host_is_now(const struct module_host *host, sim_time at);

/* Ends the program if it is called outside of a call into the module. */
void module_host_must_be_inside(const struct module_host *host);

/* Schedules an event of `owner`, which must not be pending, at a time that the module chose. Ends
 * the program if `at` is in the past. */
void module_host_schedule(struct module_host *host, struct event *event, struct block *owner,
			  void (*fire)(struct event *), sim_time at);

#endif
