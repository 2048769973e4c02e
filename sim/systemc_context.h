/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemc_context: what the engines systemc and systemc-reference share (C++, private to sim/). Each run has a SystemC
 * context of its own: SystemC elaborates once for each context, so a process may hold many runs, one after
 * the other or side by side. Not for several threads: the current context is a global of SystemC.
 */
#ifndef SIM_SYSTEMC_CONTEXT_H
#define SIM_SYSTEMC_CONTEXT_H

#define SC_INCLUDE_DYNAMIC_PROCESSES /* sc_spawn() */
#include <systemc>

#include <string>
#include <vector>

#include "sim/engine.h"
#include "sim/systemc_vcd.h"

class systemc_context
{
      public:
	systemc_context();
	~systemc_context();
	systemc_context(const systemc_context &) = delete;
	systemc_context &operator=(const systemc_context &) = delete;

	/* Makes it the current one. Everything below needs that. */
	void enter();

	/* SystemC does all that it has to do up to and including the picosecond before `until`, or up to a
	 * sc_pause(). An error in a module ends the program with its message. */
	void run_before(sim_time until);

	/* The same until sc_pause() or until SystemC has nothing left to do. */
	void run_all();

	/* Lets the engine's processes take note that the run is over, and SystemC forget what was cancelled. */
	void settle();

      private:
	sc_core::sc_simcontext *context;
};

/* A module that has signals to be traced. */
struct systemc_offer {
	std::string block;
	systemc_trace_function *trace;
	void *module;
};

/* What sim->host points to: the engines' modules begin with a context. */
struct systemc_host {
	systemc_context context;
	struct sim *sim;
	bool firing = false; /* inside of events: sim_schedule() is a model's */
	bool running = false;
	bool entered = false; /* a module was called: SystemC may have more to do now */
	std::vector<systemc_offer> offers;
	bool lockstep = false; /* SystemC's time is never behind */

	explicit systemc_host(struct sim *of) : sim(of)
	{
	}
};

static inline sc_core::sc_time systemc_time(sim_time time)
{
	return sc_core::sc_time::from_value(time); /* the resolution is 1 ps */
}

static inline sim_time systemc_now()
{
	return sc_core::sc_time_stamp().value();
}

#endif
