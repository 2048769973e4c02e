/* SPDX-License-Identifier: Apache-2.0 */
/* module_host: see module_host.h. */
#include "hca/module/module_host.h"

#include <assert.h>

#include "sim/foreign.h"
#include "sim/systemc.h"

sim_time module_host_enter(struct module_host *host)
{
	if (host->builtin)
		return 0;
	if (!host->calls++)
		foreign_enter(host->block->name, "the module that replaces it");
	return systemc_enter(host->block->sim);
}

void module_host_leave(struct module_host *host)
{
	assert(host->calls);
	if (!host->builtin && !--host->calls)
		foreign_leave();
}

bool module_host_is_now(const struct module_host *host, sim_time at)
{
	return host->calls && at == sim_now(host->block->sim);
}

void module_host_must_be_inside(const struct module_host *host)
{
	if (!host->calls)
		module_broke(host->block->name, "calls a service from its own process; expected "
						"a service within a call of the adapter");
}

void module_host_schedule(struct module_host *host, struct event *event, struct block *owner,
			  void (*fire)(struct event *), sim_time at)
{
	module_check_time(host->block->sim, host->block->name, at);
	event_init_priority(event, owner, fire, host->calls ? PRIORITY_DEFAULT : PRIORITY_EXTERNAL);
	sim_schedule_at(event, at);
}

/* ---- creation and destruction ---- */

struct creation {
	struct module_host *host;
	void *(*create)(void *argument);
	void *argument;
};

static void create_module(void *argument)
{
	const struct creation *creation = argument;

	creation->host->module = creation->create(creation->argument);
	assert(creation->host->module);
}

static void destroy_module(void *argument)
{
	struct module_host *host = argument;

	host->destroy(host->module);
}

static void in_systemc(struct module_host *host, void (*call)(void *argument), void *argument)
{
	if (!systemc_call(host->block->sim, call, argument))
		module_broke(host->block->name, "needs the engine systemc or systemc-reference");
}

const void *module_host_table(enum module_kind kind, size_t table_bytes, const char *block,
			      const struct param_text *module, const void *builtin)
{
	return *module->text ? module_open(kind, table_bytes, block, module->text) : builtin;
}

void module_host_fill(struct module_host *host, struct block *block, bool builtin,
		      void *(*create)(void *argument), void *argument,
		      void (*destroy)(void *module), systemc_trace_function *signals)
{
	struct creation creation = {host, create, argument};

	*host = (struct module_host){
		.block = block, .destroy = destroy, .builtin = builtin, .calls = builtin};
	if (builtin) {
		create_module(&creation);
		return;
	}
	foreign_watch();
	in_systemc(host, create_module, &creation);
	if (signals)
		systemc_vcd_offer(block->sim, block->name, signals, host->module);
}

void module_host_clear(struct module_host *host)
{
	if (host->builtin) {
		destroy_module(host);
		return;
	}
	systemc_vcd_withdraw(host->block->sim, host->module);
	in_systemc(host, destroy_module, host);
}
