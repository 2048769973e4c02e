/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemc_context: the code that the engines systemc and systemc-reference share (C++, private
 * to sim/). Each run has its own SystemC context. SystemC elaborates once per context, so a
 * process may hold many runs, in sequence or side by side. All runs must be in one thread,
 * because the current context is a global variable of SystemC.
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

	/* Makes the context the current one. All other functions require that. */
	void enter();

	/* Runs SystemC up to and including the picosecond before `until`, or up to a
	 * sc_pause(). An error in a module ends the program with the module's message. */
	void run_before(sim_time until);

	/* Runs SystemC until sc_pause() or until SystemC has no more actions. */
	void run_all();

	/* Informs the engine's processes of the end of the run, and removes cancelled
	 * notifications from SystemC. */
	void settle();

      private:
	sc_core::sc_simcontext *context;
};

/* A module with signals to trace. */
struct systemc_offer {
	std::string block;
	systemc_trace_function *trace;
	void *module;
};

/* The object behind sim->host. The engines' own structs start with it. */
struct systemc_host {
	systemc_context context;
	struct sim *sim;
	bool firing = false; /* inside events, where sim_schedule() comes from a model */
	bool running = false;
	bool entered = false; /* a module was called, so SystemC may have new actions */
	std::vector<systemc_offer> offers;
	bool lockstep = false; /* SystemC's time always equals the models' time */

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
