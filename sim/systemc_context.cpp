/* SPDX-License-Identifier: Apache-2.0 */
/* systemc_context: see systemc_context.h; also the C functions of systemc.h. */
#include "sim/systemc_context.h"

#include <cassert>
#include <cstdio>
#include <cstdlib>

#include "sim/systemc.h"

using namespace sc_core;

systemc_context::systemc_context()
{
	setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
	/* No message for a slice of a run without activity, which is usual. */
	sc_report_handler::set_actions(SC_ID_NO_SC_START_ACTIVITY_, SC_DO_NOTHING);
	context = new sc_simcontext;
	enter();
	sc_set_time_resolution(1, SC_PS);
}

systemc_context::~systemc_context()
{
	enter();
	delete context;
	sc_curr_simcontext = nullptr;
	sc_default_global_context = nullptr;
}

void systemc_context::enter()
{
	sc_curr_simcontext = context;
	sc_default_global_context = context;
}

template <typename F> static void end_with_message_on_error(F &&run)
{
	try {
		run();
	} catch (const std::exception &error) {
		std::fprintf(stderr, "SystemC: %s\n", error.what());
		std::abort();
	}
}

/* sc_start(d) runs all actions before now + d. It triggers actions at now + d but does not run
 * them. They need another delta cycle, which a further call provides. */
void systemc_context::run_before(sim_time until)
{
	end_with_message_on_error([until] {
		sim_time last = until - 1;

		if (last > systemc_now())
			sc_start(systemc_time(last - systemc_now()));
		else
			sc_start(SC_ZERO_TIME);
		while (sc_get_status() != SC_STOPPED && systemc_now() == last &&
		       sc_pending_activity_at_current_time())
			sc_start(SC_ZERO_TIME);
	});
}

void systemc_context::run_all()
{
	end_with_message_on_error([] { sc_start(); });
}

void systemc_context::settle()
{
	if (!sc_is_running())
		return; /* SystemC was never started */
	end_with_message_on_error([] { sc_start(SC_ZERO_TIME); });
	sc_time_to_pending_activity(); /* drops cancelled notifications, which it would leak */
}

bool systemc_call(struct sim *sim, void (*build)(void *argument), void *argument)
{
	if (sim->engine == SIM_ENGINE_native)
		return false;
	static_cast<systemc_host *>(sim->host)->context.enter();
	build(argument);
	return true;
}

sim_time systemc_enter(struct sim *sim)
{
	systemc_host *host = static_cast<systemc_host *>(sim->host);

	assert(host != nullptr);
	host->context.enter();
	host->entered = true;
	return sim->now > systemc_now() ? sim->now - systemc_now() : 0;
}

void systemc_lockstep(struct sim *sim)
{
	assert(sim->host != nullptr);
	static_cast<systemc_host *>(sim->host)->lockstep = true;
}

sim_time systemc_time_stamp(struct sim *sim)
{
	static_cast<systemc_host *>(sim->host)->context.enter();
	return systemc_now();
}

void systemc_notify(struct event *event)
{
	assert((event->key & 7) == PRIORITY_EXTERNAL);
	sim_schedule_at(event, systemc_now());
}

/* libsystemc requires this symbol, because hcasim has its own main(). */
int sc_main(int, char **)
{
	return 0;
}
