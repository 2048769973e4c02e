/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemc_engine: the engine `systemc`. It uses the timing wheel of the native engine. One
 * SystemC process, drain, fires its events in batches, up to the next action of SystemC.
 * SystemC does not see the single events. Without modules, a run is one batch.
 */
#include <cassert>

#include "sim/systemc_context.h"

using namespace sc_core;

namespace
{

struct drain_module : sc_module {
	systemc_host *host;
	sc_event wake;
	sim_time until = 0;

	SC_HAS_PROCESS(drain_module);

	drain_module(sc_module_name name, systemc_host *of) : sc_module(name), host(of)
	{
		SC_METHOD(drain);
		sensitive << wake;
		dont_initialize();
	}

	/* Returns the last time whose events may fire now. */
	sim_time limit() const
	{
		sim_time systemc_next = systemc_now();

		if (!host->lockstep && !sc_pending_activity_at_current_time())
			systemc_next += sc_time_to_pending_activity().value();
		return systemc_next < until ? systemc_next : until - 1;
	}

	void fire_batch(sim_time last)
	{
		struct sim *sim = host->sim;
		struct event *event;

		while ((event = wheel_pop(&sim->wheel, last)) != nullptr) {
			bool for_systemc = (event->key & 7) == PRIORITY_SYSTEMC;

			if (for_systemc && event_time(event) > systemc_now()) {
				/* its order is unchanged; drain sleeps until then */
				wheel_insert(&sim->wheel, event);
				return;
			}
			engine_fire(sim, event);
			if (sim->stop)
				return;
			if (for_systemc || host->entered) {
				host->entered = false;
				last = limit(); /* a module may have added actions to SystemC */
			}
		}
	}

	void drain()
	{
		struct sim *sim = host->sim;
		const struct event *next;

		if (!host->running)
			return; /* the run has ended, so no next_trigger() */
		host->firing = true;
		fire_batch(limit());
		host->firing = false;
		sim->current = nullptr;
		if (sim->stop) {
			sc_pause();
			return;
		}
		next = wheel_first(&sim->wheel);
		if (next == nullptr)
			return; /* sleeps until `wake` */
		if (event_time(next) > systemc_now())
			next_trigger(systemc_time(event_time(next) - systemc_now()), wake);
		else
			next_trigger(SC_ZERO_TIME, wake);
	}
};

struct systemc_engine : systemc_host {
	drain_module module;

	explicit systemc_engine(struct sim *of) : systemc_host(of), module("hcasim", this)
	{
	}
};

systemc_engine *host_of(struct sim *sim)
{
	return static_cast<systemc_engine *>(static_cast<systemc_host *>(sim->host));
}

void systemc_init(struct sim *sim)
{
	sim->host = static_cast<systemc_host *>(new systemc_engine(sim));
}

void systemc_fini(struct sim *sim)
{
	systemc_engine *host = host_of(sim);

	host->context.enter();
	host->module.wake.notify(SC_ZERO_TIME);
	host->context.settle();
	delete host;
}

void systemc_insert(struct sim *sim, struct event *event)
{
	systemc_engine *host = host_of(sim);

	wheel_insert(&sim->wheel, event);
	if (host->running && !host->firing)
		host->module.wake.notify(SC_ZERO_TIME); /* a SystemC process schedules it */
}

void systemc_cancel(struct sim *sim, struct event *event)
{
	wheel_remove(&sim->wheel, event);
}

const struct event *systemc_first(struct sim *sim)
{
	return wheel_first(&sim->wheel);
}

void systemc_run(struct sim *sim, sim_time until)
{
	systemc_engine *host = host_of(sim);
	const struct event *next;

	host->context.enter();
	host->running = true;
	host->module.until = until;
	host->module.wake.notify(SC_ZERO_TIME);
	if (until != SIM_NEVER)
		host->context.run_before(until);
	else
		while (!sim->stop && (next = wheel_first(&sim->wheel)) != nullptr)
			host->context.run_before(event_time(next) + 1);
	host->running = false;
}

} // namespace

const struct engine_ops engine_systemc = {systemc_init,   systemc_fini,  systemc_insert,
					  systemc_cancel, systemc_first, systemc_run};
